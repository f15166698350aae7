"""ToolNode: runs the tools that a model asked for, as a node of a graph.

The calls of one message run side by side. What a tool returns becomes ToolMessages for the
conversation, or Commands for the graph. Interrupts and other control flow always pass through.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar, cast

from langchain_core.messages import AIMessage, AnyMessage, ToolCall
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import get_config_list, get_executor_for_config
from langchain_core.tools import BaseTool
from langchain_core.tools import tool as make_tool
from pydantic import BaseModel, ValidationError

from runtime._context import current
from runtime._internal._runnable import RunnableCallable
from runtime.errors import GraphBubbleUp, is_invalid_resume
from runtime.prebuilt._injection import inject, injected_arguments
from runtime.prebuilt._outcomes import InputKind, OutcomeCheck, combine, msg_content_output
from runtime.prebuilt._requests import (
    AsyncToolCallWrapper,
    InjectedState,
    InjectedStore,
    ToolCallRequest,
    ToolCallWithContext,
    ToolCallWrapper,
    ToolOutcome,
    ToolRuntime,
)
from runtime.prebuilt._tool_errors import (
    INVALID_TOOL_NAME_ERROR_TEMPLATE,
    TOOL_CALL_ERROR_TEMPLATE,
    TOOL_EXECUTION_ERROR_TEMPLATE,
    TOOL_INVOCATION_ERROR_TEMPLATE,
    ErrorHandling,
    ToolInvocationError,
    error_message,
    handle_invocation_errors,
    handled_types,
    unknown_tool,
    visible_errors,
)
from runtime.runtime import Runtime

__all__ = (
    "INVALID_TOOL_NAME_ERROR_TEMPLATE",
    "TOOL_CALL_ERROR_TEMPLATE",
    "TOOL_EXECUTION_ERROR_TEMPLATE",
    "TOOL_INVOCATION_ERROR_TEMPLATE",
    "AsyncToolCallWrapper",
    "InjectedState",
    "InjectedStore",
    "ToolCallRequest",
    "ToolCallWithContext",
    "ToolCallWrapper",
    "ToolInvocationError",
    "ToolNode",
    "ToolRuntime",
    "msg_content_output",
    "tools_condition",
)

_Call = TypeVar("_Call", bound=Callable[[ToolCallRequest], Any])


class ToolNode(RunnableCallable):
    """Runs the tool calls of the last AIMessage, in parallel.

    The input is a state with a list of messages under `messages_key` (a dict, dataclass or model),
    the list of messages itself, a list of tool calls, or one `ToolCallWithContext`. The result has
    the same form, with a ToolMessage for each call; tools may also return Commands.

    `tools` are tools or plain functions. `handle_tool_errors` says which errors become a message
    to the model instead of ending the run: True all, False none, exception classes those, a string
    all with this text, a function those that its argument is annotated with, with what it returns.
    By default only calls with wrong arguments do. `wrap_tool_call` and `awrap_tool_call` stand
    around every call, see `ToolCallWrapper`; the first serves for async runs too if it is alone.
    """

    name: str | None = "tools"

    def __init__(  # noqa: PLR0913 - keyword arguments, each a choice of its own
        self,
        tools: Sequence[BaseTool | Callable[..., Any]],
        *,
        name: str = "tools",
        tags: list[str] | None = None,
        handle_tool_errors: ErrorHandling = handle_invocation_errors,
        messages_key: str = "messages",
        wrap_tool_call: ToolCallWrapper | None = None,
        awrap_tool_call: AsyncToolCallWrapper | None = None,
    ) -> None:
        super().__init__(self._func, self._afunc, name=name, tags=tags, trace=False)
        made = (tool if isinstance(tool, BaseTool) else make_tool(tool) for tool in tools)
        self._tools_by_name: dict[str, BaseTool] = {tool.name: tool for tool in made}
        self._injected = {name: injected_arguments(tool) for name, tool in self._tools_by_name.items()}
        self._handle_tool_errors = handle_tool_errors
        self._handled = handled_types(handle_tool_errors)
        self._messages_key = messages_key
        self._wrap_tool_call = wrap_tool_call
        self._awrap_tool_call = awrap_tool_call

    @property
    def tools_by_name(self) -> dict[str, BaseTool]:
        """The node's tools."""
        return self._tools_by_name

    def _func(self, input: Any, config: RunnableConfig, runtime: Runtime[Any]) -> Any:
        calls, kind = self._calls(input)
        requests = self._requests(calls, input, config, runtime)
        check = OutcomeCheck(kind, self._messages_key)

        def run(request: ToolCallRequest) -> ToolOutcome:
            return self._run_one(request, check)

        if len(requests) == 1:
            return combine([run(requests[0])], kind, self._messages_key)
        with get_executor_for_config(config) as executor:
            outcomes = list(executor.map(run, requests))
        return combine(outcomes, kind, self._messages_key)

    async def _afunc(self, input: Any, config: RunnableConfig, runtime: Runtime[Any]) -> Any:
        calls, kind = self._calls(input)
        requests = self._requests(calls, input, config, runtime)
        check = OutcomeCheck(kind, self._messages_key)
        # All come to their end, as with threads, before the first that failed or asked is heard.
        calls_made = (self._arun_one(request, check) for request in requests)
        ended = await asyncio.gather(*calls_made, return_exceptions=True)
        outcomes: list[ToolOutcome] = []
        for outcome in ended:
            if isinstance(outcome, BaseException):
                raise outcome
            outcomes.append(outcome)
        return combine(outcomes, kind, self._messages_key)

    def _requests(
        self, calls: list[ToolCall], input: Any, config: RunnableConfig, runtime: Runtime[Any]
    ) -> list[ToolCallRequest]:
        tools = list(self._tools_by_name.values())
        requests = []
        for call, own_config in zip(calls, get_config_list(config, len(calls)), strict=True):
            state = _state_behind(input)
            tool_runtime = ToolRuntime(
                state=state,
                tool_call_id=call["id"],
                config=own_config,
                context=runtime.context,
                store=runtime.store,
                stream_writer=runtime.stream_writer,
                tools=tools,
                execution_info=runtime.execution_info,
                server_info=runtime.server_info,
            )
            tool = self._tools_by_name.get(call["name"])
            requests.append(ToolCallRequest(tool_call=call, tool=tool, state=state, runtime=tool_runtime))
        return requests

    # --- one call ---------------------------------------------------------------------------------

    def _run_one(self, request: ToolCallRequest, check: OutcomeCheck) -> ToolOutcome:
        if self._wrap_tool_call is None:
            return self._execute(request, check)
        try:
            return self._wrap_tool_call(request, self._executor(request, check))
        except Exception as error:
            return self._answer(request.tool_call, error)

    async def _arun_one(self, request: ToolCallRequest, check: OutcomeCheck) -> ToolOutcome:
        if self._awrap_tool_call is None and self._wrap_tool_call is None:
            return await self._aexecute(request, check)

        async def execute(changed: ToolCallRequest) -> Any:
            return await self._aexecute(_with_config_of(request, changed), check)

        try:
            if self._awrap_tool_call is not None:
                return await self._awrap_tool_call(request, execute)
            assert self._wrap_tool_call is not None  # one of them is there
            return self._wrap_tool_call(request, self._executor(request, check))
        except Exception as error:
            return self._answer(request.tool_call, error)

    def _executor(self, request: ToolCallRequest, check: OutcomeCheck) -> Callable[[ToolCallRequest], Any]:
        def execute(changed: ToolCallRequest) -> Any:
            return self._execute(_with_config_of(request, changed), check)

        return execute

    def _execute(self, request: ToolCallRequest, check: OutcomeCheck) -> ToolOutcome:
        if request.tool is None:
            return unknown_tool(request.tool_call, list(self._tools_by_name))
        arguments = self._inject(request, request.tool)
        try:
            try:
                response = request.tool.invoke(arguments, request.runtime.config)
            except ValidationError as error:
                raise self._invocation_error(request.tool_call, error) from error
            return check(response, request.tool_call)
        except Exception as error:
            return self._answer(request.tool_call, error)

    async def _aexecute(self, request: ToolCallRequest, check: OutcomeCheck) -> ToolOutcome:
        if request.tool is None:
            return unknown_tool(request.tool_call, list(self._tools_by_name))
        arguments = self._inject(request, request.tool)
        try:
            try:
                response = await request.tool.ainvoke(arguments, request.runtime.config)
            except ValidationError as error:
                raise self._invocation_error(request.tool_call, error) from error
            return check(response, request.tool_call)
        except Exception as error:
            return self._answer(request.tool_call, error)

    def _inject(self, request: ToolCallRequest, tool: BaseTool) -> Any:
        # A wrapper may have put in a tool that this node was not made with.
        injected = self._injected.get(request.tool_call["name"]) or injected_arguments(tool)
        call = inject(request.tool_call, injected, request.runtime, self._messages_key)
        return {**call, "type": "tool_call"}

    def _invocation_error(self, call: ToolCall, error: ValidationError) -> Exception:
        if is_invalid_resume(error):
            return error  # an answer to an interrupt, not an argument, was refused
        visible = visible_errors(error, self._injected.get(call["name"]))
        return ToolInvocationError(call["name"], error, call["args"], visible)

    def _answer(self, call: ToolCall, error: Exception) -> ToolOutcome:
        """Return a message to the model for `error`, or raise it."""
        if isinstance(error, GraphBubbleUp) or is_invalid_resume(error) or not isinstance(error, self._handled):
            raise error
        return error_message(call, error, self._handle_tool_errors)

    # --- the input --------------------------------------------------------------------------------

    def _calls(self, input: Any) -> tuple[list[ToolCall], InputKind]:
        if isinstance(input, list):
            if _are_bare_calls(input):
                return cast("list[ToolCall]", input), "tool_calls"
            return _last_calls(input), "list"
        if _has_context(input):
            return [input["tool_call"]], "tool_calls"
        messages = _messages_in(input, self._messages_key)
        if not messages:
            raise ValueError(
                f"No message found in input: a ToolNode needs messages under {self._messages_key!r}, got {input!r}"
            )
        return _last_calls(messages), "dict"


def _with_config_of(request: ToolCallRequest, changed: ToolCallRequest) -> ToolCallRequest:
    """Return `changed`, which a wrapper made; without a runtime of its own it runs in the call's."""
    runtime: Any = changed.runtime
    if isinstance(runtime, ToolRuntime):
        return changed
    return changed.override(runtime=request.runtime)


def _messages_in(state: Any, key: str) -> list[AnyMessage]:
    found = state.get(key) if isinstance(state, dict) else getattr(state, key, None)
    return found or []


def _last_calls(messages: Sequence[Any]) -> list[ToolCall]:
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            return list(message.tool_calls)
    raise ValueError(f"No AIMessage found in input: a ToolNode runs its tool calls, got {messages!r}")


def _has_context(input: Any) -> bool:
    return isinstance(input, dict) and input.get("__type") == "tool_call_with_context"


def _are_bare_calls(input: Any) -> bool:
    last = input[-1] if isinstance(input, list) and input else None
    return isinstance(last, dict) and last.get("type") == "tool_call"


def _state_behind(input: Any) -> Any:
    """Return the state that tools may ask for."""
    if _has_context(input):
        return input["state"]
    if not _are_bare_calls(input):
        return input

    context = current()
    return {} if context is None else context.state()


def tools_condition(
    state: list[AnyMessage] | dict[str, Any] | BaseModel, messages_key: str = "messages"
) -> Literal["tools", "__end__"]:
    """Route to the node `tools` if the last message asks for tools, else to the end.

    Raises ValueError for a state without messages.
    """
    messages = state if isinstance(state, list) else _messages_in(state, messages_key)
    if not messages:
        raise ValueError(f"No messages found in input state to tools_condition: {state!r}")
    return "tools" if getattr(messages[-1], "tool_calls", None) else "__end__"
