"""The timeline: a page of a thread's checkpoints with their lanes, and its branches."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from debugger_ui.engines.base import Header, Outline
from debugger_ui.session.branches import hidden_branches, lanes_of, left_out
from debugger_ui.session.history import Branch, History
from debugger_ui.session.labels import Labels
from debugger_ui.session.nested import Nested
from debugger_ui.session.reading import Reading, Spot
from debugger_ui.session.views import BranchView, ThreadStatus, Timeline, TimelineRow

WRITTEN_BY_HAND = ("input", "update", "fork")
"""Sources of checkpoints that no node's run made: the time before them is nobody's work."""


def branch_views(history: History, labels: Labels, thread: str, current: str) -> tuple[BranchView, ...]:
    """Return the branches, the oldest first, under the names that people gave them."""
    return tuple(_branch_view(branch, labels, thread, branch.id == current) for branch in history.branches.values())


def _branch_view(branch: Branch, labels: Labels, thread: str, current: bool) -> BranchView:
    label = labels.get("branch", thread, branch.id)
    return BranchView(
        id=branch.id,
        name=label.name or branch.name,
        note=label.note,
        hidden=label.hidden,
        lane=branch.lane,
        head=branch.head,
        forked_from=branch.forked_from,
        parent=branch.parent,
        checkpoints=len(branch.members),
        source=branch.source,
        current=current,
    )


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows of a timeline: a window of those that match a text, with or without hidden branches."""

    offset: int
    limit: int
    text: str = ""
    hidden: bool = False


def timeline(reading: Reading, labels: Labels, spot: Spot, wanted: Wanted, busy: str) -> Timeline:
    """Return the wanted rows, newest first; `busy` is the checkpoint that a running job works on, or ""."""
    history = reading.history(spot.thread, spot.namespace)
    hidden = hidden_branches(history, labels, spot.thread)
    concealed = left_out(history, hidden, spot.id)
    out = frozenset() if wanted.hidden else concealed
    order = [id_ for id_ in reversed(history.order) if id_ not in out]
    if wanted.text.strip():
        order = _matching(reading, labels, spot, order, wanted.text.strip().casefold())
    shown = order[wanted.offset : wanted.offset + wanted.limit]
    outlines = reading.engine.outlines(spot.thread, shown, spot.namespace)
    builder = _Rows(reading, labels, spot, history, busy)
    builder.lanes = lanes_of(history, out)
    return Timeline(
        rows=tuple(builder.row(id_, outlines.get(id_, Outline())) for id_ in shown),
        branches=branch_views(history, labels, spot.thread, spot.branch),
        lanes=len(builder.lanes),
        offset=wanted.offset,
        limit=wanted.limit,
        total=len(order),
        more=wanted.offset + wanted.limit < len(order),
        hidden=sum(not concealed.isdisjoint(history.branches[id_].members) for id_ in hidden),
    )


def _matching(reading: Reading, labels: Labels, spot: Spot, order: Sequence[str], text: str) -> list[str]:
    history = reading.history(spot.thread, spot.namespace)
    outlines: Mapping[str, Outline] = reading.engine.outlines(spot.thread, order, spot.namespace)

    def words(id_: str) -> str:
        outline, header = outlines.get(id_, Outline()), history.by_id[id_]
        note = labels.get("checkpoint", spot.thread, id_).note
        status = reading.status(outline, followed=_followed(history, id_))
        parts = (*outline.ran, *outline.changed, *outline.due, header.source, status, note, id_, str(header.step))
        return " ".join(parts).casefold()

    return [id_ for id_ in order if text in words(id_)]


def _followed(history: History, id_: str) -> bool:
    return any(history.by_id[child].source == "loop" for child in history.children.get(id_, ()))


class _Rows:
    def __init__(self, reading: Reading, labels: Labels, spot: Spot, history: History, busy: str) -> None:
        self.reading = reading
        self.labels = labels
        self.spot = spot
        self.history = history
        self.busy = busy
        self.on_path = set(history.path(spot.id))
        self.lanes: Mapping[int, int] = {}
        self.inner = {run.parent for run in Nested(reading, spot.thread).runs if run.around == spot.namespace}

    def row(self, id_: str, outline: Outline) -> TimelineRow:
        history, header = self.history, self.history.by_id[id_]
        parent = history.parents[id_]
        branch = history.branches[history.branch_of[id_]]
        parent_branch = history.branches[history.branch_of[parent]] if parent else None
        children = history.children.get(id_, [])
        status: ThreadStatus = self.reading.status(outline, followed=_followed(history, id_))
        return TimelineRow(
            checkpoint=id_,
            parent=parent,
            step=header.step,
            source=header.source,
            nodes=outline.ran,
            changed=outline.changed,
            next=outline.due,
            status="running" if id_ == self.busy else status,
            created=header.created,
            milliseconds=since_parent(history, header),
            branch=branch.id,
            lane=self.lanes[branch.lane],
            parent_lane=self.lanes[parent_branch.lane] if parent_branch else None,
            through=tuple(self.lanes[lane] for lane in history.through(history.position[id_]) if lane in self.lanes),
            head=not children,
            forks=max(0, len(children) - 1),
            current=id_ == self.spot.id,
            on_path=id_ in self.on_path,
            inner=(parent in self.inner and header.source == "loop") or (id_ in self.inner and not children),
            note=self.labels.get("checkpoint", self.spot.thread, id_).note,
            mark=_mark(outline) or history.marks.get(id_, ""),
        )


def _mark(outline: Outline) -> str:
    return "encrypted" if outline.encrypted else "damaged" if outline.damaged else ""


def since_parent(history: History, header: Header) -> float | None:
    """Return the milliseconds from the parent's save to this one; None for what a person wrote, not a run."""
    parent = history.parents[header.id]
    if not parent or header.source in WRITTEN_BY_HAND:
        return None
    return elapsed(history.by_id[parent].created, header.created)


def elapsed(before: str, after: str) -> float | None:
    """Return the milliseconds between two recorded times; None when they run backwards."""
    try:
        passed = dt.datetime.fromisoformat(after) - dt.datetime.fromisoformat(before)
    except (ValueError, TypeError):
        return None
    milliseconds = passed.total_seconds() * 1000
    return round(milliseconds, 3) if milliseconds >= 0 else None
