"""interrupt_before and interrupt_after: stops that the caller sets, in the graph or for one call."""

import pytest

from runtime.graph import START
from runtime.types import Command, interrupt
from tests.kit.graphs import builder, chain, thread


def log(run, graph, given):
    return run(graph, given, thread())["log"]


def test_before_stops_before_and_goes_on(run, saver):
    graph = chain("one", "two").compile(checkpointer=saver, interrupt_before=["two"])
    result = run(graph, {"log": []}, thread())
    assert result["log"] == ["one"]
    assert "__interrupt__" not in result
    assert run.state(graph, thread()).next == ("two",)
    assert log(run, graph, None) == ["one", "two"]


def test_after_stops_after_and_goes_on(run, saver):
    graph = chain("one", "two").compile(checkpointer=saver, interrupt_after=["one"])
    assert log(run, graph, {"log": []}) == ["one"]
    assert run.state(graph, thread()).next == ("two",)
    assert log(run, graph, None) == ["one", "two"]


@pytest.mark.parametrize("where", ["interrupt_before", "interrupt_after"])
def test_a_star_stops_at_every_node(run, saver, where):
    graph = chain("one", "two", "three").compile(checkpointer=saver, **{where: "*"})
    seen = [log(run, graph, {"log": []})]
    while run.state(graph, thread()).next:
        seen.append(log(run, graph, None))
    whole = ["one", "two", "three"]
    first = 0 if where == "interrupt_before" else 1
    assert seen == [whole[:n] for n in range(first, 4)]


def test_a_loop_stops_on_every_pass(run, saver):
    made = builder((START, "one"))
    made.add_conditional_edges("one", lambda s: "one" if len(s["log"]) < 3 else "__end__", ["one", "__end__"])
    graph = made.compile(checkpointer=saver, interrupt_before=["one"])
    assert log(run, graph, {"log": []}) == []
    assert [log(run, graph, None) for _ in range(3)] == [["one"] * n for n in (1, 2, 3)]


def test_per_call(run, saver):
    graph = chain("one", "two").compile(checkpointer=saver)
    assert run(graph, {"log": []}, thread(), interrupt_before=["two"])["log"] == ["one"]
    assert log(run, graph, None) == ["one", "two"]


def test_the_stream_ends_with_an_empty_interrupt(run, saver):
    graph = chain("one", "two").compile(checkpointer=saver, interrupt_before=["two"])
    chunks = run.stream(graph, {"log": []}, thread(), stream_mode="updates")
    assert chunks == [{"one": {"log": ["one"]}}, {"__interrupt__": ()}]


def test_an_edit_at_a_stop_goes_on_from_the_edit(run, saver):
    graph = chain("one", "two", "three").compile(checkpointer=saver, interrupt_before=["two", "three"])
    log(run, graph, {"log": []})
    run.edit(graph, thread(), {"log": ["instead"]}, "two")
    assert run.state(graph, thread()).next == ("three",)
    assert log(run, graph, None) == ["one", "instead", "three"]


def test_stops_and_questions_mix(run, saver):
    graph = chain("one", "ask", ask=lambda s: {"log": [interrupt("q")]}).compile(
        checkpointer=saver, interrupt_before=["ask"]
    )
    log(run, graph, {"log": []})
    assert run.state(graph, thread()).interrupts == ()
    assert run(graph, None, thread())["__interrupt__"][0].value == "q"
    assert log(run, graph, Command(resume="a")) == ["one", "a"]


def test_an_unknown_name_is_refused_when_compiling():
    with pytest.raises(ValueError, match="nowhere"):
        chain("one").compile(interrupt_before=["nowhere"])


def test_a_stop_inside_a_subgraph(run, saver):
    inner = chain("deep", "deeper").compile(interrupt_before=["deeper"])
    graph = builder((START, "sub"), sub=inner).compile(checkpointer=saver)
    assert log(run, graph, {"log": []}) == []
    assert run.state(graph, thread()).next == ("sub",)
    assert log(run, graph, None) == ["deep", "deeper"]
