"""Code that runs side by side in one task asks in another order each time, and every question gets its own answer."""

import asyncio
import operator
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from itertools import permutations
from typing import Annotated, TypedDict

import pytest

from runtime.checkpoint.memory import InMemorySaver
from runtime.errors import GraphInterrupt
from runtime.graph import START, StateGraph
from runtime.types import Command, interrupt

NAMES = ("a", "b", "c")
CONFIG = {"configurable": {"thread_id": "t"}}


class State(TypedDict):
    said: Annotated[list[str], operator.add]


def turns(order):
    """Gates that let each name ask in the given order, one after another."""
    gates = [threading.Event() for _ in order]
    gates[0].set()

    def asked(name, question):
        at = order.index(name)
        assert gates[at].wait(30)
        try:
            return interrupt(question)
        finally:
            if at + 1 < len(order):
                gates[at + 1].set()

    return asked


def graph(orders, questions):
    """One node, whose threads ask in the next of the orders each time that it runs."""
    left = iter(orders)

    def node(state):
        asked = turns(next(left))
        with ThreadPoolExecutor(len(NAMES)) as pool:
            futures = [pool.submit(copy_context().run, asked, name, questions[name]) for name in NAMES]
        failed = [future.exception() for future in futures if future.exception() is not None]
        if failed:
            raise failed[-1]
        return {"said": [f"{name}: {future.result()}" for name, future in zip(NAMES, futures, strict=True)]}

    return StateGraph(State).add_node("node", node).add_edge(START, "node").compile(checkpointer=InMemorySaver())


@pytest.mark.parametrize("by_id", [True, False])
@pytest.mark.parametrize("first", list(permutations(NAMES)))
def test_each_gets_its_own_answer_whoever_asks_first(first, by_id):
    orders = [first, *permutations(NAMES)]
    app = graph(orders, {name: f"what of {name}?" for name in NAMES})
    result = app.invoke({"said": []}, CONFIG)
    asked = []
    while "__interrupt__" in result:
        (question,) = result["__interrupt__"]
        asked.append(question.value)
        answer = f"that of {question.value[8]}"
        assert len(asked) <= len(NAMES)
        result = app.invoke(Command(resume={question.id: answer} if by_id else answer), CONFIG)
    assert sorted(asked) == [f"what of {name}?" for name in NAMES]
    assert result["said"] == [f"{name}: that of {name}" for name in NAMES]


def test_equal_questions_get_an_answer_each():
    app = graph([NAMES] * 4, dict.fromkeys(NAMES, "well?"))
    result = app.invoke({"said": []}, CONFIG)
    for answer in ("1", "2", "3"):
        (question,) = result["__interrupt__"]
        result = app.invoke(Command(resume={question.id: answer}), CONFIG)
    assert sorted(said[-1] for said in result["said"]) == ["1", "2", "3"]


def test_going_on_without_an_answer_asks_the_same_again():
    app = graph([("a", "b", "c"), ("c", "b", "a"), ("b", "a", "c")], {name: name for name in NAMES})
    (question,) = app.invoke({"said": []}, CONFIG)["__interrupt__"]
    for _ in range(2):
        assert app.invoke(None, CONFIG)["__interrupt__"] == [question]
    assert [one.id for one in app.get_state(CONFIG).interrupts] == [question.id]


def test_a_task_pauses_on_the_question_that_it_asked_first():
    def node(state):
        try:
            interrupt("first")
        except GraphInterrupt:
            interrupt("second")
        return {"said": ["never"]}

    app = StateGraph(State).add_node("node", node).add_edge(START, "node").compile(checkpointer=InMemorySaver())
    assert [one.value for one in app.invoke({"said": []}, CONFIG)["__interrupt__"]] == ["first"]


def test_coroutines_of_one_node_ask_side_by_side():
    async def node(state):
        async def asked(name):
            return f"{name}: {interrupt(name)}"

        done = await asyncio.gather(*map(asked, state["said"] or NAMES), return_exceptions=True)
        for one in done:
            if isinstance(one, BaseException):
                raise one
        return {"said": done}

    async def story():
        builder = StateGraph(State).add_node("node", node).add_edge(START, "node")
        app = builder.compile(checkpointer=InMemorySaver())
        result = await app.ainvoke({"said": []}, CONFIG)
        while "__interrupt__" in result:
            (question,) = result["__interrupt__"]
            result = await app.ainvoke(Command(resume={question.id: question.value.upper()}), CONFIG)
        return result["said"]

    assert asyncio.run(story()) == ["a: A", "b: B", "c: C"]
