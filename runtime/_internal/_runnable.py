"""RunnableCallable: a Runnable made of a blocking and an async form of one function.

The function may ask, by parameter name, for what a run hands to its nodes: `config`, `runtime`,
`store`, `writer`, `previous`; and for a `NodeError`, by annotation. Outside a run these are empty.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.base import RunnableLike as _CoreRunnableLike
from langchain_core.runnables.config import ensure_config, merge_configs, run_in_executor, set_config_context

from runtime._constants import CONF, CONFIG_KEY_NODE_ERROR, CONFIG_KEY_RUNTIME
from runtime._context import CONFIG_KEY_TASK, current
from runtime.runtime import DEFAULT_RUNTIME, Runtime

__all__ = ("RunnableCallable", "RunnableLike")

RunnableLike: TypeAlias = _CoreRunnableLike[Any, Any] | Callable[..., Any]

_FROM_RUNTIME: dict[str, Callable[[Runtime[Any]], Any]] = {
    "runtime": lambda runtime: runtime,
    "store": lambda runtime: runtime.store,
    "writer": lambda runtime: runtime.stream_writer,
    "previous": lambda runtime: runtime.previous,
}
_NAMED = frozenset({"config", *_FROM_RUNTIME})
_OURS = {"config": "RunnableConfig", "store": "BaseStore", "writer": "StreamWriter"}


class RunnableCallable(Runnable[Any, Any]):
    """Runs `func`, or `afunc` when awaited; at least one of them has to be given.

    A Runnable that the function returns is run in its place, unless `recurse` is False. With
    `trace`, calls show up as runs of their own in callbacks. With `explode_args` the input is a
    pair of positional and keyword arguments. Further keyword arguments go to the function.
    """

    def __init__(  # noqa: PLR0913 - the signature that agent packages call
        self,
        func: Callable[..., Any] | None,
        afunc: Callable[..., Awaitable[Any]] | None = None,
        *,
        name: str | None = None,
        tags: Sequence[str] | None = None,
        trace: bool = True,
        recurse: bool = True,
        explode_args: bool = False,
        **kwargs: Any,
    ) -> None:
        if func is None and afunc is None:
            raise ValueError("RunnableCallable needs a function: func, afunc or both")
        own_name = getattr(func or afunc, "__name__", None)
        self.name = name or (None if own_name == "<lambda>" else own_name)
        self.func = func
        self.afunc = afunc
        self.tags = tags
        self.trace = trace
        self.recurse = recurse
        self.explode_args = explode_args
        self.kwargs = kwargs
        self._asked = _asked_by(func)
        self._aasked = _asked_by(afunc)

    def __repr__(self) -> str:
        return f"{self.get_name()}(tags={self.tags!r}, recurse={self.recurse!r})"

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run `func` on `input`. Raises TypeError if there is only an async form."""
        if self.func is None:
            raise TypeError(f"{self.name!r} has only an async function; use ainvoke() or astream()")
        config = self._config(config)
        if self.trace:
            return self._call_with_config(self._run, input, config, **kwargs)  # type: ignore[arg-type]
        with set_config_context(config) as context:
            return context.run(self._run, input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Await `afunc` on `input`; without one, run `func` in a thread."""
        if self.afunc is None:
            return await run_in_executor(config, self.invoke, input, config, **kwargs)
        config = self._config(config)
        if self.trace:
            return await self._acall_with_config(self._arun, input, config, **kwargs)  # type: ignore[arg-type]
        with set_config_context(config) as context:
            return await asyncio.create_task(self._arun(input, config, **kwargs), context=context)

    def _config(self, config: RunnableConfig | None) -> RunnableConfig:
        config = ensure_config(config)
        return merge_configs(config, {"tags": list(self.tags)}) if self.tags else config

    def _run(self, input: Any, config: RunnableConfig, **kwargs: Any) -> Any:
        assert self.func is not None  # invoke() looked
        args, given = self._arguments(input, kwargs)
        result = self.func(*args, **_injected(self._asked, config, given), **given)
        if self.recurse and isinstance(result, Runnable):
            return result.invoke(input, config)
        return result

    async def _arun(self, input: Any, config: RunnableConfig, **kwargs: Any) -> Any:
        assert self.afunc is not None  # ainvoke() looked
        args, given = self._arguments(input, kwargs)
        result = await self.afunc(*args, **_injected(self._aasked, config, given), **given)
        if self.recurse and isinstance(result, Runnable):
            return await result.ainvoke(input, config)
        return result

    def _arguments(self, input: Any, kwargs: dict[str, Any]) -> tuple[Sequence[Any], dict[str, Any]]:
        if not self.explode_args:
            return (input,), {**self.kwargs, **kwargs}
        args, named = input
        return args, {**self.kwargs, **named, **kwargs}


def _asked_by(func: Callable[..., Any] | None) -> tuple[tuple[str, str], ...]:
    """Return which of a run's things a function asks for, as (parameter, what)."""
    if func is None:
        return ()
    try:
        parameters = inspect.signature(func).parameters.values()
    except (TypeError, ValueError):  # a builtin without a signature asks for nothing
        return ()
    asked = []
    for parameter in parameters:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            continue
        annotation = "" if parameter.annotation is parameter.empty else str(parameter.annotation)
        if "NodeError" in annotation:
            asked.append((parameter.name, "error"))
        elif parameter.name in _NAMED and _is_ours(parameter.name, parameter.annotation, annotation):
            asked.append((parameter.name, parameter.name))
    return tuple(asked)


def _is_ours(name: str, annotation: Any, text: str) -> bool:
    if not text or name not in _OURS:
        return True
    return _OURS[name] in text or "Callable[[typing.Any], NoneType]" in str(annotation)


def _injected(asked: tuple[tuple[str, str], ...], config: RunnableConfig, given: dict[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    runtime: Runtime[Any] | None = None
    for parameter, what in asked:
        if parameter in given:
            continue
        if what == "config":
            values[parameter] = config
        elif what == "error":
            values[parameter] = _node_error(config)
        else:
            runtime = runtime or runtime_for(config)
            values[parameter] = _FROM_RUNTIME[what](runtime)
    return values


def runtime_for(config: RunnableConfig) -> Runtime[Any]:
    """Return the Runtime of the task behind `config`, else of the current one, else an empty one."""
    configurable = config.get(CONF, {})
    given = configurable.get(CONFIG_KEY_RUNTIME)
    if given is not None:
        return given  # type: ignore[no-any-return]
    context = configurable.get(CONFIG_KEY_TASK) or current()
    return DEFAULT_RUNTIME if context is None else context.runtime


def _node_error(config: RunnableConfig) -> Any:
    configurable = config.get(CONF, {})
    if CONFIG_KEY_NODE_ERROR in configurable:
        return configurable[CONFIG_KEY_NODE_ERROR]
    context = configurable.get(CONFIG_KEY_TASK) or current()
    return None if context is None else context.node_error
