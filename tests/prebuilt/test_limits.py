"""How much of the recursion limit is left, as a graph's nodes see it."""

import pytest
from typing_extensions import TypedDict

from runtime.errors import GraphRecursionError
from runtime.graph import END, START, StateGraph
from runtime.managed import IsLastStep, RemainingSteps


class State(TypedDict):
    left: RemainingSteps
    last: IsLastStep
    turns: int


@pytest.mark.parametrize("limit", range(1, 6))
def test_the_last_superstep_that_the_limit_allows_knows_that_it_is(limit):
    seen = []

    def node(state):
        seen.append((state["left"], state["last"]))
        return {"turns": state["turns"] + 1}

    graph = StateGraph(State).add_node("node", node).add_edge(START, "node")
    graph.add_conditional_edges("node", lambda state: END if state["last"] else "node", ["node", END])
    result = graph.compile().invoke({"turns": 0}, {"recursion_limit": limit})
    assert result["turns"] == limit
    assert seen == [(left, left == 1) for left in range(limit, 0, -1)]


def test_a_graph_that_does_not_stop_there_runs_into_the_limit():
    graph = StateGraph(State).add_node("node", lambda state: {"turns": state["turns"] + 1})
    graph.add_edge(START, "node").add_edge("node", "node")
    with pytest.raises(GraphRecursionError):
        graph.compile().invoke({"turns": 0}, {"recursion_limit": 3})
