"""Tasks that a running task calls: the machinery behind `@task`.

Such a task runs at once, beside its caller and within its superstep. Its result is saved like any other, so
that a caller that runs again (after a pause or a crash) is given it instead of running it anew.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Executor, Future
from functools import partial
from typing import Any, Generic, TypeVar

from runtime._constants import PUSH, RETURN
from runtime._context import current
from runtime._typing import MISSING
from runtime.errors import GraphInterrupt
from runtime.pregel import events
from runtime.pregel.body import Body, in_thread, injected_names
from runtime.pregel.cached import cache_entry, cache_key
from runtime.pregel.context import TaskContext
from runtime.pregel.effects import FAILED, FINISHED, PAUSED, Result
from runtime.pregel.model import PregelNode
from runtime.pregel.plan import PUSHED
from runtime.pregel.questions import read_record
from runtime.pregel.task import Place, Task

T = TypeVar("T")


class Called(Future[T], Generic[T]):
    """The result of a called task, to wait for (`result()`) or to await."""

    def __await__(self) -> Generator[T, None, T]:
        return (yield from asyncio.wrap_future(self).__await__())


class CallBody(Body):
    """A function with the arguments that it was called with."""

    __slots__ = ()

    def __init__(self, func: Callable[..., Any], name: str) -> None:
        super().__init__(func, name)
        self._asked = injected_names(func, skip_first=False)

    def _bound(self, context: TaskContext, value: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        args, kwargs = value
        return args, {**self._injected(context), **kwargs}

    def call(self, context: TaskContext, value: Any) -> Any:
        """Run it on the calling thread."""
        args, kwargs = self._bound(context, value)
        if self.func is None:
            raise TypeError(f"task {self.name!r} is async, so it cannot run under invoke() or stream(); use ainvoke()")
        return self._settle(context, value, self.func(*args, **kwargs))

    async def acall(self, context: TaskContext, value: Any, executor: Executor | None) -> Any:
        """Await it; a blocking function runs on the executor."""
        args, kwargs = self._bound(context, value)
        if self.afunc is not None:
            return await self.afunc(*args, **kwargs)
        assert self.func is not None
        result = await in_thread(executor, partial(self.func, *args, **kwargs))
        return await result if asyncio.iscoroutine(result) else result


def call_task(
    func: Callable[..., Any],
    given: tuple[tuple[Any, ...], dict[str, Any]],
    *,
    name: str,
    retry_policy: Any = (),
    cache_policy: Any = None,
    timeout: Any = None,
) -> Called[Any] | asyncio.Future[Any]:
    """Start a task from inside a running one. Raises RuntimeError outside a graph."""
    caller = current()
    if caller is None:
        raise RuntimeError(f"task {name!r} was called outside a running graph; call it in a node or an entrypoint")
    node = PregelNode(
        triggers=(),
        channels=(),
        bodies=(CallBody(func, name),),
        outputs=lambda value: [(RETURN, value)],
        retry_policy=retry_policy,
        cache_policy=cache_policy,
        timeout=timeout,
        spawns=True,
    )
    task = _task(caller, node, name, given)
    future: Any = _future(caller)
    saved = _saved(caller, task)
    if saved is not MISSING:
        events.task_started(caller.run, task)
        if task.writes:
            events.task_updates(caller.run, task, cached=True)
        _resolve(future, saved)
        return future  # type: ignore[no-any-return]
    context = TaskContext(caller.run, caller.frame, task)
    context.callbacks = caller.callbacks
    running = caller.run.driver.spawn(context, partial(_deliver, caller, future))
    if running is not None:
        future.add_done_callback(lambda done: done.cancelled() and running.cancel())
    return future  # type: ignore[no-any-return]


def _task(caller: TaskContext, node: PregelNode, name: str, given: Any) -> Task:
    outer = caller.task
    task = Task(
        node,
        name,
        (PUSH, outer.path, caller.next_call(), True),
        PUSHED,
        Place(outer.ns, outer.checkpoint_id, outer.step),
        given=given,
    )
    task.call = given
    return task


def _saved(caller: TaskContext, task: Task) -> Any:
    """The result that was saved or cached for the task, or MISSING; a cached one's writes are the task's."""
    run = caller.run
    if caller.frame.pending and not run.replaying:
        record = read_record([w for w in tuple(caller.frame.pending) if w[0] == task.id]).get(task.id)
        if record is not None:
            for channel, value in record.writes:
                if channel == RETURN:
                    return value
    if run.cache is not None and (task.node.cache_policy or run.cache_policy):
        key = cache_key(run, caller.frame, task)
        if key is not None:
            for writes in run.cache.get([key]).values():
                task.writes = list(writes)
                return dict(writes)[RETURN]
    return MISSING


def _future(caller: TaskContext) -> Any:
    driver = caller.run.driver
    loop = getattr(driver, "loop", None)
    if loop is not None and driver.thread == threading.get_ident():
        return loop.create_future()
    return Called()


def _resolve(future: Any, value: Any) -> None:
    if not future.done():
        future.set_result(value)


def _deliver(caller: TaskContext, future: Any, result: Result) -> None:
    """Hand a called task's outcome to whoever waits for it."""
    if result.kind == PAUSED:
        pause = GraphInterrupt(result.value)
        caller.paused = caller.paused or pause
        _fail(future, pause)
    elif result.kind == FAILED:
        _fail(future, result.value)
    elif result.kind == FINISHED and (error := _remember(caller, result)) is not None:
        _fail(future, error)
    elif result.kind == FINISHED:
        value = dict(result.value).get(RETURN)
        loop = getattr(future, "get_loop", None)
        if loop is None:
            _resolve(future, value)
        else:
            loop().call_soon_threadsafe(_resolve, future, value)
    else:
        future.cancel()


def _remember(caller: TaskContext, result: Result) -> Exception | None:
    """Cache a result before it is handed over: the caller's next call may be for the same."""
    run, task = caller.run, result.context.task
    if run.cache is None:
        return None
    task.writes = result.value
    try:
        entry = cache_entry(run, caller.frame, task)
        if entry is not None:
            run.cache.set(dict(entry))
    except Exception as error:  # the caller waits, so it has to hear of it
        return error
    return None


def _fail(future: Any, error: BaseException) -> None:
    def fail() -> None:
        if not future.done():
            future.set_exception(error)
            if isinstance(future, asyncio.Future):
                future.exception()  # seen: a caller that does not await it hears of it otherwise

    loop = getattr(future, "get_loop", None)
    if loop is None:
        fail()
    else:
        loop().call_soon_threadsafe(fail)
