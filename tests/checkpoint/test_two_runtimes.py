"""One database, and a graph of each runtime in one program: either gets its own `Send` and `Interrupt` back."""

import operator
from importlib import import_module
from typing import Annotated, TypedDict

import pytest

from runtime.checkpoint.sqlite import SqliteSaver
from tests.checkpoint.kit import at


class Fan(TypedDict):
    """What the workers add."""

    log: Annotated[list[str], operator.add]


def fanning(root):
    """A graph that sends twice and then asks."""
    graph, types = import_module(f"{root}.graph"), import_module(f"{root}.types")
    builder = graph.StateGraph(Fan)
    builder.add_node("split", lambda state: {"log": ["split"]})
    builder.add_node("work", lambda n: {"log": [f"work {n}"]})
    builder.add_node("ask", lambda state: {"log": [types.interrupt("well?")]})
    builder.add_edge(graph.START, "split")
    builder.add_conditional_edges("split", lambda state: [types.Send("work", n) for n in range(2)], ["work"])
    builder.add_edge("work", "ask")
    return builder, types


@pytest.mark.parametrize("root", ["runtime", "langgraph"])
def test_a_graph_gets_its_own_classes_back_whichever_other_is_loaded(root, tmp_path):
    import_module("langgraph.types")
    builder, types = fanning(root)
    path = tmp_path / "one.db"
    with SqliteSaver.from_conn_string(path) as saver:
        builder.compile(checkpointer=saver, interrupt_before=["work"]).invoke({"log": []}, at("t"))
    with SqliteSaver.from_conn_string(path) as saver:
        app = builder.compile(checkpointer=saver)
        assert app.get_state(at("t")).next == ("work", "work")
        paused = app.invoke(None, at("t"))
        assert paused["log"] == ["split", "work 0", "work 1"]
    with SqliteSaver.from_conn_string(path) as saver:
        app = builder.compile(checkpointer=saver)
        (question,) = app.get_state(at("t")).interrupts
        assert type(question) is types.Interrupt
        assert app.invoke(types.Command(resume="fine"), at("t"))["log"][-1] == "fine"
