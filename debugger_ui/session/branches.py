"""The branches of a thread: how each came about and stands, and which of them the timeline leaves out.

Rule: hiding a branch hides the checkpoints that only hidden branches lead to. What a shown branch grew
from stays, and so does all that leads to the cursor.
"""

from collections.abc import Mapping, Sequence

from debugger_ui.engines.base import Outline
from debugger_ui.session.history import Branch, History
from debugger_ui.session.labels import Labels
from debugger_ui.session.reading import Reading, Spot
from debugger_ui.session.view_record import BranchSummary

ORIGINS = {"update": "edit", "input": "input"}


def hidden_branches(history: History, labels: Labels, thread: str) -> frozenset[str]:
    """Return the ids of the branches that people have hidden."""
    return frozenset(id_ for id_ in history.branches if labels.get("branch", thread, id_).hidden)


def left_out(history: History, hidden: frozenset[str], cursor: str) -> frozenset[str]:
    """Return the checkpoints that only hidden branches lead to; never one that leads to the cursor."""
    if not hidden:
        return frozenset()
    kept = dict.fromkeys(history.branches, -1)
    ends = [branch.head for branch in history.branches.values() if branch.id not in hidden]
    for end in [*ends, cursor]:
        id_ = end
        while id_:
            branch = history.branches[history.branch_of[id_]]
            if history.position[id_] <= kept[branch.id]:
                break
            kept[branch.id] = history.position[id_]
            id_ = branch.forked_from
    return frozenset(id_ for id_ in history.order if history.position[id_] > kept[history.branch_of[id_]])


def lanes_of(history: History, out: frozenset[str]) -> Mapping[int, int]:
    """Return the place of each lane among those that still have a checkpoint to show."""
    used = {branch.lane for branch in history.branches.values() if not out.issuperset(branch.members)}
    return {lane: place for place, lane in enumerate(sorted(used))}


def summaries(reading: Reading, labels: Labels, spot: Spot) -> tuple[BranchSummary, ...]:
    """Return every branch of the spot's thread, hidden ones too, the oldest first."""
    history = reading.history(spot.thread, spot.namespace)
    outlines = reading.engine.outlines(spot.thread, _asked_for(history), spot.namespace)
    return tuple(_summary(branch, reading, labels, spot, outlines) for branch in history.branches.values())


def _asked_for(history: History) -> list[str]:
    """Return the checkpoints that say how branches began and how they stand."""
    wanted: dict[str, None] = {}
    for branch in history.branches.values():
        wanted.update(dict.fromkeys((branch.head, branch.members[0])))
        if branch.forked_from:
            wanted.update(dict.fromkeys((branch.forked_from, *history.children[branch.forked_from])))
    return list(wanted)


def _summary(
    branch: Branch, reading: Reading, labels: Labels, spot: Spot, outlines: Mapping[str, Outline]
) -> BranchSummary:
    history = reading.history(spot.thread, spot.namespace)
    label = labels.get("branch", spot.thread, branch.id)
    first, head = branch.members[0], history.by_id[branch.head]
    followed = any(history.by_id[child].source == "loop" for child in history.children.get(branch.head, ()))
    begun = outlines.get(first, Outline())
    return BranchSummary(
        id=branch.id,
        name=label.name or branch.name,
        note=label.note,
        hidden=label.hidden,
        current=branch.id == spot.branch,
        origin=_origin(branch, history, outlines),
        by=begun.ran if branch.source == "update" else (),
        forked_from=branch.forked_from,
        fork_step=history.by_id[branch.forked_from].step if branch.forked_from else None,
        head=branch.head,
        head_step=head.step,
        status=reading.status(outlines.get(branch.head, Outline()), followed=followed),
        checkpoints=len(branch.members),
        created=history.by_id[first].created,
        updated=head.created,
    )


def _origin(branch: Branch, history: History, outlines: Mapping[str, Outline]) -> str:
    if not branch.forked_from:
        return "start"
    if branch.source in ORIGINS:
        return ORIGINS[branch.source]
    begun = outlines.get(branch.members[0], Outline())
    around = [branch.forked_from, *history.children[branch.forked_from]]
    others = [outlines.get(id_, Outline()) for id_ in around if id_ != branch.members[0]]
    return "answer" if begun.answered and _any_question(others) else "replay"


def _any_question(outlines: Sequence[Outline]) -> bool:
    return any(outline.asking or outline.answered for outline in outlines)
