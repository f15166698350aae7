"""Subgraphs: going in and out, looking around inside, and the picture of the graph around."""

from importlib import import_module

import pytest

from debugger_ui.engines.opening import open_record
from debugger_ui.session.problems import SessionError
from debugger_ui.session.session import DebugSession
from debugger_ui.session.workspace import Workspace
from tests.session.conftest import marks
from tests.session.nests import Inside, Outer, answer_all, at, chain_of, many, nested, picture, start, text, writer


@pytest.fixture
def paused(kit, calls, open_graph):
    """The question of `sub` waits."""
    return start(open_graph, nested(kit, calls))


@pytest.fixture
def finished(paused):
    """The question was answered, and the graph ran to its end."""
    answer_all(paused, "yes")
    return paused


# --- the ways in and out -------------------------------------------------------------------------


def test_the_way_in_leads_to_the_subgraphs_own_history_and_the_way_out_back_to_its_task(paused):
    asking = paused.checkpoint().id
    assert paused.nesting().into.allowed
    assert paused.nesting().out.reason == "This is the outermost graph."
    paused.step_into()
    assert paused.cursor.namespace.startswith("sub:")
    view = paused.checkpoint()
    assert (view.step, view.next, view.status, view.namespace) == (1, ("review",), "waiting", paused.cursor.namespace)
    assert [crumb.label for crumb in paused.nesting().crumbs] == ["sample", "sub"]
    assert paused.nesting().crumbs[0].step == 2
    paused.step_out()
    assert (paused.cursor.namespace, paused.checkpoint().id) == ("", asking)


def test_every_look_works_inside(paused):
    paused.step_into()
    assert {entry.key for entry in paused.checkpoint().entries} == {"text"}
    assert [(row.nodes, row.next) for row in paused.timeline().rows] == [
        (("s1",), ("review",)),
        ((), ("s1",)),
        ((), ("__start__",)),
    ]
    assert marks(paused) == {"__start__": "done", "s1": "done", "review": "waiting"}
    assert {node.id for node in paused.graph().nodes} == {"__start__", "s1", "review", "s3", "__end__"}
    (changed,) = paused.diff().entries
    assert changed.path == ("text",)
    assert "text" in {channel.name for channel in paused.channels()}
    assert {verdict.node: verdict.runs for verdict in paused.plan().verdicts}["review"]
    assert [task.status for task in paused.tasks()] == ["interrupted"]
    assert [hop.node for hop in paused.why(("text",))][:1] == ["s1"]
    paused.back()
    (fold,) = [fold for fold in paused.update().folds if fold.channel == "text"]
    assert fold.after.text == "in>before>s1"
    assert paused.overview().drift.message == ""


def test_why_leads_out_of_a_subgraph_to_who_wrote_what_it_was_given(finished):
    at(finished, "sub")
    finished.step_into()
    finished.last()
    inside = finished.cursor.namespace
    chain = [hop for hop in finished.why(("text",)) if hop.path == ("text",)]
    assert [(hop.node, hop.namespace == inside) for hop in chain] == [
        ("s3", True),
        ("review", True),
        ("s1", True),
        ("input", True),
        ("before", False),
        ("input", False),
    ]
    assert [hop.depth for hop in chain] == [0, 1, 2, 3, 4, 5]
    before = chain[4]
    finished.move(namespace=before.namespace, checkpoint=before.checkpoint, path=before.path)
    assert (finished.cursor.namespace, finished.checkpoint().nodes, text(finished)) == ("", ("before",), "in>before")


def test_what_a_send_brings_is_not_taken_for_the_state_around(kit, calls, open_graph):
    inner = chain_of(kit, Inside, s1=writer(calls, "s1")).compile()
    builder = kit.StateGraph(Outer)
    builder.add_node("plan", lambda state: {"log": ["planned"]})
    builder.add_node("sub", inner)
    builder.add_edge(kit.START, "plan")
    builder.add_conditional_edges("plan", lambda state: [kit.Send("sub", {"text": "sent"})], ["sub"])
    session = start(open_graph, builder)
    at(session, "sub")
    session.step_into()
    session.last()
    assert [hop.node for hop in session.why(("text",))] == ["s1", "input"]


def test_a_finished_subgraph_is_entered_from_its_task_and_from_what_it_made(finished):
    at(finished, "sub")
    starts_here = finished.checkpoint().id
    finished.step_into()
    assert text(finished) == "in>before>s1>review=yes>s3"
    assert finished.checkpoint().status == "done"
    finished.step_out()
    assert finished.checkpoint().id == starts_here
    finished.forward()
    assert finished.checkpoint().nodes == ("sub",)
    finished.step_into()
    finished.step_out()
    assert finished.checkpoint().id == starts_here


def test_where_no_subgraph_ran_the_way_in_is_closed_and_says_so(finished):
    at(finished, "before")
    assert finished.nesting().into.reason == "No task here has run a subgraph."
    with pytest.raises(SessionError, match="No task here has run a subgraph"):
        finished.step_into()
    with pytest.raises(SessionError, match="outermost"):
        finished.step_out()


def test_a_link_leads_inside_and_a_wrong_one_stays_outside(paused):
    paused.step_into()
    params = paused.cursor.to_params()
    other = DebugSession(paused.workspace)
    assert other.load_params(params) == []
    assert other.checkpoint() == paused.checkpoint()
    assert other.load_params({**params, "namespace": "sub:nobody"}) != []
    assert other.cursor.namespace == ""


# --- many runs -----------------------------------------------------------------------------------


def test_all_runs_are_listed_with_the_task_they_belong_to_at_any_depth(kit, calls, open_graph):
    session = start(open_graph, many(kit, calls))
    found = session.inner_runs().rows
    assert sorted((run.path, run.step, run.call) for run in found) == [
        ("part", 1, 1),
        ("part", 1, 1),
        ("part / deep", 2, 1),
        ("part / deep", 2, 1),
        ("twice", 2, 1),
        ("twice", 2, 2),
    ]
    assert {run.status for run in found} == {"done"}
    deep = next(run for run in found if run.path == "part / deep")
    assert deep.around in {run.namespace for run in found if run.path == "part"}


def test_of_several_runs_one_has_to_be_chosen(kit, calls, open_graph):
    session = start(open_graph, many(kit, calls))
    at(session, "part")
    nesting = session.nesting()
    assert [run.node for run in nesting.inside] == ["part", "part"]
    assert (nesting.into.allowed, "choose one" in nesting.into.reason) == (False, True)
    with pytest.raises(SessionError, match="choose one"):
        session.step_into()
    texts = set()
    for run in nesting.inside:
        session.step_into(run.namespace)
        texts.add(text(session))
        session.step_out()
    assert texts == {"a>p1>d1>d2", "b>p1>d1>d2"}


def test_two_levels_deep_and_back_level_by_level(kit, calls, open_graph):
    session = start(open_graph, many(kit, calls))
    at(session, "part")
    session.step_into(session.nesting().inside[0].namespace)
    session.step_into()
    assert [crumb.label for crumb in session.nesting().crumbs] == ["sample", "part", "deep"]
    assert {node.id for node in session.graph().nodes} >= {"d1", "d2"}
    session.step_out()
    assert session.checkpoint().next == ("deep",)
    session.step_out()
    assert session.checkpoint().next == ("part",)


def test_a_graph_that_is_called_a_second_time_has_a_run_of_its_own(kit, calls, open_graph):
    session = start(open_graph, many(kit, calls))
    at(session, "twice")
    session.step_into(session.nesting().inside[1].namespace)
    assert text(session) == "y>o1"
    assert session.nesting().crumbs[-1].label == "twice #2"
    session.step_out()
    assert session.checkpoint().next == ("twice",)


def test_a_subgraph_with_a_memory_has_a_run_for_each_time(kit, calls, open_graph):
    inner = chain_of(kit, Inside, s1=writer(calls, "s1")).compile(checkpointer=True)
    session = DebugSession(open_graph(chain_of(kit, Outer, sub=inner), example={"text": "in"}))
    for _ in range(2):
        session.desk.engine.graph.invoke({"text": "in"}, {"configurable": {"thread_id": "t"}})
    session.move(thread="t")
    runs = [run for run in session.inner_runs().rows if run.node == "sub"]
    assert len({run.parent for run in runs}) == 2
    for run in runs:
        session.move(namespace="", checkpoint=run.parent)
        session.step_into()
        assert session.checkpoint().id == run.newest
        session.step_out()
        assert session.checkpoint().id == run.parent


# --- without the graph ---------------------------------------------------------------------------


def test_a_database_alone_shows_what_is_inside(kit, tmp_path, calls):
    savers = import_module(f"{kit.root}.checkpoint.sqlite")
    config = {"configurable": {"thread_id": "t"}}
    with savers.SqliteSaver.from_conn_string(str(tmp_path / "x.sqlite")) as saver:
        graph = nested(kit, calls).compile(checkpointer=saver)
        graph.invoke({"text": "in"}, config)
        graph.invoke(kit.Command(resume="yes"), config)
    workspace = Workspace([open_record(str(tmp_path / "x.sqlite"))], read_only=True)
    session = DebugSession(workspace)
    session.move(thread="t")
    at(session, "sub").step_into()
    assert text(session) == "in>before>s1>review=yes>s3"
    assert {node.id for node in session.graph().nodes} == {"__start__", "s1", "review", "s3"}
    assert [run.path for run in session.inner_runs().rows] == ["sub"]
    assert not session.abilities().step.allowed
    session.step_out()
    assert session.checkpoint().next == ("sub",)
    workspace.close()


# --- the picture ---------------------------------------------------------------------------------


def test_the_picture_opens_a_subgraph_around_its_node_with_the_marks_inside(paused):
    view = paused.picture()
    assert [(cluster.id, cluster.parent) for cluster in view.clusters] == [("sub", "")]
    assert {node.id for node in view.nodes if node.cluster == "sub"} == {"sub", "sub|s1", "sub|review", "sub|s3"}
    assert picture(paused) == {
        "__start__": "done",
        "before": "done",
        "sub": "waiting",
        "sub|s1": "done",
        "sub|review": "waiting",
    }
    edges = {(edge.source, edge.target): edge.taken for edge in view.edges}
    assert edges["sub", "sub|s1"] == edges["sub|s1", "sub|review"] == 1
    assert ("sub|s3", "after") in edges
    assert ("sub", "after") not in edges
    assert {node.id for node in paused.graph().nodes} == {"__start__", "before", "sub", "after", "__end__"}


def test_marks_inside_follow_the_cursor(finished):
    inside = ("sub|s1", "sub|review", "sub|s3")
    assert {picture(finished)[node] for node in inside} == {"done"}
    at(finished, "sub")
    assert not set(inside) & set(picture(finished))
    at(finished, "after")
    assert {picture(finished)[node] for node in inside} == {"done"}
    assert next(edge for edge in finished.picture().edges if edge.source == "sub|s3").taken == 1


def test_a_picture_opens_two_levels_and_stays_readable(kit, calls, open_graph):
    session = start(open_graph, many(kit, calls))
    parents = {cluster.id: cluster.parent for cluster in session.picture().clusters}
    assert parents == {"part": "", "part|deep": "part", "twice": ""}
    long = chain_of(kit, Inside, **{f"n{n}": writer(calls, f"n{n}") for n in range(30)}).compile()
    session = start(open_graph, chain_of(kit, Outer, sub=long))
    assert session.picture().clusters == ()
    assert {node.id: node.kind for node in session.picture().nodes}["sub"] == "subgraph"


def test_the_timeline_marks_what_ran_a_subgraph(finished):
    assert [row.nodes for row in finished.timeline().rows if row.inner] == [("sub",)]


def test_of_runs_side_by_side_the_unfinished_one_is_entered(kit, open_graph):
    def ask(state):
        return {"own": kit.interrupt("sure?") if state["text"] == "b" else "sure"}

    inner = chain_of(kit, Inside, ask=ask).compile()
    builder = kit.StateGraph(Outer)
    builder.add_node("sub", inner)
    builder.add_conditional_edges(kit.START, lambda state: [kit.Send("sub", {"text": t}) for t in "ab"], ["sub"])
    session = start(open_graph, builder)
    assert len(session.nesting().inside) == 2
    session.step_into()
    assert (text(session), session.checkpoint().status) == ("b", "waiting")
    assert session.nesting().effect == "Answering runs superstep 1 of sample: sub goes on from here."


def test_on_a_branch_that_an_edit_began_nothing_is_marked_that_ran_on_another(finished):
    at(finished, "sub")
    assert "sub|s1" not in picture(finished), "it runs next"
    finished.save_edit([], "after")
    assert {name: mark for name, mark in picture(finished).items() if name.startswith("sub")} == {}
