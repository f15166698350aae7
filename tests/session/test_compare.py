"""Comparing branches and threads that really ran: what is common, where they part, and why."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from debugger_ui.engines.opening import open_record
from debugger_ui.session.problems import SessionError
from debugger_ui.session.session import DebugSession
from debugger_ui.session.views import Edit, Side
from debugger_ui.session.workspace import Workspace
from runtime.checkpoint.sqlite import SqliteSaver
from runtime.graph import END, START, StateGraph
from runtime.types import Command, Send, interrupt
from tests.session.conftest import Total, answer, begin, chain, done, proceed, research, step


def side(session, thread, name="main"):
    session.move(thread=thread)
    return Side(thread, next(branch.id for branch in session.branches() if branch.name == name))


def to_question(session, thread="t", **values):
    begin(session, thread, **values)
    proceed(session)
    return session.questions()[0].checkpoint


def kinds(found):
    return [(row.kind, row.count) for row in found.rows]


def test_an_edit_is_named_with_its_author_and_its_keys(session):
    at = to_question(session)
    answer(session, '"approve"')
    session.move(checkpoint=at)
    session.save_edit([Edit("approved", "false")], "review")
    left, right = session.sides()
    found = session.compare(left, right)
    assert found.sentence == (
        "Both share 5 checkpoints. At superstep 4 they part: "
        "edit 1 has an edit by review that set approved; main ran review."
    )
    assert (found.divergence.kind, found.shared, found.equal) == ("edit", 5, 0)
    assert kinds(found) == [("shared", 5), ("differs", 1), ("right", 1)]
    assert found.rows[0].left.checkpoint == at


def test_several_answers_to_one_question_are_told_by_what_they_led_to(session):
    at = to_question(session)
    answer(session, '"approve"')
    for text in ('"revise"', '"approve"'):
        session.move(thread="t", checkpoint=at)
        step(session)
        answer(session, text)
    first, second = side(session, "t", "replay 1"), side(session, "t", "replay 2")
    main = side(session, "t")
    found = session.compare(first, second)
    assert found.sentence.endswith(
        "At superstep 5 they part: the same node review wrote a different approved "
        "(false in replay 1, true in replay 2)."
    )
    assert (found.divergence.kind, found.divergence.keys) == ("writes", ("approved",))
    same = session.compare(main, second)
    assert same.divergence is None
    assert same.sentence == "Both share 5 checkpoints, then come 2 equal steps. Nothing differs."
    assert [(row.kind, row.count) for row in same.rows] == [("shared", 5), ("replay", 1), ("equal", 2)]


def test_threads_are_aligned_from_their_roots_and_an_end_is_no_difference_of_steps(session):
    to_question(session, "one")
    to_question(session, "two")
    same = session.compare(Side("one"), Side("two"))
    assert (same.shared, same.equal, same.divergence, kinds(same)) == (0, 5, None, [("equal", 5)])
    assert same.sentence == "Both made the same 5 steps. Nothing differs."
    answer(session, '"approve"')
    found = session.compare(Side("one"), Side("two"))
    assert found.sentence == (
        "Both begin with 5 equal steps. At superstep 4 they part: one waits for an answer; two ran review."
    )
    assert found.divergence.kind == "ends"


def test_inputs_that_differ_are_the_cause(session):
    to_question(session, "one")
    to_question(session, "two", question="tunnel?")
    found = session.compare(Side("one"), Side("two"))
    assert found.sentence == (
        "They part at the input: the inputs differ in question (“bridge or ferry?” in one, “tunnel?” in two)."
    )
    assert [row.kind for row in found.rows] == ["differs", "differs", "equal"]


def test_two_checkpoints_of_one_branch_can_be_compared(session):
    to_question(session)
    session.move(thread="t")
    main = side(session, "t")
    early = session.timeline().rows[2].checkpoint
    found = session.compare(replace(main, checkpoint=early), main)
    assert found.shared == 3
    assert "main up to superstep 1 ends there; main up to superstep 3 ran work" in found.sentence
    assert session.compare(main, main).same
    assert [entry.label for entry in session.compare_states(replace(main, checkpoint=early), main).entries] == [
        "found[0]",
        "found[1]",
    ]


def test_the_other_side_is_the_parent_branch_or_the_newest_sibling(session):
    at = to_question(session)
    assert session.sides() is None
    answer(session, '"approve"')
    for _ in range(2):
        session.move(checkpoint=at)
        session.save_edit([], "review")
    one, two, main = (side(session, "t", name) for name in ("edit 1", "edit 2", "main"))
    session.move(branch=one.branch)
    assert [each.branch for each in session.sides()] == [one.branch, main.branch]
    session.move(branch=main.branch)
    assert [each.branch for each in session.sides()] == [main.branch, two.branch]


def test_what_does_not_exist_is_refused_in_a_sentence(session):
    to_question(session)
    for wrong in (Side("nowhere"), Side("t", "no such branch"), Side("t", checkpoint="none"), Side("")):
        with pytest.raises(SessionError, match=r"There is no|No checkpoint"):
            session.compare(Side("t"), wrong)


def test_an_edit_of_a_checkpoint_does_not_change_what_its_superstep_wrote(session):
    at = to_question(session, "one")
    answer(session, '"approve"')
    session.move(thread="one", checkpoint=at)
    session.save_edit([Edit("approved", "false")], "review")
    to_question(session, "two")
    answer(session, '"approve"')
    found = session.compare(side(session, "one"), Side("two"))
    assert found.sentence == "Both made the same 7 steps. Nothing differs."


def written_as(kit, open_graph, values):
    """A session with a thread per value that a node wrote to `note`."""
    queue = list(values)

    def node(state):
        return {"note": queue.pop(0)}

    session = DebugSession(open_graph(chain(kit, node), example={}))
    for place in range(len(values)):
        session.new_run({"total": "1"}, thread=f"t{place}", run=True)
        done(session)
    return session


def test_values_that_are_equal_by_content_are_no_difference(kit, open_graph):
    session = written_as(kit, open_graph, [{"a": 1, "b": [2]}, {"b": [2], "a": 1}, {"a": 1, "b": [2.0]}])
    assert session.compare(Side("t0"), Side("t1")).divergence is None
    assert session.compare(Side("t0"), Side("t2")).divergence.keys == ("note",)


def test_the_order_in_which_tasks_finish_is_no_difference(kit, open_graph, gate):
    names = {"slow": "fast", "fast": "slow"}
    first = {"name": "slow"}

    def worker(name):
        def work(state):
            if name == first["name"]:
                assert gate.inside.wait(20)
            else:
                gate.inside.set()
            return {"seen": [name]} if name == "slow" else {"total": 1}

        work.__name__ = name
        return work

    builder = kit.StateGraph(Total)
    for name in names:
        builder.add_node(name, worker(name))
        builder.add_edge(kit.START, name)
    session = DebugSession(open_graph(builder, example={}))
    for thread in ("one", "two"):
        gate.inside.clear()
        session.new_run({"total": "1"}, thread=thread, run=True)
        done(session)
        first["name"] = "fast"
    found = session.compare(Side("one"), Side("two"))
    assert (found.divergence, found.equal) == (None, 3)


def test_a_node_that_only_led_elsewhere_is_told(kit, open_graph):
    goals = ["left", "right"]

    def choose(state):
        return kit.Command(goto=goals.pop(0))

    builder = kit.StateGraph(Total)
    builder.add_node("choose", choose, destinations=("left", "right"))
    for name in ("left", "right"):
        builder.add_node(name, lambda state: {})
    builder.add_edge(kit.START, "choose")
    session = DebugSession(open_graph(builder, example={}))
    for thread in ("one", "two"):
        session.new_run({"total": "1"}, thread=thread, run=True)
        done(session)
    found = session.compare(Side("one"), Side("two"))
    assert found.divergence.kind == "routes"
    assert found.sentence.endswith("the same node choose led on to left in one and to right in two.")


def test_comparing_writes_nothing_and_needs_no_graph(calls, tmp_path):
    path = tmp_path / "t.sqlite"
    kit = SimpleNamespace(StateGraph=StateGraph, START=START, END=END, Send=Send, Command=Command, interrupt=interrupt)
    with SqliteSaver.from_conn_string(str(path)) as saver:
        graph = research(kit, calls).compile(checkpointer=saver)
        for thread in ("one", "two"):
            graph.invoke({"question": "?"}, {"configurable": {"thread_id": thread}})
        graph.invoke(Command(resume="approve"), {"configurable": {"thread_id": "two"}})
    before, ran = path.read_bytes(), dict(calls)
    workspace = Workspace([open_record(str(path))], read_only=True)
    session = DebugSession(workspace)
    found = session.compare(Side("one"), Side("two"))
    assert "Both begin with 5 equal steps" in found.sentence
    session.compare_states(found.left.side, found.right.side)
    workspace.close()
    assert (path.read_bytes(), dict(calls)) == (before, ran)
