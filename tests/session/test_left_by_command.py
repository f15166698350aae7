"""A subgraph that a Command to the graph around leaves half way: its run is over, and the way out was taken."""

import pytest

from tests.session.nests import Outer, chain_of, start, writer


@pytest.fixture
def handed_over(kit, calls, open_graph):
    """`one` hands over to `two` from the middle of its graph; both are graphs inside."""

    def leave(state):
        return kit.Command(graph=kit.Command.PARENT, goto="two", update={"text": f"{state['text']}>left"})

    inner = chain_of(kit, Outer, a=writer(calls, "a"), leave=leave, never=writer(calls, "never")).compile()
    builder = kit.StateGraph(Outer)
    builder.add_node("one", inner, destinations=("two",))
    builder.add_node("two", chain_of(kit, Outer, b=writer(calls, "b")).compile())
    builder.add_edge(kit.START, "one")
    builder.add_edge("two", kit.END)
    session = start(open_graph, builder)
    assert not session.checkpoint().next
    return session


def test_nothing_in_the_run_that_was_left_is_still_to_come(handed_over, calls):
    marks = {node.id: node.mark for node in handed_over.picture().nodes}
    assert "next" not in marks.values()
    assert {name: marks[name] for name in ("one", "one|a", "one|leave", "one|never", "two|b")} == {
        "one": "done",
        "one|a": "done",
        "one|leave": "done",
        "one|never": "",
        "two|b": "done",
    }
    assert calls["never"] == 0


def test_the_run_that_was_left_is_called_finished(handed_over):
    assert {run.node: run.status for run in handed_over.inner_runs().rows} == {"one": "done", "two": "done"}


def test_the_way_to_the_next_graph_is_drawn_as_taken(handed_over):
    taken = {(edge.source, edge.target) for edge in handed_over.picture().edges if edge.taken}
    assert any(source.startswith("one") and target == "two" for source, target in taken)
