"""The functional API: a workflow as a plain function, with tasks that are saved one by one.

`entrypoint` makes a graph of one node from a function; `task` makes a function whose calls inside it run
beside each other, are retried, cached and timed, and are not run again when the workflow is resumed.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, TypeVar, get_args, get_origin, overload

from langgraph.cache.base import BaseCache
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore

from runtime._constants import PREVIOUS
from runtime.channels import EphemeralValue, LastValue
from runtime.constants import END, START
from runtime.pregel import Pregel
from runtime.pregel.body import Body, name_of
from runtime.pregel.cached import namespace
from runtime.pregel.calls import Called, call_task
from runtime.pregel.model import PregelNode, Write
from runtime.types import CachePolicy, RetryPolicy, TimeoutPolicy
from runtime.warnings import DeprecatedSince05, DeprecatedSince10

__all__ = ("entrypoint", "task")

R = TypeVar("R")
S = TypeVar("S")

Policies = RetryPolicy | Sequence[RetryPolicy] | None
Timeout = float | timedelta | TimeoutPolicy | None


def _policies(given: Policies) -> tuple[RetryPolicy, ...]:
    if given is None:
        return ()
    return (given,) if isinstance(given, RetryPolicy) else tuple(given)


class TaskFunction(Generic[R]):
    """A function whose calls are tasks. Made by `task`."""

    def __init__(
        self,
        func: Callable[..., Any],
        *,
        name: str | None,
        retry_policy: tuple[RetryPolicy, ...],
        cache_policy: CachePolicy[Any] | None,
        timeout: TimeoutPolicy | None,
    ) -> None:
        self.func = func
        self.name = name or name_of(func)
        self.retry_policy = retry_policy
        self.cache_policy = cache_policy
        self.timeout = timeout
        functools.update_wrapper(self, func, updated=())
        self.__name__ = self.name

    def __call__(self, *args: Any, **kwargs: Any) -> Called[R]:
        """Start the task. Returns a future: `result()` waits for it, and it can be awaited."""
        return call_task(  # type: ignore[return-value]
            self.func,
            (args, kwargs),
            name=self.name,
            retry_policy=self.retry_policy,
            cache_policy=self.cache_policy,
            timeout=self.timeout,
        )

    def clear_cache(self, cache: BaseCache[Any]) -> None:
        """Forget what the cache holds for this task."""
        if self.cache_policy is not None:
            cache.clear([namespace((Body(self.func, self.name),), self.name)])

    async def aclear_cache(self, cache: BaseCache[Any]) -> None:
        """As `clear_cache`, awaiting."""
        if self.cache_policy is not None:
            await cache.aclear([namespace((Body(self.func, self.name),), self.name)])


@overload
def task(func: Callable[..., Awaitable[R]], /) -> TaskFunction[R]: ...
@overload
def task(func: Callable[..., R], /) -> TaskFunction[R]: ...
@overload
def task(
    func: None = None,
    /,
    *,
    name: str | None = None,
    retry_policy: Policies = None,
    cache_policy: CachePolicy[Any] | None = None,
    timeout: Timeout = None,
    **deprecated: Any,
) -> Callable[[Callable[..., Any]], TaskFunction[Any]]: ...
def task(
    func: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    retry_policy: Policies = None,
    cache_policy: CachePolicy[Any] | None = None,
    timeout: Timeout = None,
    **deprecated: Any,
) -> Any:
    """Make a function a task: callable inside an entrypoint or node, saved and resumed on its own.

    Args:
        func: The function, plain or async.
        name: What it is called in streams and traces; the function's name by default.
        retry_policy: When and how often a failed call is tried again.
        cache_policy: Whether results are kept for later calls with the same arguments.
        timeout: Seconds, a timedelta or a TimeoutPolicy for each call.
        **deprecated: `retry`, the older name of `retry_policy`.
    """
    if "retry" in deprecated:
        warnings.warn("task(retry=...) is deprecated; use retry_policy=...", DeprecatedSince05, stacklevel=2)
        retry_policy = retry_policy or deprecated.pop("retry")
    if deprecated:
        raise TypeError(f"task() has no option {next(iter(deprecated))!r}")

    def wrap(function: Callable[..., Any]) -> TaskFunction[Any]:
        if isinstance(function, classmethod | staticmethod):
            function = function.__func__
        return TaskFunction(
            function,
            name=name,
            retry_policy=_policies(retry_policy),
            cache_policy=cache_policy,
            timeout=TimeoutPolicy.coerce(timeout),
        )

    return wrap if func is None else wrap(func)


class entrypoint:
    """Make a function a workflow: a graph of one node, with all that graphs have.

    The function takes one input, and may ask by keyword for `previous`, `runtime`, `config`, `store` and
    `writer`. What it returns is the output, and on a thread also the next run's `previous`, unless it returns
    `entrypoint.final(value=..., save=...)`.

    Args:
        checkpointer: A saver, for threads that can be paused and resumed.
        store: Memory across threads.
        cache: Where cached results of tasks go.
        context_schema: The type of `runtime.context`.
        cache_policy: Whether results of the whole workflow are kept.
        retry_policy: When and how often it is tried again.
        timeout: Seconds, a timedelta or a TimeoutPolicy for the whole workflow.
    """

    def __init__(
        self,
        checkpointer: BaseCheckpointSaver[Any] | None = None,
        store: BaseStore | None = None,
        cache: BaseCache[Any] | None = None,
        context_schema: type[Any] | None = None,
        cache_policy: CachePolicy[Any] | None = None,
        retry_policy: Policies = None,
        timeout: Timeout = None,
        **deprecated: Any,
    ) -> None:
        if "config_schema" in deprecated:
            warnings.warn(
                "entrypoint(config_schema=...) is deprecated; use context_schema=...", DeprecatedSince10, stacklevel=2
            )
            context_schema = context_schema or deprecated.pop("config_schema")
        if "retry" in deprecated:
            warnings.warn("entrypoint(retry=...) is deprecated; use retry_policy=...", DeprecatedSince05, stacklevel=2)
            retry_policy = retry_policy or deprecated.pop("retry")
        if deprecated:
            raise TypeError(f"entrypoint() has no option {next(iter(deprecated))!r}")
        self.checkpointer = checkpointer
        self.store = store
        self.cache = cache
        self.context_schema = context_schema
        self.cache_policy = cache_policy
        self.retry_policy = _policies(retry_policy)
        self.timeout = TimeoutPolicy.coerce(timeout)

    @dataclass(slots=True)
    class final(Generic[R, S]):
        """What a workflow returns and what it keeps for its next run, where these differ."""

        value: R
        save: S

    def __call__(self, func: Callable[..., Any]) -> Pregel:
        """Make the graph. Raises TypeError for a generator, or a function that takes no input."""
        if inspect.isgeneratorfunction(func) or inspect.isasyncgenfunction(func):
            raise NotImplementedError(
                "an entrypoint cannot be a generator; stream through the `writer` argument instead"
            )
        parameters = list(inspect.signature(func).parameters.values())
        if not parameters:
            raise ValueError("an entrypoint's function takes one input as its first parameter; this one takes none")
        name = name_of(func)
        input_type, output_type, saved_type = _types(func, parameters[0])
        node = PregelNode(
            triggers=(START,),
            channels=START,
            bodies=(Body(func, name),),
            outputs=_outputs,
            retry_policy=self.retry_policy,
            cache_policy=self.cache_policy,
            timeout=self.timeout,
            spawns=True,
        )
        graph = Pregel(
            nodes={name: node},
            channels={
                START: EphemeralValue(input_type),
                END: LastValue(output_type, END),
                PREVIOUS: LastValue(saved_type, PREVIOUS),
            },
            input_channels=START,
            output_channels=END,
            stream_channels=END,
            stream_mode="updates",
            checkpointer=self.checkpointer,
            store=self.store,
            cache=self.cache,
            context_schema=self.context_schema,
        )
        graph.__doc__ = func.__doc__
        return graph


def _outputs(value: Any) -> list[Write]:
    if isinstance(value, entrypoint.final):
        return [(END, value.value), (PREVIOUS, value.save)]
    return [(END, value), (PREVIOUS, value)]


def _types(func: Callable[..., Any], first: inspect.Parameter) -> tuple[Any, Any, Any]:
    """The types of input, output and what is kept, as far as they are annotated."""
    hints = inspect.get_annotations(func, eval_str=False)
    given = first.annotation if first.annotation is not inspect.Parameter.empty else Any
    returned: Any = hints.get("return", Any)
    if get_origin(returned) is entrypoint.final and len(get_args(returned)) == 2:
        output, saved = get_args(returned)
        return given, output, saved
    unspecified: Any = entrypoint.final
    if returned is unspecified or isinstance(returned, str):
        return (Any if isinstance(given, str) else given), Any, Any
    return (Any if isinstance(given, str) else given), returned, returned
