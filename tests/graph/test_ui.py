from typing import Annotated, TypedDict

import pytest
from langchain_core.messages import AIMessage

from runtime.graph import START, StateGraph
from runtime.graph.ui import AnyUIMessage, delete_ui_message, push_ui_message, ui_message_reducer


class State(TypedDict, total=False):
    ui: Annotated[list[AnyUIMessage], ui_message_reducer]


def shown(id, merge=False, **props):
    return {"type": "ui", "id": id, "name": "card", "props": props, "metadata": {"merge": merge}}


def removal(id):
    return {"type": "remove-ui", "id": id}


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ([], [shown("1")], [shown("1")]),
        (shown("1"), shown("2"), [shown("1"), shown("2")]),
        ([shown("1", a=1), shown("2")], shown("1", b=2), [shown("1", b=2), shown("2")]),
        ([shown("1", a=1, b=1)], shown("1", merge=True, b=2), [shown("1", merge=True, a=1, b=2)]),
        ([shown("1"), shown("2")], removal("1"), [shown("2")]),
        ([shown("1", a=1)], [removal("1"), shown("1", b=2)], [shown("1", b=2)]),
        ([], [shown("1"), removal("1")], []),
    ],
)
def test_components_are_folded_by_id(left, right, expected):
    before = repr(left)
    assert ui_message_reducer(left, right) == expected
    assert repr(left) == before


def test_the_removal_of_an_unknown_component_is_refused():
    with pytest.raises(ValueError, match="'9' cannot be removed"):
        ui_message_reducer([shown("1")], removal("9"))


def test_nodes_show_and_remove_components(run):
    def first(state):
        push_ui_message("card", {"a": 1}, id="1", metadata={"own": True}, message=AIMessage("hi", id="m"))
        push_ui_message("card", {"b": 1}, state_key=None)

    def second(state):
        push_ui_message("card", {"b": 2}, id="1", merge=True)
        delete_ui_message(push_ui_message("card", {})["id"])

    builder = StateGraph(State).add_sequence([first, second]).add_edge(START, "first")
    graph = builder.compile()
    (component,) = run(graph, {"ui": []})["ui"]
    assert (component["id"], component["props"]) == ("1", {"a": 1, "b": 2})
    streamed = run(graph, {"ui": []}, stream_mode="custom")
    assert [item["type"] for item in streamed] == ["ui", "ui", "ui", "ui", "remove-ui"]
    assert streamed[0]["metadata"]["own"]
    assert streamed[0]["metadata"]["message_id"] == "m"


@pytest.mark.parametrize("call", [lambda: push_ui_message("card", {}), lambda: delete_ui_message("1")])
def test_outside_a_node_there_is_nowhere_to_show(call):
    with pytest.raises(RuntimeError, match="outside a running node"):
        call()
