"""The blocking driver: carries out the loop's effects with threads.

It knows no policy. A lone task runs on the calling thread; several are drawn from one list by as many
threads as the run allows; whatever nodes stream arrives in the same inbox as their results.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextvars import Context, copy_context
from queue import Empty, SimpleQueue
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from runtime.errors import add_note
from runtime.pregel import effects as fx
from runtime.pregel.call import call, perform, settle
from runtime.pregel.context import TaskContext
from runtime.pregel.lifecycle import tell
from runtime.pregel.program import Program
from runtime.pregel.run import Run
from runtime.pregel.savers import any_child, id_of, without_id, written_by
from runtime.pregel.workers import WORKERS

DEFAULT_CONCURRENCY = 32
"""Tasks of one superstep that run at once when the config does not say `max_concurrency`."""

Event = tuple[tuple[str, ...], str, Any]


class Behind:
    """Saves in the background, in order, on one thread; errors come out at the next call."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], Any] | None] = SimpleQueue()
        self._error: BaseException | None = None
        self._busy = 0
        self._changed = threading.Condition()
        WORKERS.submit(self._work)

    def put(self, job: Callable[[], Any]) -> None:
        """Queue a save."""
        self.check()
        with self._changed:
            self._busy += 1
        self._jobs.put(job)

    def check(self) -> None:
        """Raise what went wrong since the last call."""
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    def wait(self) -> None:
        """Wait until everything queued was saved, or failed."""
        with self._changed:
            self._changed.wait_for(lambda: self._busy == 0)

    def flush(self) -> None:
        """Wait until everything queued was saved."""
        self.wait()
        self.check()

    def close(self) -> None:
        """Wait until all is saved, and let the thread go. An error is raised, or noted on the one the run ends with."""
        self._jobs.put(None)
        with self._changed:
            self._changed.wait_for(lambda: self._busy == 0)
        ending = sys.exc_info()[1]
        if self._error is not None and ending is not None:
            add_note(ending, f"saving failed as well: {self._error!r}")
        else:
            self.check()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            if self._error is None:
                try:
                    job()
                except BaseException as error:  # handed to the run, which raises it
                    self._error = error
            with self._changed:
                self._busy -= 1
                self._changed.notify_all()


class Blocking:
    """Carries out effects for one run."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.inbox: SimpleQueue[Any] = SimpleQueue()
        self.todo: deque[tuple[TaskContext, Context]] = deque()
        self.chunks: deque[Event] = deque()
        self.results: list[Any] = []
        self.deadline: float | None = None
        self._behind: Behind | None = None
        self._submitted: deque[Any] = deque()
        self._submits = run.durability == "async" and hasattr(run.saver, "submit_step")
        self._later = run.durability == "async" and not isinstance(run.saver, InMemorySaver)
        self._first = True

    def carry_out(self, effect: Any) -> Any:
        """Do what an effect says, and answer with what came of it."""
        return _PERFORM[type(effect)](self, effect)

    # --- tasks ----------------------------------------------------------------------------------

    def _start(self, effect: fx.Start) -> list[Any] | None:
        run, contexts = self.run, effect.contexts
        if run.step_timeout is not None:
            self.deadline = time.monotonic() + run.step_timeout
        alone = len(contexts) == 1 and not self.todo
        if alone and not run.live and run.step_timeout is None and not contexts[0].task.node.spawns:
            result = copy_context().run(call, contexts[0])
            if self.inbox.empty():
                return [result]
            self.inbox.put(result)  # after what it called, which is to be taken first
            return None
        self.todo.extend((context, copy_context()) for context in contexts)
        for _ in range(min(len(contexts), run.max_concurrency or DEFAULT_CONCURRENCY)):
            self.submit(self._draw)
        return None

    def submit(self, job: Callable[[], None]) -> None:
        """Run a job on a thread of the run's executor."""
        if self.run.executor is None:
            WORKERS.submit(job)
        else:
            self.run.executor.submit(job)

    def _draw(self) -> None:
        while True:
            try:
                context, around = self.todo.popleft()
            except IndexError:
                return
            self.inbox.put(around.run(call, context))

    def spawn(self, context: TaskContext, done: Callable[[fx.Result], None]) -> None:
        """Run a task that a running task calls; `done` is told, on whatever thread, when it has ended."""
        around = copy_context()
        self.inbox.put(fx.Spawned(context))

        def job() -> None:
            result = around.run(call, context)
            self.inbox.put(result)
            done(result)

        self.submit(job)

    def _receive(self, _effect: fx.Receive) -> list[Any]:
        """Wait for something to arrive; results are returned, streamed chunks are set aside."""
        self._take(self._next())
        return self._arrived()

    def leftover(self) -> deque[Event]:
        """All chunks that are left, those included that came after the last result."""
        self.results = self._arrived()
        return self.chunks

    def _settle(self, effect: fx.Settle) -> Any:
        return copy_context().run(perform, effect.context, settle(effect.context, effect.value))

    def _next(self) -> Any:
        if self.deadline is None:
            return self.inbox.get()
        try:
            return self.inbox.get(timeout=max(0.0, self.deadline - time.monotonic()))
        except Empty:
            self.todo.clear()
            raise TimeoutError(
                f"a superstep of graph {self.run.name!r} took longer than its step_timeout of "
                f"{self.run.step_timeout} s; what its nodes still do is dropped"
            ) from None

    def _take(self, item: Any) -> None:
        (self.chunks if type(item) is tuple else self.results).append(item)

    def _arrived(self) -> list[Any]:
        while True:
            try:
                self._take(self.inbox.get_nowait())
            except Empty:
                found, self.results = self.results, []
                return found

    def _halt(self, _effect: fx.Halt) -> None:
        while self.todo:
            try:
                context, _ = self.todo.popleft()
            except IndexError:
                return
            self.inbox.put(fx.Result(context, fx.CANCELLED, None))

    # --- saver and cache ------------------------------------------------------------------------

    def saved(self) -> None:
        """Wait, on another thread, until all that was to be saved so far is; what went wrong is raised by the run."""
        if self._behind is not None:
            self._behind.wait()

    def _outer_saved(self) -> None:
        """What a run inside another one saves hangs on the outer one's checkpoint, which therefore comes first."""
        self._first = False
        outer = self.run.parent.run.driver if self.run.parent is not None else None
        if outer is not None and getattr(outer, "thread", None) != threading.get_ident():
            outer.saved()

    def _save(self, job: Callable[[], Any]) -> None:
        if self._first:
            self._outer_saved()
        if not self._later:
            job()
            return
        if self._behind is None:
            self._behind = Behind()
        self._behind.put(job)

    def _put(self, effect: fx.Put) -> None:
        saver: Any = self.run.saver
        step = (effect.config, effect.checkpoint, effect.metadata, effect.new_versions)
        if self._submits:
            self._check()
            if self._first:
                self._outer_saved()
            self._submitted.append(saver.submit_step(*step, effect.writes, **effect.of_step))
        elif hasattr(saver, "put_step"):
            self._save(lambda: saver.put_step(*step, effect.writes, **effect.of_step))
        else:
            self._save(lambda: saver.put(*step))

    def _check(self) -> None:
        """Raise what went wrong with a save that was handed over to the saver."""
        while self._submitted and self._submitted[0].done():
            self._submitted.popleft().result()

    def _put_writes(self, effect: fx.PutWrites) -> None:
        saver: Any = self.run.saver
        if self._submits:
            self._check()
            if self._first:
                self._outer_saved()
            written = (effect.config, effect.writes, effect.task_id, effect.task_path)
            self._submitted.append(saver.submit_writes(*written))
            return
        self._save(lambda: saver.put_writes(*written_by(saver.put_writes, effect)))

    def _flush(self, _effect: fx.Flush | None = None) -> None:
        while self._submitted:
            self._submitted.popleft().result()
        if self._behind is not None:
            self._behind.flush()

    def _load(self, effect: fx.Load) -> Any:
        self._flush()
        return self.run.saver.get_tuple(effect.config)  # type: ignore[union-attr]

    def _newest(self, effect: fx.Newest) -> str | None:
        self._flush()
        saver: Any = self.run.saver
        if hasattr(saver, "newest_id"):
            found: str | None = saver.newest_id(effect.config)
            return found
        return id_of(saver.get_tuple(effect.config))

    def _history(self, effect: fx.History) -> list[Any]:
        self._flush()
        saver: Any = self.run.saver
        options = {"filter": effect.filter, "before": effect.before, "limit": effect.limit}
        return list(saver.list(effect.config, **options))

    def _replay(self, effect: fx.Replay) -> Any:
        saver: Any = self.run.saver
        return saver.get_delta_channel_history(config=effect.saved.config, channels=effect.channels)

    def _has_children(self, effect: fx.HasChildren) -> bool:
        saver: Any = self.run.saver
        if hasattr(saver, "has_children"):
            return bool(saver.has_children(effect.saved.config))
        return any_child(effect.saved, saver.list(without_id(effect.saved.config)))

    def _cache_get(self, effect: fx.CacheGet) -> Any:
        return self.run.cache.get(list(effect.keys))  # type: ignore[union-attr]

    def _cache_set(self, effect: fx.CacheSet) -> None:
        self.run.cache.set(dict(effect.entries))  # type: ignore[union-attr]

    def close(self) -> None:
        """Give back what the run held, once everything handed over is saved.

        What went wrong then is raised, or noted on the error that the run is ending with anyway.
        """
        ending = sys.exc_info()[1]
        try:
            while self._submitted:
                self._submitted.popleft().result()
        except Exception as error:  # the run's own error comes first
            if ending is None:
                raise
            add_note(ending, f"saving failed as well: {error!r}")
        if self._behind is not None:
            self._behind.close()
            self._behind = None


_PERFORM: dict[type, Callable[[Any, Any], Any]] = {  # not of each driver: most runs are short
    fx.Put: Blocking._put,
    fx.PutWrites: Blocking._put_writes,
    fx.Start: Blocking._start,
    fx.Receive: Blocking._receive,
    fx.Load: Blocking._load,
    fx.Newest: Blocking._newest,
    fx.Replay: Blocking._replay,
    fx.History: Blocking._history,
    fx.HasChildren: Blocking._has_children,
    fx.Halt: Blocking._halt,
    fx.Flush: Blocking._flush,
    fx.Settle: Blocking._settle,
    fx.CacheGet: Blocking._cache_get,
    fx.CacheSet: Blocking._cache_set,
    fx.Tell: lambda driver, effect: tell(driver.run, effect),
}


def drive(run: Run, effects: Any) -> Generator[Event, None, None]:
    """Run a loop to its end, and yield what it streams. Closing the generator stops the run cleanly."""
    driver, program = run.driver, Program(effects)
    closing: GeneratorExit | None = None
    try:
        while (effect := program.advance()) is not None:
            try:
                while program.open:
                    if driver.chunks and closing is None:
                        yield from drain(driver.chunks)
                    program.answer(driver.carry_out(effect))
            except GeneratorExit as close:
                # Nothing more is started; what runs ends and is saved, and the loop stops there.
                closing = close
                _wind_down(run, program, effect)
            except BaseException as error:  # the loop decides what it means
                program.fail(error)
        if closing is None:
            yield from drain(driver.leftover())
    finally:
        driver.close()
    if closing is not None:
        raise closing


def _wind_down(run: Run, program: Program, effect: Any) -> None:
    run.cancelled = True
    run.driver.carry_out(fx.Halt())
    while program.open:
        program.answer(run.driver.carry_out(effect))


def drain(chunks: deque[Event]) -> Iterator[Event]:
    """Yield and forget what has gathered."""
    while chunks:
        yield chunks.popleft()


def carry_out(driver: Blocking, effects: Any) -> Any:
    """Carry out a program that starts no tasks, and answer with what it returns."""
    program = Program(effects)
    while (effect := program.advance()) is not None:
        try:
            program.answer(driver.carry_out(effect))
        except BaseException as error:  # the program decides what it means
            program.fail(error)
    return program.result
