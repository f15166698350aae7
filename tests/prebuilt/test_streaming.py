"""An agent's messages on the streams of the graphs around it."""

import asyncio

import pytest

from runtime.graph import START, MessagesState, StateGraph
from runtime.prebuilt import create_react_agent
from tests.prebuilt.models import Scripted, add, call


@pytest.fixture(params=["sync", "async"])
def collect(request):
    def collect(graph, value, **options):
        if request.param == "sync":
            return list(graph.stream(value, **options))

        async def gather():
            return [part async for part in graph.astream(value, **options)]

        return asyncio.run(gather())

    return collect


def agent():
    return create_react_agent(Scripted(turns=[[call("add", a=1, b=2)], "three"]), [add])


HI = {"messages": [("user", "hi")]}


def said(parts):
    return [message.type for message, _ in parts]


def test_an_agent_streams_models_and_tools_messages_once(collect):
    assert said(collect(agent(), HI, stream_mode="messages")) == ["ai", "tool", "ai"]


@pytest.mark.parametrize("as_node", [True, False])
def test_the_graph_around_an_agent_hears_each_message_once(collect, as_node):
    inner = agent()
    heard = []

    def streaming(state, config):
        parts = list(inner.stream(HI, config, stream_mode="messages"))
        heard.extend(said(parts))
        return {"messages": [parts[-1][0]]}

    graph = StateGraph(MessagesState).add_node("agent", inner if as_node else streaming).add_edge(START, "agent")
    parts = collect(graph.compile(), HI, stream_mode="messages", subgraphs=True)
    inside = [message.type for ns, (message, _) in parts if ns]
    assert inside == ["ai", "tool", "ai"]
    assert all(ns[0].startswith("agent:") for ns, _ in parts if ns)
    if not as_node:
        assert heard == inside


def test_a_graph_that_did_not_ask_for_subgraphs_hears_nothing_from_inside(collect):
    inner = agent()

    def calling(state, config):
        inner.invoke(HI, config)
        return {}

    graph = StateGraph(MessagesState).add_node("agent", calling).add_edge(START, "agent").compile()
    assert collect(graph, HI, stream_mode="messages") == []
