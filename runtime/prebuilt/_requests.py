"""What a tool call is made of on its way through a ToolNode: the request, and what tools can ask for."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeAlias, TypedDict
from warnings import warn

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolArg
from langchain_core.tools.base import _DirectlyInjectedToolArg
from langgraph.store.base import BaseStore
from typing_extensions import TypeVar

from runtime._context import current
from runtime.runtime import ExecutionInfo, ServerInfo
from runtime.types import Command, StreamWriter

# Any, because Pydantic checks a tool's arguments against the parameter's type when it dumps them.
StateT = TypeVar("StateT", default=Any)
ContextT = TypeVar("ContextT", default=Any)

ToolOutcome: TypeAlias = ToolMessage | Command[Any] | list[ToolMessage | Command[Any]]
"""What comes of one tool call: messages for the conversation, commands for the graph."""


class InjectedState(InjectedToolArg):
    """Marks a tool's argument that gets the graph's state, or one `field` of it.

    The model neither sees nor sets it: `state: Annotated[dict, InjectedState]`,
    `user: Annotated[str, InjectedState("user")]`.
    """

    def __init__(self, field: str | None = None) -> None:
        self.field = field


class InjectedStore(InjectedToolArg):
    """Marks a tool's argument that gets the graph's store: `store: Annotated[BaseStore, InjectedStore()]`.

    The model neither sees nor sets it. The graph has to be compiled with a store.
    """


@dataclass
class ToolRuntime(_DirectlyInjectedToolArg, Generic[ContextT, StateT]):
    """What a run hands to a tool that has a parameter of this type, or one named `runtime`.

    The graph's `state`, the run's `context`, `config`, `store` and `stream_writer`, the id of the
    tool call, and the `tools` of the node. The model neither sees nor sets it.
    """

    state: StateT
    context: ContextT
    config: RunnableConfig
    stream_writer: StreamWriter
    tool_call_id: str | None
    store: BaseStore | None
    tools: list[BaseTool] = field(default_factory=list)
    execution_info: ExecutionInfo | None = None
    server_info: ServerInfo | None = None

    def emit_output_delta(self, delta: Any) -> None:
        """Offer a part of the tool's output while it still runs.

        It goes to the stream mode `tools`; does nothing when nobody streams in that mode.
        """
        context = current()
        if context is not None:
            event = {"event": "tool-output-delta", "tool_call_id": self.tool_call_id, "delta": delta}
            context.emit("tools", event)


@dataclass
class ToolCallRequest:
    """A tool call about to be made, as a wrapper sees it.

    `tool` is None if the node has no tool of that name; running the request is then answered with
    an error message, unless a wrapper puts a tool in its place.
    """

    tool_call: ToolCall
    tool: BaseTool | None
    state: Any
    runtime: "ToolRuntime[Any, Any]"

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__dict__:
            warn(
                f"Setting attribute {name!r} on ToolCallRequest is deprecated; call "
                f"request.override({name}=...), which returns a changed copy",
                DeprecationWarning,
                stacklevel=2,
            )
        object.__setattr__(self, name, value)

    def override(self, **overrides: Any) -> "ToolCallRequest":
        """Return a copy with some fields replaced; `state` is replaced in `runtime` as well."""
        request = replace(self, **overrides)
        if "state" in overrides and "runtime" not in overrides and isinstance(request.runtime, ToolRuntime):
            return replace(request, runtime=replace(request.runtime, state=request.state))
        return request


ToolCallWrapper: TypeAlias = Callable[
    [ToolCallRequest, Callable[[ToolCallRequest], ToolMessage | Command[Any]]],
    ToolMessage | Command[Any],
]
"""Stands around every tool call: is given the request and a function that makes it, which it may call
never, once or several times, with this request or another, and returns the outcome."""

AsyncToolCallWrapper: TypeAlias = Callable[
    [ToolCallRequest, Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]],
    Awaitable[ToolMessage | Command[Any]],
]
"""The async form of `ToolCallWrapper`."""


class ToolCallWithContext(TypedDict):
    """One tool call together with the state it belongs to: the argument of a Send to a ToolNode."""

    tool_call: ToolCall
    __type: Literal["tool_call_with_context"]
    state: Any
