"""The looking half of a debug session: the cursor, and everything that can be seen from it.

Nothing here runs a node or writes to a database.
"""

import json
from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

from debugger_ui.engines.base import MISSING
from debugger_ui.session import compare
from debugger_ui.session.acting import Acting
from debugger_ui.session.analysis import plan_view, update_view
from debugger_ui.session.branches import summaries
from debugger_ui.session.changes import Changes, look
from debugger_ui.session.checkpoints import channel_views, checkpoint_view
from debugger_ui.session.clusters import opened
from debugger_ui.session.cursor import Cursor
from debugger_ui.session.diff import diff_states
from debugger_ui.session.export import plain
from debugger_ui.session.graphs import graph_view
from debugger_ui.session.jobs import Job
from debugger_ui.session.live import Live
from debugger_ui.session.missing import missing
from debugger_ui.session.moving import from_params, moved
from debugger_ui.session.overviews import abilities, overview
from debugger_ui.session.problems import refuse
from debugger_ui.session.reading import Spot
from debugger_ui.session.render import FULL, USUAL, page_of, view
from debugger_ui.session.text import json_safe, path_label
from debugger_ui.session.threads import Threads
from debugger_ui.session.timeline import Wanted, branch_views, timeline
from debugger_ui.session.told import told
from debugger_ui.session.view_nested import InnerRun, Nesting
from debugger_ui.session.views import (
    Abilities,
    BranchSummary,
    BranchView,
    ChangePoint,
    ChannelView,
    CheckpointView,
    Comparison,
    DiffView,
    GraphView,
    MaskView,
    Missing,
    News,
    Overview,
    Page,
    Path,
    PlanView,
    ProvenanceHop,
    Rich,
    Side,
    TaskView,
    ThreadRow,
    Timeline,
    UpdateView,
    ValueView,
)
from debugger_ui.session.ways import every, nesting, way_in, way_out
from debugger_ui.session.workspace import Desk, Workspace


@told
class Looking:
    """The looking half of a session."""

    def __init__(self, workspace: Workspace, cursor: Cursor | None = None) -> None:
        self.workspace = workspace
        self.cursor = cursor or Cursor()
        self._seen: tuple[Cursor, Spot, bool] | None = None
        """Cursor and checkpoint of the last look, and whether it was the newest of its branch."""
        self._live = Live()
        self._mine: Job | None = None
        """The job that the cursor follows, until it is moved by hand."""

    @property
    def desk(self) -> Desk:
        """The engine of the cursor's graph, and what belongs to it."""
        return self.workspace.desk(self.cursor.graph)

    @property
    def acting(self) -> Acting:
        """What can be started or written on that desk."""
        return Acting(self.workspace, self.desk)

    def spot(self) -> Spot | None:
        """Return the checkpoint that the cursor stands on; None when there is none."""
        return self.desk.reading.spot(self.cursor)

    # --- where I am ---------------------------------------------------------------------------

    def overview(self) -> Overview:
        """Return what is open: database, graph, whether it is read-only and why."""
        return overview(self.workspace, self.desk, self.spot())

    def abilities(self) -> Abilities:
        """Return what can be done at the cursor, with the reason for whatever cannot."""
        return abilities(self.acting, self.spot())

    def move(self, **changes: object) -> Cursor:
        """Move the cursor: any of graph, thread, branch, checkpoint, namespace, task, path.

        What depends on a changed part is cleared unless given: a new thread clears branch,
        checkpoint, namespace, task and path. A checkpoint sets its branch.

        Raises:
            SessionError: no such thread, branch or checkpoint; the cursor stays where it was.
        """
        self.cursor = moved(self.workspace, self.cursor, changes)
        self._seen = self._mine = None
        return self.cursor

    def load_params(self, params: Mapping[str, str]) -> list[str]:
        """Set the cursor from URL parameters; return a sentence for each part that was dropped."""
        self.cursor, dropped = from_params(self.workspace, params)
        self._seen = None
        return dropped

    def pulse(self) -> Hashable:
        """Return something that differs once a thread may have changed, or a run began or ended; cheap."""
        engine = self.desk.engine
        version = engine.version() if engine.tells() else None
        return version, self.workspace.board.busy(), self.workspace.masks.patterns

    def catch_up(self, *, hold: bool = False) -> News:
        """Go along with what came into the thread from elsewhere; return what the cursor does not lead to.

        A cursor at the head of its branch moves on with it, unless `hold`; it never goes to another branch.
        """
        spot = self.spot()
        if spot is None:
            return News()
        history = self.desk.reading.history(spot.thread, spot.namespace)
        self.cursor = self._live.followed(self.cursor, spot, history, hold=hold)
        spot = self._need_spot()
        self._live.saw(self.cursor, spot, history)
        return self._live.news(spot, history, self.workspace.labels)

    def go_to_news(self) -> Cursor:
        """Go to the newest of what came from elsewhere, and take all of it as seen."""
        spot = self._need_spot()
        history = self.desk.reading.history(spot.thread, spot.namespace)
        found = self._live.news(spot, history, self.workspace.labels)
        self._live.read(history)
        return self.move(branch=found.branch) if found.count else self.cursor

    def masked(self) -> tuple[MaskView, ...]:
        """Return the keys, paths and patterns whose values are neither shown nor exported."""
        return self.workspace.masks.views()

    def mask(self, pattern: str) -> tuple[MaskView, ...]:
        """Mask a key (`api_key`), path (`user.token`) or pattern (`messages.*.content`); refuses what names nothing."""
        self.workspace.masks.add(pattern)
        return self.masked()

    def unmask(self, pattern: str) -> tuple[MaskView, ...]:
        """Show again what a pattern masks; refuses one that was given when the program was started."""
        self.workspace.masks.remove(pattern)
        return self.masked()

    # --- threads and history ------------------------------------------------------------------

    def threads(self, *, status: str = "", text: str = "", offset: int = 0, limit: int = 50) -> Page[ThreadRow]:
        """Return threads, newest first; `text` searches names, nodes, metadata and the newest state."""
        return Threads(self.workspace, self.desk).page(status=status, text=text.strip(), window=(offset, limit))

    def has_thread(self, thread: str) -> bool:
        """Whether the thread has a checkpoint."""
        return bool(self.desk.reading.history(thread))

    def newest_failure(self) -> ThreadRow | None:
        """Return the newest thread that stands at a failure; None if there is none."""
        return Threads(self.workspace, self.desk).newest_failure()

    def timeline(self, *, offset: int = 0, limit: int = 200, text: str = "", hidden: bool = False) -> Timeline:
        """Return the thread's checkpoints with their lanes, newest first.

        `text` keeps rows whose node, source, changed key, status or note contains it; `hidden` shows what
        only hidden branches lead to. Whatever leads to the cursor is shown in any case.
        """
        spot = self.spot()
        if spot is None:
            return Timeline((), (), 0, offset, limit, 0, False)
        job = self._job_at(spot)
        busy = job.at if job is not None else ""
        wanted = Wanted(offset, limit, text, hidden)
        found = timeline(self.desk.reading, self.workspace.labels, spot, wanted, busy)
        return self.desk.watches.shown(found, spot)

    def branches(self) -> tuple[BranchView, ...]:
        """Return the branches of the thread, the oldest first."""
        spot = self.spot()
        if spot is None:
            return ()
        history = self.desk.reading.history(spot.thread, spot.namespace)
        return branch_views(history, self.workspace.labels, spot.thread, spot.branch)

    def branch_list(self) -> tuple[BranchSummary, ...]:
        """Return the branches of the thread with how each began and stands, the oldest first; hidden ones too."""
        spot = self.spot()
        return summaries(self.desk.reading, self.workspace.labels, spot) if spot is not None else ()

    def labels_kept(self) -> str:
        """Return why names and notes last only as long as this program, as a sentence; "" when they are kept."""
        return self.workspace.labels_kept()

    def label_branch(
        self, branch: str, *, name: str | None = None, note: str | None = None, hidden: bool | None = None
    ) -> None:
        """Name a branch, write a note on it or hide it; kept beside the database, not in it."""
        spot = self._need_spot()
        if branch not in self.desk.reading.history(spot.thread, spot.namespace).branches:
            raise refuse(f"There is no branch {branch!r} in thread {spot.thread!r}.")
        self.workspace.labels.set("branch", spot.thread, branch, name=name, note=note, hidden=hidden)

    def note_checkpoint(self, checkpoint: str, note: str) -> None:
        """Write a note on a checkpoint (empty removes it); kept beside the database, not in it."""
        spot = self._need_spot()
        if checkpoint not in self.desk.reading.history(spot.thread, spot.namespace).by_id:
            raise refuse(f"There is no checkpoint {checkpoint!r} in thread {spot.thread!r}.")
        self.workspace.labels.set("checkpoint", spot.thread, checkpoint, note=note)

    def first(self) -> Cursor:
        """Go to the root of the branch's path."""
        spot = self._need_spot()
        return self._go(spot, self.desk.reading.history(spot.thread, spot.namespace).path(spot.id)[0])

    def back(self) -> Cursor:
        """Go to the parent; stays at a root."""
        spot = self._need_spot()
        parent = self.desk.reading.history(spot.thread, spot.namespace).parents[spot.id]
        return self._go(spot, parent or spot.id)

    def forward(self) -> Cursor:
        """Go to the child on the cursor's branch; stays at its head."""
        spot = self._need_spot()
        child = self.desk.reading.history(spot.thread, spot.namespace).forward(spot.id, spot.branch)
        return self._go(spot, child or spot.id)

    def last(self) -> Cursor:
        """Go to the head of the branch, and follow it as it grows."""
        spot = self._need_spot()
        return self._go(spot, "")

    # --- subgraphs ----------------------------------------------------------------------------

    def nesting(self, node: str = "") -> Nesting:
        """Return where the cursor stands among subgraphs, and the ways in (those of `node`, if named) and out."""
        return nesting(self.desk.reading, self._need_spot(), node)

    def inner_runs(self, *, offset: int = 0, limit: int = 50) -> Page[InnerRun]:
        """Return the runs of subgraphs in the thread, at any depth, the newest first."""
        return every(self.desk.reading, self.cursor.thread, (offset, limit))

    def step_into(self, namespace: str = "", node: str = "") -> Cursor:
        """Go into a run of a subgraph: of a namespace, or the one at the cursor (of `node`); else refuse."""
        moved = self.move(**way_in(self.desk.reading, self._need_spot(), namespace, node))
        self._mine = None  # whoever looks inside is not taken out again by a run that goes on
        return moved

    def step_out(self) -> Cursor:
        """Go to the task around the subgraph, where the graph around it stands; the outermost graph refuses."""
        return self.move(**way_out(self.desk.reading, self._need_spot()))

    def picture(self) -> GraphView:
        """Return the graph as `graph` does, with its subgraphs opened in place: `door|node` is a node inside."""
        spot = self.spot()
        return opened(self.desk.reading, spot, self.graph()) if spot is not None else self.graph()

    # --- one checkpoint -----------------------------------------------------------------------

    def checkpoint(self, checkpoint: str = "") -> CheckpointView | None:
        """Return the checkpoint (the cursor's by default); None when the thread has none yet."""
        spot = self.spot()
        if spot is None:
            return None
        job = self._job_at(spot)
        here = checkpoint in ("", spot.id)
        running = job.running_tasks if job is not None and here and job.at == spot.id else ()
        shown = checkpoint_view(self.desk.reading, self.workspace.labels, spot, checkpoint or spot.id, running)
        if here:
            self._seen = (self.cursor, spot, shown.head)
        return shown

    def value(self, path: Path, *, checkpoint: str = "", full: bool = False) -> ValueView:
        """Return the value at a path; `full` lifts the limits of size, not the one of depth.

        Raises:
            SessionError: there is nothing at the path.
        """
        return view(self._at(path, checkpoint), FULL if full else USUAL, path)

    def rich(self, path: Path, *, checkpoint: str = "", offset: int = 0) -> Rich:
        """Return the page of a chat or table that begins at `offset`, or an image.

        Raises:
            SessionError: there is nothing at the path, or it is none of these.
        """
        page = page_of(self._at(path, checkpoint), offset)
        if page is None:
            raise refuse(f"{path_label(path)} is no chat, table or image.")
        return page

    def raw(self, path: Path = (), *, checkpoint: str = "") -> str:
        """Return the value at a path (the whole state by default) as indented JSON text."""
        return json_safe(json.dumps(plain(self._at(path, checkpoint)), ensure_ascii=False, indent=2))

    def diff(self, before: str = "", after: str = "") -> DiffView:
        """Compare two checkpoints, by default the cursor's with its parent."""
        spot = self._need_spot()
        reading = self.desk.reading
        new = reading.record(spot, after)
        old = reading.record(spot, before) if before else reading.parent_record(spot, new)
        parent = reading.history(spot.thread, spot.namespace).parents.get(new.header.id, "")
        neighbours = old is not None and old.header.id == parent

        def writers(key: str) -> tuple[str, ...]:
            return Changes(reading, spot).writers(old, new, (key,)) if neighbours else ()

        ids = (old.header.id if old is not None else "", new.header.id)
        return diff_states(old.state if old is not None else {}, new.state, ids, writers)

    def tasks(self, checkpoint: str = "") -> tuple[TaskView, ...]:
        """Return the tasks of the superstep that starts at the checkpoint."""
        shown = self.checkpoint(checkpoint)
        return shown.tasks if shown is not None else ()

    def missing(self) -> Missing | None:
        """Return what a superstep that failed at the cursor lacks; None when none did, or its branch went on."""
        spot = self.spot()
        return missing(self.desk.reading, spot) if spot is not None else None

    def channels(self, checkpoint: str = "", *, all_channels: bool = False) -> tuple[ChannelView, ...]:
        """Return state channels (all of them, also triggers and barriers, when asked for)."""
        spot = self._need_spot()
        record = self.desk.reading.record(spot, checkpoint)
        before = self.desk.reading.parent_record(spot, record)
        return channel_views(record, before, self.desk.engine.channels(spot.namespace), everything=all_channels)

    def graph(self) -> GraphView:
        """Return the graph with marks and counts at the cursor."""
        spot = self.spot()
        job = self._job_at(spot)
        running = job.progress().running if job is not None and spot is not None and job.at == spot.id else ()
        return graph_view(self.desk.reading, spot, running, self.cursor.thread)

    def plan(self, checkpoint: str = "") -> PlanView:
        """Return for every node whether it runs in the superstep that starts here, and why."""
        spot = self._need_spot()
        record = self.desk.reading.record(spot, checkpoint)
        return plan_view(self.desk.engine, record, replace(spot.place, id=record.header.id))

    def update(self, checkpoint: str = "") -> UpdateView:
        """Return how the writes of the superstep that starts here fold into each channel."""
        spot = self._need_spot()
        record = self.desk.reading.real(spot, checkpoint)
        child = self.desk.reading.successor(spot, record.header.id)
        made = self.desk.reading.real(spot, child) if child else None
        return update_view(self.desk.reading, record, made, replace(spot.place, id=record.header.id))

    def why(self, path: Path = ()) -> tuple[ProvenanceHop, ...]:
        """Return the chain of writers behind the value at a path, back to an input or an edit."""
        return Changes(self.desk.reading, self._need_spot()).why(self._path(path))

    def last_change(self, path: Path = ()) -> ChangePoint | None:
        """Return where the value at the path got what it has at the cursor; None if never set."""
        return Changes(self.desk.reading, self._need_spot()).last(self._path(path))

    def next_change(self, path: Path = ()) -> ChangePoint | None:
        """Return where on the cursor's branch the value changes next; None if it does not."""
        return Changes(self.desk.reading, self._need_spot()).next(self._path(path))

    # --- two branches or threads ----------------------------------------------------------------

    def compare(self, left: Side, right: Side, *, limit: int = 200) -> Comparison:
        """Return two branches or threads aligned, and the sentence about their first divergence.

        At most `limit` steps after it are told.

        Raises:
            SessionError: no such thread, branch or checkpoint.
        """
        return compare.compare(self.workspace, self.cursor, left, right, limit)

    def compare_states(self, left: Side, right: Side) -> DiffView:
        """Return what differs between the states at which two sides end."""
        return compare.compare_states(self.workspace, self.cursor, left, right)

    def sides(self) -> tuple[Side, Side] | None:
        """Return the cursor's branch and the branch that it left, or the newest other; None when there is no other."""
        return compare.default_sides(self.workspace, self.cursor) if self.spot() is not None else None

    def branches_of(self, side: Side) -> tuple[BranchView, ...]:
        """Return the branches of a side's thread, the oldest first; `current` is the side's."""
        return compare.side_branches(self.workspace, self.cursor, side)

    # --- inside -------------------------------------------------------------------------------

    def _need_spot(self) -> Spot:
        return self.desk.reading.need_spot(self.cursor)

    def _at(self, path: Path, checkpoint: str) -> Any:
        found = look(self.desk.reading.record(self._need_spot(), checkpoint), path)
        if found is MISSING:
            raise refuse(f"There is nothing at {path_label(path)} in this checkpoint.")
        return found

    def _path(self, path: Path) -> Path:
        chosen = path or self.cursor.path
        if not chosen:
            raise refuse("Choose a value first.")
        return chosen

    def _go(self, spot: Spot, checkpoint: str) -> Cursor:
        self.cursor = replace(self.cursor, branch=spot.branch, checkpoint=checkpoint, task="", path=())
        self._seen = self._mine = None
        return self.cursor

    def _job_at(self, spot: Spot | None) -> Job | None:
        job = self.workspace.board.get(spot.thread) if spot is not None else None
        return job if job is not None and job.busy else None
