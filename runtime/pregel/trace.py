"""Callbacks of langchain-core: the graph is a run in the caller's trace, and its nodes are runs inside it.

Building callback managers costs more than a superstep, so nothing is built unless somebody listens.
"""

from __future__ import annotations

import copy
import logging
import os
from collections import deque
from collections.abc import Callable
from typing import Any

from langchain_core.callbacks import AsyncCallbackManager, BaseCallbackHandler, CallbackManager
from langchain_core.callbacks.base import BaseCallbackManager
from langchain_core.runnables import RunnableConfig
from langchain_core.tracers._streaming import _StreamingCallbackHandler
from langchain_core.tracers.base import BaseTracer

from runtime.pregel.run import Run

_LOG = logging.getLogger(__name__)

_SWITCHES = ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGCHAIN_TRACING")


def somebody_listens(config: RunnableConfig) -> bool:
    """Whether the config, the environment or langchain-core's settings ask for callbacks."""
    callbacks = config.get("callbacks")
    if isinstance(callbacks, BaseCallbackManager):
        if callbacks.handlers or callbacks.inheritable_handlers or callbacks.parent_run_id is not None:
            return True
    elif callbacks:
        return True
    if any(os.environ.get(name, "").lower() in ("true", "1") for name in _SWITCHES):
        return True
    from langchain_core.globals import get_debug
    from langchain_core.tracers.context import _configure_hooks

    return get_debug() or any(variable.get() is not None for variable, *_ in _configure_hooks)


def manager_of(config: RunnableConfig, callbacks: Any, *, awaited: bool) -> Any:
    """A callback manager for one run of a graph or node."""
    kind: Any = AsyncCallbackManager if awaited else CallbackManager
    return kind.configure(
        inheritable_callbacks=callbacks,
        inheritable_tags=config.get("tags"),
        inheritable_metadata=config.get("metadata"),
    )


def begin_trace(run: Run, manager: Any, *, awaited: bool) -> None:
    """Let the tasks of a run report to the manager of the graph's own run."""
    run.trace = manager
    run.manager_for = lambda config, callbacks: manager_of(config, callbacks, awaited=awaited)


def recorded(value: Any, process: Callable[[Any], Any] | None) -> Any:
    """What a node's trace policy shows of a value; the value itself where it has none, or where it fails."""
    if process is None:
        return value
    try:
        return process(value)
    except Exception:  # what is shown must not decide what is run
        _LOG.exception("a trace policy raised; the trace shows the value as it is")
        return value


def parted(manager: Any) -> tuple[Any, Any]:
    """A manager as two: for handlers that are to be told the real value, and for tracers, which keep it."""
    others, tracers = copy.copy(manager), copy.copy(manager)
    tracers.handlers = [handler for handler in manager.handlers if _keeps(handler)]
    others.handlers = [handler for handler in manager.handlers if not _keeps(handler)]
    return others, tracers


def _keeps(handler: Any) -> bool:
    """Whether a handler is a tracer; those that feed the caller's own stream are not meant."""
    return isinstance(handler, BaseTracer) and not _streams(handler)


def _streams(handler: Any) -> bool:
    """Whether a handler feeds a stream of the caller's, as that of `astream_events` does."""
    return _StreamingCallbackHandler in type(handler).__mro__


def stream_result(manager: Any, value: Any) -> None:
    """Tell handlers that feed a stream what the run gave, as its one chunk."""
    for handler in manager.handlers:
        if _streams(handler):
            deque(handler.tap_output_iter(manager.run_id, iter((value,))), maxlen=0)


class Progress(BaseCallbackHandler):
    """Calls a function whenever anything is reported."""

    run_inline = True

    def __init__(self, note: Callable[[], None]) -> None:
        self._note = note

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("on_"):
            note = object.__getattribute__(self, "_note")
            return lambda *_args, **_kwargs: note()
        return object.__getattribute__(self, name)
