"""create_react_agent: a model, its tools, and a graph around them."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, SystemMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from pydantic import BaseModel
from typing_extensions import TypedDict

from runtime.errors import GraphRecursionError
from runtime.graph.message import REMOVE_ALL_MESSAGES, add_messages
from runtime.managed import RemainingSteps
from runtime.prebuilt import InjectedState, InjectedStore, ToolNode, create_react_agent
from runtime.prebuilt.chat_agent_executor import AgentState, AgentStatePydantic, create_tool_calling_executor
from runtime.types import Command, interrupt
from runtime.warnings import DeprecatedSince10
from tests.prebuilt.models import Scripted, call


@pytest.fixture(params=["sync", "async"])
def run(request):
    def run(agent, value="hi", config=None, **options):
        value = {"messages": [("user", value)]} if isinstance(value, str) else value
        if request.param == "sync":
            return agent.invoke(value, config, **options)
        return asyncio.run(agent.ainvoke(value, config, **options))

    return run


@pytest.fixture(params=["v1", "v2"])
def version(request):
    return request.param


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def said(result):
    return [(m.type, m.content) for m in result["messages"]]


def test_a_model_without_tools_answers(run):
    agent = create_react_agent(Scripted(turns=["hello"]), [])
    assert said(run(agent)) == [("human", "hi"), ("ai", "hello")]


def test_tools_are_called_until_the_model_is_done(run, version):
    both = [call("add", a=1, b=2), call("add", "d", a=3, b=4)]
    model = Scripted(turns=[both, [call("add", a=3, b=7)], "10"])
    result = run(create_react_agent(model, [add], version=version))
    assert said(result) == [
        ("human", "hi"), ("ai", ""), ("tool", "3"), ("tool", "7"), ("ai", ""), ("tool", "10"), ("ai", "10"),
    ]  # fmt: skip
    assert [m.tool_call_id for m in result["messages"] if m.type == "tool"] == ["c1-1", "d-1", "c1-2"]


@pytest.mark.parametrize(
    "prompt",
    [
        "Be brief.",
        SystemMessage("Be brief."),
        lambda state: [SystemMessage("Be brief."), *state["messages"]],
    ],
)
def test_the_prompt_stands_before_the_conversation(run, prompt):
    model = Scripted(turns=["ok"])
    run(create_react_agent(model, [], prompt=prompt))
    assert [m.content for m in model.heard[-1]] == ["Be brief.", "hi"]


def test_an_async_prompt_and_a_runnable_one():
    async def prompt(state):
        return [SystemMessage("Be brief."), *state["messages"]]

    model = Scripted(turns=["ok"])
    asyncio.run(create_react_agent(model, [], prompt=prompt).ainvoke({"messages": [("user", "hi")]}))
    assert model.heard[-1][0].content == "Be brief."
    with pytest.raises(ValueError, match="prompt has to be"):
        create_react_agent(model, [], prompt=3)


def test_the_agents_name_is_on_its_messages(run):
    agent = create_react_agent(Scripted(turns=["ok"]), [], name="helper")
    assert agent.name == "helper"
    assert run(agent)["messages"][-1].name == "helper"


def test_tools_of_the_provider_are_bound_and_not_run():
    bound = []

    class Binding(Scripted):
        def bind_tools(self, tools, **kwargs):
            bound.extend(tools)
            return super().bind_tools(tools)

    create_react_agent(Binding(turns=["ok"]), [add, {"type": "web_search"}])
    assert [t if isinstance(t, dict) else t.name for t in bound] == ["add", {"type": "web_search"}]


def test_bound_tools_have_to_be_the_agents():
    model = Scripted(turns=["ok"])
    create_react_agent(model.bind(tools=[{"name": "add"}]), [add])
    create_react_agent(model.bind(tools=[{"type": "function", "function": {"name": "add"}}]), [add])
    with pytest.raises(ValueError, match="2 tools bound, but the agent has 1"):
        create_react_agent(model.bind(tools=[{"name": "add"}, {"name": "sub"}]), [add])
    with pytest.raises(ValueError, match=r"no tools named \['add'\]"):
        create_react_agent(model.bind(tools=[{"name": "sub"}]), [add])


def test_a_model_chosen_at_run_time(run):
    models = {"a": Scripted(turns=["from a"]), "b": Scripted(turns=["from b"])}

    def choose(state, runtime):
        assert state["messages"]
        return models[runtime.context["model"]]

    agent = create_react_agent(choose, [], context_schema=dict, prompt="Be brief.")
    assert run(agent, context={"model": "b"})["messages"][-1].content == "from b"
    assert models["b"].heard[-1][0].content == "Be brief."


def test_a_model_chosen_by_a_coroutine_needs_an_async_run():
    async def choose(state, runtime):
        return Scripted(turns=["later"])

    agent = create_react_agent(choose, [add])
    value = {"messages": [("user", "hi")]}
    assert asyncio.run(agent.ainvoke(value))["messages"][-1].content == "later"
    with pytest.raises(RuntimeError, match=r"ainvoke\(\)"):
        agent.invoke(value)


class Answer(BaseModel):
    total: int


@pytest.mark.parametrize("tools", [[], [add]])
def test_a_structured_response_follows_the_conversation(run, tools):
    model = Scripted(turns=["ten"], structured=Answer(total=10))
    result = run(create_react_agent(model, tools, response_format=Answer))
    assert result["structured_response"] == Answer(total=10)
    assert [m.content for m in model.heard[-1]] == ["hi", "ten"]
    result = run(create_react_agent(model, tools, response_format=("Only numbers.", Answer)))
    assert model.heard[-1][0].content == "Only numbers."


def test_a_hook_before_the_model_chooses_what_it_sees(run):
    model = Scripted(turns=[[call("add", a=1, b=1)], "ok"])
    seen = []

    def trim(state):
        seen.append(len(state["messages"]))
        return {"llm_input_messages": [HumanMessage("trimmed")]}

    result = run(create_react_agent(model, [add], pre_model_hook=trim))
    assert [[m.content for m in heard] for heard in model.heard] == [["trimmed"], ["trimmed"]]
    assert [m.content for m in result["messages"]] == ["hi", "", "2", "ok"]
    assert seen == [1, 3]


def test_a_hook_before_the_model_may_rewrite_the_conversation(run):
    def rewrite(state):
        return {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), HumanMessage("rewritten")]}

    result = run(create_react_agent(Scripted(turns=["ok"]), [], pre_model_hook=rewrite))
    assert [m.content for m in result["messages"]] == ["rewritten", "ok"]


class FlagState(AgentState):
    flag: bool


@pytest.mark.parametrize("response_format", [None, Answer])
@pytest.mark.parametrize("tools", [[], [add]])
def test_a_hook_after_the_model(run, tools, response_format):
    turns = [[call("add", a=1, b=1)], "ok"] if tools else ["ok"]
    model = Scripted(turns=turns, structured=Answer(total=2))
    schema = FlagState if response_format is None else None
    agent = create_react_agent(
        model,
        tools,
        state_schema=schema,
        response_format=response_format,
        post_model_hook=lambda state: {"flag": True} if schema else None,
    )
    result = run(agent)
    assert result["messages"][-1].content == "ok"
    if schema:
        assert result["flag"] is True
    else:
        assert result["structured_response"] == Answer(total=2)


def test_a_hook_after_the_model_may_answer_its_calls_itself(run):
    def refuse(state):
        last = state["messages"][-1]
        calls = getattr(last, "tool_calls", [])
        return {"messages": [{"role": "tool", "content": "no", "tool_call_id": c["id"]} for c in calls]}

    model = Scripted(turns=[[call("add", a=1, b=1)], "ok"])
    result = run(create_react_agent(model, [add], post_model_hook=refuse))
    assert said(result) == [("human", "hi"), ("ai", ""), ("tool", "no"), ("ai", "ok")]


@pytest.mark.parametrize("order", [["done", "add"], ["add", "done"]])
def test_a_tool_that_returns_directly_ends_the_run(run, version, order):
    @tool(return_direct=True)
    def done() -> str:
        """Be done."""
        return "done"

    args = {"add": {"a": 1, "b": 1}, "done": {}}
    calls = [call(name, str(n), **args[name]) for n, name in enumerate(order)]
    model = Scripted(turns=[calls, "not reached"])
    result = run(create_react_agent(model, [add, done], version=version))
    assert model.said == 1
    assert {m.content for m in result["messages"][-2:]} == {"done", "2"}


class DictState(TypedDict):
    messages: Annotated[list, add_messages]
    remaining_steps: RemainingSteps
    user: str


class ModelState(AgentStatePydantic):
    user: str = ""


@dataclass
class DataState:
    messages: Annotated[list, add_messages]
    remaining_steps: RemainingSteps = 25
    user: str = ""


@pytest.mark.parametrize("schema", [DictState, ModelState, DataState])
@pytest.mark.parametrize("hook", [None, lambda state: {"llm_input_messages": [HumanMessage("seen")]}])
def test_tools_see_the_state_whatever_it_is(run, version, schema, hook):
    @tool
    def who(user: Annotated[str, InjectedState("user")], state: Annotated[Any, InjectedState],
            store: Annotated[BaseStore, InjectedStore()]) -> str:  # fmt: skip
        """Say who asks."""
        messages = state["messages"] if isinstance(state, dict) else state.messages
        return f"{user} {messages[-1].type} {store.get(('n',), 'k').value['v']}"

    store = InMemoryStore()
    store.put(("n",), "k", {"v": "stored"})
    model = Scripted(turns=[[call("who")], "ok"])
    agent = create_react_agent(model, [who], state_schema=schema, store=store, version=version, pre_model_hook=hook)
    result = run(agent, {"messages": [("user", "hi")], "user": "eve"})
    assert [m.content for m in result["messages"]] == ["hi", "", "eve ai stored", "ok"]
    assert [m.content for m in model.heard[0]] == ["hi" if hook is None else "seen"]


def test_a_state_has_to_have_the_keys_that_an_agent_needs():
    class Poor(TypedDict):
        messages: Annotated[list, add_messages]

    with pytest.raises(ValueError, match=r"'Poor' lacks the keys \['remaining_steps'\]"):
        create_react_agent(Scripted(turns=["ok"]), [], state_schema=Poor)
    with pytest.raises(ValueError, match="structured_response"):
        create_react_agent(Scripted(turns=["ok"]), [], state_schema=DictState, response_format=Answer)


@pytest.mark.parametrize("limit", range(1, 9))
def test_an_agent_short_of_supersteps_says_so_and_never_runs_into_the_limit(run, version, limit):
    model = Scripted(turns=[[call("add", a=1, b=1)]])
    result = run(create_react_agent(model, [add], version=version), config={"recursion_limit": limit})
    assert result["messages"][-1].content == "Sorry, need more steps to process this request."
    answered = {m.tool_call_id for m in result["messages"] if m.type == "tool"}
    assert answered == {c["id"] for m in result["messages"] if m.type == "ai" for c in m.tool_calls}


def test_a_tool_that_returns_directly_needs_one_superstep_less(run):
    @tool(return_direct=True)
    def done() -> str:
        """Be done."""
        return "done"

    agent = create_react_agent(Scripted(turns=[[call("done")]]), [done])
    assert run(agent, config={"recursion_limit": 2})["messages"][-1].content == "done"
    assert "need more steps" in run(agent, config={"recursion_limit": 1})["messages"][-1].content


def test_a_hook_can_run_into_the_limit():
    agent = create_react_agent(
        Scripted(turns=["ok"]), [], pre_model_hook=lambda s: {"llm_input_messages": s["messages"]}
    )
    with pytest.raises(GraphRecursionError):
        agent.invoke({"messages": [("user", "hi")]}, {"recursion_limit": 1})


def test_a_conversation_with_an_unanswered_call_is_refused(run):
    agent = create_react_agent(Scripted(turns=["ok"]), [add])
    with pytest.raises(ValueError, match=r"1 tool calls without a ToolMessage.*'c1'"):
        run(agent, {"messages": [AIMessage("", tool_calls=[call("add", a=1, b=2)]), HumanMessage("hi")]})


def test_an_agent_remembers_its_thread(run):
    model = Scripted(turns=["one", "two"])
    agent = create_react_agent(model, [add], checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    run(agent, "first", config)
    result = run(agent, "second", config)
    assert [m.content for m in result["messages"]] == ["first", "one", "second", "two"]


def test_tools_may_ask_and_are_answered_by_id(run, version):
    @tool
    def ask(what: str) -> str:
        """Ask the user."""
        return interrupt(what)

    model = Scripted(turns=[[call("ask", "1", what="name?"), call("ask", "2", what="age?")], "ok"])
    agent = create_react_agent(model, [ask], checkpointer=InMemorySaver(), version=version)
    config = {"configurable": {"thread_id": "t"}}
    asked = run(agent, "hi", config)["__interrupt__"]
    answers = {"name?": "eve", "age?": "7"}
    while "__interrupt__" in (result := run(agent, Command(resume={i.id: answers[i.value] for i in asked}), config)):
        asked = result["__interrupt__"]
    assert [m.content for m in result["messages"] if m.type == "tool"] == ["eve", "7"]
    assert result["messages"][-1].content == "ok"


def test_stopping_before_the_tools(run, version):
    model = Scripted(turns=[[call("add", a=1, b=1)], "ok"])
    agent = create_react_agent(model, [add], checkpointer=InMemorySaver(), interrupt_before=["tools"], version=version)
    config = {"configurable": {"thread_id": "t"}}
    run(agent, "hi", config)
    assert agent.get_state(config).next == ("tools",)
    assert run(agent, None, config)["messages"][-1].content == "ok"


def test_a_tool_call_does_not_carry_the_state_into_storage(version):
    saver = InMemorySaver()
    model = Scripted(turns=[[call("add", a=1, b=1)], "ok"])
    agent = create_react_agent(model, [add], checkpointer=saver, version=version)
    config = {"configurable": {"thread_id": "t"}}
    agent.invoke({"messages": [("user", "needle")]}, config)
    writes = [write for tuple_ in saver.list(config) for write in tuple_.pending_writes or ()]
    sends = [value for _, channel, value in writes if channel == "__pregel_tasks"]
    assert len(sends) == (version == "v2")
    assert "needle" not in repr(sends)


def test_a_tool_node_may_be_given_as_tools(run):
    node = ToolNode([add], handle_tool_errors="Not now.")
    model = Scripted(turns=[[call("add", a="x", b=1)], "ok"])
    assert run(create_react_agent(model, node))["messages"][2].content == "Not now."


def test_unknown_and_older_arguments():
    model = Scripted(turns=["ok"])
    with pytest.raises(TypeError, match=r"unexpected keyword arguments: \{'extra': 1\}"):
        create_react_agent(model, [], extra=1)
    with pytest.raises(ValueError, match="'v3'"):
        create_react_agent(model, [], version="v3")
    with pytest.warns(DeprecatedSince10, match="context_schema"):
        create_react_agent(model, [], config_schema=dict)
    with pytest.raises(TypeError, match="has to be a chat model"):
        create_react_agent(lambda state, runtime: str, [], response_format=Answer).invoke({"messages": []})
    assert create_tool_calling_executor is create_react_agent
