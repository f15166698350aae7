"""EDIT: a change from outside, as if a node had just returned it.

An edit is a finished task that never ran. It goes through the same writers, branches and update as a run,
and becomes a checkpoint of its own; the one it was made on stays as it is.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple

from runtime._constants import CONF, CONFIG_KEY_CHECKPOINT_ID, INPUT, INTERRUPT
from runtime.constants import END
from runtime.errors import CheckpointNotFoundError, InvalidUpdateError
from runtime.pregel.context import TaskContext
from runtime.pregel.effects import Effect, Load, Newest, Put, PutWrites, Settle
from runtime.pregel.frame import Frame
from runtime.pregel.loading import load_frame
from runtime.pregel.plan import plan
from runtime.pregel.questions import read_record
from runtime.pregel.record import addressed, advance_id, checkpoint_of, commit
from runtime.pregel.run import Run
from runtime.pregel.snapshot import apply_null_writes, with_map
from runtime.pregel.start import bearer, input_writes
from runtime.pregel.task import Place, Task, path_text
from runtime.pregel.update import update
from runtime.types import StateUpdate

COPY = "__copy__"

Program = Generator[Effect, Any, RunnableConfig]


@dataclass(slots=True)
class Edited:
    """An edit that was not saved: the state it would make, and the tasks that carry it."""

    frame: Frame
    tasks: list[Task]
    versions: dict[str, Any]


def edit_program(run: Run, supersteps: Sequence[Sequence[StateUpdate]]) -> Program:
    """Apply edits, one checkpoint for each superstep of them. Answers with the last one's config.

    Raises:
        ValueError: there is nothing to apply.
        InvalidUpdateError: an edit names no or an unknown node, or a channel refuses its value.
        CheckpointNotFoundError: the config names a checkpoint that the thread does not have.
    """
    if not supersteps or any(not updates for updates in supersteps):
        what = "updates" if supersteps else "supersteps"
        raise ValueError(f"No {what} provided: bulk_update_state needs a superstep at least, and an update in each")
    checkpoint_id = run.checkpoint_id
    config: RunnableConfig = run.at(checkpoint_id)
    for updates in supersteps:
        updates = [StateUpdate(*update) for update in updates]
        config = yield from _superstep(run, config, updates)
    return config


def _superstep(run: Run, config: RunnableConfig, updates: Sequence[StateUpdate]) -> Program:
    saved = yield from load_named(run, config)
    frame = yield from load_frame(run.topology, saved)
    if saved is None:
        frame.step = -1
    as_node = updates[0].as_node
    if as_node == COPY:
        _alone(updates, "copying a checkpoint")
        return (yield from _copy(run, frame, saved, updates[0].values))
    if as_node == INPUT:
        _alone(updates, "giving an input")
        return (yield from _as_input(run, frame, saved, updates[0].values))
    if as_node == END and updates[0].values is None:
        _alone(updates, "clearing the tasks")
        return (yield from _clear(run, frame, saved))
    edited = yield from apply_edits(run, frame, updates)
    yield from _save_edits(run, saved, edited.tasks)
    newest = yield from _head_id(run, saved)
    return (yield from _commit(run, frame, saved, "update", newest))


def load_named(run: Run, config: RunnableConfig) -> Generator[Effect, Any, CheckpointTuple | None]:
    """The checkpoint that a config names, or the newest; a name that is not there is refused."""
    named = config[CONF].get(CONFIG_KEY_CHECKPOINT_ID)
    saved: CheckpointTuple | None = yield Load(config)
    if saved is None and named:
        raise CheckpointNotFoundError(
            f"thread {run.thread_id!r} has no checkpoint {named!r}; nothing was written. "
            "get_state_history() lists the checkpoints that it has"
        )
    return saved


def _alone(updates: Sequence[StateUpdate], what: str) -> None:
    if len(updates) > 1:
        raise InvalidUpdateError(f"{what} goes with no other update; got {len(updates)} in one superstep")


def apply_edits(run: Run, frame: Frame, updates: Sequence[StateUpdate]) -> Generator[Effect, Any, Edited]:
    """Fold edits into the frame through their nodes' writers and branches; saves nothing."""
    pending: dict[str, list[Task]] = {}
    for task in plan(frame, run.ns) if frame.checkpoint_id else ():
        pending.setdefault(task.name, []).append(task)
    known = read_record(frame.pending)
    apply_null_writes(frame, run.next_version)
    tasks = []
    for index, change in enumerate(updates):
        name = _author(run, frame, change.as_node, len(updates))
        task = Task(
            run.topology.nodes[name],
            name,
            (INTERRUPT, index),
            (INTERRUPT,),
            Place(run.ns, frame.checkpoint_id, frame.step),
        )
        waiting = pending.get(name)
        former = waiting.pop(0) if waiting else None
        if change.task_id:
            task.take_id(change.task_id)
        elif former is not None and former.id not in known:
            task.take_id(former.id)
        task.writes = yield Settle(TaskContext(run, frame, task), change.values)
        tasks.append(task)
    changes = update(frame, tasks, run.next_version)
    frame.advance(changes)
    frame.updated = None  # what waited before the edit may still run, so every node is looked at
    return Edited(frame, tasks, changes.versions)


def _author(run: Run, frame: Frame, as_node: str | None, count: int) -> str:
    nodes = run.topology.nodes
    if as_node is None and count == 1:
        as_node, candidates = last_writer(run, frame)
        if as_node is None:
            raise InvalidUpdateError(
                "it is ambiguous whose update this is: "
                + (f"{', '.join(map(repr, candidates))} wrote last, in one superstep" if candidates else "nothing ran")
                + "; pass as_node"
            )
    if as_node is None:
        raise InvalidUpdateError("several updates in one superstep each need an as_node")
    if as_node not in nodes:
        known = ", ".join(repr(name) for name in nodes if not name.startswith("__"))
        raise InvalidUpdateError(f"as_node={as_node!r} is no node of graph {run.name!r}; it has {known}")
    return as_node


def last_writer(run: Run, frame: Frame) -> tuple[str | None, list[str]]:
    """The node that wrote last, or None and the nodes that it may have been."""
    nodes, inputs = run.topology.nodes, run.topology.input_channels
    if len(nodes) == 1:
        return next(iter(nodes)), []
    latest = {name: max(seen.values()) for name, seen in frame.seen.items() if seen and name in nodes}
    if not latest:
        start = inputs if isinstance(inputs, str) and inputs in nodes else None
        return start, []
    newest = max(latest.values())
    found = sorted(name for name, version in latest.items() if version == newest)
    return (found[0], found) if len(found) == 1 else (None, found)


def _save_edits(run: Run, saved: CheckpointTuple | None, tasks: Sequence[Task]) -> Generator[Effect, Any, None]:
    """Record what the edit wrote, and as whom, on the checkpoint that it was made on."""
    if saved is None:
        return
    for task in tasks:
        if task.writes:
            yield PutWrites(saved.config, list(task.writes), task.id, path_text((*task.path, task.name)))


def _head_id(run: Run, saved: CheckpointTuple | None) -> Generator[Effect, Any, str | None]:
    if saved is None:
        return None
    newest: str | None = yield Newest(run.at(None))
    return newest


def _commit(
    run: Run,
    frame: Frame,
    saved: CheckpointTuple | None,
    source: str,
    newest: str | None,
) -> Program:
    parents = (saved.metadata or {}).get("parents", {}) if saved is not None else run.checkpoint_map
    run.checkpoint_map = parents
    yield from commit(run, frame, source, (), newest)
    assert frame.config is not None
    return with_map(_told(frame.config), frame.metadata)


def _told(config: RunnableConfig) -> RunnableConfig:
    return {CONF: dict(config[CONF])}


def _clear(run: Run, frame: Frame, saved: CheckpointTuple | None) -> Program:
    """Take what finished, drop what did not, and leave nothing to run."""
    tasks = plan(frame, run.ns) if saved is not None else []
    records = read_record(frame.pending)
    apply_null_writes(frame, run.next_version)
    for task in tasks:
        record = records.get(task.id)
        if record is not None and record.finished:
            task.writes = list(record.writes)
    changes = update(frame, tasks, run.next_version)
    frame.advance(changes)
    newest = yield from _head_id(run, saved)
    return (yield from _commit(run, frame, saved, "update", newest))


def _as_input(run: Run, frame: Frame, saved: CheckpointTuple | None, values: Any) -> Program:
    writes = input_writes(run, values)
    if not writes:
        raise InvalidUpdateError(f"an input for graph {run.name!r} was given no value: {values!r}")
    changes = update(frame, [bearer(writes)], run.next_version)
    frame.advance(changes)
    newest = yield from _head_id(run, saved)
    return (yield from _commit(run, frame, saved, "input", newest))


def _copy(run: Run, frame: Frame, saved: CheckpointTuple | None, values: Any) -> Program:
    """A sibling of the checkpoint: same state, same parent; and edits on it, if any are given."""
    if saved is None:
        raise InvalidUpdateError(f"thread {run.thread_id!r} has no checkpoint to copy")
    newest = yield from _head_id(run, saved)
    advance_id(run, frame, newest)
    parents = (saved.metadata or {}).get("parents", {})
    frame.metadata = {"source": "fork", "step": frame.step, "parents": parents}
    before = saved.parent_config or run.at(None)
    yield Put(addressed(run, before), checkpoint_of(frame), dict(frame.metadata), dict(frame.versions))
    config = with_map(_told(run.at(frame.checkpoint_id)), frame.metadata)
    if not isinstance(values, list) or not values:
        return config
    updates = []
    for item in values:
        if not isinstance(item, Sequence) or isinstance(item, str):
            raise InvalidUpdateError(f"an update of a copied checkpoint is (values, as_node); got {item!r}")
        updates.append(StateUpdate(item[0], item[1]))
    return (yield from _superstep(run, run.at(frame.checkpoint_id), updates))


__all__ = ("COPY", "Edited", "apply_edits", "edit_program", "last_writer", "load_named")
