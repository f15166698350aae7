"""What a session starts or writes: runs, answers, new runs, edits; each checked before it begins.

Everything that is refused is refused before anything has run or been written.
"""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from debugger_ui.engines import naming
from debugger_ui.engines.base import MISSING, Advance, Editor, Place, Record, Runner
from debugger_ui.session.codec import restore, to_text
from debugger_ui.session.edits import Edits
from debugger_ui.session.forms import fields_of_schema, parse_fields
from debugger_ui.session.halts import OUTSIDE, Stand
from debugger_ui.session.jobs import Job
from debugger_ui.session.nested import ahead, asked_at, passed_by, resting, standing, stepped
from debugger_ui.session.parse import parse_json
from debugger_ui.session.problems import SessionError, refuse
from debugger_ui.session.questions import answered_views, parse_answer, question_view
from debugger_ui.session.reading import Spot
from debugger_ui.session.runs import Order, Worker
from debugger_ui.session.shape import safe_repr
from debugger_ui.session.text import literal
from debugger_ui.session.veil import Veil
from debugger_ui.session.view_actions import FormField, RunForm
from debugger_ui.session.view_record import QuestionView
from debugger_ui.session.view_values import Ability
from debugger_ui.session.workspace import Desk, Workspace

MAX_THREAD_ID = 255
TAKEN_IN = 10.0
"""Seconds for which a new run is waited for until its input is saved; that takes milliseconds."""
INSIDE = "Inside a subgraph nothing runs by phases: Step runs one whole superstep of it."
NONE_AHEAD = "No subgraph is about to run here that could be run into."
SEVERAL_AHEAD = "Several subgraphs are about to run here; choose one of them in Tasks."
OVER = "The subgraph has come to its end here. Step out to go on with the graph around it."


@dataclass(frozen=True, slots=True)
class Acting:
    """Actions on one graph of a workspace."""

    workspace: Workspace
    desk: Desk

    # --- may I? -------------------------------------------------------------------------------

    def may(self, ability: str) -> Ability:
        """Return whether this engine and workspace can do something at all."""
        engine = self.desk.engine
        if ability in engine.limits:
            return Ability(False, engine.limits[ability])
        if ability in ("run", "step", "answer", "edit", "new_run", "phases") and self.workspace.read_only:
            return Ability(False, f"Read-only: {self.workspace.read_only_reason}")
        return Ability(True)

    def need(self, ability: str) -> None:
        """Refuse what the engine or the workspace cannot do."""
        found = self.may(ability)
        if not found.allowed:
            kind = "read-only" if self.workspace.read_only else "unavailable"
            raise refuse(found.reason, kind=kind)

    def runner(self) -> Runner:
        """Return what runs nodes, or refuse."""
        self.need("run")
        runner = self.desk.engine.runner
        if runner is None:
            raise refuse("There is no graph open that could run.", kind="unavailable")
        return runner

    def editor(self) -> Editor:
        """Return what writes edits, or refuse."""
        self.need("edit")
        editor = self.desk.engine.editor
        if editor is None:
            raise refuse("There is no graph open that could be edited.", kind="unavailable")
        return editor

    def edit_ability(self, spot: Spot | None) -> Ability:
        """Return whether the state can be edited here, and why not."""
        general = self.may("edit")
        if not general.allowed:
            return general
        if spot is None:
            return Ability(False, "Choose a thread first.")
        if spot.namespace and (reason := standing(self.desk.reading, spot).reason):
            return Ability(False, reason)
        return general

    def phase_ability(self, spot: Spot | None) -> Ability:
        """Return whether a superstep can be run by phases here, and why not."""
        if spot is not None and spot.namespace:
            return Ability(False, INSIDE)
        return self.may("phases")

    # --- running ------------------------------------------------------------------------------

    def run_ability(self, spot: Spot | None, record: Record | None, *, asking: bool = True) -> Ability:
        """Return whether a superstep can run from here, and why not; `asking` holds a thread that waits."""
        general = self.may("run")
        if not general.allowed:
            return general
        if spot is None or record is None:
            return Ability(False, "Choose a thread, or start a new run.")
        if spot.namespace and (reason := standing(self.desk.reading, spot).reason):
            return Ability(False, reason)
        head = self.desk.reading.history(spot.thread, spot.namespace).is_head(spot.id)
        asked = any(task.questions for task in record.tasks) and not passed_by(self.desk.reading, spot)
        if asking and head and asked:
            return Ability(False, "It waits for an answer.")
        if gone := self._gone(spot, record):
            return Ability(False, f"{', '.join(gone)} should run here, but the graph no longer has it.")
        if not record.tasks and not (spot.namespace and standing(self.desk.reading, spot).live):
            return Ability(False, OVER if spot.namespace else "Nothing is left to run here.")
        return Ability(True)

    def _gone(self, spot: Spot, record: Record) -> tuple[str, ...]:
        """Return the nodes that the record has due and the graph does not know: they would be skipped in silence."""
        known = {node.id for node in self.desk.engine.topology(spot.thread, spot.namespace).nodes}
        due = naming.due_nodes(record.channels, record.versions, record.seen)
        return tuple(node for node in due if node not in known and node not in (naming.START, naming.END))

    def run(self, spot: Spot, record: Record, *, verb: str, head_seen: bool) -> Job:
        """Start supersteps from a spot; `head_seen` if the person saw it as the newest of its branch."""
        runner = self.runner()
        if self.workspace.board.get(spot.thread) is None or spot.thread not in self.workspace.board.busy():
            able = self.run_ability(spot, record)
            if not able.allowed:
                raise refuse(able.reason, kind="unavailable")
        stand = self._stand(spot, once=verb == "step")
        order = Order(self._from(spot), verb != "step", self.desk.breakpoints.hit, stand)
        return self._start(spot.thread, verb, spot, order, runner, self._still_head(spot, head_seen))

    def run_into(self, spot: Spot, record: Record, task: str, *, head_seen: bool) -> Job:
        """Start the subgraph of a task up to its first superstep: the task's id, or empty for the only one."""
        runner = self.runner()
        able = self.run_ability(spot, record, asking=False)
        if not able.allowed:
            raise refuse(able.reason, kind="unavailable")
        found = ahead(self.desk.reading, spot)
        task = task or (next(iter(found)) if len(found) == 1 else "")
        if task not in found:
            raise refuse(NONE_AHEAD if not found else SEVERAL_AHEAD, kind="input")
        inside = found[task]
        stand = replace(self._stand(replace(spot, namespace=inside), once=False), once=inside, entering=True)
        order = Order(self._from(spot), False, self.desk.breakpoints.hit, stand)
        return self._start(spot.thread, "step", spot, order, runner, self._still_head(spot, head_seen))

    def phase(self, spot: Spot, record: Record, advance: Advance, *, verb: str, head_seen: bool) -> Job:
        """Start one phase of the superstep at a spot."""
        by_phases = self.phase_ability(spot)
        if not by_phases.allowed:
            raise refuse(by_phases.reason, kind="unavailable")
        runner = self.runner()
        able = self.run_ability(spot, record, asking=False)
        if not able.allowed:
            raise refuse(able.reason, kind="unavailable")
        left = [task for task in record.tasks if not task.done]
        if advance.phase == "update" and left:
            names = ", ".join(dict.fromkeys(task.name for task in left))
            raise refuse(f"The update waits for all results; {names} {'has' if len(left) == 1 else 'have'} none yet.")
        known = {task.id: task for task in record.tasks}
        for id_ in (*advance.tasks, *advance.supply):
            if id_ not in known:
                raise refuse(f"The superstep at this checkpoint has no task {id_!r}.")
            if known[id_].done:
                raise refuse(f"{known[id_].name} has its result already; it is not run again.")
        given = (tuple(advance.tasks), dict(advance.supply)) if advance.tasks or advance.supply else None
        order = Order(advance, False, self.desk.breakpoints.hit, given=given)
        return self._start(spot.thread, verb, spot, order, runner, self._still_head(spot, head_seen))

    def supplied(self, spot: Spot, task: str, text: str) -> Mapping[str, Any]:
        """Return what was typed as the result of a task, with values of the classes that its node would return."""
        value = parse_json(text, task)
        if not isinstance(value, Mapping):
            raise refuse(
                f"A result is what the node would return: an object {{...}} of state keys, not {type(value).__name__}.",
                field=task,
            )
        return {task: Edits(self.desk.reading, self.editor(), spot).result(value)}

    def _start(
        self, thread: str, verb: str, spot: Spot | None, order: Order, runner: Runner, check: Callable[[], None]
    ) -> Job:
        outer = order.first.around.get("", "")
        job = Job(thread, verb, spot.id if spot else "", outer, order.given)
        if spot is not None and not order.first.only_input:
            job.enters(self.desk.reading.history(spot.thread).by_id[outer or spot.id].step + 1)
        return self.workspace.board.start(job, check, Worker(self.desk.engine, runner, order))

    def _from(self, spot: Spot, answers: Mapping[str, Any] | None = None) -> Advance:
        """Return the step that goes on from a spot, inside a subgraph by way of the graphs around it."""
        if not spot.namespace:
            return Advance(spot.place, answers=answers or {})
        here = standing(self.desk.reading, spot)
        return Advance(spot.place, answers=answers or {}, around=here.around, replay=not here.live)

    def _stand(self, spot: Spot, *, once: bool) -> Stand:
        """Return where the person stands; with `once`, the run of which one superstep is to run."""
        if not spot.namespace or "inside" in self.desk.engine.limits:
            return OUTSIDE
        reading = self.desk.reading
        return Stand(
            spot.namespace,
            stepped(reading, spot) if once else "",
            rest=lambda namespace: resting(reading, spot.thread, namespace),
        )

    def _still_head(self, spot: Spot, head_seen: bool) -> Callable[[], None]:
        def check() -> None:
            if head_seen and not self.desk.reading.history(spot.thread, spot.namespace).is_head(spot.id):
                raise refuse(
                    "This branch has moved on since it was shown here; look at its newest checkpoint first.",
                    kind="moved-on",
                )

        return check

    # --- answers ------------------------------------------------------------------------------

    def answer_again(self, spot: Spot | None, record: Record | None) -> Ability:
        """Return whether a question that was answered here can be answered otherwise, and why not."""
        general = self.may("answer")
        if not general.allowed:
            return general
        if spot is None or record is None or not any(task.asked for task in record.tasks):
            return Ability(False, "No question was answered here.")
        if spot.namespace:
            return Ability(False, "This is inside a subgraph: answer otherwise in the graph around it.")
        if self.desk.reading.history(spot.thread, spot.namespace).is_head(spot.id):
            return Ability(False, "Its superstep is not over yet. Once it is, another answer starts a branch.")
        return Ability(True)

    def answer_otherwise(self, spot: Spot, answers: Mapping[str, str], *, go_on: bool) -> Job:
        """Start the run that gives other answers to questions that were answered, on a branch of its own."""
        self.need("answer")
        runner, record = self.runner(), self.desk.reading.record(spot)
        able = self.answer_again(spot, record)
        if not able.allowed:
            raise refuse(able.reason, kind="unavailable")
        known = {asked.id: asked for task in record.tasks for asked in answered_views(task, record, spot)}
        if not answers or not set(answers) <= set(known):
            raise refuse("Write an answer first." if not answers else "No such question was answered here.")
        parsed = {id_: parse_answer(known[id_], text) for id_, text in answers.items()}
        again = Advance(spot.place, answers=parsed, again=True)
        order = Order(again, go_on, self.desk.breakpoints.hit, given=dict(answers))
        return self._start(spot.thread, "answer", spot, order, runner, lambda: None)

    def answer(self, spot: Spot, answers: Mapping[str, str], *, go_on: bool) -> Job:
        """Start the run that takes the answers, if their questions are still open."""
        self.need("answer")
        runner = self.runner()
        if spot.namespace and (reason := standing(self.desk.reading, spot).reason):
            raise refuse(reason, kind="unavailable")
        if not answers:
            raise refuse("Write an answer first.")
        known = {asked.id: asked for asked in self._asked(spot)}
        parsed: dict[str, Any] = {}
        for id_, text in answers.items():
            if id_ not in known:
                raise _moved_on()
            parsed[id_] = parse_answer(known[id_], text)

        def check() -> None:
            self._still_head(spot, True)()
            if not set(parsed) <= {asked.id for asked in self._asked(spot)}:
                raise _moved_on()

        first = self._from(asked_at(self.desk.reading, spot, parsed), parsed)
        order = Order(first, go_on, self.desk.breakpoints.hit, self._stand(spot, once=not go_on), dict(answers))
        return self._start(spot.thread, "answer", spot, order, runner, check)

    def _asked(self, spot: Spot) -> list[QuestionView]:
        record = self.desk.reading.record(spot)
        return [question_view(asked, task, record, spot) for task in record.tasks for asked in task.questions]

    # --- new runs -----------------------------------------------------------------------------

    def form(self) -> RunForm:
        """Return the input form of the graph."""
        return RunForm(
            fields=self._fields(),
            example=self._example_text(),
            thread=f"{self.desk.engine.name}-{uuid.uuid4().hex[:6]}",
        )

    def _example(self) -> Veil:
        """Return the example input as it may be shown; of nothing when there is none."""
        return self.workspace.masks.veil((), self.desk.engine.example())

    def _example_text(self) -> str:
        shown = self._example().shown
        return "" if shown is MISSING else to_text(shown)

    def _fields(self) -> tuple[FormField, ...]:
        shown = self._example().shown
        fields = fields_of_schema(self.desk.engine.input_schema(), None if shown is MISSING else shown)
        hides = self.workspace.masks.hides
        return tuple(replace(field, text="") if hides((field.key,)) else field for field in fields)

    def new_run(self, given: Mapping[str, str] | str, thread: str, *, run: bool) -> Job:
        """Start a thread with input, stopping at its input checkpoint unless `run`; input that is refused raises."""
        self.need("new_run")
        runner = self.runner()
        values = self._input(given)
        thread = thread.strip() or self.form().thread
        if len(thread) > MAX_THREAD_ID or not thread.isprintable():
            raise refuse(f"A thread id is up to {MAX_THREAD_ID} printable characters.", field="thread")
        spot = self._spot_of(thread)
        first = Advance(Place(thread), input=values, only_input=True)
        order = Order(first, run, self.desk.breakpoints.hit, given=given)
        job = self._start(thread, "new run", spot, order, runner, lambda: None)
        if problem := job.refused(TAKEN_IN):
            raise SessionError(problem)
        return job

    def _spot_of(self, thread: str) -> Spot | None:
        history = self.desk.reading.history(thread)
        newest = history.newest
        return Spot(thread, "", history.branch_of[newest], newest, True) if newest else None

    def _input(self, given: Mapping[str, str] | str) -> Any:
        example = self._example()
        if isinstance(given, str):
            value = example.real(example.shown)
            if value is MISSING or given.strip() != self._example_text().strip():
                value = self._with_masked(parse_json(given, "input"), example)
            if not isinstance(value, Mapping):
                raise refuse(
                    f"The input is an object {{...}} with the graph's keys, not {type(value).__name__}: "
                    f"{literal(safe_repr(value))[:80]}.",
                    field="input",
                )
            return value
        values = parse_fields(self._fields(), given, None if example.shown is MISSING else example.shown)
        if not values:
            raise refuse("The input is empty. Fill in at least one field.", field="input")
        return self._with_masked(values, example)

    def _with_masked(self, given: Any, example: Veil) -> Any:
        """Return what was typed, its masked marks being what the example has there."""
        if not example.hides or not isinstance(given, Mapping):
            return given
        known = example.shown if isinstance(example.shown, Mapping) else {}
        return {
            key: example.real(value)
            if value is known.get(key)
            else restore(value, known.get(key), (key,), example.real)
            for key, value in given.items()
        }

    # --- edits --------------------------------------------------------------------------------

    def edits(self, spot: Spot) -> Edits:
        """Return the editing of a spot's checkpoint, or refuse."""
        editor = self.editor()
        able = self.edit_ability(spot)
        if not able.allowed:
            raise refuse(able.reason, kind="unavailable")
        return Edits(self.desk.reading, editor, spot)

    def not_busy(self, thread: str) -> None:
        """Refuse while a job holds the thread."""
        if thread in self.workspace.board.busy():
            raise refuse(f"Thread {thread!r} is running. Wait for it, or stop it.", kind="busy")


def _moved_on() -> Exception:
    return refuse(
        "This question has been answered already, or its thread has moved on. Your answer was not used. To keep it as "
        "a branch, go to the question's checkpoint; Tasks shows there what was answered, and Answer otherwise.",
        kind="moved-on",
    )
