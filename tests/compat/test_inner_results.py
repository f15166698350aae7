"""What a graph that is a node gives back to the graph around it: what it changed, and no reducer twice."""

import operator
from typing import Annotated, Any

import pytest
from typing_extensions import TypedDict

from runtime.checkpoint.memory import InMemorySaver
from runtime.graph import START, StateGraph
from runtime.types import Command, interrupt


class State(TypedDict, total=False):
    log: Annotated[list[Any], operator.add]
    other: Annotated[list[Any], operator.add]
    x: int


def inner(asks: bool, **update: Any) -> Any:
    """A graph whose node returns the update, after a question if it asks one."""

    def work(state: State) -> dict[str, Any]:
        if asks:
            interrupt("go on?")
        return update

    return StateGraph(State).add_node("work", work).add_edge(START, "work").compile()


def outer(node: Any, saver: Any = None) -> Any:
    return StateGraph(State).add_node("inner", node).add_edge(START, "inner").compile(checkpointer=saver)


CONFIG: Any = {"configurable": {"thread_id": "t"}}


def test_a_reducer_that_the_inner_graph_left_alone_is_not_folded_again() -> None:
    assert outer(inner(False, x=1)).invoke({"log": [1], "x": 0}) == {"log": [1], "other": [], "x": 1}


def test_a_reducer_that_it_changed_is_written_back() -> None:
    assert outer(inner(False, other=["o"])).invoke({"log": [1]}) == {"log": [1], "other": ["o"]}


def test_the_first_write_of_the_inner_graph_counts_although_a_loop_came_after_it() -> None:
    def first(state: State) -> Any:
        return {"other": ["o"], "x": 0}

    def second(state: State) -> Any:
        return {"x": state["x"] + 1}

    loop = StateGraph(State).add_node(first).add_node(second).add_edge(START, "first").add_edge("first", "second")
    loop.add_conditional_edges("second", lambda state: "second" if state["x"] < 3 else "__end__")
    assert outer(loop.compile()).invoke({"log": [1]}) == {"log": [1], "other": ["o"], "x": 3}


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_pause_in_between_forgets_nothing(durability: Any) -> None:
    graph = outer(inner(True, other=["o"]), InMemorySaver())
    graph.invoke({"log": [1]}, CONFIG, durability=durability)
    found = graph.invoke(Command(resume=True), CONFIG, durability=durability)
    assert found == {"log": [1], "other": ["o"]}


def test_an_edit_inside_is_a_change() -> None:
    graph = outer(inner(True, x=1), InMemorySaver())
    graph.invoke({"log": [1]}, CONFIG)
    graph.update_state(graph.get_state(CONFIG, subgraphs=True).tasks[0].state.config, {"other": ["edited"]})
    found = graph.invoke(Command(resume=True), CONFIG)
    if "__interrupt__" in found:  # the edit made the node ask anew
        found = graph.invoke(Command(resume=True), CONFIG)
    assert found == {"log": [1], "other": ["edited"], "x": 1}


def test_called_by_hand_the_inner_graph_gives_a_plain_dict() -> None:
    kinds = []

    def node(state: State) -> Any:
        found = inner(False, x=1).invoke(state)
        kinds.append(type(found))
        return {"x": found["x"]}

    outer(node).invoke({"log": [1]})
    kinds.append(type(inner(False, x=1).invoke({"log": [1]})))
    assert kinds == [dict, dict]
