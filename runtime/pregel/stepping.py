"""One superstep at a time, or one phase of it: for debuggers and workshops.

Rules:
1. Between phases the thread is exactly what a crash there would leave: pending writes on a checkpoint. So
   nothing has to be stored that a run would not store.
2. A result that a person supplied is recorded as supplied.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from langchain_core.runnables import RunnableConfig

from runtime.errors import TaskNotFound, text_of
from runtime.pregel import events
from runtime.pregel.context import TaskContext
from runtime.pregel.edit import apply_edits, load_named
from runtime.pregel.effects import Effect, Flush, PutWrites, Settle
from runtime.pregel.execute import execute, restore
from runtime.pregel.frame import Frame
from runtime.pregel.loading import load_frame
from runtime.pregel.loop import Loop, finish, fold, incomplete
from runtime.pregel.plan import Verdict, explain, plan
from runtime.pregel.questions import TaskRecord, read_record
from runtime.pregel.record import save_tasks
from runtime.pregel.refusals import result_id
from runtime.pregel.run import Run
from runtime.pregel.snapshot import apply_null_writes, task_views
from runtime.pregel.start import begin
from runtime.pregel.task import Task, path_text, uuid_shaped
from runtime.pregel.update import fold_steps, update
from runtime.types import Command, PregelTask, StateUpdate

Phase = Literal["superstep", "execute", "update"]

MOST_STEPS = 50
"""Writes of one channel that an account of an update tells one by one."""

SUPPLIED = "__supplied__"
"""Channel of the record that a task's result was supplied and not computed."""


@dataclass(frozen=True, slots=True)
class Move:
    """How far to step: a whole superstep or one phase, which tasks to run, and results given by hand."""

    phase: Phase = "superstep"
    only: Collection[str] | None = None
    supplied: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Planned:
    """What would run next: a verdict for every node, and the tasks with their inputs."""

    verdicts: tuple[Verdict, ...]
    tasks: tuple[PlannedTask, ...]


@dataclass(frozen=True, slots=True)
class PlannedTask:
    """A task of the superstep at hand.

    `status` is `saved` (its result is there), `supplied` (by hand), `interrupted`, `failed`, `refused` (by the
    barrier, so that it runs again; `writes` are what was refused) or `to run`.
    """

    id: str
    name: str
    path: tuple[Any, ...]
    triggers: tuple[str, ...]
    input: Any
    status: str
    writes: tuple[tuple[str, Any], ...]
    error: Any
    interrupts: tuple[Any, ...]
    place: str
    """The task id under which its result stands, or will: its own, if none was refused."""
    refusals: int
    """How many of its results the barrier has refused."""


@dataclass(frozen=True, slots=True)
class ChannelFold:
    """How a superstep changes one channel: the value before, each write in fold order, the value after."""

    channel: str
    kind: str
    reducer: str | None
    before: Any
    steps: tuple[tuple[str, str, Any, Any], ...]
    """`(task id, node, what it wrote, value after it)`; of very many writes the first ones and the last."""
    after: Any
    version_before: Any
    version_after: Any
    refused: str | None = None
    left_out: int = 0
    """How many writes were folded before the last step that `steps` does not tell."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What an edit would do: the state after it, the channels it changes, and what would run next."""

    values: Any
    changed: tuple[str, ...]
    next: tuple[PregelTask, ...]
    verdicts: tuple[Verdict, ...]
    asks_again: tuple[Any, ...]
    """Open questions of tasks that would run, and so ask, again."""


def step_program(run: Run, move: Move) -> Loop:
    """Advance by one superstep, or by one phase of it. An input alone becomes a checkpoint, and no more.

    Raises:
        TaskNotFound: a task was chosen or supplied that the superstep does not have.
        ValueError: the update phase was asked for while tasks have no result yet.
    """
    frame = yield from begin(run)
    if run.input is not None and not isinstance(run.input, Command):
        yield Flush()
        run.status = "started"
        finish(run, frame)
        return
    tasks = plan(frame, run.ns)
    if not run.replaying:
        restore(frame, tasks)
    if not tasks:
        run.status = "done"
        yield Flush()
        finish(run, frame)
        return
    _check_known(tasks, {*(move.only or ()), *move.supplied})
    yield from _supply(run, frame, tasks, move.supplied)
    if move.phase != "update":
        yield from _execute(run, frame, tasks, move)
        if run.status != "running":
            return
    yield from _update(run, frame, tasks)


def _check_known(tasks: list[Task], named: set[str]) -> None:
    unknown = sorted(named - {task.id for task in tasks})
    if unknown:
        known = ", ".join(f"{task.name} ({task.id})" for task in tasks)
        raise TaskNotFound(f"the superstep has no task {unknown[0]!r}; it has {known}")


def _supply(run: Run, frame: Frame, tasks: list[Task], supplied: Mapping[str, Any]) -> Loop:
    for task in tasks:
        if task.id not in supplied:
            continue
        task.writes = yield Settle(TaskContext(run, frame, task), supplied[task.id])
        if frame.config is not None:
            yield from save_tasks(frame, [task])
            place = result_id(task.id, task.refusals)
            yield PutWrites(frame.config, [(SUPPLIED, place)], supplied_id(place), path_text(task.path))


def supplied_id(place: str) -> str:
    """The task id under which it is recorded that the result under another one was supplied."""
    return uuid_shaped("supplied", place)


def _execute(run: Run, frame: Frame, tasks: list[Task], move: Move) -> Loop:
    chosen = [task for task in tasks if move.only is None or task.id in move.only]
    events.tasks_started(run, frame, [task for task in chosen if not task.writes])
    outcome = yield from execute(run, frame, chosen)
    tasks.extend(task for task in chosen if task not in tasks)
    yield from save_tasks(frame, outcome.unsaved)
    yield Flush()
    if not outcome.complete:
        outcome.unsaved = []
        shown = yield from incomplete(run, frame, tasks, outcome)
        finish(run, shown)
    elif move.phase == "execute" or any(not task.writes for task in tasks):
        run.status = "executed"
        finish(run, frame)


def _update(run: Run, frame: Frame, tasks: list[Task]) -> Loop:
    missing = [task for task in tasks if not task.writes]
    if missing:
        names = ", ".join(dict.fromkeys(task.name for task in missing))
        raise ValueError(
            f"the superstep cannot be folded yet: {len(missing)} of {len(tasks)} tasks have no result ({names})"
        )
    from runtime.pregel.execute import Outcome

    yield from fold(run, frame, tasks, Outcome())
    yield Flush()
    run.status = "stepped"
    finish(run, frame)


def plan_program(run: Run, config: RunnableConfig) -> Generator[Effect, Any, Planned]:
    """What would run next at a checkpoint, and why. Runs nothing."""
    frame, tasks = yield from _superstep_at(run, config)
    records = read_record(frame.pending)
    by_hand = {value for _, channel, value in frame.pending if channel == SUPPLIED}
    run.stop = frame.step + run.recursion_limit
    views = task_views(run, frame, tasks, records=records)
    found = [
        _planned(run, frame, task, view, records.get(task.id) or TaskRecord(), by_hand)
        for task, view in zip(tasks, views, strict=True)
    ]
    return Planned(tuple(explain(frame)), tuple(found))


def _planned(
    run: Run, frame: Frame, task: Task, view: PregelTask, record: TaskRecord, by_hand: Collection[str]
) -> PlannedTask:
    place = result_id(task.id, record.refusals)
    if record.finished:
        status = "supplied" if place in by_hand else "saved"
    elif view.interrupts:
        status = "interrupted"
    elif view.error is not None:
        status = "failed"
    else:
        status = "refused" if record.refused else "to run"
    return PlannedTask(
        task.id,
        task.name,
        task.path,
        tuple(task.triggers),
        _input(run, frame, task),
        status,
        tuple(record.refused if status == "refused" else record.writes),
        view.error,
        tuple(view.interrupts),
        place,
        record.refusals,
    )


def _input(run: Run, frame: Frame, task: Task) -> Any:
    return TaskContext(run, frame, task).input()


def _superstep_at(run: Run, config: RunnableConfig) -> Generator[Effect, Any, tuple[Frame, list[Task]]]:
    saved = yield from load_named(run, config)
    frame = yield from load_frame(run.topology, saved)
    tasks = plan(frame, run.ns) if saved is not None else []
    apply_null_writes(frame)
    return frame, tasks


def explain_update_program(run: Run, config: RunnableConfig) -> Generator[Effect, Any, list[ChannelFold]]:
    """How the results that are saved for a checkpoint's superstep fold into the next state."""
    frame, tasks = yield from _superstep_at(run, config)
    restore(frame, tasks)
    finished = _results(frame, tasks)
    versions: dict[str, Any] = {}
    refusal = None
    try:
        versions = update(frame, finished, run.next_version).versions
    except Exception as error:  # shown beside the channel that refuses
        refusal = text_of(error) or type(error).__name__
    folds = []
    for channel, (steps, left_out) in fold_steps(frame, finished, MOST_STEPS).items():
        live = frame.channel(channel)
        refused = next((step.refused for step in steps if step.refused), None)
        folds.append(
            ChannelFold(
                channel,
                type(live).__name__,
                _reducer_name(live),
                frame.values(channel),
                tuple((step.task.id, step.task.name, step.value, step.after) for step in steps),
                steps[-1].after,
                frame.versions.get(channel),
                versions.get(channel, frame.versions.get(channel)),
                refused if refused is not None or refusal is None else None,
                left_out,
            )
        )
    return folds


def _results(frame: Frame, tasks: Sequence[Task]) -> list[Task]:
    """The tasks with a result to fold. Those that were refused are among them until the first of them has a new one."""
    if not any(task.refusals and task.writes for task in tasks):
        records = read_record(frame.pending)
        for task in tasks:
            if not task.writes and task.id in records:
                task.writes = list(records[task.id].refused)
    return [task for task in tasks if task.writes]


def _reducer_name(channel: Any) -> str | None:
    reducer = getattr(channel, "operator", None) or getattr(channel, "reducer", None)
    return None if reducer is None else getattr(reducer, "__qualname__", None) or repr(reducer)


def preview_program(run: Run, config: RunnableConfig, updates: list[StateUpdate]) -> Generator[Effect, Any, Preview]:
    """What `update_state` would make of these updates, and what would run next. Writes nothing."""
    saved = yield from load_named(run, config)
    frame = yield from load_frame(run.topology, saved)
    open_now = {}
    if saved is not None:
        for view in task_views(run, frame, plan(frame, run.ns)):
            if view.interrupts:
                open_now[view.name] = view.interrupts
    edited = yield from apply_edits(run, frame, updates)
    tasks = plan(frame, run.ns)
    shown = [name for name in edited.versions if name in _listed(run.topology.stream_channels)]
    frame.pending = []
    again = [interrupt for task in tasks for interrupt in open_now.get(task.name, ())]
    return Preview(
        frame.values(run.topology.stream_channels),
        tuple(shown),
        tuple(task_views(run, frame, tasks)),
        tuple(explain(frame)),
        tuple(again),
    )


def _listed(channels: str | tuple[str, ...]) -> tuple[str, ...]:
    return (channels,) if isinstance(channels, str) else channels
