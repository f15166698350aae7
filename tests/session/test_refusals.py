"""An update that was refused: what was written is seen, its tasks run again, and the record tells what came of it."""

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from typing_extensions import TypedDict

from debugger_ui.engines.base import Failure
from debugger_ui.engines.counted import counted
from debugger_ui.engines.opening import reader_for
from debugger_ui.engines.record import RecordEngine
from debugger_ui.session.session import DebugSession
from debugger_ui.session.workspace import Workspace
from runtime.errors import InvalidUpdateError
from runtime.graph import START, StateGraph
from tests.session.conftest import done, marks, step

ours = pytest.mark.parametrize("kit", ["runtime"], indirect=True)


class Weather(TypedDict, total=False):
    """`forecast` takes one write in a superstep."""

    forecast: str
    seen: str


@pytest.fixture
def says():
    """What each of the two says."""
    return {"optimist": {"forecast": "sun"}, "pessimist": {"forecast": "rain"}}


@pytest.fixture
def refused(kit, open_graph, says):
    """Two writers of one key; their update was refused."""
    builder = kit.StateGraph(Weather)
    for name in says:
        builder.add_node(name, lambda state, name=name: says[name])
        builder.add_edge(kit.START, name)
    session = DebugSession(open_graph(builder, {"seen": "clouds"}))
    session.new_run({"seen": "clouds"}, thread="t")
    done(session)
    assert step(session).state == "failed"
    return session


def standing(session):
    return {
        task.name: (task.status, {write.channel: write.value.text for write in task.writes if not write.control})
        for task in session.tasks()
    }


def test_a_refusal_that_names_no_task_is_told_as_long_as_the_superstep_stands():
    error = ValueError("a channel of its own")
    found = counted([("barrier", "__error__", error), ("barrier", "__refused__", {}), ("task", "seen", "it")])
    assert found.failed == (Failure("ValueError", "a channel of its own"),)
    assert found.writes == [("barrier", "__error__", error), ("task", "seen", "it")]


@ours
def test_both_results_are_shown_as_refused_with_the_key_and_what_it_would_not_take(refused):
    assert standing(refused) == {
        "optimist": ("refused", {"forecast": "sun"}),
        "pessimist": ("refused", {"forecast": "rain"}),
    }
    view = refused.checkpoint()
    assert view.status == "failed"
    (problem,) = view.problems
    assert problem.message.startswith("The update of this superstep was refused. InvalidUpdateError: At key 'forecast'")
    assert "[" not in problem.message.replace("Annotated[list", "")
    (fold,) = [fold for fold in refused.update().folds if fold.state_key]
    assert [(one.node, one.value.text) for one in fold.steps] == [("optimist", "sun"), ("pessimist", "rain")]
    assert "'forecast'" in fold.refused
    assert {node: mark for node, mark in marks(refused).items() if node in standing(refused)} == {
        "optimist": "failed",
        "pessimist": "failed",
    }
    found = refused.missing()
    assert (found.refused, found.saved, found.again) == (True, (), ("optimist", "pessimist"))


@ours
def test_by_phases_one_runs_again_and_for_the_other_a_result_is_supplied(refused):
    ids = {task.name: task.id for task in refused.tasks()}
    refused.execute([ids["optimist"]])
    done(refused)
    assert standing(refused)["optimist"] == ("saved", {"forecast": "sun"})
    assert standing(refused)["pessimist"] == ("refused", {"forecast": "rain"})
    assert refused.checkpoint().problems, "the refusal stands as long as a task of it has no new result"
    refused.supply(ids["pessimist"], '{"seen": "by hand"}')
    done(refused)
    view = refused.checkpoint()
    assert (view.status, view.problems, view.next) == ("ready", (), ())
    refused.fold()
    done(refused)
    entries = {entry.key: entry.value.text for entry in refused.checkpoint().entries}
    assert entries == {"forecast": "sun", "seen": "by hand"}
    assert [(task.name, task.status, task.attempts) for task in refused.checkpoint().made_by] == [
        ("optimist", "saved", 2),
        ("pessimist", "supplied", 2),
    ]


@ours
def test_why_names_the_task_whose_second_result_it_is(refused, says):
    says["pessimist"] = {"seen": "umbrellas"}
    says["optimist"] = {"forecast": "sun at noon"}
    assert step(refused).state == "done"
    (hop, *_) = refused.why(("forecast",))
    assert (hop.node, hop.kind) == ("optimist", "task")
    refused.back()
    assert standing(refused) == {
        "optimist": ("saved", {"forecast": "sun at noon"}),
        "pessimist": ("saved", {"seen": "umbrellas"}),
    }
    view = refused.checkpoint()
    assert (view.status, view.problems) == ("done", ())
    folds = {fold.channel: fold.after.text for fold in refused.update().folds if fold.state_key}
    assert folds == {"forecast": "sun at noon", "seen": "umbrellas"}


@ours
def test_a_second_refusal_takes_the_place_of_the_first(refused, says):
    says["optimist"] = {"forecast": "a dry spell"}
    assert step(refused).state == "failed"
    assert standing(refused)["optimist"] == ("refused", {"forecast": "a dry spell"})
    assert len(refused.checkpoint().problems) == 1
    assert [task.attempts for task in refused.tasks()] == [2, 2]


@ours
def test_the_database_alone_tells_the_same(refused, says):
    saver = refused.desk.engine.graph.checkpointer

    def alone():
        session = DebugSession(Workspace([RecordEngine(saver, reader_for(saver), "")]))
        session.move(thread="t")
        return session

    assert standing(alone()) == {
        "optimist": ("refused", {"forecast": "sun"}),
        "pessimist": ("refused", {"forecast": "rain"}),
    }
    assert alone().checkpoint().status == "failed"
    says["pessimist"] = {"seen": "umbrellas"}
    step(refused)
    session = alone()
    assert [task.name for task in session.checkpoint().made_by] == ["optimist", "pessimist"]
    session.back()
    assert standing(session) == {
        "optimist": ("saved", {"forecast": "sun"}),
        "pessimist": ("saved", {"seen": "umbrellas"}),
    }
    assert session.checkpoint().problems == ()


def test_a_saver_that_keeps_no_names_tells_of_the_refusal_and_of_no_task_more(says):
    saver = InMemorySaver()
    builder = StateGraph(Weather)
    for name in says:
        builder.add_node(name, lambda state, name=name: says[name])
        builder.add_edge(START, name)
    with pytest.raises(InvalidUpdateError):
        builder.compile(checkpointer=saver).invoke({"seen": "clouds"}, {"configurable": {"thread_id": "t"}})
    session = DebugSession(Workspace([RecordEngine(saver, reader_for(saver), "")]))
    session.move(thread="t")
    assert [task.status for task in session.tasks() if task.writes or task.error] == ["refused", "refused"]
    (problem,) = session.checkpoint().problems
    assert problem.message.startswith("The update of this superstep was refused. InvalidUpdateError: At key 'forecast'")


@pytest.mark.parametrize("kit", ["langgraph"], indirect=True)
def test_on_langgraph_the_results_are_saved_and_the_update_says_what_it_would_not_take(refused):
    assert {name: status for name, (status, _) in standing(refused).items()} == {
        "optimist": "saved",
        "pessimist": "saved",
    }
    (fold,) = [fold for fold in refused.update().folds if fold.state_key]
    assert [(one.node, one.value.text) for one in fold.steps] == [("optimist", "sun"), ("pessimist", "rain")]
    assert "forecast" in fold.refused
    assert "troubleshooting" not in fold.refused
    assert fold.after is None


@ours
def test_a_subgraph_that_ran_again_shows_both_of_its_runs(kit, open_graph, says):
    class Told(TypedDict, total=False):
        forecast: str

    def inner(name):
        builder = kit.StateGraph(Weather, output_schema=Told)
        builder.add_node("look", lambda state: says[name])
        builder.add_edge(kit.START, "look")
        return builder.compile()

    builder = kit.StateGraph(Weather)
    for name in says:
        builder.add_node(name, inner(name))
        builder.add_edge(kit.START, name)
    session = DebugSession(open_graph(builder, {"seen": "clouds"}))
    session.new_run({"seen": "clouds"}, thread="t", run=True)
    assert done(session).state == "failed"
    says["pessimist"] = {"seen": "umbrellas"}
    assert step(session).state == "done"
    assert session.value(("forecast",)).text == "sun"
    session.back()
    task = next(task for task in session.tasks() if task.name == "pessimist")
    session.step_into(task.namespace)
    assert session.value(("seen",)).text == "umbrellas"
    rows = session.timeline().rows
    assert [row.nodes for row in rows if row.nodes] == [("look",), ("look",)]
    assert len(session.branches()) == 2
