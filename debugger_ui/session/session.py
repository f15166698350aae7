"""One person's debug session: a cursor, and everything that can be seen or done from it.

Rules:
- Looking runs nothing and writes nothing. Only `step`, `proceed`, `answer` and `new_run` run nodes;
  only those and `save_edit` write to the database, and never over what is there.
- Every refusal is a `SessionError` whose `problem` can be shown as it is.
- A session belongs to one browser tab and is cheap; what tabs share (engines, running jobs,
  breakpoints, names of branches) lives in its `Workspace`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from debugger_ui.engines.base import Advance
from debugger_ui.session.checkpoints import due
from debugger_ui.session.cursor import Cursor
from debugger_ui.session.export import export_state, export_thread
from debugger_ui.session.expression import parsed
from debugger_ui.session.inbox import inbox_page
from debugger_ui.session.jobs import Job
from debugger_ui.session.looking import Looking
from debugger_ui.session.nested import effect
from debugger_ui.session.problems import refuse
from debugger_ui.session.reading import Spot
from debugger_ui.session.stops import check_breakpoint, known_keys, state_keys, stopping_keys, stopping_nodes
from debugger_ui.session.told import told
from debugger_ui.session.views import (
    Breakpoint,
    Edit,
    EditForm,
    EditPreview,
    Export,
    Page,
    QuestionView,
    RunForm,
    RunProgress,
    Saved,
)


@told
class DebugSession(Looking):
    """What one browser tab does with a workspace: `DebugSession(workspace)`.

    What can be seen is in `Looking`; here is what is started or written.
    """

    # --- running ------------------------------------------------------------------------------

    def step(self, at: str = "") -> RunProgress:
        """Run one superstep from the cursor on a worker; returns at once. Inside a subgraph it is one of that graph.

        Away from the head this starts a new branch. The cursor follows when the step is done.
        `at` is the checkpoint that the button showed, if the caller knows better than the cursor.

        Raises:
            SessionError: the thread is busy, is waiting for an answer, has nothing to run, or
                running is not possible here.
        """
        return self._run("step", at)

    def proceed(self, at: str = "") -> RunProgress:
        """Run on from the cursor to the next question, breakpoint or the end; returns at once."""
        return self._run("continue", at)

    def run_into(self, task: str = "") -> RunProgress:
        """Run the subgraph of a task that is due (by id, or the only one) up to its first superstep; returns at once.

        Nothing beside the task runs. The cursor follows inside.

        Raises:
            SessionError: as for `step`; no such task, its subgraph has begun already, or several could be meant.
        """
        spot, head_seen = self._seen_spot("")
        record = self.desk.reading.record(spot)
        return self._took(self.acting.run_into(spot, record, task, head_seen=head_seen))

    def execute(self, tasks: Sequence[str] = ()) -> RunProgress:
        """Run only the execute phase, of all tasks without a result or of chosen ones; returns at once.

        Their results become pending writes: what is on disk then is what a crash would leave.

        Raises:
            SessionError: as for `step`; no such task, or it has its result already.
        """
        return self._phase("execute", "execute", tuple(tasks), {})

    def fold(self) -> RunProgress:
        """Run only the update phase: fold the pending writes into the next checkpoint; returns at once.

        Raises:
            SessionError: as for `step`; a task has no result yet.
        """
        return self._phase("update", "update", (), {})

    def supply(self, task: str, text: str) -> RunProgress:
        """Give a task's result as JSON instead of running it; it is recorded as supplied. Returns at once.

        Raises:
            SessionError: as for `execute`; the text does not parse, or is no object of state keys.
        """
        return self._phase("supply", "execute", (task,), self.acting.supplied(self._need_spot(), task, text))

    def pause(self) -> RunProgress:
        """Ask the running job to stop after the superstep it is in."""
        job = self.workspace.board.get(self.cursor.thread)
        if job is not None:
            job.ask_pause()
        return self.progress()

    def stop(self) -> RunProgress:
        """Give the thread back now: what finished is kept, what runs on is dropped."""
        job = self.workspace.board.get(self.cursor.thread)
        if job is not None:
            job.ask_stop()
        return self.progress()

    def progress(self) -> RunProgress:
        """Return what the thread's worker does or did last; moves the cursor along when done."""
        job = self.workspace.board.get(self.cursor.thread)
        if job is None:
            return RunProgress(self.cursor.thread, "idle")
        progress = job.progress()
        if job is self._mine:
            self._follow(job, progress)
        return progress

    def wait(self, timeout: float) -> RunProgress:
        """Wait up to `timeout` seconds for the running job to end (for scripts and tests)."""
        job = self.workspace.board.get(self.cursor.thread)
        if job is not None:
            job.wait(timeout)
        return self.progress()

    def breakpoints(self) -> tuple[Breakpoint, ...]:
        """Return the breakpoints of the graph."""
        return self.desk.breakpoints.all()

    def stops(self) -> tuple[str, ...]:
        """Return the nodes that can have a breakpoint; `door|inner` is one inside a subgraph."""
        return stopping_nodes(self.desk, self.cursor.thread)

    def stop_keys(self) -> tuple[str, ...]:
        """Return the state keys that can have a breakpoint from where the cursor stands; `door|key` inside."""
        return stopping_keys(self.desk, self.spot())

    def set_breakpoint(
        self, node: str, when: str = "before", *, enabled: bool = True, condition: str = "", stop_at: int = 1
    ) -> Breakpoint:
        """Add a breakpoint before or after a node, or (`change`) at a key of the state; or change it.

        Args:
            node: the node; for `change` the state key. `door|inner` is one inside the subgraph that `door` runs.
            when: before, after or change.
            enabled: whether runs stop there.
            condition: expression over the state that has to hold, inside that of the subgraph; empty for always.
            stop_at: the hit to stop at, from 1; every later one stops as well.

        Raises:
            SessionError: no such node or key, the condition is not of the language, or no such `when`.
        """
        check_breakpoint(self.desk, self.spot(), (when, node), condition)
        return self.desk.breakpoints.put(node, when, enabled=enabled, condition=condition, stop_at=stop_at)

    def switch_breakpoint(self, breakpoint_id: str, *, enabled: bool) -> None:
        """Switch a breakpoint on or off as it is; an unknown one is already gone."""
        self.desk.breakpoints.switch(breakpoint_id, enabled=enabled)

    def remove_breakpoint(self, breakpoint_id: str) -> None:
        """Remove a breakpoint; an unknown one is already gone."""
        self.desk.breakpoints.remove(breakpoint_id)

    def state_keys(self) -> tuple[str, ...]:
        """Return the keys of the state that breakpoints and watches can name."""
        return state_keys(self.desk, self.spot())

    def watches(self) -> tuple[str, ...]:
        """Return the expressions that the timeline shows for every checkpoint."""
        return self.desk.watches.all()

    def add_watch(self, text: str) -> str:
        """Show an expression for every checkpoint of the timeline; return it as it is kept.

        Raises:
            SessionError: it is not of the language, names an unknown key, or there are as many as can be shown.
        """
        return self.desk.watches.add(parsed(text, known_keys(self.desk, self.spot()), "watch").text)

    def remove_watch(self, text: str) -> None:
        """Take a watch away; an unknown one is already gone."""
        self.desk.watches.remove(text)

    # --- new run, edit, answer, export --------------------------------------------------------

    def run_form(self) -> RunForm:
        """Return the fields of the graph's input, with its example filled in."""
        self.acting.need("new_run")
        return self.acting.form()

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
        job = self.acting.new_run(values, thread, run=run)
        self.cursor = Cursor(graph=self.cursor.graph, thread=job.thread)
        return self._took(job)

    def edit_form(self) -> EditForm:
        """Return the state keys as editable text, and who the edit can be written as."""
        return self.acting.edits(self._need_spot()).form()

    def preview_edit(self, edits: Sequence[Edit], author: str = "") -> EditPreview:
        """Return what saving the edits would do. Writes nothing; problems are in the preview."""
        return self.acting.edits(self._need_spot()).preview(edits, author)

    def save_edit(self, edits: Sequence[Edit], author: str = "", name: str = "") -> Saved:
        """Write the edits as a new branch from the cursor's checkpoint. Runs no node.

        The cursor moves to the new branch, which gets the name if one is given. No edits at all still make a branch;
        after the newest checkpoint they go on on its branch, which keeps its name.

        Raises:
            SessionError: an edit does not parse or fit; nothing was written.
        """
        spot = self._need_spot()
        self.acting.not_busy(spot.thread)
        saved = self.acting.edits(spot).save(edits, author)
        history = self.desk.reading.history(spot.thread, spot.namespace)
        branch = history.branch_of.get(saved, "")
        self.cursor = replace(self.cursor, branch=branch, checkpoint="", task="", path=())
        self._seen = None
        self._live.led()
        if name.strip() and branch == saved:
            self.label_branch(branch, name=name)
        nodes = due(self.desk.reading.record(replace(spot, id=saved)))
        ready = f"Next: {', '.join(nodes)}." if nodes else "No node is due there."
        inside = f" {effect(self.desk.reading, replace(spot, id=saved))}" if spot.namespace and nodes else ""
        where = "as a branch" if branch == saved else "after the newest checkpoint"
        return Saved(saved, branch, nodes, f"Saved {where}; nothing has run. {ready}{inside}")

    def questions(self) -> tuple[QuestionView, ...]:
        """Return the questions pending at the cursor."""
        shown = self.checkpoint()
        return shown.questions if shown is not None else ()

    def inbox(self, *, offset: int = 0, limit: int = 50) -> Page[QuestionView]:
        """Return the pending questions of all threads, newest thread first."""
        return inbox_page(self.workspace, self.desk, (offset, limit))

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
        return self._took(self.acting.answer(self._spot_at(checkpoint), answers, go_on=run))

    def answer_otherwise(self, answers: Mapping[str, str], *, checkpoint: str = "", run: bool = True) -> RunProgress:
        """Give other answers to questions that were answered, as `answer` does; they start a branch of their own.

        Raises:
            SessionError: no such question was answered there, or its superstep is not over.
        """
        return self._took(self.acting.answer_otherwise(self._spot_at(checkpoint), answers, go_on=run))

    def export(self, what: str = "thread") -> Export:
        """Return a file: `state` (the cursor's state), `thread` (its whole record) as JSON."""
        spot = self._need_spot()
        if what == "state":
            return export_state(self.desk.reading, spot)
        if what == "thread":
            return export_thread(self.desk.reading, spot)
        raise refuse(f"There is no export {what!r}; take 'state' or 'thread'.")

    # --- inside -------------------------------------------------------------------------------

    def _spot_at(self, checkpoint: str) -> Spot:
        """Return the cursor's spot, at the checkpoint that the person saw."""
        spot = self._need_spot()
        if not checkpoint or checkpoint == spot.id:
            return spot
        if checkpoint not in self.desk.reading.history(spot.thread, spot.namespace).by_id:
            raise refuse(f"There is no checkpoint {checkpoint!r} in thread {spot.thread!r}.", kind="moved-on")
        return replace(spot, id=checkpoint)

    def _run(self, verb: str, at: str) -> RunProgress:
        spot, head_seen = self._seen_spot(at)
        record = self.desk.reading.record(spot)
        return self._took(self.acting.run(spot, record, verb=verb, head_seen=head_seen))

    def _phase(self, verb: str, phase: str, tasks: tuple[str, ...], supply: Mapping[str, object]) -> RunProgress:
        spot, head_seen = self._seen_spot("")
        record = self.desk.reading.record(spot)
        advance = Advance(spot.place, phase=phase, tasks=tasks, supply=supply)
        return self._took(self.acting.phase(spot, record, advance, verb=verb, head_seen=head_seen))

    def _seen_spot(self, at: str) -> tuple[Spot, bool]:
        """Return what the person saw: the last look, unless the cursor has moved since; and if it was a head."""
        spot = self._need_spot()
        history = self.desk.reading.history(spot.thread, spot.namespace)
        head_seen = history.is_head(spot.id)
        if self._seen is not None and self._seen[0] == self.cursor:
            _, spot, head_seen = self._seen
        if at and at != spot.id:
            if at not in history.by_id:
                raise refuse(f"There is no checkpoint {at!r} in thread {spot.thread!r}.", kind="moved-on")
            spot, head_seen = replace(spot, id=at), True
        return spot, head_seen

    def _took(self, job: Job) -> RunProgress:
        self._mine = job
        return job.progress()

    def _follow(self, job: Job, progress: RunProgress) -> None:
        space = progress.namespace
        history = self.desk.reading.history(job.thread, space)
        if progress.checkpoint in history.branch_of:
            branch = history.branch_of[progress.checkpoint]
            self.cursor = replace(self.cursor, namespace=space, branch=branch, checkpoint="", task="", path=())
            self._live.led()
        if not progress.busy:
            self._mine = None
            self._seen = None
