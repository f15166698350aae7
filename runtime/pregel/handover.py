"""Answers for tasks that took the place of others: on a fork's branch, or after an edit.

Such a task is the former one under a new id, so what is answered is asked again under another name. It is
given its answers before it runs, and runs inside it are pointed to where their former selves stood.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple

from runtime._constants import NS_END, NS_SEP, RESUME
from runtime.pregel.effects import Effect, Load, PutWrites
from runtime.pregel.frame import Frame
from runtime.pregel.model import Write
from runtime.pregel.plan import plan
from runtime.pregel.questions import TaskRecord, read_record
from runtime.pregel.run import Run
from runtime.pregel.task import Task, path_text
from runtime.types import interrupt_id


def past_edits(run: Run, frame: Frame) -> Generator[Effect, Any, None]:
    """Give tasks that were planned anew by an edit the answers to what they had asked before it."""
    config = frame.parent_config
    while config is not None:
        saved: CheckpointTuple | None = yield Load(config)
        if saved is None:
            return
        asked = read_record(saved.pending_writes or ())
        if any(record.interrupts for record in asked.values()):
            break
        config = saved.parent_config if saved.metadata.get("source") in ("update", "fork") else None
    else:
        return
    old = {task.path: task for task in plan(Frame.load(run.topology, saved), run.ns)}
    for task in plan(frame, run.ns):
        before = old.get(task.path)
        if before is not None:
            yield from hand_over(run, frame, before, task, asked.get(before.id))


def hand_over(
    run: Run, frame: Frame, before: Task, task: Task, record: TaskRecord | None
) -> Generator[Effect, Any, None]:
    """Give a task on a new branch the answers that its former self gets, and point inside it."""
    former_ns = before.checkpoint_ns
    if any(leads_to(former_ns, ns) or leads_to(strip_ids(former_ns), ns) for ns in run.targets):
        run.origins[task.id] = former_ns
    if record is None or not record.interrupts:
        return
    for index in range(len(record.answers) + 1):
        given = interrupt_id(former_ns, index)
        if given in run.answers:
            answers = [*record.answers[:index], run.answers[given]]
            yield from _save_writes(run, frame, task, [(RESUME, answers)])
            return
    if any(interrupt.id in run.answers for interrupt in record.interrupts):
        run.origins[task.id] = former_ns


def leads_to(ns: str, target: str) -> bool:
    """Whether a namespace is on the way to another."""
    return target == ns or target.startswith(f"{ns}{NS_SEP}")


def _save_writes(run: Run, frame: Frame, task: Task, writes: list[Write]) -> Generator[Effect, Any, None]:
    frame.pending.extend((task.id, channel, value) for channel, value in writes)
    if run.saver is not None and frame.config is not None:
        yield PutWrites(frame.config, writes, task.id, path_text(task.path))


def strip_ids(ns: str) -> str:
    """A namespace without task ids: the same for every run of the node."""
    return NS_SEP.join(part.split(NS_END)[0] for part in ns.split(NS_SEP))
