"""create_react_agent: a graph that lets a model call tools until it has an answer."""

import dataclasses
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, Literal, NotRequired, TypeAlias, TypeVar, get_type_hints
from warnings import warn

from langchain_core.language_models import LanguageModelLike
from langchain_core.messages import AnyMessage, BaseMessage
from langchain_core.tools import BaseTool
from langgraph.store.base import BaseStore
from pydantic import BaseModel, create_model
from typing_extensions import TypedDict

from runtime._internal._runnable import RunnableCallable, RunnableLike
from runtime.constants import END
from runtime.graph.message import add_messages
from runtime.graph.state import CompiledStateGraph, StateGraph
from runtime.managed import RemainingSteps
from runtime.prebuilt._agent import Agent
from runtime.prebuilt._models import Prompt
from runtime.prebuilt._models import check_history as _validate_chat_history
from runtime.prebuilt._models import should_bind_tools as _should_bind_tools
from runtime.prebuilt._models import underlying_model as _get_model
from runtime.prebuilt.tool_node import ToolNode
from runtime.types import Checkpointer
from runtime.warnings import DeprecatedSince10

__all__ = (
    "AgentState",
    "AgentStatePydantic",
    "AgentStateWithStructuredResponse",
    "AgentStateWithStructuredResponsePydantic",
    "Prompt",
    "StateSchema",
    "StateSchemaType",
    "StructuredResponse",
    "StructuredResponseSchema",
    "_get_model",
    "_should_bind_tools",
    "_validate_chat_history",
    "create_react_agent",
    "create_tool_calling_executor",
)

StructuredResponse: TypeAlias = dict[str, Any] | BaseModel
StructuredResponseSchema: TypeAlias = dict[str, Any] | type[BaseModel]


class AgentState(TypedDict):
    """The conversation, and how many supersteps are left for it."""

    messages: Annotated[Sequence[BaseMessage], add_messages]
    remaining_steps: NotRequired[RemainingSteps]


class AgentStatePydantic(BaseModel):
    """`AgentState` as a model."""

    messages: Annotated[Sequence[BaseMessage], add_messages]
    remaining_steps: RemainingSteps = 25


class AgentStateWithStructuredResponse(AgentState):
    """`AgentState` with the response in the schema that was asked for."""

    structured_response: StructuredResponse


class AgentStateWithStructuredResponsePydantic(AgentStatePydantic):
    """`AgentStateWithStructuredResponse` as a model."""

    structured_response: StructuredResponse


StateSchema = TypeVar("StateSchema", bound=AgentState | AgentStatePydantic)
StateSchemaType: TypeAlias = type[Any]


def create_react_agent(  # noqa: PLR0913 - keyword arguments, each a choice of its own
    model: str | LanguageModelLike | Callable[..., Any] | Callable[..., Awaitable[Any]],
    tools: Sequence[BaseTool | Callable[..., Any] | dict[str, Any]] | ToolNode,
    *,
    prompt: Prompt | None = None,
    response_format: Any = None,
    pre_model_hook: RunnableLike | None = None,
    post_model_hook: RunnableLike | None = None,
    state_schema: StateSchemaType | None = None,
    context_schema: type[Any] | None = None,
    checkpointer: Checkpointer = None,
    store: BaseStore | None = None,
    interrupt_before: list[str] | None = None,
    interrupt_after: list[str] | None = None,
    debug: bool = False,
    version: Literal["v1", "v2"] = "v2",
    name: str | None = None,
    **deprecated: Any,
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return a graph in which a model calls tools in a loop until it answers without.

    Args:
        model: A chat model, its name as `"<provider>:<model>"` (needs langchain), or a function of
            (state, runtime) that returns one, with the tools bound that it may call.
        tools: Tools, functions, or a ToolNode. Dicts are tools that the provider runs itself.
        prompt: A system message or its text, or a function or Runnable that makes the model's input
            of the state.
        response_format: A schema for a last call of the model, whose result is put under
            `structured_response`; as (system text, schema) with instructions for that call.
        pre_model_hook: A node before each call of the model. It updates the state; messages that it
            returns under `llm_input_messages` are what the model sees, and are not kept.
        post_model_hook: A node after each call of the model; only with version v2.
        state_schema: The state; needs `messages` and `remaining_steps`, and `structured_response` with
            a response format.
        context_schema: The run's context.
        checkpointer: As in `compile`.
        store: As in `compile`.
        interrupt_before: Nodes to stop before: `agent`, `tools`, or a hook.
        interrupt_after: Nodes to stop after.
        debug: As in `compile`.
        version: v1 runs the tools of one message in one task, v2 each in a task of its own.
        name: The graph's name, which its messages carry.
        **deprecated: `config_schema`, the older spelling of `context_schema`.

    Returns:
        The compiled graph, with the nodes `agent` and `tools`. If too few supersteps are left for
        the tools and another call of the model, it ends with a message that says so.

    Raises:
        ValueError: for an unknown version, a state without the keys it needs, or a model with other
            tools bound than these.
        TypeError: for unknown keyword arguments.
    """
    context_schema = _context_schema(context_schema, deprecated)
    if version not in ("v1", "v2"):
        raise ValueError(f"version has to be 'v1' or 'v2', not {version!r}")
    schema = _state_schema(state_schema, response_format is not None)
    builtin = [] if isinstance(tools, ToolNode) else [tool for tool in tools if isinstance(tool, dict)]
    node = tools if isinstance(tools, ToolNode) else ToolNode([t for t in tools if not isinstance(t, dict)])
    agent = Agent(
        model,
        list(node.tools_by_name.values()),
        builtin,
        prompt=prompt,
        response_format=response_format,
        name=name,
        version=version,
        before=pre_model_hook is not None,
        after=post_model_hook is not None,
    )
    graph: Any = StateGraph(schema, context_schema=context_schema)
    _add_nodes(graph, agent, schema, pre_model_hook, post_model_hook)
    if node.tools_by_name:
        graph.add_node("tools", node)
        _connect_tools(graph, agent)
    else:
        _connect_in_a_row(graph, agent)
    compiled: CompiledStateGraph[Any, Any, Any, Any] = graph.compile(
        checkpointer=checkpointer,
        store=store,
        interrupt_before=interrupt_before,
        interrupt_after=interrupt_after,
        debug=debug,
        name=name,
    )
    return compiled


create_tool_calling_executor = create_react_agent


def _context_schema(context_schema: type[Any] | None, deprecated: dict[str, Any]) -> type[Any] | None:
    unknown = {key: value for key, value in deprecated.items() if key != "config_schema"}
    if unknown:
        raise TypeError(f"create_react_agent() got unexpected keyword arguments: {unknown}")
    if "config_schema" not in deprecated:
        return context_schema
    warn("`config_schema` is deprecated, use `context_schema`", DeprecatedSince10, stacklevel=3)
    older: type[Any] | None = deprecated["config_schema"]
    return older if context_schema is None else context_schema


def _state_schema(given: Any, structured: bool) -> Any:
    if given is None:
        return AgentStateWithStructuredResponse if structured else AgentState
    needed = {"messages", "remaining_steps"} | ({"structured_response"} if structured else set())
    if missing := needed - set(get_type_hints(given)):
        raise ValueError(f"state_schema {given.__name__!r} lacks the keys {sorted(missing)}")
    return given


def _model_input_schema(schema: Any) -> Any:
    """Return the state with the messages that a hook chose for the model."""
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        return create_model("CallModelInput", __base__=schema, llm_input_messages=(list[AnyMessage], []))
    if isinstance(schema, type) and dataclasses.is_dataclass(schema):
        chosen: Any = ("llm_input_messages", list[AnyMessage], dataclasses.field(default_factory=list))
        return dataclasses.make_dataclass("CallModelInput", [chosen], bases=(schema,))

    class CallModelInput(schema):  # type: ignore[misc]
        llm_input_messages: list[AnyMessage]

    return CallModelInput


def _add_nodes(graph: Any, agent: Agent, schema: Any, before: Any, after: Any) -> None:
    seen = schema if before is None else _model_input_schema(schema)
    graph.add_node("agent", RunnableCallable(agent.call_model, agent.acall_model), input_schema=seen)
    if before is not None:
        graph.add_node("pre_model_hook", before)
        graph.add_edge("pre_model_hook", "agent")
    if after is not None:
        graph.add_node("post_model_hook", after)
        graph.add_edge("agent", "post_model_hook")
    if agent.response_format is not None:
        graph.add_node("generate_structured_response", RunnableCallable(agent.respond, agent.arespond))
    graph.set_entry_point(agent.entry)


def _connect_in_a_row(graph: Any, agent: Agent) -> None:
    if agent.response_format is not None:
        graph.add_edge("post_model_hook" if agent.after else "agent", agent.last)


def _connect_tools(graph: Any, agent: Agent) -> None:
    if agent.after:
        if agent.version == "v1":
            graph.add_conditional_edges("agent", agent.after_model, ["tools", "post_model_hook"])
        graph.add_conditional_edges("post_model_hook", agent.after_hook, [agent.entry, "tools", agent.last])
    else:
        graph.add_conditional_edges("agent", agent.after_model, ["tools", agent.last])
    if agent.ends_run:
        graph.add_conditional_edges("tools", agent.after_tools, [agent.entry, END])
    else:
        graph.add_edge("tools", agent.entry)
