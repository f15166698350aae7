"""Inside a subgraph: single supersteps of it, running into it, and what beside it stands still."""

import operator
from typing import Annotated

import pytest
from typing_extensions import TypedDict

from debugger_ui.session.problems import SessionError
from tests.session.conftest import done, proceed, step
from tests.session.nests import (
    Inside,
    Outer,
    at,
    chain_of,
    due,
    held,
    many,
    nested,
    on_runtime,
    opened,
    path,
    start,
    text,
    two_levels,
    writer,
)


class Lines(TypedDict, total=False):
    """State inside a graph of which several run side by side."""

    log: Annotated[list[str], operator.add]


@pytest.fixture
def deep(kit, calls, open_graph):
    """`sub` runs s1, `low` (d1, d2) and s3; it has halted before s1."""
    session = opened(open_graph, two_levels(kit, calls), "sub|s1")
    assert held(session) == "Breakpoint before sub / s1."
    return session


# --- steps ---------------------------------------------------------------------------------------


@on_runtime
def test_a_step_inside_is_one_superstep_there_and_at_the_end_it_goes_on_outside(deep, calls):
    inside = deep.cursor.namespace
    stands = []
    while "after" not in due(deep):
        stands.append((path(deep), due(deep), deep.nesting().effect))
        assert step(deep).state == "paused"
    assert stands == [
        (["sub"], ("s1",), "Step runs superstep 1 of sub."),
        (["sub"], ("low",), "Step runs superstep 2 of sub."),
        (["sub"], ("s3",), "Step runs superstep 3 of sub."),
        (["sub"], (), "sub is at its end: Step runs superstep 2 of sample."),
    ]
    assert (deep.cursor.namespace, text(deep)) == ("", "in>before>s1>d1>d2>s3")
    assert set(calls.values()) == {1}
    deep.move(namespace=inside)
    assert not deep.abilities().step.allowed


@on_runtime
def test_two_levels_deep_a_step_at_the_end_goes_on_one_level_out(deep):
    deep.set_breakpoint("sub|low|d2", "after")
    assert held(deep) == "Breakpoint after sub / low / d2."
    assert (path(deep), due(deep)) == (["sub", "low"], ())
    assert deep.nesting().effect == "sub / low is at its end: Step runs superstep 2 of sub."
    step(deep)
    assert (path(deep), due(deep), text(deep)) == (["sub"], ("s3",), "in>before>s1>d1>d2")


@on_runtime
def test_a_step_from_the_task_around_goes_past_the_whole_subgraph(deep, calls):
    deep.step_out()
    step(deep)
    assert (deep.cursor.namespace, due(deep), calls["s3"]) == ("", ("after",), 1)


@on_runtime
def test_nothing_of_it_shows_in_the_record(kit, calls, open_graph, deep):
    while deep.cursor.namespace or due(deep):
        step(deep)
    assert rows(deep) == rows(start(open_graph, two_levels(kit, calls)))


def rows(session):
    """Every checkpoint of a thread: where, how it was made, and what it holds."""
    spaces = [("", ""), *((run.namespace, run.path) for run in session.inner_runs().rows[::-1])]
    return [
        (path, header.step, header.source, session.desk.engine.record(place).state)
        for space, path in spaces
        for header in session.desk.engine.headers("t", space)
        for place in [type(session.spot().place)("t", header.id, space)]
    ]


@on_runtime
def test_what_runs_beside_it_stands_still_until_the_graph_around_is_stepped(kit, calls, open_graph):
    builder = kit.StateGraph(Outer)
    for side in ("left", "right"):
        inner = chain_of(kit, Lines, **{f"{side}{n}": lambda state: {"log": ["x"]} for n in (1, 2)})
        builder.add_node(side, inner.compile())
        builder.add_edge(kit.START, side)
    builder.add_node("beside", lambda state: {"log": ["beside"]})
    builder.add_edge(kit.START, "beside")
    session = opened(open_graph, builder, "left|left1", "right|right1")
    stopped = proceed(session)
    assert stopped.message.startswith(stopped.why + " 1 more run beside it stopped at one too. Next: ")
    here = path(session)[0]
    other = "right" if here == "left" else "left"
    assert session.nesting().effect == f"Step runs superstep 1 of {here}. {other} beside it stands still."
    step(session)
    assert (path(session), due(session)) == ([here], (f"{here}2",))
    standing = {run.node: run.checkpoints for run in session.inner_runs().rows}
    assert (standing[here], standing[other]) == (3, 2)
    assert proceed(session).state == "done"


@on_runtime
def test_of_the_runs_of_a_fan_out_one_is_stepped(kit, calls, open_graph):
    session = opened(open_graph, many(kit, calls), "part|deep|d1")
    assert "1 more run beside it stopped at one too." in proceed(session).message
    assert path(session) == ["part", "deep"]
    said = session.nesting().effect
    assert said.startswith(
        "Step runs superstep 1 of part / deep. another part beside it stands still. part calls it, and runs"
    )
    step(session)
    assert (due(session), calls["d1"], calls["p1"]) == (("d2",), 1, 2)
    session.remove_breakpoint("before:part|deep|d1")
    assert proceed(session).state == "done"
    assert (calls["d1"], calls["p1"], calls["d2"]) == (2, 2, 2)


@on_runtime
def test_a_function_that_calls_a_graph_runs_again_up_to_the_call_and_the_page_says_so(kit, calls, open_graph):
    inner = chain_of(kit, Inside, i1=writer(calls, "i1"), i2=writer(calls, "i2")).compile()

    def door(state):
        calls["door"] += 1
        return {"text": inner.invoke({"text": state["text"]})["text"]}

    session = opened(open_graph, chain_of(kit, Outer, door=door), "door|i1")
    proceed(session)
    assert session.nesting().effect == (
        "Step runs superstep 1 of door. door calls it, and runs again from the first line to the call."
    )
    step(session)
    assert (due(session), dict(calls)) == (("i2",), {"door": 2, "i1": 1})
    assert proceed(session).state == "done"
    assert (text(session), dict(calls)) == ("in>i1>i2", {"door": 3, "i1": 1, "i2": 1})


@on_runtime
def test_a_question_that_a_step_comes_to_is_shown_inside_and_the_answer_can_stay_there(kit, calls, open_graph):
    session = opened(open_graph, nested(kit, calls), "sub|s1")
    proceed(session)
    step(session)
    assert step(session).state == "interrupted"
    assert (path(session), session.checkpoint().status) == (["sub"], "waiting")
    session.answer({question.id: "yes" for question in session.questions()}, run=False)
    assert done(session).state == "paused"
    assert (path(session), due(session)) == (["sub"], ("s3",))
    session.step_out()
    assert (session.questions(), session.checkpoint().status, session.inbox().total) == ((), "ready", 0)
    assert (session.threads().rows[0].status, session.timeline().rows[0].status) == ("ready", "ready")
    session.step_into()
    assert proceed(session).state == "done"
    assert text(session) == "in>before>s1>review=yes>s3>after"


@on_runtime
def test_a_question_that_is_come_to_from_inside_is_shown_inside(kit, calls, open_graph):
    session = opened(open_graph, nested(kit, calls), "sub|s1")
    proceed(session)
    assert proceed(session).state == "interrupted"
    assert (path(session), [question.prompt for question in session.questions()]) == (["sub"], ["good?"])


@on_runtime
def test_a_node_that_fails_on_a_new_branch_inside_is_shown_there(kit, calls, open_graph):
    broken = []

    def flaky(state):
        if broken:
            raise KeyError("now")
        return {"own": "x"}

    inner = chain_of(kit, Inside, s1=writer(calls, "s1"), flaky=flaky).compile()
    session = start(open_graph, chain_of(kit, Outer, sub=inner))
    at(session, "sub").step_into()
    inside = session.cursor.namespace
    at(session, "flaky")
    broken.append(1)
    assert step(session).state == "failed"
    assert (path(session), session.checkpoint().status) == (["sub"], "failed")
    assert session.cursor.namespace != inside
    broken.clear()
    step(session)
    assert (path(session), due(session), calls["s1"]) == (["sub"], (), 1)


@on_runtime
def test_a_node_that_leaves_the_subgraph_takes_the_cursor_out(kit, calls, open_graph):
    def leave(state):
        return kit.Command(graph=kit.Command.PARENT, goto="after", update={"log": ["left"]})

    inner = chain_of(kit, Inside, s1=writer(calls, "s1"), leave=leave).compile()
    builder = kit.StateGraph(Outer)
    builder.add_node("sub", inner)
    builder.add_node("after", writer(calls, "after"))
    builder.add_edge(kit.START, "sub")
    session = opened(open_graph, builder, "sub|leave")
    proceed(session)
    step(session)
    assert (session.cursor.namespace, calls["after"]) == ("", 0)
    step(session)
    assert (due(session), session.raw(("log",))) == (("after",), '[\n  "left"\n]')


@on_runtime
def test_a_pause_from_inside_holds_inside(kit, calls, open_graph, gate):
    def hold(state):
        gate.inside.set()
        assert gate.open.wait(20)
        return {"own": "held"}

    inner = chain_of(kit, Inside, s1=writer(calls, "s1"), hold=hold, s3=writer(calls, "s3")).compile()
    session = opened(open_graph, chain_of(kit, Outer, sub=inner), "sub|s1")
    proceed(session)
    session.proceed()
    assert gate.inside.wait(20)
    session.pause()
    gate.open.set()
    paused = done(session)
    assert (paused.state, paused.message) == ("paused", "Paused. Next: s3.")
    assert (path(session), due(session)) == (["sub"], ("s3",))


# --- running into one ----------------------------------------------------------------------------


@on_runtime
def test_a_subgraph_that_is_due_is_run_into_and_nothing_beside_it(kit, calls, open_graph):
    session = opened(open_graph, two_levels(kit, calls))
    assert session.nesting().ahead == ()
    step(session)
    (door,) = session.nesting().ahead
    session.run_into(door)
    assert done(session).message == "Step done. Next: s1."
    assert (path(session), due(session), session.nesting().ahead) == (["sub"], ("s1",), ())
    step(session)
    session.run_into()
    done(session)
    assert (path(session), due(session), dict(calls)) == (["sub", "low"], ("d1",), {"before": 1, "s1": 1})
    session.step_out()
    with pytest.raises(SessionError, match="No subgraph is about to run here"):
        session.run_into()
    assert proceed(session).state == "done"
    assert text(session) == "in>before>s1>d1>d2>s3>after"


@on_runtime
def test_of_several_that_are_due_one_is_chosen(kit, calls, open_graph):
    session = opened(open_graph, many(kit, calls))
    one, other = session.nesting().ahead
    with pytest.raises(SessionError, match="choose one of them in Tasks"):
        session.run_into()
    session.run_into(other)
    done(session)
    assert (path(session), due(session), dict(calls)) == (["part"], ("p1",), {})
    session.step_out()
    assert session.nesting().ahead == (one,)


@on_runtime
def test_a_subgraph_with_a_memory_is_run_into_in_every_turn(kit, calls, open_graph):
    inner = chain_of(kit, Inside, s1=writer(calls, "s1")).compile(checkpointer=True)
    session = start(open_graph, chain_of(kit, Outer, sub=inner))
    session.new_run({"text": "again"}, thread="t")
    done(session)
    session.run_into()
    done(session)
    assert (path(session), due(session), text(session), calls["s1"]) == (["sub"], ("s1",), "again", 1)
    step(session)
    assert step(session).state == "done"
    assert (session.cursor.namespace, text(session)) == ("", "again>s1")
