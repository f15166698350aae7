"""The asyncio driver: carries out the loop's effects without holding up the event loop.

The same `match` of effects as the blocking driver, with `await`. A lone task is awaited in place; several
become asyncio tasks, which are cancelled and awaited before the run ends, whatever ends it.
"""

from __future__ import annotations

import asyncio
import threading
import types
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator
from contextvars import Context, copy_context
from functools import partial
from typing import Any, TypeVar

from langgraph.checkpoint.memory import InMemorySaver

from runtime.pregel import effects as fx
from runtime.pregel.body import HALT
from runtime.pregel.call import acall, aperform, settle
from runtime.pregel.context import TaskContext
from runtime.pregel.drive import DEFAULT_CONCURRENCY, Event, drain
from runtime.pregel.lifecycle import atell
from runtime.pregel.program import Program
from runtime.pregel.run import Run
from runtime.pregel.savers import any_child, id_of, without_id, written_by

T = TypeVar("T")
Job = Callable[[], Awaitable[Any]]


class Asyncio:
    """Carries out effects for one run, on the event loop that it was made on."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.loop = asyncio.get_running_loop()
        self.thread = threading.get_ident()
        self.inbox: deque[Any] = deque()
        self.ready = asyncio.Event()
        self.todo: deque[tuple[TaskContext, Context]] = deque()
        self.running: set[asyncio.Task[Any]] = set()
        self.chunks: deque[Event] = deque()
        self.deadline: float | None = None
        self.halted = False
        self._most: int | None = None
        self._later = run.durability == "async" and not isinstance(run.saver, InMemorySaver)
        self._first = True
        self._saving: asyncio.Task[None] | None = None
        self._saves: deque[Job] = deque()
        self._error: BaseException | None = None

    async def carry_out(self, effect: Any) -> Any:
        """Do what an effect says, and answer with what came of it."""
        return await _PERFORM[type(effect)](self, effect)

    async def stop_on(self, error: BaseException) -> None:
        """A run that is cancelled leaves none of its tasks running."""
        if isinstance(error, asyncio.CancelledError):
            await self.cancel_all()

    # --- tasks ----------------------------------------------------------------------------------

    def post(self, item: Any) -> None:
        """Put something into the inbox, from any thread."""
        self.inbox.append(item)
        if threading.get_ident() == self.thread:
            self.ready.set()
        elif not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.ready.set)

    async def _start(self, effect: fx.Start) -> list[Any] | None:
        run, contexts = self.run, effect.contexts
        if run.step_timeout is not None:
            self.deadline = self.loop.time() + run.step_timeout
        alone = len(contexts) == 1 and not self.todo and not self.running
        if alone and not run.live and run.step_timeout is None and not contexts[0].task.node.spawns:
            result = await within(copy_context(), acall(contexts[0], run.executor))
            if not self.inbox:
                return [result]
            self.post(result)  # after what it called, which is to be taken first
            return None
        self.halted = False
        # Coroutines cost little while they wait; a blocking node takes a thread.
        blocking = any(body.func is not None for context in contexts for body in context.task.node.bodies)
        self._most = DEFAULT_CONCURRENCY if blocking else None
        self.todo.extend((context, copy_context()) for context in contexts)
        self._fill()
        return None

    def _fill(self) -> None:
        """Start as many as may run at once."""
        limit = self.run.max_concurrency or self._most
        while self.todo and (limit is None or len(self.running) < limit):
            context, around = self.todo.popleft()
            self._launch(context, around, None)

    def _launch(self, context: TaskContext, around: Context, done: Any) -> asyncio.Task[Any]:
        task = self.loop.create_task(acall(context, self.run.executor), context=around)
        self.running.add(task)
        task.add_done_callback(partial(self._ended, context, done))
        return task

    def _ended(self, context: TaskContext, done: Any, task: asyncio.Task[Any]) -> None:
        self.running.discard(task)
        result = fx.Result(context, fx.CANCELLED, None) if task.cancelled() else task.result()
        self.post(result)
        if done is not None:
            done(result)
        if not self.halted:
            self._fill()

    def spawn(self, context: TaskContext, done: Callable[[fx.Result], None]) -> asyncio.Task[Any] | None:
        """Run a task that a running task calls, from any thread; `done` is told when it has ended.

        Answers with the asyncio task, to be cancelled, where the caller is on the event loop itself.
        """
        self.post(fx.Spawned(context))
        around = copy_context()
        if threading.get_ident() == self.thread:
            return self._launch(context, around, done)
        self.loop.call_soon_threadsafe(self._launch, context, around, done)
        return None

    async def _receive(self, _effect: fx.Receive) -> list[Any]:
        """Wait for something to arrive; results are returned, streamed chunks are set aside."""
        if not self.inbox:
            await self._wait()
        self.ready.clear()
        results: list[Any] = []
        while self.inbox:
            item = self.inbox.popleft()
            (self.chunks if type(item) is tuple else results).append(item)
        return results

    def leftover(self) -> deque[Event]:
        """All chunks that are left, those included that came after the last result."""
        self.chunks.extend(item for item in self.inbox if type(item) is tuple)
        return self.chunks

    async def _settle(self, effect: fx.Settle) -> Any:
        program = settle(effect.context, effect.value)
        return await aperform(effect.context, program, self.run.executor)

    async def _wait(self) -> None:
        if self.deadline is None:
            await self.ready.wait()
            return
        try:
            async with asyncio.timeout_at(self.deadline):
                await self.ready.wait()
        except TimeoutError:
            await self.cancel_all()
            self.inbox.clear()
            raise TimeoutError(
                f"a superstep of graph {self.run.name!r} took longer than its step_timeout of "
                f"{self.run.step_timeout} s; its tasks were cancelled"
            ) from None

    async def _halt(self, _effect: fx.Halt) -> None:
        self.halted = True
        while self.todo:
            context, _ = self.todo.popleft()
            self.post(fx.Result(context, fx.CANCELLED, None))
        for task in self.running:
            task.cancel(HALT)

    async def cancel_all(self) -> None:
        """Start nothing more, cancel what runs, and wait until it has ended."""
        self.halted = True
        self.todo.clear()
        for task in self.running:
            task.cancel()
        if self.running:
            await asyncio.gather(*self.running, return_exceptions=True)

    # --- saver and cache ------------------------------------------------------------------------

    def saved(self) -> None:
        """Wait, on another thread, until all that was to be saved so far is; what went wrong is raised by the run."""
        if not self.loop.is_closed():
            asyncio.run_coroutine_threadsafe(self._saved(), self.loop).result()

    async def _saved(self) -> None:
        while self._saving is not None:
            await asyncio.shield(self._saving)

    async def _outer_saved(self) -> None:
        """What a run inside another one saves hangs on the outer one's checkpoint, which therefore comes first."""
        self._first = False
        outer = self.run.parent.run.driver if self.run.parent is not None else None
        if isinstance(outer, Asyncio) and outer.loop is self.loop:
            await outer._saved()
        elif outer is not None and getattr(outer, "thread", None) != self.thread:
            await asyncio.to_thread(outer.saved)

    async def _save(self, job: Job) -> None:
        self._check()
        if self._first:
            await self._outer_saved()
        if not self._later:
            await job()
            return
        self._saves.append(job)
        if self._saving is None:
            self._saving = self.loop.create_task(self._save_all())

    async def _save_all(self) -> None:
        try:
            while self._saves:
                await self._saves.popleft()()
        except BaseException as error:  # handed to the run, which raises it
            self._error = error
            self._saves.clear()
        finally:
            self._saving = None

    def _check(self) -> None:
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    async def _put(self, effect: fx.Put) -> None:
        saver: Any = self.run.saver
        common = (effect.config, effect.checkpoint, effect.metadata, effect.new_versions)
        if hasattr(saver, "aput_step"):
            await self._save(partial(saver.aput_step, *common, effect.writes, **effect.of_step))
        else:
            await self._save(partial(saver.aput, *common))

    async def _put_writes(self, effect: fx.PutWrites) -> None:
        saver: Any = self.run.saver
        await self._save(partial(saver.aput_writes, *written_by(saver.aput_writes, effect)))

    async def _flush(self, _effect: fx.Flush | None = None) -> None:
        await self._saved()
        self._check()

    async def _load(self, effect: fx.Load) -> Any:
        await self._flush()
        return await self.run.saver.aget_tuple(effect.config)  # type: ignore[union-attr]

    async def _newest(self, effect: fx.Newest) -> str | None:
        await self._flush()
        saver: Any = self.run.saver
        if hasattr(saver, "anewest_id"):
            found: str | None = await saver.anewest_id(effect.config)
            return found
        return id_of(await saver.aget_tuple(effect.config))

    async def _history(self, effect: fx.History) -> list[Any]:
        await self._flush()
        saver: Any = self.run.saver
        options = {"filter": effect.filter, "before": effect.before, "limit": effect.limit}
        return [saved async for saved in saver.alist(effect.config, **options)]

    async def _replay(self, effect: fx.Replay) -> Any:
        saver: Any = self.run.saver
        return await saver.aget_delta_channel_history(config=effect.saved.config, channels=effect.channels)

    async def _has_children(self, effect: fx.HasChildren) -> bool:
        saver: Any = self.run.saver
        if hasattr(saver, "ahas_children"):
            return bool(await saver.ahas_children(effect.saved.config))
        newer = [saved async for saved in saver.alist(without_id(effect.saved.config))]
        return any_child(effect.saved, iter(newer))

    async def _cache_get(self, effect: fx.CacheGet) -> Any:
        return await self.run.cache.aget(list(effect.keys))  # type: ignore[union-attr]

    async def _cache_set(self, effect: fx.CacheSet) -> None:
        await self.run.cache.aset(dict(effect.entries))  # type: ignore[union-attr]

    async def close(self) -> None:
        """Leave nothing running: cancel tasks, and let what is being saved be saved."""
        await self.cancel_all()
        await self._saved()


_PERFORM: dict[type, Callable[[Any, Any], Awaitable[Any]]] = {  # not of each driver: most runs are short
    fx.Put: Asyncio._put,
    fx.PutWrites: Asyncio._put_writes,
    fx.Start: Asyncio._start,
    fx.Receive: Asyncio._receive,
    fx.Load: Asyncio._load,
    fx.Newest: Asyncio._newest,
    fx.Replay: Asyncio._replay,
    fx.History: Asyncio._history,
    fx.HasChildren: Asyncio._has_children,
    fx.Halt: Asyncio._halt,
    fx.Flush: Asyncio._flush,
    fx.Settle: Asyncio._settle,
    fx.CacheGet: Asyncio._cache_get,
    fx.CacheSet: Asyncio._cache_set,
    fx.Tell: lambda driver, effect: atell(driver.run, effect),
}


@types.coroutine
def within(context: Context, coroutine: Coroutine[Any, Any, T]) -> Generator[Any, Any, T]:
    """Await a coroutine in the running asyncio task, but in a context of its own.

    An asyncio task for a lone coroutine costs more than the rest of a superstep. In the caller's task,
    cancellation and `asyncio.timeout` mean what they mean there; the context keeps its variables apart.
    """
    step, given = coroutine.send, None
    while True:
        try:
            awaited = context.run(step, given)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        try:
            step, given = coroutine.send, (yield awaited)
        except BaseException as error:  # cancellation, mostly: it is the coroutine's to handle
            step, given = coroutine.throw, error


async def adrive(run: Run, effects: Any) -> AsyncGenerator[Event, None]:
    """Run a loop to its end, and yield what it streams. Closing or cancelling stops the run cleanly."""
    driver, program = run.driver, Program(effects)
    closing: GeneratorExit | None = None
    try:
        while (effect := program.advance()) is not None:
            try:
                while program.open:
                    if driver.chunks and closing is None:
                        for chunk in drain(driver.chunks):
                            yield chunk
                    program.answer(await driver.carry_out(effect))
            except GeneratorExit as close:
                # What runs is cancelled, what has finished is saved, and the loop stops there.
                closing = close
                await _wind_down(run, program, effect)
            except BaseException as error:  # the loop decides what it means
                await driver.stop_on(error)
                program.fail(error)
        if closing is None:
            for chunk in drain(driver.leftover()):
                yield chunk
    finally:
        await driver.close()
    if closing is not None:
        raise closing


async def _wind_down(run: Run, program: Program, effect: Any) -> None:
    run.cancelled = True
    await run.driver.carry_out(fx.Halt())
    while program.open:
        program.answer(await run.driver.carry_out(effect))


async def acarry_out(driver: Asyncio, effects: Any) -> Any:
    """Carry out a program that starts no tasks, and answer with what it returns."""
    program = Program(effects)
    while (effect := program.advance()) is not None:
        try:
            program.answer(await driver.carry_out(effect))
        except BaseException as error:  # the program decides what it means
            program.fail(error)
    return program.result
