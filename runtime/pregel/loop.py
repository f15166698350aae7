"""The loop: plan, execute, update, until nothing is woken.

It is a generator of effects (see `effects`): it decides everything and does nothing, so that one loop
serves blocking and asyncio drivers alike. Where a run stands is in the checkpoint and its pending
writes, never in this generator: any checkpoint is enough to start another one.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from runtime._constants import ERROR, NS_END, NS_SEP
from runtime.constants import START
from runtime.errors import GraphDrained, GraphInterrupt, GraphRecursionError, InvalidUpdateError, add_note, text_of
from runtime.pregel import events, lifecycle
from runtime.pregel.effects import Effect, Flush, Put, PutWrites
from runtime.pregel.execute import Outcome, execute, restore
from runtime.pregel.frame import Frame
from runtime.pregel.halting import halts, on_the_way, took_input, waiting
from runtime.pregel.model import Write
from runtime.pregel.plan import plan
from runtime.pregel.record import addressed, checkpoint_of, commit, save_tasks
from runtime.pregel.refusals import barrier_id, folded_ids, refusal
from runtime.pregel.run import Run
from runtime.pregel.start import begin
from runtime.pregel.task import Task
from runtime.pregel.update import REFUSED_TASKS, update

Loop = Generator[Effect, Any, None]


def supersteps(run: Run) -> Loop:
    """Run a graph to its end, a pause or a failure.

    Raises:
        GraphRecursionError: more supersteps were woken than `recursion_limit` allows.
        GraphDrained: the run was asked to stop between supersteps.
        GraphInterrupt: a run inside another one has paused; it is the outer one's to tell.
    """
    frame = shown = yield from begin(run)
    yield from lifecycle.resumed(run, frame)
    if took_input(run, frame):
        halts(run, frame, (), None)
    try:
        while run.status == "running" and (tasks := next_tasks(run, frame)):
            chosen = on_the_way(run, tasks)
            outcome = yield from execute(run, frame, chosen)
            if not outcome.complete:
                shown = yield from incomplete(run, frame, tasks, outcome)
                run.interrupts += waiting(frame, tasks, chosen)
                break
            if chosen is not tasks:
                yield from save_tasks(frame, outcome.unsaved)
                run.status, run.interrupts = "paused", waiting(frame, tasks, chosen)
                break
            before = frame.twin() if run.halting is not None else None
            yield from fold(run, frame, tasks, outcome)
            if stops_after(run, frame, tasks) or halts(run, frame, tasks, before):
                break
    finally:
        if run.saver is not None and run.durability == "exit":
            yield from save_at_exit(run, frame)
    yield Flush()
    yield from lifecycle.stopped(run, frame)
    finish(run, shown)


def next_tasks(run: Run, frame: Frame) -> list[Task]:
    """PLAN: the next superstep's tasks, with results that were saved for them. None at the end or a stop."""
    tasks = plan(frame, run.ns)
    if not run.replaying:
        restore(frame, tasks)
    events.checkpoint(run, frame, tasks)
    if not tasks:
        run.status = "done"
        return []
    if stops_before(run, frame, tasks):
        return []
    for task in tasks:
        if task.writes:
            events.task_updates(run, task, cached=True)
    events.tasks_started(run, frame, on_the_way(run, tasks))
    return tasks


def fold(run: Run, frame: Frame, tasks: Sequence[Task], outcome: Outcome) -> Loop:
    """UPDATE, and its checkpoint. If a channel refuses, the results are kept and nothing is applied."""
    try:
        changes = update(frame, tasks, run.next_version)
    except Exception as error:
        yield from save_tasks(frame, outcome.unsaved)
        if run.saves and frame.config is not None:
            ids = getattr(error, REFUSED_TASKS, ())
            record: list[Write] = [(ERROR, error), refusal(task for task in tasks if task.id in ids)]
            yield PutWrites(frame.config, record, barrier_id(frame), "")
        raise
    frame.advance(changes)
    if run.is_node and any(task.name == START for task in tasks):
        frame.mark_input()
    frame.pending = []
    run.exit_writes.clear()
    folded = folded_ids(tasks) if run.saver is not None else None
    yield from commit(run, frame, "loop", outcome.unsaved, folded=folded)
    if not changes.updated.isdisjoint(run.output_set):
        events.values(run, frame)


def stops_before(run: Run, frame: Frame, tasks: Sequence[Task]) -> bool:
    """Whether the run ends here although tasks are woken; says why in `run.status`."""
    if run.cancelled:
        run.status = "cancelled"
    elif frame.step >= run.stop:
        run.status = "out_of_steps"
    elif is_stopped(run.interrupt_before, frame, tasks):
        run.status = "interrupt_before"
    elif run.control is not None and run.control.drain_requested:
        run.status = "draining"
    else:
        return False
    return True


def stops_after(run: Run, frame: Frame, tasks: Sequence[Task]) -> bool:
    """Whether the run ends after this superstep, at a breakpoint of the caller's."""
    run.replaying = run.resuming = False
    if not is_stopped(run.interrupt_after, frame, tasks):
        return False
    run.status = "interrupt_after"
    events.checkpoint(run, frame, plan(frame, run.ns))
    return True


def is_stopped(names: Sequence[str] | str, frame: Frame, tasks: Sequence[Task]) -> bool:
    """Whether a breakpoint of the caller's is reached: on a named node, and not passed already."""
    if not names:
        return False
    if not any(not task.hidden and (names == "*" or task.name in names) for task in tasks):
        return False
    passed = frame.seen.get("__interrupt__", {})
    return any(channel not in passed or version > passed[channel] for channel, version in frame.versions.items())


def incomplete(run: Run, frame: Frame, tasks: Sequence[Task], outcome: Outcome) -> Generator[Effect, Any, Frame]:
    """A superstep that cannot be folded yet: raise what went wrong, or answer with what to show."""
    yield from save_tasks(frame, outcome.unsaved)
    if outcome.failed:
        yield Flush()
        run.status = "failed"
        raise first_failure(outcome)
    if outcome.escaped is not None:
        run.status = "escaped"
        raise outcome.escaped
    if outcome.cancelled:
        run.status = "cancelled"
        return frame
    run.status = "paused"
    run.interrupts = [interrupt for _, interrupts in outcome.paused for interrupt in interrupts]
    return _with_finished(run, frame, tasks)


def first_failure(outcome: Outcome) -> BaseException:
    """The first error, with the other tasks' errors attached as notes."""
    (_, first), *others = outcome.failed
    for task, error in others:
        if error is not first:
            add_note(first, f"also failed: node {task.name!r} ({type(error).__name__}: {text_of(error)})")
    return first


def _with_finished(run: Run, frame: Frame, tasks: Sequence[Task]) -> Frame:
    """The state that a paused run shows: with what finished tasks have written so far."""
    finished = [task for task in tasks if task.writes]
    if not finished or not run.root:
        return frame
    try:
        changes = update(frame, finished, run.next_version)
    except InvalidUpdateError:  # the barrier will say so, when the superstep is complete
        return frame
    shown = frame.twin()
    shown.advance(changes)
    if not changes.updated.isdisjoint(run.output_set):
        events.values(run, shown)
    return shown


def save_at_exit(run: Run, frame: Frame) -> Loop:
    """Durability "exit": one checkpoint for the whole run, with what its last superstep has finished."""
    nested = not run.root
    if nested and run.status == "done" and _ends_with_task(run.ns):
        return
    if not frame.checkpoint_id or frame.config is None:
        return
    base, known = run.base
    changed = {k: v for k, v in frame.versions.items() if known.get(k) != v}
    before = base if base is not None else run.at(None)
    if base is None or base["configurable"].get("checkpoint_id") != frame.checkpoint_id:
        metadata = dict(frame.metadata)
        yield Put(addressed(run, before), checkpoint_of(frame), metadata, changed or dict(frame.versions))
    by_task: dict[str, list[tuple[str, Any]]] = {}
    for task_id, channel, value in run.exit_writes:
        by_task.setdefault(task_id, []).append((channel, value))
    for task_id, writes in by_task.items():
        yield PutWrites(frame.config, writes, task_id, "")


def _ends_with_task(ns: str) -> bool:
    """Whether the namespace belongs to one task, and not to a node for good."""
    return any(NS_END in part for part in ns.split(NS_SEP))


def finish(run: Run, frame: Frame) -> None:
    """The end: what the run gives, or what it raises."""
    if run.status == "out_of_steps":
        raise GraphRecursionError(
            f"graph {run.name!r} used its {run.recursion_limit} supersteps and more are woken; "
            "raise recursion_limit in the config, or look for the condition that should end the loop. "
            "The thread can be resumed with invoke(None, config)"
        )
    if run.status == "draining":
        raise GraphDrained(run.control.drain_reason or "shutdown")
    if run.status in ("interrupt_before", "interrupt_after"):
        if not run.root:
            raise GraphInterrupt(())
        events.static_pause(run)
    if run.status == "paused" and run.root and not run.interrupts:
        events.static_pause(run)
    if run.status == "paused" and not run.root:
        raise GraphInterrupt(tuple(run.interrupts))
    if run.shown:
        run.output = frame.values(run.output_channels)
    if run.is_node:
        run.unchanged = frame.unchanged()


__all__ = ("is_stopped", "supersteps")
