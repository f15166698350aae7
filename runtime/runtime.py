"""Runtime: what a run hands to its nodes, beside the state."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Generic, Protocol, cast, runtime_checkable

from langgraph.store.base import BaseStore

from runtime._context import current
from runtime.types import StreamWriter
from runtime.typing import ContextT

__all__ = (
    "BaseUser",
    "ExecutionInfo",
    "RunControl",
    "Runtime",
    "ServerInfo",
    "get_runtime",
)


@runtime_checkable  # a tool may take its runtime as an argument, which Pydantic then validates
class BaseUser(Protocol):
    """An authenticated user, as a server describes one: by attribute and by key."""

    @property
    def is_authenticated(self) -> bool:
        """Whether the user is who they say."""

    @property
    def display_name(self) -> str:
        """Name to show."""

    @property
    def identity(self) -> str:
        """Unique name."""

    @property
    def permissions(self) -> Any:
        """What the user may do."""

    def __getitem__(self, key: str) -> Any: ...

    def __contains__(self, key: str) -> bool: ...

    def __iter__(self) -> Any: ...


@dataclass(frozen=True, slots=True)
class ExecutionInfo:
    """Where in a run the calling code is.

    `thread_id` is None without a thread, `run_id` unless the caller's config gave one.
    `node_attempt` counts from 1; `node_first_attempt_time` is in seconds since the epoch.
    """

    checkpoint_id: str
    checkpoint_ns: str
    task_id: str
    thread_id: str | None = None
    run_id: str | None = None
    node_attempt: int = 1
    node_first_attempt_time: float | None = None

    def patch(self, **overrides: Any) -> "ExecutionInfo":
        """Return a copy with some fields replaced."""
        return replace(self, **overrides)


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """Which deployment runs the graph, and for whom; None in a run that no server started."""

    assistant_id: str
    graph_id: str
    user: BaseUser | None = None

    @classmethod
    def found_in(cls, configurable: Mapping[str, Any]) -> "ServerInfo | None":
        """Return what a server put into a config's `configurable`; None if that is nothing."""
        user = configurable.get("langgraph_auth_user")
        user = user if hasattr(user, "identity") else None
        assistant_id, graph_id = configurable.get("assistant_id"), configurable.get("graph_id")
        if assistant_id is None and graph_id is None and user is None:
            return None
        return cls(str(assistant_id or ""), str(graph_id or ""), user)


class RunControl:
    """Lets another thread ask one run to stop between two supersteps.

    Passed as `invoke(..., control=control)`. Make one for each run: a request stays.
    """

    __slots__ = ("_reason",)

    def __init__(self) -> None:
        self._reason: str | None = None

    def request_drain(self, reason: str = "shutdown") -> None:
        """Ask the run to stop; it then raises GraphDrained, and the thread can be resumed."""
        self._reason = reason  # one assignment, so no lock is needed

    @property
    def drain_requested(self) -> bool:
        """Whether the run was asked to stop."""
        return self._reason is not None

    @property
    def drain_reason(self) -> str | None:
        """What the run was told when it was asked to stop."""
        return self._reason


def _write_nothing(value: Any) -> None:
    """Stand for the stream writer when nobody streams."""


def _no_heartbeat() -> None:
    """Stand for the heartbeat where no idle timeout is set."""


def _is_unset(name: str, value: Any) -> bool:
    # An empty context counts as none given; every other value that is not None was meant.
    return value is None or value in (_write_nothing, _no_heartbeat) or (name == "context" and not value)


@dataclass(kw_only=True, slots=True, frozen=True)
class Runtime(Generic[ContextT]):
    """What a run hands to a node that has a parameter `runtime: Runtime[Context]`.

    - `context`: what the caller gave for the whole run (`invoke(..., context=...)`).
    - `store`: the graph's store, or None.
    - `stream_writer`: puts a value on the `custom` stream.
    - `heartbeat`: says that the node is alive, for its `idle_timeout`.
    - `previous`: what the last run on the thread returned (functional API).
    - `execution_info`, `server_info`, `control`: where this is, who runs it, and how to drain it.
    """

    context: ContextT = None  # type: ignore[assignment]  # a graph without context_schema has none
    store: BaseStore | None = None
    stream_writer: StreamWriter = _write_nothing
    heartbeat: Callable[[], None] = _no_heartbeat
    previous: Any = None
    execution_info: ExecutionInfo | None = None
    server_info: ServerInfo | None = None
    control: RunControl | None = None

    def merge(self, other: "Runtime[ContextT]") -> "Runtime[ContextT]":
        """Return `other` with what it lacks taken from this one."""
        given = {field.name: getattr(other, field.name) for field in fields(other)}
        lacking = [name for name, value in given.items() if _is_unset(name, value)]
        return replace(other, **{name: getattr(self, name) for name in lacking})

    def override(self, **overrides: Any) -> "Runtime[ContextT]":
        """Return a copy with some fields replaced."""
        return replace(self, **overrides)

    def patch_execution_info(self, **overrides: Any) -> "Runtime[ContextT]":
        """Return a copy with some fields of `execution_info` replaced.

        Raises RuntimeError where there is no task yet.
        """
        if self.execution_info is None:
            raise RuntimeError("execution_info cannot be patched: no task is running yet")
        return replace(self, execution_info=self.execution_info.patch(**overrides))

    @property
    def drain_requested(self) -> bool:
        """Whether the run was asked to stop after this superstep."""
        return self.control is not None and self.control.drain_requested

    @property
    def drain_reason(self) -> str | None:
        """What the run was told when it was asked to stop."""
        return None if self.control is None else self.control.drain_reason


DEFAULT_RUNTIME: Runtime[Any] = Runtime()


def get_runtime(context_schema: type[ContextT] | None = None) -> Runtime[ContextT]:
    """Return the `Runtime` of the node that the calling code runs in.

    `context_schema` is for type checkers. Raises RuntimeError outside a running node.
    """
    context = current()
    if context is None:
        raise RuntimeError("get_runtime() was called outside a running node; call it in a node")
    return cast(Runtime[ContextT], context.runtime)
