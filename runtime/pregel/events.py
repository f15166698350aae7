"""What the streams say: one function per kind of event.

Nothing here decides anything; nobody listening costs one look at `run.modes`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from runtime._constants import CONF, CONFIG_KEY_CHECKPOINT_ID, ERROR, INTERRUPT, RETURN
from runtime._typing import MISSING
from runtime.pregel.frame import Frame
from runtime.pregel.model import Write
from runtime.pregel.run import Run
from runtime.pregel.task import Task

if TYPE_CHECKING:
    from runtime.pregel.context import TaskContext


def emit(run: Run, mode: str, payload: Any) -> None:
    """Hand an event to whoever listens to its mode."""
    if mode in run.modes and run.emit is not None:
        run.emit((run.ns_path, mode, payload))


def _debug(run: Run, mode: str, step: int, kind: str, payload: Any) -> None:
    emit(run, mode, payload)
    if "debug" in run.modes:
        stamp = datetime.now(UTC).isoformat()
        emit(run, "debug", {"step": step, "timestamp": stamp, "type": kind, "payload": payload})


def values(run: Run, frame: Frame, extra: Mapping[str, Any] | None = None) -> None:
    """The state, as the graph's output channels show it."""
    run.shown = True
    if "values" not in run.modes:
        return
    found = frame.values(run.output_channels)
    if extra:
        found = {**found, **extra} if isinstance(found, dict) else dict(extra)
    emit(run, "values", found)


def static_pause(run: Run) -> None:
    """The run stops at a breakpoint of the caller's, with no question asked."""
    emit(run, "updates", {INTERRUPT: ()})


def task_started(run: Run, task: Task, context: TaskContext | None = None) -> None:
    """A task is about to run."""
    if task.hidden or not run.modes & {"tasks", "debug"}:
        return
    value = _input_of(run, task, context)
    payload = {"id": task.id, "name": task.name, "input": value, "triggers": tuple(task.triggers)}
    metadata = {**run.own_metadata, **task.node.metadata}
    if metadata:
        payload["metadata"] = metadata
    _debug(run, "tasks", task.step, "task", payload)


def tasks_started(run: Run, frame: Frame, tasks: Iterable[Task]) -> None:
    """A superstep's tasks are about to run."""
    if run.modes.isdisjoint(("tasks", "debug")):
        return
    from runtime.pregel.context import TaskContext

    for task in tasks:
        if not task.hidden:
            task_started(run, task, TaskContext(run, frame, task))


def _input_of(run: Run, task: Task, context: TaskContext | None) -> Any:
    if task.call is not None:
        return task.call
    if context is None:
        return None if task.given is MISSING else task.given
    return context.input()


def task_updates(run: Run, task: Task, *, cached: bool = False) -> None:
    """What a finished task wrote, by node."""
    if task.hidden or "updates" not in run.modes or task.writes[0][0] in (ERROR, INTERRUPT):
        return
    payload: dict[str, Any] = {task.name: updates_of(run, task)}
    if cached:
        payload["__metadata__"] = {"cached": True}
    emit(run, "updates", payload)


def updates_of(run: Run, task: Task) -> Any:
    """A task's writes to the output channels: a mapping, several if a key repeats, or None."""
    returned = next((value for channel, value in task.writes if channel == RETURN), MISSING)
    if returned is not MISSING:
        return returned
    outputs = run.output_channels
    if isinstance(outputs, str):
        found = [value for channel, value in task.writes if channel == outputs]
        return None if not found else found[0] if len(found) == 1 else found
    shown = [(channel, value) for channel, value in task.writes if channel in run.output_set]
    if not shown:
        return None
    together = dict(shown)
    return together if len(together) == len(shown) else [{channel: value} for channel, value in shown]


def task_result(run: Run, task: Task) -> None:
    """A task has finished."""
    if task.hidden or not run.modes & {"tasks", "debug"}:
        return
    payload: dict[str, Any] = {
        "id": task.id,
        "name": task.name,
        "error": None,
        "result": written(task.writes, run.topology.stream_channels),
        "interrupts": [],
    }
    _debug(run, "tasks", task.step, "task_result", payload)


def task_failed(run: Run, task: Task) -> None:
    """A task has failed."""
    if task.hidden or not run.modes & {"tasks", "debug"}:
        return
    payload: dict[str, Any] = {"id": task.id, "name": task.name, "error": task.error, "result": {}, "interrupts": []}
    _debug(run, "tasks", task.step, "task_result", payload)


def task_interrupted(run: Run, frame: Frame, task: Task) -> None:
    """A task asks something."""
    if task.hidden:
        return
    emit(run, "updates", {INTERRUPT: task.interrupts})
    values(run, frame, {INTERRUPT: task.interrupts})
    if run.modes & {"tasks", "debug"}:
        payload: dict[str, Any] = {
            "id": task.id,
            "name": task.name,
            "error": None,
            "result": {},
            "interrupts": [as_record(interrupt) for interrupt in task.interrupts],
        }
        _debug(run, "tasks", task.step, "task_result", payload)


def as_record(interrupt: Any) -> dict[str, Any]:
    """An interrupt as a plain mapping."""
    record = {"value": interrupt.value, "id": interrupt.id}
    schema = getattr(interrupt, "response_schema", None)
    if schema is not None:
        record["response_schema"] = schema
    return record


def result_of(writes: Sequence[Write], select: str | tuple[str, ...]) -> Any:
    """What a finished task gave: its return value, or what it put on the channels of the state."""
    for channel, value in writes:
        if channel in (RETURN, select):
            return value
    return None if isinstance(select, str) else written(writes, select)


def written(writes: Sequence[Write], select: str | Sequence[str]) -> dict[str, Any]:
    """What writes put on the selected channels; several on one channel are gathered in a list."""
    chosen = (select,) if isinstance(select, str) else select
    found: dict[str, Any] = {}
    many: set[str] = set()
    for channel, value in writes:
        if channel not in chosen and channel != RETURN:
            continue
        if channel not in found:
            found[channel] = value
        elif channel in many:
            found[channel]["$writes"].append(value)
        else:
            many.add(channel)
            found[channel] = {"$writes": [found[channel], value]}
    return found


def checkpoint(run: Run, frame: Frame, tasks: Sequence[Task]) -> None:
    """A checkpoint was made, and these tasks are next."""
    if run.saver is None or frame.config is None or not run.modes & {"checkpoints", "debug"}:
        return
    from runtime.pregel.snapshot import task_views

    payload = {
        "config": _public(run, frame.config),
        "parent_config": _public(run, frame.parent_config) if frame.parent_config else None,
        "values": frame.values(run.topology.stream_channels),
        "metadata": dict(frame.metadata),
        "next": [task.name for task in tasks],
        "tasks": [_task_view(view) for view in task_views(run, frame, tasks, _inner_configs(run, tasks))],
    }
    _debug(run, "checkpoints", frame.step - 1, "checkpoint", payload)


def _inner_configs(run: Run, tasks: Sequence[Task]) -> dict[str, Any]:
    """Where the state of each task's subgraph is to be found."""
    found = {}
    for task in tasks:
        if run.inner is not None and task.name in run.inner:
            conf = {"thread_id": run.thread_id, "checkpoint_ns": task.checkpoint_ns}
            found[task.id] = {CONF: conf}
    return found


def _public(run: Run, config: Any) -> Any:
    """The caller's config, pointing at a checkpoint."""
    conf = {**run.saver_keys, **config.get(CONF, {})}
    if run.checkpoint_map:
        conf["checkpoint_map"] = {**run.checkpoint_map, run.ns: conf.get(CONFIG_KEY_CHECKPOINT_ID)}
    return {CONF: conf}


def _task_view(view: Any) -> dict[str, Any]:
    shown: dict[str, Any] = {"id": view.id, "name": view.name}
    if view.error is not None:
        shown["error"] = view.error
    elif view.result is not None:
        shown["result"] = view.result
        shown["interrupts"] = tuple(as_record(interrupt) for interrupt in view.interrupts)
    else:
        shown["interrupts"] = tuple(as_record(interrupt) for interrupt in view.interrupts)
    shown["state"] = view.state
    return shown
