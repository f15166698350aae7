"""Runs supersteps one by one until something says to hold: the worker's side of a job.

Continue is a series of single steps, so pausing, breakpoints and the count of steps are exact, and
between two steps the state on disk is all there is.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from debugger_ui.engines.base import Advance, Engine, Event, Outline, Place, Record, Runner, Stopped
from debugger_ui.session.breaks import Hold, Reached, state_of
from debugger_ui.session.halts import NOWHERE, OUTSIDE, Break, Halts, Held, Stand
from debugger_ui.session.jobs import Job
from debugger_ui.session.problems import cut, describe, said, storage_problem, trace
from debugger_ui.session.text import literal
from debugger_ui.session.view_values import Problem
from runtime.checkpoint.errors import CheckpointStorageError

MAX_STEPS = 10_000
"""Supersteps after which Continue pauses by itself: a graph that never ends should not run unseen."""

MOST_OF_A_NOTE = 400


@dataclass(frozen=True, slots=True)
class Order:
    """What to run: a first superstep, and whether to go on after it; and where the person stands."""

    first: Advance
    go_on: bool
    breaks: Break
    stand: Stand = OUTSIDE
    given: object = None
    """What the person gave for it, to tell a second click from another wish."""


class Worker:
    """Carries out one order on an engine."""

    def __init__(self, engine: Engine, runner: Runner, order: Order) -> None:
        self.engine = engine
        self.runner = runner
        self.order = order
        self._halts: Halts | None = None

    def __call__(self, job: Job) -> None:
        """Run until done, interrupted, failed, paused or stopped; the job tells which."""
        failing: list[str] = []

        def report(event: Event) -> None:
            if event.kind == "failed":
                failing.append(event.text)
            if event.kind != "saved" or not self.order.stand.once:  # a step inside ends inside
                job.report(event)

        try:
            self._run(job, report)
        except Stopped:
            job.end("stopped", _stopped(job))
        except BaseException as error:  # whatever a node raises is a result to show, also if it is sys.exit()
            problem = node_problem(error, failing)
            self._rest(job)
            job.end("failed", problem.message, problem)

    def _run(self, job: Job, report: Callable[[Event], None]) -> None:
        advance = self.order.first
        for _ in range(MAX_STEPS):
            if job.stop_wanted:
                raise Stopped
            halts = self._halts = self._watched(job, advance)
            halting = halts.halting if halts is not None else None
            newest = self.runner.advance(
                replace(self._placed(advance), halting=halting), report, lambda: job.stop_wanted
            )
            if halts is not None and halts.held is not None:
                _halted(job, halts, halts.held)
                return
            job.stepped(newest, counts=not advance.only_input and advance.phase != "execute")
            self._rest(job)
            place = Place(advance.place.thread, newest)
            record = self.engine.record(place)
            hold = self._hold(record, place, advance) if record is not None else None
            if record is None or self._held(job, record, hold, only_input=advance.only_input):
                return
            job.enters(record.header.step + 1)
            advance = Advance(place)
        job.end("paused", f"Paused after {MAX_STEPS:,} supersteps. Continue goes on.")

    def _watched(self, job: Job, advance: Advance) -> Halts | None:
        """Return what decides where runs inside halt; None where the engine or the phase knows no such thing."""
        if "inside" in self.engine.limits or advance.phase != "superstep" or advance.again:
            return None
        return Halts(job, self.order.stand, self.order.breaks if self.order.go_on else None)

    def _rest(self, job: Job, *, asking: bool = False) -> None:
        """Leave the cursor inside, where a step did not get to its halt, or where the person stood if that asks."""
        namespace, checkpoint = self._halts.rest(asking=asking) if self._halts is not None else NOWHERE
        if not namespace:
            return
        record = self.engine.record(Place(job.thread, checkpoint, namespace))
        if not asking or (record is not None and any(task.questions for task in record.tasks)):
            job.land(namespace, checkpoint)

    def _placed(self, advance: Advance) -> Advance:
        """Tell the run its checkpoint's id unless it is the newest of the thread anyway."""
        place = advance.place
        if not place.id or place.namespace:
            return advance
        headers = self.engine.headers(place.thread)
        return replace(advance, replay=bool(headers) and max(header.id for header in headers) != place.id)

    def _held(self, job: Job, record: Record, hold: Hold | None, *, only_input: bool) -> bool:
        """End the job if this is where it stops; say whether it did."""
        left = [task for task in record.tasks if not task.done]
        nodes = ", ".join(dict.fromkeys(task.name for task in left))
        asking = [task for task in record.tasks if task.questions]
        if asking and (self.order.first.phase == "superstep" or len(asking) == len(left)):
            self._rest(job, asking=True)
            who = ", ".join(dict.fromkeys(task.name for task in asking))
            job.end("interrupted", f"Waiting for an answer: {who}.")
        elif not record.tasks:
            job.end("done", "Finished: no node is left to run.", *_told(hold))
        elif not self.order.go_on:
            made = "The input is saved and nothing has run yet" if only_input else _made(job, record)
            job.end("paused", f"{made}. Next: {nodes or 'the update, all results are in'}.")
        elif hold is not None:
            job.end("paused", f"{hold.why} Next: {nodes}.", *_told(hold))
        elif job.pause_wanted:
            job.end("paused", f"Paused. Next: {nodes}.")
        else:
            return False
        return True

    def _hold(self, record: Record, place: Place, advance: Advance) -> Hold | None:
        """Return why the run stops at a checkpoint it has just made; a question there stops it anyway."""
        if not self.order.go_on or any(task.questions for task in record.tasks):
            return None
        if place.id == advance.around.get("", advance.place.id):
            # Nothing raised, nothing asks, and yet the superstep has not ended.
            return Hold("A subgraph stops here, as it was compiled to.")
        outlines = self.engine.outlines(place.thread, [record.header.id], place.namespace)

        def before() -> Mapping[str, Any]:
            parent = record.header.parent
            found = self.engine.record(replace(place, id=parent)) if parent else None
            return state_of(found) if found is not None else {}

        made = outlines.get(record.header.id, Outline())
        due = [task.name for task in record.tasks if not task.done]
        if hold := self.order.breaks(Reached(due, made.ran, made.changed, lambda: state_of(record), before)):
            return hold
        where = self.runner.compiled_stop(due, made.ran)
        return Hold(f"The graph stops {where}, as it was compiled to.") if where and due else None


def _halted(job: Job, halts: Halts, held: Held) -> None:
    """End the job where a run inside has halted."""
    job.land(held.made.namespace, held.made.id)
    comes = f"Next: {', '.join(held.due)}." if held.due else "The subgraph has come to its end here."
    if held.hold is not None:
        job.end("paused", f"{held.hold.why} {halts.others()}{comes}", *_told(held.hold))
    else:
        job.end("paused", f"{'Step done' if halts.breaks is None else 'Paused'}. {comes}")


def _told(hold: Hold | None) -> tuple[Problem | None, str]:
    return (hold.problem, hold.why) if hold is not None else (None, "")


def _made(job: Job, record: Record) -> str:
    if job.verb not in ("execute", "supply"):
        return "Step done"
    return f"{sum(task.done for task in record.tasks)} of {len(record.tasks)} results are in"


def _stopped(job: Job) -> str:
    running = job.progress().running
    if not running:
        return "Stopped. What was saved stays."
    names = ", ".join(running)
    return f"Stopped while {names} was running. What was saved stays; the result of {names} is dropped."


def node_problem(error: BaseException, failing: list[str]) -> Problem:
    """Return what a run raised as a sentence: which node, which exception, its own words."""
    if isinstance(error, CheckpointStorageError):
        return storage_problem(error)
    names = ", ".join(dict.fromkeys(failing))
    message = f"{names} raised {said(error)}" if names else f"The run failed with {said(error)}{_where(error)}"
    return Problem(message=message, kind="node", details=f"{describe(error)}\n\n{trace(error)}")


def _where(error: BaseException) -> str:
    """Return what the runtime noted on the exception of a reducer: its key and whose writes it took."""
    notes = getattr(error, "__notes__", ())
    return literal(f", {cut(notes[0], MOST_OF_A_NOTE)}.") if notes else ""
