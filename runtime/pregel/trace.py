"""Callbacks of langchain-core: the graph is a run in the caller's trace, and its nodes are runs inside it.

Building callback managers costs more than a superstep, so nothing is built unless somebody listens.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from langchain_core.callbacks import AsyncCallbackManager, BaseCallbackHandler, CallbackManager
from langchain_core.callbacks.base import BaseCallbackManager
from langchain_core.runnables import RunnableConfig

from runtime.pregel.run import Run

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
