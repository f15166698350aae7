"""Compares two branches of a thread, or two threads: aligned steps, where they part, and why.

Rules:
- Only looks. Values are decoded where the two sides part; elsewhere fingerprints of what was written decide.
- Symmetric: swapping the sides swaps them in every part of the result and changes nothing else.
- The prefix that both share is the chain of their common ancestors; after it, or from the roots where there is
  none, steps are equal when the same nodes wrote the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from debugger_ui.session.align import BY_NODES, align_rest, common, equal_steps
from debugger_ui.session.compare_rows import Line, Rows
from debugger_ui.session.cursor import Cursor
from debugger_ui.session.diff import diff_states
from debugger_ui.session.history import History
from debugger_ui.session.moving import moved
from debugger_ui.session.parting import Ending, part, sentence
from debugger_ui.session.reading import Spot
from debugger_ui.session.text import literal
from debugger_ui.session.timeline import branch_views
from debugger_ui.session.view_analysis import DiffView
from debugger_ui.session.view_compare import Comparison, Side, SideView
from debugger_ui.session.view_record import BranchView
from debugger_ui.session.workspace import Desk, Workspace
from debugger_ui.session.written import Written

MAX_NAME = 60


@dataclass(frozen=True, slots=True)
class End:
    """Where a side ends, and who reads it."""

    desk: Desk
    spot: Spot
    graph: str
    history: History

    @property
    def side(self) -> Side:
        """The side with every part filled in."""
        return Side(self.spot.thread, self.spot.branch, self.spot.id, self.spot.namespace, self.graph)


def located(workspace: Workspace, cursor: Cursor, side: Side) -> End:
    """Return where a side ends; graph and namespace are the cursor's unless given.

    Raises:
        SessionError: no such thread, branch or checkpoint.
    """
    parts = {"thread": side.thread, "namespace": side.namespace, "branch": side.branch, "checkpoint": side.checkpoint}
    graph = {"graph": side.graph} if side.graph else {}
    start = Cursor(graph=cursor.graph)
    found = moved(workspace, start, {**graph, **{name: value for name, value in parts.items() if value}})
    desk = workspace.desk(found.graph)
    spot = desk.reading.need_spot(found)
    return End(desk, spot, found.graph, desk.reading.history(spot.thread, spot.namespace))


def compare(workspace: Workspace, cursor: Cursor, left: Side, right: Side, limit: int) -> Comparison:
    """Return two sides aligned, and the sentence about their first divergence; at most `limit` rows after it."""
    ends = located(workspace, cursor, left), located(workspace, cursor, right)
    paths = [end.history.path(end.spot.id) for end in ends]
    together = ends[0].desk is ends[1].desk and _tree(ends[0]) == _tree(ends[1])
    shared = common(*paths) if together else 0
    written = Written(*((end.desk, end.spot.thread, end.spot.namespace) for end in ends))
    lines = [Line(path[shared:], end.history.by_id) for end, path in zip(ends, paths, strict=True)]
    equal = equal_steps(lines[0].ids, lines[1].ids, written.same)
    length = max(len(line.ids) for line in lines) - equal
    one, other = (written.steps(side, line.ids[equal:][: max(limit, BY_NODES)]) for side, line in enumerate(lines))
    rest = align_rest(one, other, written.alike, by_nodes=length <= BY_NODES)
    views = side_views(workspace, ends)
    parted = part(one[0] if one else None, other[0] if other else None, written)
    same = together and ends[0].spot.id == ends[1].spot.id
    rows = Rows(written, lines)
    whole = len(rest) <= limit and length <= max(limit, BY_NODES)
    endings = [Ending(view.name, view.status, view.head) for view in views]
    return Comparison(
        left=views[0],
        right=views[1],
        shared=shared,
        equal=equal,
        rows=(*rows.shared(paths[0][:shared]), *rows.equal(equal), *rows.rest(rest[:limit], whole=whole)),
        divergence=parted.divergence if parted else None,
        sentence=sentence(shared, equal, endings, parted, same=same),
        more=max(0, length - limit) if length > BY_NODES else max(0, len(rest) - limit),
        same=same,
    )


def compare_states(workspace: Workspace, cursor: Cursor, left: Side, right: Side) -> DiffView:
    """Return what differs between the states of two sides, from the left one to the right one."""
    one, other = located(workspace, cursor, left), located(workspace, cursor, right)
    states = [end.desk.reading.record(end.spot).state for end in (one, other)]
    return diff_states(states[0], states[1], (one.spot.id, other.spot.id), lambda key: ())


def side_branches(workspace: Workspace, cursor: Cursor, side: Side) -> tuple[BranchView, ...]:
    """Return the branches of a side's thread, the oldest first; `current` is the side's."""
    end = located(workspace, cursor, side)
    return branch_views(end.history, workspace.labels, end.spot.thread, end.spot.branch)


def default_sides(workspace: Workspace, cursor: Cursor) -> tuple[Side, Side] | None:
    """Return the cursor's branch and what it is compared with first; None when its thread has one branch.

    That is the branch it left; for a root branch the newest one that left it, or the newest of all.
    """
    end = located(workspace, cursor, Side(cursor.thread, cursor.branch, cursor.checkpoint, cursor.namespace))
    mine = end.history.branches[end.spot.branch]
    others = [branch for branch in reversed(end.history.branches.values()) if branch.id != mine.id]
    if not others:
        return None
    left = replace(end.side, checkpoint="")
    labels = workspace.labels
    shown = [branch for branch in others if not labels.get("branch", end.spot.thread, branch.id).hidden] or others
    mine_first = [branch for branch in shown if branch.parent == mine.id] or shown
    return left, replace(left, branch=mine.parent or mine_first[0].id)


def side_views(workspace: Workspace, ends: Sequence[End]) -> tuple[SideView, SideView]:
    """Return both sides under names that tell them apart."""
    one, other = (_side_view(workspace, end) for end in ends)
    threads = one.side.thread, other.side.thread
    if threads[0] == threads[1]:
        names = [one.branch_name, other.branch_name]
        if one.side.branch == other.side.branch:
            names = [f"{view.branch_name} up to superstep {view.step}" for view in (one, other)]
    else:
        titles = [workspace.labels.get("thread", thread, "").name or thread for thread in threads]
        titles = titles if titles[0] != titles[1] else list(threads)
        names = [
            title if len(end.history.branches) == 1 else f"{title} / {view.branch_name}"
            for title, end, view in zip(titles, ends, (one, other), strict=True)
        ]
    if names[0] == names[1]:
        names = [f"{name} ({view.side.checkpoint[-6:]})" for name, view in zip(names, (one, other), strict=True)]
    shown = [literal(name)[:MAX_NAME] for name in names]
    return replace(one, name=shown[0]), replace(other, name=shown[1])


def _side_view(workspace: Workspace, end: End) -> SideView:
    spot, history = end.spot, end.history
    branch = history.branches[spot.branch]
    outline = end.desk.reading.outline(spot, spot.id)
    followed = any(history.by_id[child].source == "loop" for child in history.children.get(spot.id, ()))
    return SideView(
        side=end.side,
        name="",
        branch_name=workspace.labels.get("branch", spot.thread, branch.id).name or branch.name,
        step=history.by_id[spot.id].step,
        status=end.desk.reading.status(outline, followed=followed),
        checkpoints=len(history.path(spot.id)),
        head=history.is_head(spot.id),
    )


def _tree(end: End) -> tuple[str, str]:
    return end.spot.thread, end.spot.namespace
