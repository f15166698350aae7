"""Breakpoints on the nodes and keys inside subgraphs."""

import pytest

from debugger_ui.session.problems import SessionError
from debugger_ui.session.session import DebugSession
from tests.session.conftest import done, proceed, step
from tests.session.nests import (
    Inside,
    Outer,
    answer_all,
    asker,
    chain_of,
    held,
    nested,
    on_langgraph,
    on_runtime,
    opened,
    path,
    start,
    text,
    writer,
)


@on_runtime
def test_nodes_inside_are_listed_and_held_by_conditions_and_hits(kit, calls, open_graph):
    builder = kit.StateGraph(Inside)
    builder.add_node("grow", lambda state: {"text": state["text"] + "."})
    builder.add_edge(kit.START, "grow")
    builder.add_conditional_edges("grow", lambda s: kit.END if len(s["text"]) > 7 else "grow", ["grow", kit.END])
    session = opened(open_graph, chain_of(kit, Outer, sub=builder.compile(), after=writer(calls, "after")))
    assert session.stops() == ("sub", "sub|grow", "after")
    session.set_breakpoint("sub|grow", "after", condition="len(text) > len(before('text')) and len(text) > 4")
    assert (held(session), text(session)) == ("Breakpoint after sub / grow.", "in...")
    session.set_breakpoint("sub|grow", "after", stop_at=2)
    assert (held(session), text(session)) == ("Breakpoint after sub / grow, hit 2.", "in.....")
    session.set_breakpoint("sub|own", "change")
    session.set_breakpoint("sub|text", "change", condition="text == 'in......'")
    session.remove_breakpoint("after:sub|grow")
    assert (held(session), session.checkpoint().next) == ("Breakpoint when sub / text changes.", ())
    assert {point.id: point.hits for point in session.breakpoints()} == {"change:sub|own": 0, "change:sub|text": 1}
    assert (proceed(session).state, text(session)) == ("done", "in......>after")


@on_runtime
def test_a_condition_inside_without_a_value_holds_and_says_so(kit, calls, open_graph):
    session = opened(open_graph, nested(kit, calls))
    session.set_breakpoint("sub|s1", "after", condition="own == 'x'")
    stopped = proceed(session)
    assert (stopped.why, path(session)) == ("Breakpoint after sub / s1.", ["sub"])
    assert "could not be evaluated: own == 'x'" in stopped.problem.message


@on_runtime
def test_an_answer_and_a_new_run_are_held_inside_too(kit, calls, open_graph):
    session = DebugSession(open_graph(nested(kit, calls), example={"text": "in"}))
    session.set_breakpoint("sub|s3")
    session.new_run({"text": "in"}, thread="t", run=True)
    assert done(session).state == "interrupted"
    assert answer_all(session, "yes").why == "Breakpoint before sub / s3."
    assert path(session) == ["sub"]
    session.set_breakpoint("sub|s1")
    session.new_run({"text": "in"}, thread="u", run=True)
    assert done(session).why == "Breakpoint before sub / s1."


@on_runtime
def test_a_step_outside_is_not_held_inside(kit, calls, open_graph):
    session = opened(open_graph, nested(kit, calls), "sub|s1")
    step(session)
    assert step(session).state == "interrupted"
    assert session.cursor.namespace == ""


@on_runtime
@pytest.mark.parametrize(
    ("point", "said"),
    [
        (("sub|nowhere", "before", ""), "no node 'nowhere' inside sub"),
        (("nowhere|s1", "before", ""), "no subgraph 'nowhere'"),
        (("sub|log", "change", ""), "state inside sub has no key 'log'; its keys are own, text"),
        (("sub|s1", "before", "log == 1"), "no key 'log'; its keys are own, text"),
        (("s1", "before", ""), "no node 's1'"),
    ],
)
def test_what_is_not_there_inside_is_refused(kit, calls, open_graph, point, said):
    node, when, condition = point
    session = opened(open_graph, nested(kit, calls))
    with pytest.raises(SessionError, match=said):
        session.set_breakpoint(node, when, condition=condition)
    assert session.breakpoints() == ()


@on_runtime
def test_keys_inside_can_be_watched_for_a_change_from_there(kit, calls, open_graph):
    session = opened(open_graph, nested(kit, calls), "sub|s1")
    assert set(session.stop_keys()) == {"text", "log"}
    proceed(session)
    assert set(session.stop_keys()) == {"sub|text", "sub|own"}


@on_runtime
def test_a_subgraph_that_saves_nothing_is_not_stopped_in(kit, calls, open_graph):
    inner = chain_of(kit, Inside, s1=writer(calls, "s1")).compile(checkpointer=False)
    session = opened(open_graph, chain_of(kit, Outer, sub=inner))
    assert session.stops() == ("sub",)


@on_langgraph
def test_langgraph_cannot_stop_inside_and_says_why(kit, calls, open_graph):
    session = start(open_graph, chain_of(kit, Outer, sub=chain_of(kit, Inside, ask=asker(kit, calls)).compile()))
    assert (session.stops(), session.nesting().ahead) == (("sub",), ())
    assert "nothing stops inside one" in session.abilities().inside.reason
    with pytest.raises(SessionError, match="runs a subgraph within one superstep"):
        session.set_breakpoint("sub|ask")


@on_runtime
def test_a_subgraph_compiled_to_stop_holds_whoever_goes_on_from_inside(kit, calls, open_graph):
    inner = chain_of(kit, Inside, s1=writer(calls, "s1"), s2=writer(calls, "s2")).compile(interrupt_before=["s2"])
    session = opened(open_graph, chain_of(kit, Outer, sub=inner), "sub|s1")
    proceed(session)
    assert held(session) == "A subgraph stops here, as it was compiled to."
    assert (calls["s1"], calls["s2"]) == (1, 0)
    session.step_into()
    assert step(session).message == "Step done. The subgraph has come to its end here."
    assert (proceed(session).state, text(session)) == ("done", "in>s1>s2")
