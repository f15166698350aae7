from typing import Literal, TypedDict

import pytest

from runtime.graph import END, START, StateGraph
from runtime.types import Command, Send


class State(TypedDict, total=False):
    x: int


def nothing(state):
    return None


def commands(state):
    return Command(goto="b")


def sends(state):
    return [Send("b", {})]


def declares(state) -> Command[Literal["b"]]:
    return Command(goto="b")


def dictionary(state) -> dict:
    return {}


def drawn(*names):
    builder = StateGraph(State)
    for name in names:
        builder.add_node(name, nothing)
    return builder


def found(builder):
    return [(finding.rule, finding.node) for finding in builder.lint()]


def test_nothing_to_say_about_a_plain_graph():
    builder = drawn("a", "b").add_edge(START, "a").add_edge("a", "b").add_edge("b", END)
    assert builder.lint() == []
    assert builder.compile().lint() == []


def test_a_node_that_nothing_leads_to():
    builder = drawn("a", "b", "c").add_edge(START, "a").add_edge("b", "c")
    assert found(builder) == [("unreachable", "b"), ("unreachable", "c")]
    assert str(builder.compile().lint()[0]).startswith("nothing leads to node 'b'")


@pytest.mark.parametrize("node", [commands, sends, declares], ids=lambda node: node.__name__)
def test_a_command_may_lead_there(node):
    builder = StateGraph(State).add_node("a", node).add_node("b", nothing).add_edge(START, "a")
    assert builder.lint() == []


def test_a_router_without_a_map_may_lead_there():
    builder = drawn("a", "b").add_edge(START, "a").add_conditional_edges("a", nothing)
    assert builder.lint() == []


def test_a_node_that_cannot_command_does_not_lead_anywhere():
    builder = StateGraph(State).add_node("a", dictionary).add_node("b", nothing).add_edge(START, "a")
    assert found(builder) == [("unreachable", "b")]


def test_what_an_unreachable_node_might_do_does_not_count():
    builder = StateGraph(State).add_node("a", nothing).add_node("b", commands).add_edge(START, "a")
    assert found(builder) == [("unreachable", "b")]


def test_error_handlers_are_reached_by_their_nodes():
    builder = StateGraph(State).add_node("a", nothing, error_handler=nothing).add_edge(START, "a")
    assert builder.lint() == []


def test_a_circle_without_a_way_out():
    builder = drawn("a", "b", "c").add_edge(START, "a").add_edge("a", "b").add_edge("b", "c").add_edge("c", "b")
    assert found(builder) == [("no-way-out", "a"), ("no-way-out", "b"), ("no-way-out", "c")]
    assert "'b', 'c'" in builder.lint()[1].message


def test_a_circle_with_a_way_out():
    builder = drawn("a", "b").add_edge(START, "a").add_edge("a", "b")
    builder.add_conditional_edges("b", nothing, ["a", END])
    assert builder.lint() == []
    either = drawn("a", "b").add_edge(START, "a").add_edge("a", "b").add_edge("b", "a")
    either.add_conditional_edges("b", nothing)
    assert either.lint() == []


def test_a_join_that_cannot_fire():
    builder = drawn("a", "b", "c").add_edge(START, "a").add_edge(["a", "b"], "c")
    assert ("dead-join", "c") in found(builder)
    assert "nothing leads to 'b'" in builder.lint()[-1].message


def test_a_join_of_what_a_router_chooses_from_may_fire():
    builder = drawn("a", "b", "c").add_conditional_edges(START, nothing, ["a", "b"]).add_edge(["a", "b"], "c")
    assert builder.lint() == []  # a router may answer with both
