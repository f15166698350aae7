"""Runs stop where a graph was compiled to stop, and go on from there."""

import pytest

from debugger_ui.engines.graph import About
from debugger_ui.engines.opening import attach
from debugger_ui.session.session import DebugSession
from debugger_ui.session.workspace import Workspace
from tests.session.conftest import Total, chain, done


def compiled(kit, *, inner=False, **stops):
    """draft, send, file; with the stops in it, or in a subgraph around all three."""

    def draft(state):
        return {"total": 1}

    def send(state):
        return {"total": 1}

    def file(state):
        return {"total": 1}

    builder = chain(kit, draft, send, file)
    if not inner:
        return builder.compile(checkpointer=kit.saver(), **stops)
    outer = kit.StateGraph(Total)
    outer.add_node("office", builder.compile(**stops))
    outer.add_edge(kit.START, "office")
    return outer.compile(checkpointer=kit.saver())


@pytest.mark.parametrize(
    ("stops", "said"),
    [({"interrupt_before": ["send"]}, "before send"), ({"interrupt_after": ["draft"]}, "after draft")],
)
def test_a_run_stops_where_the_graph_was_compiled_to_and_goes_on_from_there(kit, stops, said):
    session = DebugSession(Workspace([attach(compiled(kit, **stops), None, About(name="g"))]))
    session.new_run({"total": "0"}, thread="one", run=True)
    progress = done(session)
    assert (progress.state, progress.problem) == ("paused", None)
    assert f"The graph stops {said}, as it was compiled to." in progress.message
    assert session.checkpoint().next == ("send",)
    session.proceed()
    assert done(session).state == "done"
    assert session.value(("total",)).text == "3"


def test_a_run_stops_where_a_subgraph_was_compiled_to(kit):
    graph = compiled(kit, inner=True, interrupt_before=["send"])
    session = DebugSession(Workspace([attach(graph, None, About(name="g"))]))
    session.new_run({"total": "0"}, thread="one", run=True)
    progress = done(session)
    assert progress.state == "paused"
    assert "A subgraph stops here" in progress.message
    assert session.checkpoint().next == ("office",)
    session.proceed()
    assert done(session).state == "done"
    assert session.value(("total",)).text == "3"
