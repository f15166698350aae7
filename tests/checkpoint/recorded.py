"""Threads recorded by LangGraph itself, one for each thing that a database of it may hold."""

import operator
import warnings
from typing import Annotated, TypedDict

import pytest
from langchain_core._api import LangChainBetaWarning
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.channels import DeltaChannel
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, Send, interrupt

from tests.checkpoint.kit import at
from tests.checkpoint.things import Point


class Chat(TypedDict):
    messages: Annotated[list, add_messages]
    facts: dict


class Work(TypedDict):
    m: Annotated[list, operator.add]
    n: int


def collect(state, writes):
    return [*state, *(item for write in writes for item in write)]


with warnings.catch_warnings():
    warnings.simplefilter("ignore", LangChainBetaWarning)
    COLLECTED = DeltaChannel(collect, snapshot_frequency=3)


class Grown(TypedDict):
    grown: Annotated[list, COLLECTED]
    n: int


def chat():
    def answer(state):
        said = state["messages"][-1].content
        message = AIMessage(f"you said {said}", id=f"ai-{len(state['messages'])}")
        return {"messages": [message], "facts": {"said": said, "point": Point(3)}}

    builder = StateGraph(Chat)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    return builder


def work():
    """Fans out by Send, asks, and fails when told to."""

    def ask(state):
        answer = interrupt("go on?")
        if answer == "fail":
            raise ValueError("told to fail")
        return {"m": [answer], "n": 1}

    inner = StateGraph(Work)
    inner.add_node("within", lambda state: {"m": ["within"]})
    inner.add_node("ask", ask)
    inner.add_edge(START, "within")
    inner.add_edge("within", "ask")
    builder = StateGraph(Work)
    builder.add_node("split", lambda state: {"m": ["split"]})
    builder.add_node("each", lambda state: {"m": [f"each {state['n']}"]})
    builder.add_node("inner", inner.compile())
    builder.add_edge(START, "split")
    builder.add_conditional_edges("split", lambda state: [Send("each", {"m": [], "n": n}) for n in range(3)])
    builder.add_edge("each", "inner")
    return builder


def grow():
    def node(state):
        return {"grown": [f"item {len(state['grown'])}"], "n": state["n"] + 1}

    builder = StateGraph(Grown)
    builder.add_node("grow", node)
    builder.add_edge(START, "grow")
    builder.add_conditional_edges("grow", lambda state: "grow" if state["n"] % 5 else "__end__")
    return builder


def record(saver):
    """Record the threads: chat, forked, asking, answered, failed, grown."""
    talking = chat().compile(checkpointer=saver)
    for thread in "chat", "forked":
        for turn in range(4):
            talking.invoke({"messages": [HumanMessage(f"turn {turn}", id=f"h-{turn}")]}, at(thread))
    middle = list(talking.get_state_history(at("forked")))[4].config
    edited = talking.update_state(middle, {"messages": [HumanMessage("edited", id="h-1")]}, as_node="__start__")
    talking.invoke(None, edited)
    working = work().compile(checkpointer=saver)
    for thread in "asking", "answered", "failed":
        working.invoke({"m": [], "n": 0}, at(thread))
    working.invoke(Command(resume="yes"), at("answered"))
    with pytest.raises(ValueError, match="told to fail"):
        working.invoke(Command(resume="fail"), at("failed"))
    growing = grow().compile(checkpointer=saver)
    for _ in range(2):
        growing.invoke({"n": 0}, at("grown"))


THREADS = ["answered", "asking", "chat", "failed", "forked", "grown"]


def plain(value):
    """A value as text that is the same whichever side's classes, and whichever order of keys, it has."""
    if isinstance(value, dict):
        return "{" + ", ".join(sorted(f"{key!r}: {plain(item)}" for key, item in value.items())) + "}"
    if isinstance(value, set):
        return f"set[{', '.join(sorted(map(plain, value)))}]"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}[{', '.join(map(plain, value))}]"
    return repr(value).replace("runtime.types", "langgraph.types")
