import asyncio
import operator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict

import pytest
from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel

from runtime.errors import InvalidUpdateError
from runtime.graph import END, START, StateGraph
from runtime.types import Send


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    x: int


def note(name):
    return lambda state: {"log": [name]}


def routed(router, path_map=None, *, schema=State, first=None):
    """START -> a -> wherever the router says: a, b, c or the end."""
    builder = StateGraph(schema)
    builder.add_node("a", first or note("a"))
    builder.add_node("b", note("b"))
    builder.add_node("c", note("c"))
    builder.add_edge(START, "a")
    builder.add_conditional_edges("a", router, path_map)
    return builder.compile()


async def later(state):
    return "b"


class Chooser:
    def __call__(self, state) -> Literal["b", "c"]:
        return "c"


@pytest.mark.parametrize(
    ("answer", "path_map", "expected"),
    [
        ("b", None, ["a", "b"]),
        (["b", "c"], None, ["a", "b", "c"]),
        (("b", "c"), None, ["a", "b", "c"]),
        (["b", END], None, ["a", "b"]),
        (END, None, ["a"]),
        (None, None, ["a"]),
        ([], None, ["a"]),
        ([None], None, ["a"]),
        (Send("b", {}), None, ["a", "b"]),
        ([Send("b", {}), "c", Send("b", {})], None, ["a", "c", "b", "b"]),
        (True, {True: "b", False: "c"}, ["a", "b"]),
        (False, {True: "b", False: END}, ["a"]),
        ("yes", {"yes": "b", "no": "c"}, ["a", "b"]),
        (["yes", "no"], {"yes": "b", "no": "c"}, ["a", "b", "c"]),
        (None, {None: "b"}, ["a", "b"]),
        (END, {"w": "b"}, ["a"]),
        (None, {"w": "b"}, ["a"]),
        (END, {END: "b"}, ["a", "b"]),
        (Send("b", {}), {"w": "c"}, ["a", "b"]),
        ("c", ["b", "c"], ["a", "c"]),
        ("c", ("b", "c"), ["a", "c"]),
    ],
    ids=repr,
)
def test_what_a_router_may_answer(run, answer, path_map, expected):
    assert run(routed(lambda state: answer, path_map), {"log": []})["log"] == expected


@pytest.mark.parametrize(
    "router",
    [RunnableLambda(lambda state: "b"), Chooser().__call__, Chooser()],
    ids=["runnable", "method", "object"],
)
def test_what_may_be_a_router(run, router):
    assert run(routed(router), {"log": []})["log"][1] in ("b", "c")


def test_an_async_router_needs_an_async_run():
    graph = routed(later)
    assert asyncio.run(graph.ainvoke({"log": []}))["log"] == ["a", "b"]
    with pytest.raises(TypeError, match="ainvoke"):
        graph.invoke({"log": []})


@pytest.mark.parametrize("answer", ["ghost", 7, True, START, ["b", "ghost"], {"b"}], ids=repr)
def test_an_unknown_answer_is_refused_with_the_node_the_answer_and_the_targets(run, answer):
    with pytest.raises(InvalidUpdateError) as caught:
        run(routed(lambda state: answer), {"log": []})
    text = str(caught.value)
    assert "of node 'a'" in text
    assert repr(answer[-1] if isinstance(answer, list) else answer) in text
    assert "'a', 'b', 'c'" in text


@pytest.mark.parametrize("answer", ["b", "maybe", 7, {"yes"}], ids=repr)
def test_an_answer_that_the_map_does_not_have_is_refused_with_what_it_has(run, answer):
    with pytest.raises(InvalidUpdateError, match="of node 'a'") as caught:
        run(routed(lambda state: answer, {"yes": "b", "no": END}), {"log": []})
    assert repr(answer) in str(caught.value)
    assert "'yes', 'no'" in str(caught.value)


def test_a_send_to_a_node_that_is_not_there_is_refused(run):
    with pytest.raises(InvalidUpdateError, match="ghost"):
        run(routed(lambda state: [Send("ghost", 1)]), {"log": []})


def test_a_send_to_end_is_refused(run):
    with pytest.raises(InvalidUpdateError, match="END"):
        run(routed(lambda state: Send(END, 1)), {"log": []})


def test_a_router_sees_the_state_with_the_writes_of_its_own_node_only(run):
    seen = []

    def router(state):
        seen.append(dict(state))
        return END

    builder = StateGraph(State)
    builder.add_node("a", lambda state: {"log": ["a"], "x": 1})
    builder.add_node("b", lambda state: {"log": ["b"]})
    builder.add_edge(START, "a")
    builder.add_edge(START, "b")
    builder.add_conditional_edges("a", router)
    run(builder.compile(), {"log": ["in"]})
    assert seen == [{"log": ["in", "a"], "x": 1}]


def test_a_router_sees_what_its_node_returned_beside_the_state(run):
    seen = []

    def router(state):
        seen.append(state["hint"])
        return state["hint"]

    with pytest.warns(UserWarning, match="'hint'"):
        out = run(routed(router, first=lambda state: {"log": ["a"], "hint": "c"}), {"log": []})
    assert out["log"] == ["a", "c"]
    assert seen == ["c"]


def test_a_router_is_given_what_its_annotation_says(run):
    class Part(TypedDict):
        x: int

    class Model(BaseModel):
        x: int

    @dataclass
    class Data:
        x: int

    seen: list[Any] = []

    def make(schema):
        def router(state):
            seen.append(state)
            return END

        router.__annotations__["state"] = schema
        return router

    for schema in (Part, Model, Data):
        run(routed(make(schema), first=lambda state: {"x": 3}), {"log": ["in"]})
    assert seen == [{"x": 3}, Model(x=3), Data(3)]


def test_the_targets_of_a_literal_annotation_are_drawn_and_checked(run):
    def router(state) -> Literal["b", "__end__"]:
        return state["x"] and "c"

    graph = routed(router, first=lambda state: {"x": 1})
    arrows = {(edge.source, edge.target) for edge in graph.get_graph().edges}
    assert arrows >= {("a", "b"), ("a", END)}
    assert ("a", "c") not in arrows
    with pytest.raises(InvalidUpdateError, match="'b', '__end__'"):
        run(graph, {"log": []})


def test_several_routers_of_a_node_are_asked_in_the_order_in_which_they_were_added(run):
    asked = []

    def one(state):
        asked.append("one")
        return "b"

    def two(state):
        asked.append("two")
        return "c"

    builder = StateGraph(State)
    for name in "abc":
        builder.add_node(name, note(name))
    builder.set_entry_point("a")
    builder.add_conditional_edges("a", one).add_conditional_edges("a", two)
    assert run(builder.compile(), {"log": []})["log"] == ["a", "b", "c"]
    assert asked == ["one", "two"]


def test_a_router_name_can_be_used_once_for_a_node():
    builder = StateGraph(State).add_node("a", note("a"))
    builder.add_conditional_edges("a", later)
    with pytest.raises(ValueError, match=r"`later` already exists for node `a`"):
        builder.add_conditional_edges("a", later)


def test_a_conditional_entry_point(run):
    builder = StateGraph(State)
    for name in "ab":
        builder.add_node(name, note(name))
    builder.set_conditional_entry_point(lambda state: "b" if state["x"] else "a", ["a", "b"])
    graph = builder.compile()
    assert run(graph, {"log": [], "x": 1})["log"] == ["b"]
    assert run(graph, {"log": [], "x": 0})["log"] == ["a"]


def test_a_router_on_a_state_without_keys(run):
    builder = StateGraph(Annotated[list, operator.add])
    builder.add_node("a", lambda state: ["a"])
    builder.add_node("b", lambda state: ["b"])
    builder.add_edge(START, "a")
    builder.add_conditional_edges("a", lambda state: "b" if state == ["in", "a"] else END)
    assert run(builder.compile(), ["in"]) == ["in", "a", "b"]
