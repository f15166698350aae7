"""Where a debug session stands, and how it gets elsewhere: the cursor, threads, branches, the timeline.

Nothing here runs a node or writes to a database.
"""

from collections.abc import Hashable, Mapping
from dataclasses import replace

from debugger_ui.session.acting import Acting
from debugger_ui.session.branches import summaries
from debugger_ui.session.cursor import Cursor
from debugger_ui.session.jobs import Job
from debugger_ui.session.live import Live
from debugger_ui.session.moving import from_params, moved
from debugger_ui.session.overviews import abilities, overview
from debugger_ui.session.problems import refuse
from debugger_ui.session.reading import Spot
from debugger_ui.session.threads import Threads
from debugger_ui.session.timeline import Wanted, branch_views, timeline
from debugger_ui.session.told import told
from debugger_ui.session.view_nested import InnerRun, Nesting
from debugger_ui.session.views import (
    Abilities,
    BranchSummary,
    BranchView,
    MaskView,
    News,
    Overview,
    Page,
    ThreadRow,
    Timeline,
)
from debugger_ui.session.ways import every, nesting, way_in, way_out
from debugger_ui.session.workspace import Desk, Workspace


@told
class Finding:
    """The half of looking that is about places: what is open, which threads and branches there are, moving."""

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

    # --- inside -------------------------------------------------------------------------------

    def _need_spot(self) -> Spot:
        return self.desk.reading.need_spot(self.cursor)

    def _go(self, spot: Spot, checkpoint: str) -> Cursor:
        self.cursor = replace(self.cursor, branch=spot.branch, checkpoint=checkpoint, task="", path=())
        self._seen = self._mine = None
        return self.cursor

    def _job_at(self, spot: Spot | None) -> Job | None:
        job = self.workspace.board.get(spot.thread) if spot is not None else None
        return job if job is not None and job.busy else None
