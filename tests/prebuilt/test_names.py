"""What packages that build agents on this API import, and what they get."""

import asyncio
import importlib
import inspect

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from pydantic import BaseModel

from runtime._internal._config import patch_configurable
from runtime._internal._runnable import RunnableCallable
from runtime.config import get_config
from runtime.graph import START, MessagesState, StateGraph
from runtime.graph.message import push_message
from runtime.prebuilt import ToolCallTransformer, ToolNode, ToolRuntime, ValidationNode
from runtime.pregel.remote import RemoteGraph, RemoteGraphUnavailable
from runtime.runtime import Runtime, get_runtime
from runtime.stream import StreamChannel, StreamTransformer
from runtime.stream.run_stream import AsyncSubgraphRunStream, SubgraphRunStream
from runtime.types import Command, Send, interrupt
from tests.prebuilt.models import call

NAMES = {
    "runtime._internal._typing": ["DeprecatedKwargs"],
    "runtime.channels.ephemeral_value": ["EphemeralValue"],
    "runtime.channels.untracked_value": ["UntrackedValue"],
    "runtime.constants": ["END", "START", "TAG_NOSTREAM"],
    "runtime.graph.message": ["REMOVE_ALL_MESSAGES", "add_messages", "MessagesState", "AnyMessage"],
    "runtime.graph.state": ["StateGraph", "CompiledStateGraph", "RunnableConfig"],
    "runtime.managed.is_last_step": ["RemainingSteps", "IsLastStep"],
    "runtime.prebuilt": ["InjectedState", "InjectedStore", "ToolCallTransformer", "ToolNode", "ToolRuntime"],
    "runtime.prebuilt.chat_agent_executor": [
        "AgentState",
        "AgentStateWithStructuredResponse",
        "Prompt",
        "StateSchemaType",
        "StructuredResponseSchema",
        "_should_bind_tools",
        "create_react_agent",
    ],
    "runtime.prebuilt.interrupt": ["HumanInterrupt", "HumanResponse", "ActionRequest", "HumanInterruptConfig"],
    "runtime.prebuilt.tool_node": ["ToolCallRequest", "ToolCallWithContext", "ToolCallWrapper", "ToolRuntime"],
    "runtime.pregel": ["Pregel", "NodeBuilder"],
    "runtime.stream.transformers": ["SubgraphStatus", "_TasksLifecycleBase"],
    "runtime.types": ["Send", "TracePolicy", "omit_payload"],
    "runtime.typing": ["ContextT"],
}


@pytest.mark.parametrize("module", NAMES)
def test_the_names_are_there(module):
    found = importlib.import_module(module)
    assert [name for name in NAMES[module] if not hasattr(found, name)] == []


def test_stream_objects_say_that_they_are_not_driven():
    class Mine(ToolCallTransformer):
        required_stream_modes = ("messages",)

    assert isinstance(Mine(("a",)), StreamTransformer)
    assert Mine(("a",)).scope == ("a",)
    for kind in (StreamChannel, SubgraphRunStream, AsyncSubgraphRunStream):
        with pytest.raises(NotImplementedError, match=rf"{kind.__name__} .*graph\.stream\(\)"):
            kind()


def test_a_remote_graph_says_what_to_do_instead():
    assert not isinstance(StateGraph(MessagesState), RemoteGraph)
    with pytest.raises(RemoteGraphUnavailable, match=r"'agent'.*langgraph-sdk"):
        RemoteGraph("agent", url="http://localhost:2024")


def test_patch_configurable_makes_a_copy():
    config = {"configurable": {"a": 1}, "tags": ["t"]}
    assert patch_configurable(config, {"b": 2}) == {"configurable": {"a": 1, "b": 2}, "tags": ["t"]}
    assert config == {"configurable": {"a": 1}, "tags": ["t"]}
    assert patch_configurable(None, {"b": 2}) == {"configurable": {"b": 2}}


# --- RunnableCallable -----------------------------------------------------------------------------


class Recorder(BaseCallbackHandler):
    def __init__(self):
        self.started = []

    def on_chain_start(self, serialized, inputs, **kwargs):
        self.started.append(kwargs.get("name"))


@pytest.fixture(params=["sync", "async"])
def run(request):
    def run(runnable, value, config=None, **kwargs):
        if request.param == "sync":
            return runnable.invoke(value, config, **kwargs)
        return asyncio.run(runnable.ainvoke(value, config, **kwargs))

    return run


def both(func, **options):
    async def afunc(*args, **kwargs):
        return func(*args, **kwargs)

    afunc.__signature__ = inspect.signature(func)
    return RunnableCallable(func, afunc, **options)


def test_it_is_given_what_it_asks_for(run):
    def asks(value, config, runtime, store, writer, previous, other=4):
        return value, config["configurable"]["x"], runtime.previous, store is runtime.store, previous, other

    runtime = Runtime(previous=3, store=InMemoryStore())
    config = {"configurable": {"x": 2, "__pregel_runtime": runtime}}
    assert run(both(asks), 1, config) == (1, 2, 3, True, 3, 4)
    assert run(both(asks), 1, config, other=5)[-1] == 5


def test_outside_a_run_what_it_asks_for_is_empty(run):
    def asks(value, *, runtime, store, writer):
        writer("nobody listens")
        return runtime.context, store

    assert run(both(asks), 1) == (None, None)


def test_a_parameter_of_another_type_is_not_filled(run):
    def mine(value, store: str = "corner shop"):
        return store

    assert run(both(mine), 1) == "corner shop"


def test_a_runnable_that_it_returns_is_run_unless_it_must_not_be(run):
    inner = RunnableLambda(lambda value: value + 1)
    assert run(both(lambda value: inner), 1) == 2
    assert run(both(lambda value: inner, recurse=False), 1) is inner


def test_its_runs_are_traced_unless_they_must_not_be(run):
    recorder = Recorder()
    config = {"callbacks": [recorder], "configurable": {"x": 1}}
    assert run(both(lambda value: get_config()["configurable"]["x"], name="seen"), 1, config) == 1
    assert run(both(lambda value: get_config()["configurable"]["x"], name="unseen", trace=False), 1, config) == 1
    assert recorder.started == ["seen"]


def test_arguments_may_be_exploded(run):
    assert run(both(lambda a, b, c: (a, b, c), explode_args=True, c=3), ((1,), {"b": 2})) == (1, 2, 3)


def test_names_and_missing_forms():
    async def later(value):
        return value

    assert RunnableCallable(None, later).get_name() == "later"
    assert RunnableCallable(lambda value: value, name="mine").get_name() == "mine"
    with pytest.raises(TypeError, match=r"'later'.*ainvoke\(\)"):
        RunnableCallable(None, later).invoke(1)
    with pytest.raises(ValueError, match="func, afunc or both"):
        RunnableCallable(None)
    assert asyncio.run(RunnableCallable(lambda value: value + 1).ainvoke(1)) == 2


# --- in a graph -----------------------------------------------------------------------------------


def test_a_callable_in_a_graph_is_given_the_runs_own_things(run):
    def node(state, runtime: Runtime, config):
        assert get_runtime().context == runtime.context
        return {"messages": [AIMessage(f"{runtime.context['user']} {config['configurable']['thread_id']}")]}

    graph = StateGraph(MessagesState, context_schema=dict).add_node("node", both(node)).add_edge(START, "node")
    compiled = graph.compile(checkpointer=InMemorySaver())
    result = run(compiled, {"messages": []}, {"configurable": {"thread_id": "t"}}, context={"user": "eve"})
    assert result["messages"][0].content == "eve t"


def test_pushed_messages_are_streamed_at_once_and_kept(run):
    def node(state):
        with pytest.raises(ValueError, match="id"):
            push_message(AIMessage("no id"))
        push_message(AIMessage("shown", id="1"), state_key=None)
        push_message(HumanMessage("kept", id="2"))
        return {"messages": [AIMessage("returned", id="3")]}

    graph = StateGraph(MessagesState).add_node("node", node).add_edge(START, "node").compile()
    parts = list(graph.stream({"messages": []}, stream_mode=["messages", "values"]))
    assert [part[0].content for mode, part in parts if mode == "messages"] == ["shown", "kept", "returned"]
    assert [m.content for m in parts[-1][1]["messages"]] == ["kept", "returned"]
    assert [m.content for m in run(graph, {"messages": []})["messages"]] == ["kept", "returned"]
    with pytest.raises(RuntimeError, match="outside"):
        push_message(AIMessage("x", id="1"))


def test_tool_calls_alone_reach_a_tool_node_with_the_state_behind_them(run):
    @tool
    def count(runtime: ToolRuntime) -> str:
        """Count messages."""
        return str(len(runtime.state["messages"]))

    graph = StateGraph(MessagesState).add_node(
        "model", lambda s: {"messages": [AIMessage("", tool_calls=[call("count")])]}
    )
    graph.add_node("tools", ToolNode([count])).add_edge(START, "model")
    graph.add_conditional_edges("model", lambda s: [Send("tools", [c]) for c in s["messages"][-1].tool_calls])
    result = run(graph.compile(), {"messages": [HumanMessage("hi")]})
    assert result["messages"][-1].content == "2"


class Person(BaseModel):
    name: str
    age: int


def test_an_answer_that_does_not_fit_is_no_mistake_of_the_tools_caller(run):
    @tool
    def ask() -> str:
        """Ask who it is."""
        return interrupt("who?", response_schema=Person).name

    node = ToolNode([ask], handle_tool_errors=True)
    graph = StateGraph(MessagesState).add_node("tools", node).add_edge(START, "tools")
    compiled = graph.compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    (question,) = run(compiled, {"messages": [AIMessage("", tool_calls=[call("ask")])]}, config)["__interrupt__"]
    assert question.response_schema["required"] == ["name", "age"]
    with pytest.raises(ValueError, match="age"):
        run(compiled, Command(resume={"name": "eve"}), config)
    result = run(compiled, Command(resume={"name": "eve", "age": 7}), config)
    assert result["messages"][-1].content == "eve"


@pytest.mark.parametrize("wrap", [list, lambda messages: {"messages": messages}])
def test_validation_answers_calls_without_running_anything(wrap):
    def person(name: str, age: int) -> None:
        raise AssertionError("not to be run")

    as_tool = tool("as_tool", args_schema=Person, description="A person.")(person)
    node = ValidationNode([Person, as_tool, person])
    calls = [{**call(name, str(n)), "args": {"name": "eve", "age": age}} for n, (name, age) in enumerate(
        [("Person", 7), ("as_tool", 7), ("person", "old")])]  # fmt: skip
    result = node.invoke(wrap([AIMessage("", tool_calls=calls)]))
    answers = result if isinstance(result, list) else result["messages"]
    assert [isinstance(a, ToolMessage) and a.additional_kwargs.get("is_error", False) for a in answers] == [
        False, False, True,
    ]  # fmt: skip
    assert answers[0].content == '{"name":"eve","age":7}'
    assert "Respond after fixing" in answers[2].content
    with pytest.raises(ValueError, match="'Other'"):
        node.invoke([AIMessage("", tool_calls=[call("Other")])])
    with pytest.raises(ValueError, match="not an AIMessage"):
        node.invoke([HumanMessage("?")])
    with pytest.raises(ValueError, match="Pydantic models, tools or functions"):
        ValidationNode([3])


def test_a_node_can_be_tried_alone(run):
    async def later(state):
        return {"messages": [AIMessage("later")]}

    def echo(text: str) -> str:
        """Say it again."""
        return text

    graph = StateGraph(MessagesState).add_node("now", lambda state: {"messages": [AIMessage("now")]})
    graph.add_node("later", later).add_node("tools", ToolNode([echo]))
    nodes = graph.add_edge(START, "now").compile().nodes
    assert run(nodes["now"], {"messages": []})["messages"][0].content == "now"
    assert asyncio.run(nodes["later"].ainvoke({"messages": []}))["messages"][0].content == "later"
    asked = {"messages": [AIMessage("", tool_calls=[call("echo", text="hi")])]}
    assert run(nodes["tools"], asked)["messages"][0].content == "hi"
