"""Plan, execute, update one at a time; and a result supplied by hand."""

import operator
from typing import Annotated

import pytest
from typing_extensions import TypedDict

from debugger_ui.session.problems import SessionError
from debugger_ui.session.session import DebugSession
from tests.session.conftest import begin, done, step

ours = pytest.mark.parametrize("kit", ["runtime"], indirect=True)
theirs = pytest.mark.parametrize("kit", ["langgraph"], indirect=True)


@pytest.fixture
def fan_out(session):
    """The research graph with its two workers due."""
    begin(session)
    step(session)
    return session


def statuses(session):
    return [(task.name, task.status) for task in session.tasks()]


@ours
def test_tasks_run_one_at_a_time_in_any_order_and_then_fold(fan_out, calls):
    before = fan_out.checkpoint().id
    _, second = fan_out.tasks()
    fan_out.execute([second.id])
    progress = done(fan_out)
    assert (progress.state, progress.message) == ("paused", "1 of 2 results are in. Next: work.")
    assert statuses(fan_out) == [("work", "to run"), ("work", "saved")]
    work = next(node for node in fan_out.graph().nodes if node.id == "work")
    assert (work.mark, work.marked, work.tasks) == ("next", 1, 2)
    assert fan_out.checkpoint().id == before
    assert (fan_out.update().tasks_in, fan_out.update().tasks) == (1, 2)
    with pytest.raises(SessionError, match="waits for all results"):
        fan_out.fold()
    with pytest.raises(SessionError, match="has its result already"):
        fan_out.execute([second.id])
    fan_out.execute()
    assert done(fan_out).message == "2 of 2 results are in. Next: the update, all results are in."
    assert (calls["work"], fan_out.checkpoint().id) == (2, before)
    fan_out.fold()
    assert done(fan_out).steps == 1
    assert (calls["work"], fan_out.checkpoint().next) == (2, ("check",))
    found = next(entry.value for entry in fan_out.checkpoint().entries if entry.key == "found")
    assert [child.value.text for child in found.children] == ["cost: known", "traffic: known"]


@ours
def test_a_supplied_result_is_used_and_shown_as_supplied(fan_out, calls):
    first, _ = fan_out.tasks()
    fan_out.supply(first.id, '{"found": ["by hand"]}')
    done(fan_out)
    assert statuses(fan_out) == [("work", "supplied"), ("work", "to run")]
    assert calls["work"] == 0
    step(fan_out)
    assert calls["work"] == 1
    assert [(task.status, task.name) for task in fan_out.checkpoint().made_by] == [
        ("supplied", "work"),
        ("saved", "work"),
    ]
    found = next(entry.value for entry in fan_out.checkpoint().entries if entry.key == "found")
    assert [child.value.text for child in found.children] == ["by hand", "traffic: known"]
    assert "supplied" in {hop.kind for hop in fan_out.why(("found",))}


@ours
@pytest.mark.parametrize(
    ("text", "said"),
    [("", "empty"), ("[1]", "not list"), ('{"nobody": 1}', "no key 'nobody'"), ("{", "Line 1")],
)
def test_a_wrong_result_is_refused(fan_out, text, said):
    first, _ = fan_out.tasks()
    with pytest.raises(SessionError, match=said):
        fan_out.supply(first.id, text)
    assert statuses(fan_out) == [("work", "to run")] * 2


@ours
def test_a_task_of_another_superstep_is_refused(fan_out):
    with pytest.raises(SessionError, match="no task 'other'"):
        fan_out.execute(["other"])


@theirs
def test_a_runtime_without_phases_says_so(session):
    begin(session)
    assert "whole supersteps" in session.abilities().phases.reason
    with pytest.raises(SessionError, match="whole supersteps"):
        session.execute()


def test_of_very_many_writes_an_update_tells_the_first_ones_and_the_last(kit, open_graph):
    class Sums(TypedDict, total=False):
        found: Annotated[list[int], operator.add]

    builder = kit.StateGraph(Sums)
    builder.add_node("plan", lambda state: {})
    builder.add_node("work", lambda number: {"found": [number]})
    builder.add_edge(kit.START, "plan")
    builder.add_conditional_edges("plan", lambda state: [kit.Send("work", at) for at in range(120)], ["work"])
    session = DebugSession(open_graph(builder, {"found": []}))
    session.new_run({"found": "[]"}, thread="t", run=True)
    assert done(session).state == "done"
    session.back()
    (fold,) = [fold for fold in session.update().folds if fold.channel == "found"]
    assert (len(fold.steps), fold.left_out) == (50, 70)
    assert [step.value.children[0].value.text for step in fold.steps[-2:]] == ["48", "119"]
    assert (fold.steps[48].after.size, fold.steps[49].after.size, fold.after.size) == (49, 120, 120)
