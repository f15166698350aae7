"""One person's debug session: a cursor, and everything that can be seen or done from it.

Rules:
- Looking runs nothing and writes nothing. Only `step`, `proceed`, `answer` and `new_run` run nodes;
  only those and `save_edit` write to the database, and never over what is there.
- Every refusal is a `SessionError` whose `problem` can be shown as it is.
- A session belongs to one browser tab and is cheap; what tabs share (engines, running jobs,
  breakpoints, names of branches) lives in its `Workspace`.
"""

from collections.abc import Mapping, Sequence

from debugger_ui.session.cursor import Cursor
from debugger_ui.session.views import (
    Abilities,
    BranchView,
    Breakpoint,
    ChangePoint,
    ChannelView,
    CheckpointView,
    DiffView,
    Edit,
    EditForm,
    EditPreview,
    Export,
    GraphView,
    Overview,
    Page,
    Path,
    PlanView,
    ProvenanceHop,
    QuestionView,
    RunForm,
    RunProgress,
    Saved,
    TaskView,
    ThreadRow,
    Timeline,
    UpdateView,
    ValueView,
)
from debugger_ui.session.workspace import Workspace


class DebugSession:
    """What one browser tab does with a workspace: `DebugSession(workspace)`."""

    def __init__(self, workspace: Workspace, cursor: Cursor | None = None) -> None:
        self.workspace = workspace
        self.cursor = cursor or Cursor()

    # --- where I am ---------------------------------------------------------------------------

    def overview(self) -> Overview:
        """Return what is open: database, graph, whether it is read-only and why."""
        raise NotImplementedError

    def abilities(self) -> Abilities:
        """Return what can be done at the cursor, with the reason for whatever cannot."""
        raise NotImplementedError

    def move(self, **changes: object) -> Cursor:
        """Move the cursor: any of graph, thread, branch, checkpoint, namespace, task, path.

        What depends on a changed part is cleared unless given: a new thread clears branch,
        checkpoint, namespace, task and path. A checkpoint sets its branch.

        Raises:
            SessionError: no such thread, branch or checkpoint; the cursor stays where it was.
        """
        raise NotImplementedError

    def load_params(self, params: Mapping[str, str]) -> list[str]:
        """Set the cursor from URL parameters; return a sentence for each part that was dropped."""
        raise NotImplementedError

    # --- threads and history ------------------------------------------------------------------

    def threads(
        self, *, status: str = "", text: str = "", offset: int = 0, limit: int = 50
    ) -> Page[ThreadRow]:
        """Return threads, newest first; `text` searches ids, titles, nodes and metadata."""
        raise NotImplementedError

    def timeline(self, *, offset: int = 0, limit: int = 200, text: str = "") -> Timeline:
        """Return the thread's checkpoints with their lanes, newest first.

        `text` keeps rows whose node, source, changed key, status or note contains it.
        """
        raise NotImplementedError

    def branches(self) -> tuple[BranchView, ...]:
        """Return the branches of the thread, the oldest first."""
        raise NotImplementedError

    def label_branch(
        self, branch: str, *, name: str | None = None, note: str | None = None, hidden: bool | None = None
    ) -> None:
        """Name a branch, write a note on it or hide it; kept beside the database, not in it."""
        raise NotImplementedError

    def note_checkpoint(self, checkpoint: str, note: str) -> None:
        """Write a note on a checkpoint (empty removes it); kept beside the database, not in it."""
        raise NotImplementedError

    def first(self) -> Cursor:
        """Go to the root of the branch's path."""
        raise NotImplementedError

    def back(self) -> Cursor:
        """Go to the parent; stays at a root."""
        raise NotImplementedError

    def forward(self) -> Cursor:
        """Go to the child on the cursor's branch; stays at its head."""
        raise NotImplementedError

    def last(self) -> Cursor:
        """Go to the head of the branch, and follow it as it grows."""
        raise NotImplementedError

    # --- one checkpoint -----------------------------------------------------------------------

    def checkpoint(self, checkpoint: str = "") -> CheckpointView | None:
        """Return the checkpoint (the cursor's by default); None when the thread has none yet."""
        raise NotImplementedError

    def value(self, path: Path, *, checkpoint: str = "", full: bool = False) -> ValueView:
        """Return the value at a path; `full` lifts the limits of size, not the one of depth.

        Raises:
            SessionError: there is nothing at the path.
        """
        raise NotImplementedError

    def raw(self, path: Path = (), *, checkpoint: str = "") -> str:
        """Return the value at a path (the whole state by default) as indented JSON text."""
        raise NotImplementedError

    def diff(self, before: str = "", after: str = "") -> DiffView:
        """Compare two checkpoints, by default the cursor's with its parent."""
        raise NotImplementedError

    def tasks(self, checkpoint: str = "") -> tuple[TaskView, ...]:
        """Return the tasks of the superstep that starts at the checkpoint."""
        raise NotImplementedError

    def channels(self, checkpoint: str = "", *, all_channels: bool = False) -> tuple[ChannelView, ...]:
        """Return state channels (all of them, also triggers and barriers, when asked for)."""
        raise NotImplementedError

    def graph(self) -> GraphView:
        """Return the graph with marks and counts at the cursor."""
        raise NotImplementedError

    def plan(self, checkpoint: str = "") -> PlanView:
        """Return for every node whether it runs in the superstep that starts here, and why."""
        raise NotImplementedError

    def update(self, checkpoint: str = "") -> UpdateView:
        """Return how the writes of the superstep that starts here fold into each channel."""
        raise NotImplementedError

    def why(self, path: Path = ()) -> tuple[ProvenanceHop, ...]:
        """Return the chain of writers behind the value at a path, back to an input or an edit."""
        raise NotImplementedError

    def last_change(self, path: Path = ()) -> ChangePoint | None:
        """Return where the value at the path got what it has at the cursor; None if never set."""
        raise NotImplementedError

    def next_change(self, path: Path = ()) -> ChangePoint | None:
        """Return where on the cursor's branch the value changes next; None if it does not."""
        raise NotImplementedError

    # --- running ------------------------------------------------------------------------------

    def step(self) -> RunProgress:
        """Run one superstep from the cursor on a worker; returns at once.

        Away from the head this starts a new branch. The cursor follows when the step is done.

        Raises:
            SessionError: the thread is busy, is waiting for an answer, has nothing to run, or
                running is not possible here.
        """
        raise NotImplementedError

    def proceed(self) -> RunProgress:
        """Run on from the cursor to the next question, breakpoint or the end; returns at once."""
        raise NotImplementedError

    def pause(self) -> RunProgress:
        """Ask the running job to stop after the superstep it is in."""
        raise NotImplementedError

    def stop(self) -> RunProgress:
        """Give the thread back now: what finished is kept, what runs on is dropped."""
        raise NotImplementedError

    def progress(self) -> RunProgress:
        """Return what the thread's worker does or did last; moves the cursor along when done."""
        raise NotImplementedError

    def wait(self, timeout: float) -> RunProgress:
        """Wait up to `timeout` seconds for the running job to end (for scripts and tests)."""
        raise NotImplementedError

    def breakpoints(self) -> tuple[Breakpoint, ...]:
        """Return the breakpoints of the graph."""
        raise NotImplementedError

    def set_breakpoint(self, node: str, when: str = "before", *, enabled: bool = True) -> Breakpoint:
        """Add a breakpoint, or switch it on or off.

        Raises:
            SessionError: no such node, or `when` is neither before nor after.
        """
        raise NotImplementedError

    def remove_breakpoint(self, breakpoint_id: str) -> None:
        """Remove a breakpoint; an unknown one is already gone."""
        raise NotImplementedError

    # --- new run, edit, answer, export --------------------------------------------------------

    def run_form(self) -> RunForm:
        """Return the fields of the graph's input, with its example filled in."""
        raise NotImplementedError

    def new_run(self, values: Mapping[str, str] | str, *, thread: str = "", run: bool = False) -> RunProgress:
        """Give input to a thread (a fresh one by default) and show its input checkpoint.

        Args:
            values: text per form field, or the whole input as one JSON text.
            thread: id of the thread; an existing one gets a further input at its head.
            run: False stops at the input checkpoint, before any node has run.

        Raises:
            SessionError: a field does not parse (line and column are given), the id is not
                usable, or the thread is busy.
        """
        raise NotImplementedError

    def edit_form(self) -> EditForm:
        """Return the state keys as editable text, and who the edit can be written as."""
        raise NotImplementedError

    def preview_edit(self, edits: Sequence[Edit], author: str = "") -> EditPreview:
        """Return what saving the edits would do. Writes nothing; problems are in the preview."""
        raise NotImplementedError

    def save_edit(self, edits: Sequence[Edit], author: str = "") -> Saved:
        """Write the edits as a new branch from the cursor's checkpoint. Runs no node.

        The cursor moves to the new branch. No edits at all still make a branch.

        Raises:
            SessionError: an edit does not parse or fit; nothing was written.
        """
        raise NotImplementedError

    def questions(self) -> tuple[QuestionView, ...]:
        """Return the questions pending at the cursor."""
        raise NotImplementedError

    def inbox(self, *, offset: int = 0, limit: int = 50) -> Page[QuestionView]:
        """Return the pending questions of all threads, newest thread first."""
        raise NotImplementedError

    def answer(self, answers: Mapping[str, str], *, checkpoint: str = "", run: bool = True) -> RunProgress:
        """Answer questions by id, with JSON (or plain) text each, and run on; returns at once.

        Args:
            answers: text per question id. For `text` questions it is taken as it is, otherwise
                it is JSON.
            checkpoint: the checkpoint at which the questions were shown.
            run: True goes on to the next question, breakpoint or the end; False runs just the
                superstep that waits.

        Raises:
            SessionError: empty or malformed answer; kind "moved-on" when a question has been
                answered or its thread has moved on meanwhile: nothing ran.
        """
        raise NotImplementedError

    def export(self, what: str = "thread") -> Export:
        """Return a file: `state` (the cursor's state), `thread` (its whole record) as JSON."""
        raise NotImplementedError
