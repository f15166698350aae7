"""EXECUTE: run a superstep's tasks, and save each one's result as it ends.

Rule 1: nothing is performed here. Tasks are started, results received and writes saved by whoever
        carries out the effects.
Rule 2: a task whose result was saved before is not run again.
Rule 3: failures and interrupts are values. Siblings that are running finish and are saved; after a
        failure nothing more is started. Who raises, and when, is decided further out.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from runtime._constants import ERROR, ERROR_SOURCE_NODE, INTERRUPT, PULL
from runtime.errors import NodeError
from runtime.pregel import events
from runtime.pregel.cached import cache_entry, cache_key
from runtime.pregel.context import TaskContext
from runtime.pregel.effects import (
    CANCELLED,
    ESCAPED,
    FAILED,
    FINISHED,
    PAUSED,
    CacheGet,
    CacheSet,
    Effect,
    Halt,
    PutWrites,
    Receive,
    Result,
    Spawned,
    Start,
)
from runtime.pregel.frame import Frame
from runtime.pregel.model import Write
from runtime.pregel.questions import ASKED, PASSED, passed_id, passed_questions, questions_id, read_record
from runtime.pregel.record import savable
from runtime.pregel.refusals import placed, refused_tasks
from runtime.pregel.run import Run
from runtime.pregel.task import Place, Task, path_text


@dataclass(slots=True)
class Outcome:
    """What came of a superstep's tasks.

    `unsaved` holds finished tasks whose writes are to be saved together with the checkpoint.
    """

    failed: list[tuple[Task, BaseException]] = field(default_factory=list)
    paused: list[tuple[Task, tuple[Any, ...]]] = field(default_factory=list)
    escaped: BaseException | None = None
    unsaved: list[Task] = field(default_factory=list)
    interrupted: bool = False
    cancelled: bool = False

    @property
    def complete(self) -> bool:
        """Whether every task has a result, so that the superstep can be folded."""
        stopped = self.paused or self.interrupted or self.cancelled or self.escaped is not None
        return not self.failed and not stopped


def restore(frame: Frame, tasks: list[Task]) -> None:
    """Give tasks the results that were saved for them, and take up error handling where it stood."""
    if not frame.pending:
        return
    records = read_record(frame.pending)
    for task in list(tasks):
        record = records.get(task.id)
        if record is None:
            continue
        task.refusals = record.refusals
        if record.finished:
            task.writes = list(record.writes)
        elif record.source_node is not None and task.node.error_handler is not None:
            task.writes = [(ERROR, record.error)]
            handler = handler_task(frame, task, record.error)
            saved = records.get(handler.id)
            if saved is not None and saved.finished:
                handler.writes = list(saved.writes)
            tasks.append(handler)


def handler_task(frame: Frame, failed: Task, error: Any) -> Task:
    """The task of a node's error handler: same superstep, same input, told what went wrong."""
    name = failed.node.error_handler
    assert name is not None
    node = frame.topology.nodes[name]
    task = Task(
        node,
        name,
        (PULL, name, path_text(failed.path)),
        (),
        Place(failed.ns, failed.checkpoint_id, failed.step),
        given=failed.given,
    )
    task.source = failed
    task.refusals = refused_tasks(frame.pending).get(task.id, 0)
    task.error = error if isinstance(error, BaseException) else RuntimeError(str(error))
    return task


def execute(run: Run, frame: Frame, tasks: list[Task]) -> Generator[Effect, Any, Outcome]:
    """Run what has no result yet, and answer with what came of it."""
    outcome = Outcome()
    if run.cache is not None:
        yield from _from_cache(run, frame, tasks)
    todo = [task for task in tasks if not task.writes]
    if not todo:
        return outcome
    contexts = [_context(run, frame, task) for task in todo]
    if run.messages is not None:
        for context in contexts:
            run.messages.before(context)
    arrived = yield Start(contexts)
    superstep = _Superstep(run, frame, tasks, outcome, len(todo))
    while superstep.waiting:
        for item in arrived or (yield Receive()):
            yield from superstep.take(item)
        arrived = None
    return outcome


def _context(run: Run, frame: Frame, task: Task) -> TaskContext:
    context = TaskContext(run, frame, task)
    if task.source is not None:
        context.node_error = NodeError(node=task.source.name, error=task.error or RuntimeError("unknown error"))
    return context


def _from_cache(run: Run, frame: Frame, tasks: Sequence[Task]) -> Generator[Effect, Any, None]:
    """Fill in results that the cache knows, and tell the stream that they were not run."""
    keys = {}
    for task in tasks:
        if not task.writes and not task.refusals:  # the cache would only give the same result again
            key = cache_key(run, frame, task)
            if key is not None:
                keys[key] = task
    if not keys:
        return
    found = yield CacheGet(tuple(keys))
    for key, writes in found.items():
        task = keys[key]
        task.writes = [(channel, value) for channel, value in writes]
        events.task_updates(run, task, cached=True)


class _Superstep:
    """Takes results one by one, in order of arrival."""

    __slots__ = ("frame", "halted", "outcome", "run", "tasks", "waiting")

    def __init__(self, run: Run, frame: Frame, tasks: list[Task], outcome: Outcome, waiting: int) -> None:
        self.run = run
        self.frame = frame
        self.tasks = tasks
        self.outcome = outcome
        self.waiting = waiting
        self.halted = False

    def take(self, item: Result | Spawned) -> Iterable[Effect]:
        """Take something in, and answer with the effects that it has."""
        if isinstance(item, Spawned):
            self.waiting += 1
            events.task_started(self.run, item.context.task, item.context)
            return ()
        self.waiting -= 1
        kind = item.kind
        if kind == FINISHED:
            return self._finished(item)
        if kind == PAUSED:
            return self._paused(item)
        if kind == FAILED:
            return self._failed(item)
        if kind == ESCAPED:
            self.outcome.escaped = self.outcome.escaped or item.value
            return self._halt()
        if kind == CANCELLED:
            # A called task is its caller's to cancel; the caller goes on.
            self.outcome.cancelled = self.outcome.cancelled or not item.context.task.is_call
        return ()

    def _finished(self, item: Result) -> Generator[Effect, Any, None]:
        run, task = self.run, item.context.task
        task.writes = item.value
        run.topology.complete(task.writes)
        if run.saves_at_once and not self.waiting and not task.is_call and self.outcome.complete:
            self.outcome.unsaved.append(task)
            if item.context.control:
                yield from self.save(task, item.context.control)
        elif run.saver is not None:
            yield from self.save(task, [*item.context.control, *task.writes])
        if run.modes:
            if run.messages is not None:
                run.messages.after(item.context)
            events.task_updates(run, task)
            events.task_result(run, task)
        if run.cache is not None and not task.is_call:
            entry = cache_entry(run, self.frame, task)
            if entry is not None:
                yield CacheSet(entry)

    def _paused(self, item: Result) -> Generator[Effect, Any, None]:
        context, interrupts = item.context, item.value
        task = context.task
        task.interrupts = interrupts
        if not task.is_call:  # whoever called it pauses on the same question
            self.outcome.paused.append((task, interrupts))
        if not interrupts:
            self.outcome.interrupted = True
            yield from self._stopped(context)
            return
        yield from self._asked_again(task)
        if context.questions:  # first, so that a question that is saved is never without its record
            yield from self._record_questions(context)
        yield from self.save(task, [(INTERRUPT, interrupts), *context.control])
        if self.run.modes and not task.is_call:
            events.task_interrupted(self.run, self.frame, task)

    def _asked_again(self, task: Task) -> Generator[Effect, Any, None]:
        """Take back that the task's questions were answered, where one of them is asked after all."""
        _, known = passed_questions(self.frame.pending).get(task.id, (0, []))
        asked = {interrupt.id for interrupt in task.interrupts}
        if not asked.isdisjoint(known):
            yield from self._note_passed(task, [id for id in known if id not in asked])

    def _stopped(self, context: TaskContext) -> Generator[Effect, Any, None]:
        """Keep what a task that stops without a question was answered: it will be asked for it no more."""
        task = context.task
        if passed := [interrupt.id for interrupt in context.pending_interrupts()]:
            yield from self._note_passed(task, passed)
        if context.control:
            yield from self._record_questions(context)
            yield from self.save(task, context.control)

    def _note_passed(self, task: Task, ids: list[str]) -> Generator[Effect, Any, None]:
        number, known = passed_questions(self.frame.pending).get(task.id, (0, []))
        if set(ids) != set(known):
            note = [task.id, number + 1, ids]
            yield from self._put(passed_id(task.id, number + 1), task.path, [(PASSED, note)])

    def _record_questions(self, context: TaskContext) -> Generator[Effect, Any, None]:
        task, place = context.task, questions_id(context.task.id, len(context.answers))
        yield from self._put(place, task.path, [(ASKED, list(context.questions))])

    def _failed(self, item: Result) -> Generator[Effect, Any, None]:
        context, error = item.context, item.value
        task = context.task
        task.error = error
        if task.node.error_handler is not None and isinstance(error, Exception):
            yield from self.save(task, [(ERROR, error), (ERROR_SOURCE_NODE, task.name), *context.control])
            task.writes = [(ERROR, error)]
            events.task_failed(self.run, task)
            handler = handler_task(self.frame, task, error)
            self.tasks.append(handler)
            self.waiting += 1
            handler_context = _context(self.run, self.frame, handler)
            events.task_started(self.run, handler, handler_context)
            for result in (yield Start([handler_context])) or ():
                yield from self.take(result)
            return
        events.task_failed(self.run, task)
        if not task.is_call:
            self.outcome.failed.append((task, error))
            yield from self._halt()
        yield from self.save(task, [(ERROR, error), *context.control])

    def _halt(self) -> Generator[Effect, Any, None]:
        if not self.halted and self.waiting:
            self.halted = True
            yield Halt()

    def save(self, task: Task, writes: Iterable[Write]) -> Generator[Effect, Any, None]:
        """Save writes of a task on the checkpoint that it started from."""
        for place, part in placed(task, writes):
            yield from self._put(place, task.path, part)

    def _put(self, task_id: str, path: Any, writes: list[Write]) -> Generator[Effect, Any, None]:
        run, frame = self.run, self.frame
        if run.saver is None or frame.config is None:
            return
        writes = savable(frame, writes)
        frame.pending.extend((task_id, channel, value) for channel, value in writes)
        if run.saves:
            yield PutWrites(frame.config, writes, task_id, path_text(path))
        else:
            run.exit_writes.extend((task_id, channel, value) for channel, value in writes)
