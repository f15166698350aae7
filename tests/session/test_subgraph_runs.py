"""Going on from a checkpoint inside a subgraph: steps, answers and edits, and what stays as it was."""

import pytest

from debugger_ui.session.problems import SessionError
from debugger_ui.session.session import DebugSession
from debugger_ui.session.views import Edit
from tests.session.conftest import done, proceed, step
from tests.session.nests import (
    Inside,
    Outer,
    answer_all,
    at,
    chain_of,
    many,
    nested,
    on_langgraph,
    on_runtime,
    outer_rows,
    picture,
    start,
    text,
    writer,
)


@pytest.fixture
def paused(kit, calls, open_graph):
    """The question of `sub` waits."""
    return start(open_graph, nested(kit, calls))


@pytest.fixture
def finished(paused):
    """The question was answered, and the graph ran to its end."""
    answer_all(paused, "yes")
    return paused


# --- going on from inside ------------------------------------------------------------------------


def test_a_question_is_answered_inside(paused, calls):
    paused.step_into()
    (question,) = paused.questions()
    assert (question.prompt, question.node) == ("good?", "review")
    assert answer_all(paused, "yes").state == "done"
    assert (paused.cursor.namespace, text(paused)) == ("", "in>before>s1>review=yes>s3>after")
    assert calls["s1"] == 1


def test_a_question_is_answered_from_the_task_around_it(paused, calls):
    assert [question.prompt for question in paused.questions()] == ["good?"]
    assert answer_all(paused, "yes").state == "done"
    assert calls == {"before": 1, "s1": 1, "review": 2, "s3": 1, "after": 1}


@on_langgraph
def test_an_edit_at_the_newest_checkpoint_inside_is_gone_on_from(paused, calls):
    paused.step_into()
    assert paused.abilities().step.reason == "It waits for an answer."
    saved = paused.save_edit([Edit("text", '"by hand"')], "review")
    assert (saved.next, paused.cursor.namespace != "") == (("s3",), True)
    assert paused.nesting().effect == "Step runs superstep 2 of sample: sub goes on from here."
    assert step(paused).state == "paused"
    assert (paused.cursor.namespace, paused.checkpoint().next, text(paused)) == ("", ("after",), "by hand>s3")
    assert calls == {"before": 1, "s1": 1, "review": 1, "s3": 1}
    assert proceed(paused).state == "done"


def test_after_an_edit_inside_the_task_around_it_can_be_stepped_too(paused, calls):
    assert paused.abilities().step.reason == "It waits for an answer."
    paused.step_into()
    paused.save_edit([Edit("text", '"by hand"')], "review")
    paused.step_out()
    assert len(paused.questions()) == 1
    assert paused.nesting().effect.startswith("sub has been edited inside since it asked: Step goes on from the edit.")
    assert step(paused).state == "paused"
    assert (paused.checkpoint().next, text(paused), calls["review"]) == (("after",), "by hand>s3", 1)


def test_nothing_runs_by_phases_inside(paused):
    paused.step_into()
    assert "Inside a subgraph" in paused.abilities().phases.reason
    with pytest.raises(SessionError, match="Inside a subgraph"):
        paused.execute()


@on_runtime
def test_an_edit_at_the_newest_checkpoint_inside_is_stepped_there(paused, calls):
    paused.step_into()
    inside = paused.cursor.namespace
    saved = paused.save_edit([Edit("text", '"by hand"')], "review")
    assert (saved.next, paused.nesting().effect) == (("s3",), "Step runs superstep 3 of sub.")
    assert step(paused).state == "paused"
    assert (paused.cursor.namespace, paused.checkpoint().next, text(paused)) == (inside, (), "by hand>s3")
    assert paused.nesting().effect == "sub is at its end: Step runs superstep 2 of sample."
    assert step(paused).state == "paused"
    assert (paused.cursor.namespace, paused.checkpoint().next, text(paused)) == ("", ("after",), "by hand>s3")
    assert calls == {"before": 1, "s1": 1, "review": 1, "s3": 1}
    assert proceed(paused).state == "done"


@on_runtime
def test_an_edit_in_the_past_of_a_subgraph_becomes_a_branch_and_the_original_stays(finished, calls):
    before, ran = outer_rows(finished), dict(calls)
    at(finished, "sub")
    finished.step_into()
    inner = finished.cursor.namespace
    rows = finished.timeline().total
    at(finished, "s3")
    finished.save_edit([Edit("text", '"by hand"')], "review")
    assert [branch.name for branch in finished.branches()] == ["main", "edit 1"]
    assert finished.timeline().total == rows + 1
    assert outer_rows(finished) == before
    assert dict(calls) == ran
    assert finished.nesting().effect == "Step runs superstep 4 of sub on a new branch of sample."
    assert step(finished).state == "paused"
    assert finished.cursor.namespace not in ("", inner)
    assert (finished.checkpoint().next, text(finished)) == ((), "by hand>s3")
    assert step(finished).state == "paused"
    assert (finished.checkpoint().next, text(finished)) == (("after",), "by hand>s3")
    assert calls["s1"] == ran["s1"]
    assert calls["s3"] == ran["s3"] + 1
    assert outer_rows(finished)[: len(before)] == before
    assert finished.cursor.namespace == ""
    finished.back()
    finished.step_into()
    assert finished.cursor.namespace != inner
    assert proceed(at(finished, "s3")).state == "done"
    finished.move(namespace=inner)
    assert finished.timeline().total == rows + 1


@on_runtime
def test_a_step_from_the_past_of_a_subgraph_goes_on_there(finished, calls):
    at(finished, "sub")
    finished.step_into()
    at(finished, "review")
    assert step(finished).state == "interrupted"
    assert (calls["s1"], calls["review"]) == (1, 3)
    assert answer_all(finished, "no").state == "done"
    assert text(finished) == "in>before>s1>review=no>s3>after"
    assert len(finished.branches()) == 2


@on_runtime
def test_siblings_that_run_again_are_named(kit, calls, open_graph):
    inner = chain_of(kit, Inside, s1=lambda state: {"own": "done"}).compile()
    builder = kit.StateGraph(Outer)
    builder.add_node("sub", inner)
    builder.add_node("beside", lambda state: {"log": ["beside"]})
    builder.add_edge(kit.START, "sub")
    builder.add_edge(kit.START, "beside")
    session = start(open_graph, builder)
    at(session, "sub").step_into()
    at(session, "s1")
    assert session.nesting().effect.endswith("beside beside it runs again when the branch goes on.")


@on_runtime
def test_a_subgraph_with_a_memory_runs_again_in_a_turn_that_is_stepped(kit, calls, open_graph):
    inner = chain_of(kit, Inside, s1=writer(calls, "s1")).compile(checkpointer=True)
    session = start(open_graph, chain_of(kit, Outer, sub=inner))
    session.new_run({"text": "again"}, thread="t", run=True)
    done(session)
    assert (text(session), calls["s1"]) == ("again>s1", 2)


@on_runtime
@pytest.mark.parametrize("level", ["inside", "around"])
def test_a_question_can_still_be_answered_where_it_was_asked_after_an_edit_before_it(paused, calls, level):
    paused.step_into()
    asked = paused.cursor
    at(paused, "s1")
    paused.save_edit([Edit("text", '"by hand"')], "s1")
    assert paused.nesting().effect == "Step runs superstep 2 of sub on a new branch of sample."
    if level == "around":
        paused.step_out()
    else:
        paused.move(checkpoint="", branch=paused.branches()[0].id)
    assert len(paused.questions()) == 1
    assert paused.abilities().step.reason == "It waits for an answer."
    assert answer_all(paused, "yes").state == "done"
    assert text(paused) == "in>before>s1>review=yes>s3>after"
    assert (calls["s1"], calls["after"]) == (1, 1)
    assert asked.namespace in {run.namespace for run in paused.inner_runs().rows}


@on_runtime
def test_a_step_from_an_edit_before_the_question_leaves_the_question_waiting(paused, calls):
    paused.step_into()
    at(paused, "s1")
    paused.save_edit([Edit("text", '"by hand"')], "s1")
    inside = paused.cursor.namespace
    assert step(paused).state == "interrupted"
    assert answer_all(paused, "no").state == "done"
    assert text(paused) == "by hand>review=no>s3>after"
    paused.move(namespace=inside)
    paused.move(branch=paused.branches()[0].id)
    assert paused.checkpoint().status == "waiting"
    assert answer_all(paused, "yes").state == "done"
    assert text(paused) == "in>before>s1>review=yes>s3>after"
    assert calls["s1"] == 1


@on_langgraph
def test_langgraph_refuses_to_go_on_in_the_past_of_a_subgraph_and_says_why(finished, calls):
    at(finished, "sub")
    finished.step_into()
    at(finished, "s3")
    ran = dict(calls)
    for ability in (finished.abilities().step, finished.abilities().edit):
        assert "starts its subgraph over" in ability.reason
    for act in (finished.step, lambda: finished.save_edit([Edit("text", '"x"')], "review")):
        with pytest.raises(SessionError, match="Step out"):
            act()
    assert calls == ran


@on_runtime
def test_a_step_from_two_levels_deep_goes_on_there(kit, calls, open_graph):
    session = start(open_graph, many(kit, calls))
    before, ran = outer_rows(session), dict(calls)
    deep = next(run for run in session.inner_runs().rows if run.path == "part / deep")
    session.step_into(deep.namespace)
    session.move(checkpoint=session.timeline().rows[1].checkpoint)
    assert session.checkpoint().next == ("d2",)
    started = text(session)
    effect = session.nesting().effect
    assert effect.startswith(
        "Step runs superstep 2 of part / deep on a new branch of sample. another part beside it runs again"
    )
    assert effect.endswith("part calls it, and runs again from the first line to the call.")
    assert step(session).state == "paused"
    assert (text(session), session.nesting().crumbs[-1].label) == (f"{started}>d2", "deep")
    assert {name: calls[name] - ran.get(name, 0) for name in calls} == {"p1": 0, "d1": 0, "d2": 1, "o1": 0}
    session.step_out()
    session.step_out()
    assert step(session).state == "paused"
    assert f"{started}>d2" in session.raw(("log",))
    assert outer_rows(session)[: len(before)] == before
    again = {name: calls[name] - ran.get(name, 0) for name in calls}
    assert again == {"p1": 1, "d1": 1, "d2": 2, "o1": 0}


def test_a_node_that_failed_inside_is_run_again_from_there(kit, calls, open_graph):
    def flaky(state):
        calls["flaky"] += 1
        if calls["flaky"] == 1:
            raise KeyError("first time")
        return {"text": f"{state['text']}>flaky"}

    inner = chain_of(kit, Inside, s1=writer(calls, "s1"), flaky=flaky).compile()
    session = start(open_graph, chain_of(kit, Outer, sub=inner))
    assert session.checkpoint().status == "failed"
    session.step_into()
    assert (session.checkpoint().status, session.checkpoint().next) == ("failed", ("flaky",))
    assert picture(session)["flaky"] == "failed"
    inside = session.cursor.namespace if session.abilities().inside.allowed else ""
    step(session)
    assert (session.cursor.namespace, text(session), calls["s1"]) == (inside, "in>s1>flaky", 1)


def test_whoever_went_inside_stays_there_while_a_run_goes_on(kit, calls, open_graph, gate):
    def hold(state):
        gate.inside.set()
        assert gate.open.wait(20)
        return {"log": ["held"]}

    inner = chain_of(kit, Inside, s1=writer(calls, "s1")).compile()
    session = DebugSession(open_graph(chain_of(kit, Outer, sub=inner, hold=hold), example={"text": "in"}))
    session.new_run({"text": "in"}, thread="t", run=True)
    assert gate.inside.wait(20)
    session.progress()
    session.step_into()
    inside = session.cursor
    gate.open.set()
    assert done(session).state == "done"
    assert session.cursor == inside
