"""A callable or Runnable that a node runs, with what its signature asks for.

A signature is read once, when the graph is built. Calling costs a plain function call plus the
keyword arguments that were asked for.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import Runnable, RunnableLambda, RunnableParallel

from runtime.pregel.context import TaskContext
from runtime.pregel.workers import WORKERS

if TYPE_CHECKING:
    from concurrent.futures import Executor

_INJECTED: dict[str, Callable[[TaskContext], Any]] = {
    "config": lambda context: context.config,
    "runtime": lambda context: context.runtime,
    "store": lambda context: context.run.store,
    "writer": lambda context: context.writer,
    "previous": lambda context: context.runtime.previous,
}

# An annotation that names none of these is not ours to fill, whatever the parameter is called.
_ANNOTATIONS = {
    "config": ("RunnableConfig", "Optional[RunnableConfig]"),
    "runtime": ("Runtime",),
    "store": ("BaseStore",),
    "writer": ("StreamWriter", "Callable[[Any], None]", "Callable"),
    "previous": (),
}


class Body:
    """One callable of a node.

    Args:
        target: A function (plain, async or generator), a callable object, a Runnable, or a dict of
            such, which run side by side.
        name: What it is called in traces and messages.
        afunc: The async form, where it is another function.
    """

    __slots__ = ("_asked", "_positional", "_quick", "afunc", "func", "name", "runnable", "target")

    def __init__(self, target: Any, name: str | None = None, afunc: Any = None) -> None:
        self.target = target
        self.func: Callable[..., Any] | None = None
        self.afunc: Callable[..., Any] | None = None
        self.runnable: Runnable[Any, Any] | None = None
        self.name = name or name_of(target)
        if (isinstance(target, RunnableLambda) and type(target) is RunnableLambda) or isinstance(target, Runnable):
            self.runnable = target
        elif isinstance(target, dict):
            self.runnable = RunnableParallel(target)
        elif callable(target):
            if is_async_callable(target):
                self.afunc = target
            else:
                self.func = target
        elif target is None and afunc is not None:
            pass
        else:
            raise TypeError(
                f"a node has to be a function, a callable object or a Runnable; "
                f"{self.name!r} is a {type(target).__name__}"
            )
        if afunc is not None:
            self.afunc = afunc
        called = self.func or self.afunc
        self._positional = True
        self._quick = 0
        self._asked = injected_names(called) if called is not None else ()

    @property
    def is_async_only(self) -> bool:
        """Whether it can only be awaited."""
        return self.func is None and self.runnable is None

    def alone(self) -> Runnable[Any, Any]:
        """The callable as a Runnable that needs no task around it."""
        from runtime._internal._runnable import RunnableCallable  # here: runs do not need it

        return self.runnable or RunnableCallable(self.func, self.afunc, name=self.name, trace=False)

    def _injected(self, context: TaskContext) -> dict[str, Any]:
        given = {}
        for name, kind in self._asked:
            if kind == "error":
                given[name] = context.node_error
            else:
                given[name] = _INJECTED[kind](context)
        return given

    def call(self, context: TaskContext, value: Any) -> Any:
        """Run it on the calling thread."""
        if self.func is not None:
            result = self.func(value, **self._injected(context)) if self._asked else self.func(value)
            if type(result) in _PLAIN:
                return result
            return self._settle(context, value, result)
        if self.runnable is not None:
            return self.runnable.invoke(value, context.config)
        raise TypeError(
            f"node {self.name!r} has only an async function, so it cannot run under invoke() or stream(); "
            "use ainvoke() or astream()"
        )

    def _settle(self, context: TaskContext, value: Any, result: Any) -> Any:
        """Bring what a function returned to an end: run a Runnable, exhaust a generator."""
        if isinstance(result, Runnable):
            return result.invoke(value, context.config)
        if isinstance(result, Iterator) and inspect.isgenerator(result):
            return _joined(list(result))
        if inspect.isawaitable(result):
            close = getattr(result, "close", None)
            if close is not None:
                close()
            raise TypeError(
                f"node {self.name!r} returned an awaitable, which invoke() and stream() cannot await; "
                "use ainvoke() or astream()"
            )
        return result

    async def aroute(self, context: TaskContext, value: Any, executor: Executor | None) -> Any:
        """Ask a conditional edge. One that blocks goes to a thread, one that has proved quick is asked in place.

        Nearly all conditional edges are a comparison or two, and a thread costs a hundred times that. But nothing
        keeps one from calling a model, so each has to show first, and again whenever it was slow, what it is.
        """
        if self.func is None or self._asked:
            return await self.acall(context, value, executor)
        began = time.perf_counter()
        if self._quick < _PROOFS:
            result, seconds = await in_thread(executor, partial(_timed, self.func, value))
        else:
            result = self.func(value)
            seconds = time.perf_counter() - began
        self._quick = self._quick + 1 if seconds < _QUICK_SECONDS else 0
        if isinstance(result, Runnable):
            return await result.ainvoke(value, context.config)
        return await result if inspect.isawaitable(result) else result

    async def acall(self, context: TaskContext, value: Any, executor: Executor | None) -> Any:
        """Await it; a blocking function runs on the executor, so that it holds up nobody."""
        if self.afunc is not None:
            given = self._injected(context) if self._asked else {}
            result = self.afunc(value, **given)
            if isinstance(result, AsyncIterator):
                return await _acollect(result)
            result = await result
        elif self.runnable is not None:
            return await self.runnable.ainvoke(value, context.config)
        else:
            assert self.func is not None
            given = self._injected(context) if self._asked else {}
            result = await in_thread(executor, partial(self.func, value, **given))
        if isinstance(result, Runnable):
            return await result.ainvoke(value, context.config)
        if inspect.isgenerator(result):
            return _joined(await in_thread(executor, partial(list, result)))
        if inspect.isawaitable(result):
            return await result
        return result


_PROOFS = 3
_QUICK_SECONDS = 0.0005


def _timed(func: Callable[[Any], Any], value: Any) -> tuple[Any, float]:
    began = time.perf_counter()
    return func(value), time.perf_counter() - began


_PLAIN = frozenset({dict, str, list, tuple, type(None), bool, int, float})


HALT = "the superstep has failed; what cannot be stopped is waited for"
"""Message of the cancellation that ends a failed superstep's tasks, as opposed to one that ends the run."""


async def in_thread(executor: Executor | None, func: Callable[[], Any]) -> Any:
    """Run a blocking function on the executor, or on a thread of ours, in a copy of the caller's context.

    Nothing stops a thread. When a sibling has failed, its work is therefore waited for, as blocking runs do:
    dropped, it would be done a second time on resume.
    """
    loop, context = asyncio.get_running_loop(), copy_context()
    future: asyncio.Future[tuple[bool, Any]] = loop.create_future()

    def job() -> None:
        try:
            outcome = (True, context.run(func))
        except BaseException as error:  # carried to whoever awaits
            outcome = (False, error)
        if not loop.is_closed():
            loop.call_soon_threadsafe(_settle_future, future, outcome)

    if executor is None:
        WORKERS.submit(job)
    else:
        executor.submit(job)
    done, value = await _unless_halted(future)
    if done:
        return value
    if isinstance(value, StopIteration):  # a coroutine cannot raise it
        raise RuntimeError("a node raised StopIteration") from value
    raise value


async def _unless_halted(future: asyncio.Future[tuple[bool, Any]]) -> tuple[bool, Any]:
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError as cancelled:
        task = asyncio.current_task()
        if cancelled.args != (HALT,) or task is None:
            future.cancel()
            raise
        task.uncancel()
        return await future


def _settle_future(future: asyncio.Future[tuple[bool, Any]], outcome: tuple[bool, Any]) -> None:
    if not future.done():  # cancelled meanwhile: nobody waits for it any more
        future.set_result(outcome)


def _joined(parts: list[Any]) -> Any:
    """What a generator's parts add up to: the last one, unless they can be added."""
    if not parts:
        return None
    total = parts[0]
    for part in parts[1:]:
        try:
            total = total + part
        except TypeError:
            total = part
    return total


async def _acollect(generator: AsyncIterator[Any]) -> Any:
    return _joined([part async for part in generator])


def is_async_callable(func: Any) -> bool:
    """Whether calling it gives something to await or to iterate asynchronously."""
    while isinstance(func, partial):
        func = func.func
    if inspect.iscoroutinefunction(func) or inspect.isasyncgenfunction(func):
        return True
    call = getattr(type(func), "__call__", None)  # noqa: B004 - the method itself is wanted
    return not inspect.isroutine(func) and (inspect.iscoroutinefunction(call) or inspect.isasyncgenfunction(call))


def name_of(target: Any) -> str:
    """The name that a callable goes by."""
    if isinstance(target, Runnable):
        return target.get_name()
    while isinstance(target, partial):
        target = target.func
    name = getattr(target, "__name__", None)
    return str(name) if name else type(target).__name__


def injected_names(func: Callable[..., Any], *, skip_first: bool = True) -> tuple[tuple[str, str], ...]:
    """Which of the runtime's own arguments a function asks for, as (parameter, what).

    With `skip_first` the first positional parameter is the state, whatever it is called.
    """
    try:
        parameters = list(inspect.signature(func).parameters.values())
    except (TypeError, ValueError):  # builtins without a signature ask for nothing
        return ()
    asked = []
    for index, parameter in enumerate(parameters):
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            continue
        if skip_first and index == 0 and parameter.kind is not parameter.KEYWORD_ONLY:
            continue  # the state itself
        text = _annotation(parameter.annotation)
        if text.split("[")[0].rpartition(".")[2] == "NodeError":
            asked.append((parameter.name, "error"))
        elif parameter.name in _INJECTED and _fits(parameter.name, text):
            asked.append((parameter.name, parameter.name))
    return tuple(asked)


def _annotation(annotation: Any) -> str:
    if annotation is inspect.Parameter.empty:
        return ""
    if isinstance(annotation, str):
        return annotation.strip("'\"")
    if isinstance(annotation, type) and not getattr(annotation, "__args__", None):
        return annotation.__name__
    return str(annotation)


def _fits(name: str, annotation: str) -> bool:
    if annotation in ("", "Any", "typing.Any"):
        return True
    known = _ANNOTATIONS[name]
    return not known or any(word in annotation for word in known)
