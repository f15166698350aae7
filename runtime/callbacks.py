"""Callbacks of a graph's own life: it stopped for interrupts, it was resumed.

Handlers travel in `config["callbacks"]` beside langchain-core's. A handler that raises is logged
and passed over, unless it sets `raise_error`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler, BaseCallbackManager
from langchain_core.callbacks.manager import ahandle_event, handle_event
from langchain_core.runnables import RunnableConfig

from runtime.types import Interrupt

__all__ = (
    "AsyncGraphCallbackManager",
    "GraphCallbackHandler",
    "GraphCallbackManager",
    "GraphInterruptEvent",
    "GraphLifecycleEvent",
    "GraphLifecycleStatus",
    "GraphResumeEvent",
    "get_async_graph_callback_manager_for_config",
    "get_sync_graph_callback_manager_for_config",
)

GraphLifecycleStatus: TypeAlias = Literal[
    "input", "pending", "done", "interrupt_before", "interrupt_after", "out_of_steps"
]
"""Where a run stands when an event is sent."""


@dataclass(frozen=True)
class GraphInterruptEvent:
    """A run stopped at `checkpoint_id` with `interrupts`; `checkpoint_ns` is the subgraph's path."""

    run_id: UUID | None
    status: GraphLifecycleStatus
    checkpoint_id: str
    checkpoint_ns: tuple[str, ...]
    interrupts: tuple[Interrupt[Any], ...]


@dataclass(frozen=True)
class GraphResumeEvent:
    """A run goes on from `checkpoint_id`; `checkpoint_ns` is the subgraph's path."""

    run_id: UUID | None
    status: GraphLifecycleStatus
    checkpoint_id: str
    checkpoint_ns: tuple[str, ...]


GraphLifecycleEvent: TypeAlias = GraphInterruptEvent | GraphResumeEvent


class GraphCallbackHandler(BaseCallbackHandler):
    """Override what you want to hear of; in async runs the methods may be coroutines."""

    def on_interrupt(self, event: GraphInterruptEvent) -> Any:
        """Hear that a run stopped for interrupts."""

    def on_resume(self, event: GraphResumeEvent) -> Any:
        """Hear that a run goes on from a checkpoint."""


class _Manager(BaseCallbackManager):
    """Handlers of one run. Others than GraphCallbackHandlers may be added, and hear nothing."""

    def __init__(self, handlers: Iterable[BaseCallbackHandler] = (), *, run_id: UUID | None = None) -> None:
        super().__init__(handlers=list(handlers))
        self.run_id = run_id

    def _listeners(self) -> list[BaseCallbackHandler]:
        return [handler for handler in self.handlers if isinstance(handler, GraphCallbackHandler)]


class GraphCallbackManager(_Manager):
    """Sends a run's events from synchronous code."""

    def on_interrupt(self, event: GraphInterruptEvent) -> None:
        """Tell every handler that the run stopped for interrupts."""
        handle_event(self._listeners(), "on_interrupt", None, event)

    def on_resume(self, event: GraphResumeEvent) -> None:
        """Tell every handler that the run goes on."""
        handle_event(self._listeners(), "on_resume", None, event)


class AsyncGraphCallbackManager(_Manager):
    """Sends a run's events from a coroutine."""

    @property
    def is_async(self) -> bool:
        """True: the methods are coroutines."""
        return True

    async def on_interrupt(self, event: GraphInterruptEvent) -> None:
        """Tell every handler that the run stopped for interrupts."""
        await ahandle_event(self._listeners(), "on_interrupt", None, event)

    async def on_resume(self, event: GraphResumeEvent) -> None:
        """Tell every handler that the run goes on."""
        await ahandle_event(self._listeners(), "on_resume", None, event)


_GraphCallbackManager = GraphCallbackManager


def _handlers(config: RunnableConfig) -> Sequence[BaseCallbackHandler]:
    callbacks: Any = config.get("callbacks")
    if callbacks is None:
        return ()
    if isinstance(callbacks, BaseCallbackManager):
        callbacks = callbacks.handlers
    elif isinstance(callbacks, BaseCallbackHandler):
        callbacks = [callbacks]
    if isinstance(callbacks, str | bytes) or not isinstance(callbacks, Sequence):
        raise TypeError(
            f"config['callbacks'] must be a handler, a list of handlers or a callback manager, not {callbacks!r}"
        )
    return [handler for handler in callbacks if isinstance(handler, GraphCallbackHandler)]


def get_sync_graph_callback_manager_for_config(
    config: RunnableConfig, *, run_id: UUID | None = None
) -> GraphCallbackManager:
    """Return a manager of the GraphCallbackHandlers in `config["callbacks"]`.

    Raises TypeError if that is none of the things langchain-core takes as callbacks.
    """
    return GraphCallbackManager(_handlers(config), run_id=run_id)


def get_async_graph_callback_manager_for_config(
    config: RunnableConfig, *, run_id: UUID | None = None
) -> AsyncGraphCallbackManager:
    """Return a manager of the GraphCallbackHandlers in `config["callbacks"]`, for async runs.

    Raises TypeError if that is none of the things langchain-core takes as callbacks.
    """
    return AsyncGraphCallbackManager(_handlers(config), run_id=run_id)
