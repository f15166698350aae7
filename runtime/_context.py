"""The task that the calling code runs in: the one thing behind `interrupt()`, `get_config()` and kin.

It travels in a context variable, and, for code that runs a graph from a thread that lost its context,
under one key of the config that the node was given. What it is made of is the superstep machine's
business (`runtime.pregel.context`); what code inside a node may ask of it stands here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

CONFIG_KEY_TASK = "__pregel_task"
"""Key of `configurable` under which a node's config carries its `RunningTask`."""


class RunningTask(Protocol):
    """A task while it runs, as code inside its node sees it."""

    run: Any
    """The run that the task belongs to."""
    task: Any
    """The task itself: its name, id and place."""

    @property
    def config(self) -> RunnableConfig:
        """The RunnableConfig that the node runs under."""

    @property
    def runtime(self) -> Any:
        """The `Runtime` of the node."""

    def ask(self, value: Any, response_schema: Any = None) -> Any:
        """The answer to the task's next question; pauses the task if there is none yet."""

    def writer(self, value: Any) -> None:
        """Put a value on the `custom` stream."""

    def write(self, channel: str, value: Any) -> None:
        """Write to a channel ahead of what the node returns."""

    def emit(self, mode: str, payload: Any) -> None:
        """Hand an event to whoever streams the run."""


class TaskConfig(Mapping[str, Any]):
    """A task's config for whatever its node calls: made once somebody looks into it, which most nodes never do."""

    __slots__ = ("_task",)

    def __init__(self, task: RunningTask) -> None:
        self._task = task

    @property
    def made(self) -> RunnableConfig:
        """The config itself."""
        return self._task.config

    def __getitem__(self, key: str) -> Any:
        config: Mapping[str, Any] = self._task.config
        return config[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._task.config)

    def __len__(self) -> int:
        return len(self._task.config)

    def copy(self) -> dict[str, Any]:
        """Return a dict of its own, as a config's `copy` does."""
        return dict(self._task.config)


_current: ContextVar[Any] = ContextVar("forkpoint_task", default=None)


def current() -> Any:
    """The `RunningTask` that the calling code runs in, or None outside a graph."""
    return _current.get()


def enter(context: RunningTask) -> None:
    """Make `context` the current task. Call it inside a context of the task's own."""
    _current.set(context)
