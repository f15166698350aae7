"""What `get_state` shows: a checkpoint with its tasks, read through the same plan as a run.

A snapshot of the newest checkpoint tells how things are: finished tasks' results are in the values, `next`
lists what still has to run, and `interrupts` what still waits for an answer. A snapshot of an older one is
a record of its superstep: all its tasks, and all the questions they asked.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple

from runtime._constants import (
    CONF,
    CONFIG_KEY_CHECKPOINT_ID,
    CONFIG_KEY_CHECKPOINT_MAP,
    CONFIG_KEY_CHECKPOINT_NS,
    ERROR,
    NULL_TASK_ID,
)
from runtime.errors import CheckpointNotFoundError
from runtime.pregel.described import first_graph
from runtime.pregel.effects import Effect, Load
from runtime.pregel.events import result_of
from runtime.pregel.frame import Frame
from runtime.pregel.handover import strip_ids
from runtime.pregel.loading import load_frame
from runtime.pregel.plan import plan
from runtime.pregel.questions import TaskRecord, read_record
from runtime.pregel.run import Run
from runtime.pregel.start import bearer
from runtime.pregel.task import Task
from runtime.pregel.update import NextVersion, count_up, update
from runtime.types import Interrupt, PregelTask, StateSnapshot


def _no_new_version(current: Any) -> Any:
    """For looking: the state moves on, and nothing is numbered."""
    return current


def task_views(
    run: Run,
    frame: Frame,
    tasks: Iterable[Task],
    states: Mapping[str, Any] | None = None,
    *,
    live: bool = True,
    records: Mapping[str, TaskRecord] | None = None,
) -> list[PregelTask]:
    """The tasks of a superstep with what is known of each, in `records` if those were read already."""
    if records is None:
        records = read_record(frame.pending)
    views = []
    for task in tasks:
        record = records.get(task.id)
        error, result = None, None
        interrupts: tuple[Interrupt[Any], ...] = ()
        if record is not None:
            finished = record.finished
            error = None if finished else record.error
            interrupts = record.open(task.checkpoint_ns) if live else record.interrupts
            result = result_of(record.writes, run.topology.stream_channels) if finished else None
        state = (states or {}).get(task.id)
        views.append(PregelTask(task.id, task.name, task.path, error, interrupts, state, result))
    return views


def state_program(
    graph: Any, run: Run, config: RunnableConfig, *, recurse: bool = False
) -> Generator[Effect, Any, StateSnapshot]:
    """Load a checkpoint (the newest if the config names none) and show it.

    Raises:
        CheckpointNotFoundError: the config names a checkpoint that the thread does not have.
    """
    saved = yield Load(config)
    named = config[CONF].get(CONFIG_KEY_CHECKPOINT_ID)
    if saved is None and named:
        raise CheckpointNotFoundError(f"thread {config[CONF].get('thread_id')!r} has no checkpoint {named!r}")
    return (yield from show(graph, run, config, saved, recurse=recurse, live=not named))


def show(
    graph: Any,
    run: Run,
    config: RunnableConfig,
    saved: CheckpointTuple | None,
    *,
    recurse: bool,
    live: bool,
) -> Generator[Effect, Any, StateSnapshot]:
    """A checkpoint as a snapshot; an empty one where nothing was saved."""
    if saved is None:
        return StateSnapshot({}, (), config, None, None, None, (), ())
    frame = yield from load_frame(graph.topology, saved)
    ns = saved.config[CONF].get(CONFIG_KEY_CHECKPOINT_NS, "")
    tasks = plan_or_nothing(frame, ns)
    states = yield from _inner_states(run, saved, tasks, ns, recurse)
    apply_null_writes(frame)
    records = read_record(frame.pending)
    finished = [task for task in tasks if _take_saved(records, task)] if live else []
    if finished:
        frame = _with(frame, finished)
    views = task_views(run, frame, tasks, states, live=live, records=records)
    done = {task.id for task in finished}
    return StateSnapshot(
        frame.values(graph.topology.stream_channels),
        tuple(task.name for task in tasks if task.id not in done),
        with_map(saved.config, saved.metadata),
        saved.metadata,
        saved.checkpoint["ts"],
        with_map(saved.parent_config, saved.metadata) if saved.parent_config else None,
        tuple(views),
        tuple(interrupt for view in views for interrupt in view.interrupts),
    )


def plan_or_nothing(frame: Frame, ns: str) -> list[Task]:
    """The next tasks; none where the checkpoint names nodes that the graph no longer has."""
    try:
        return plan(frame, ns)
    except Exception:  # reading must work also when running could not: the run itself will say why
        return []


def apply_null_writes(frame: Frame, next_version: NextVersion = _no_new_version) -> None:
    """Fold in writes from outside that were saved without a checkpoint of their own."""
    writes = [(channel, value) for task, channel, value in frame.pending if task == NULL_TASK_ID]
    if writes:
        frame.advance(update(frame, [bearer(writes)], next_version))


def _take_saved(records: Mapping[str, TaskRecord], task: Task) -> bool:
    record = records.get(task.id) if records else None
    if record is None or not record.finished:
        return False
    task.writes = [write for write in record.writes if write[0] != ERROR]
    return True


def _with(frame: Frame, finished: Sequence[Task]) -> Frame:
    """The state with finished tasks' writes; as it is if the barrier would refuse them."""
    twin = frame.twin()
    try:
        twin.advance(update(twin, finished, lambda current: count_up(None) if current is None else current))
    except Exception:  # shown without them; the error is the superstep's, not the reader's
        return frame
    return twin


def _inner_states(
    run: Run, saved: CheckpointTuple, tasks: Iterable[Task], ns: str, recurse: bool
) -> Generator[Effect, Any, dict[str, Any]]:
    found: dict[str, Any] = {}
    for task in tasks:
        subgraph = first_graph(task.node)
        if subgraph is None:
            continue
        inner_ns = strip_ids(task.checkpoint_ns) if subgraph.checkpointer is True else task.checkpoint_ns
        conf = {"thread_id": saved.config[CONF]["thread_id"], CONFIG_KEY_CHECKPOINT_NS: inner_ns}
        if recurse:
            found[task.id] = yield from state_program(subgraph, run, {CONF: conf}, recurse=True)
        else:
            found[task.id] = {CONF: conf}
    return found


def with_map(config: RunnableConfig, metadata: Mapping[str, Any] | None) -> RunnableConfig:
    """A checkpoint's config, with the checkpoints of the runs around it."""
    parents = (metadata or {}).get("parents")
    conf = config[CONF]
    if not parents:
        return {CONF: conf}
    mine = {conf.get(CONFIG_KEY_CHECKPOINT_NS, ""): conf.get(CONFIG_KEY_CHECKPOINT_ID)}
    return {CONF: {**conf, CONFIG_KEY_CHECKPOINT_MAP: {**parents, **mine}}}
