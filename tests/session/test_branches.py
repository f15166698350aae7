"""Branches: how each began, sibling answers, hiding, notes, and who made an edit outside of the session."""

import itertools
import json
import operator
from types import SimpleNamespace
from typing import Annotated

import pytest
from typing_extensions import TypedDict

from debugger_ui.engines.graph import About
from debugger_ui.engines.opening import attach, open_record
from debugger_ui.session.cursor import Cursor
from debugger_ui.session.problems import SessionError
from debugger_ui.session.session import DebugSession
from debugger_ui.session.views import Edit
from debugger_ui.session.workspace import Workspace
from runtime.checkpoint.sqlite import SqliteSaver
from runtime.graph import END, START, StateGraph
from tests.session.conftest import answer, begin, done, proceed, step


def asked(session):
    """The checkpoint whose question was answered on the cursor's path."""
    return next(
        row.checkpoint
        for row in session.timeline().rows
        if any(task.answered for task in session.tasks(row.checkpoint)) and row.on_path
    )


def otherwise(session, checkpoint, text):
    """Answer the question that was answered at a checkpoint another way."""
    session.move(checkpoint=checkpoint)
    (question,) = (one for task in session.tasks() for one in task.answered)
    session.answer_otherwise({question.id: text}, checkpoint=checkpoint)
    return done(session)


def origins(session):
    return [branch.origin for branch in session.branch_list()]


def test_what_a_person_wrote_has_no_duration(session):
    begin(session)
    proceed(session)
    answer(session, '"approve"')
    otherwise(session, asked(session), '"revise"')
    session.save_edit([])
    session.new_run('{"question": "again?"}', thread=session.cursor.thread)
    done(session)
    timed = {(row.source, row.milliseconds is None) for row in session.timeline().rows}
    assert timed == {("input", True), ("loop", False), ("fork", True), ("update", True)}
    session.move(checkpoint=next(row.checkpoint for row in session.timeline().rows if row.source == "update"))
    assert session.checkpoint().milliseconds is None


def test_every_way_to_leave_a_path_is_a_branch_and_says_how_it_began(session):
    begin(session)
    proceed(session)
    answer(session, '"approve"')
    main = session.cursor.branch
    past = [row.checkpoint for row in session.timeline().rows]
    session.move(checkpoint=past[-2])
    step(session)
    session.move(branch=main)
    session.move(checkpoint=past[-4])
    session.save_edit([Edit("question", '"ferry?"')], "plan")
    session.new_run('{"question": "again?"}', thread="t")
    done(session)
    found = {branch.id: branch for branch in session.branch_list()}
    assert [branch.origin for branch in found.values()][:2] == ["start", "replay"]
    edit = next(branch for branch in found.values() if branch.origin == "edit")
    assert (edit.by, edit.forked_from) == (("plan",), past[-4])
    assert found[main].forked_from == ""
    assert found[main].status == "done"
    assert len({branch.name for branch in found.values()}) == len(found)


def test_several_answers_to_one_question_are_sibling_branches(session, calls):
    begin(session)
    proceed(session)
    answer(session, '"approve"')
    main, question = session.cursor.branch, asked(session)
    finished = session.checkpoint()
    assert next(entry.value.text for entry in finished.entries if entry.key == "approved") == "true"
    before = calls["plan"]
    result = otherwise(session, question, '"revise"')
    assert result.state == "interrupted", result
    assert calls["plan"] == before + 1
    assert origins(session) == ["start", "answer"]
    assert session.cursor.branch != main
    otherwise(session, question, '"approve"')
    assert origins(session) == ["start", "answer", "answer"]
    assert session.checkpoint().status == "done"
    (said,) = (one for task in session.tasks(question) for one in task.answered)
    assert (said.node, said.answer.text) == ("review", "approve")
    session.move(branch=main)
    assert session.checkpoint() == finished


def test_only_what_was_answered_and_is_over_can_be_answered_otherwise(session):
    begin(session)
    proceed(session)
    (open_one,) = session.questions()
    assert not session.abilities().answer_again.allowed
    with pytest.raises(SessionError, match="No question was answered here"):
        session.answer_otherwise({open_one.id: '"approve"'})
    answer(session, '"approve"')
    session.move(checkpoint=asked(session))
    assert session.abilities().answer_again.allowed
    with pytest.raises(SessionError, match="No such question"):
        session.answer_otherwise({"nobody": '"approve"'})
    with pytest.raises(SessionError, match="Write an answer first"):
        session.answer_otherwise({})


@pytest.fixture
def forked(session):
    """A finished thread with an edit on its third checkpoint, at the edit."""
    begin(session)
    proceed(session)
    answer(session, '"approve"')
    rows = session.timeline().rows
    session.move(checkpoint=rows[3].checkpoint)
    session.save_edit([Edit("question", '"ferry?"')], "plan")
    return session


def test_a_hidden_branch_leaves_out_what_only_it_leads_to_and_never_the_cursor(forked):
    main, edit = (branch.id for branch in forked.branch_list())
    everything = forked.timeline().total
    forked.label_branch(edit, hidden=True)
    here = forked.timeline()
    assert (here.total, here.hidden) == (everything, 0)
    forked.move(branch=main)
    assert (forked.timeline().total, forked.timeline().hidden) == (everything - 1, 1)
    assert forked.timeline().lanes == 1
    assert forked.timeline(hidden=True).total == everything
    forked.label_branch(edit, hidden=False)
    forked.move(branch=edit)
    forked.label_branch(main, hidden=True)
    shown = forked.timeline()
    assert [row.checkpoint for row in shown.rows] == [row.checkpoint for row in shown.rows if row.on_path]
    assert (shown.hidden, shown.lanes) == (1, 2)


def test_names_and_notes_are_kept_beside_the_database_and_read_only_says_that_they_are_not(tmp_path):
    kit = SimpleNamespace(StateGraph=StateGraph, START=START, END=END)
    path = tmp_path / "named.sqlite"
    with SqliteSaver.from_conn_string(str(path)) as saver:
        kept(kit, saver, "abc").invoke({"total": 1}, CONFIG)
    graph = kept(kit, SqliteSaver.from_conn_string(str(path)), "abc")

    def opened(**options):
        session = DebugSession(Workspace([attach(graph, None, About(name="s"))], file=path, **options), Cursor())
        session.move(thread="t")
        return session

    writing = opened()
    (branch,) = writing.branch_list()
    writing.label_branch(branch.id, name="first try", note="**not** bold")
    writing.note_checkpoint(branch.head, "look here")
    assert writing.labels_kept() == ""
    content = (tmp_path / "named.sqlite.forkpoint.json").read_text()
    reading = opened(read_only=True)
    assert [(one.name, one.note) for one in reading.branch_list()] == [("first try", "**not** bold")]
    assert reading.checkpoint().note == "look here"
    assert "look here" in reading.timeline(text="look").rows[0].note
    assert "only as long as this program" in reading.labels_kept()
    reading.label_branch(branch.id, name="other")
    assert reading.branches()[0].name == "other"
    assert (tmp_path / "named.sqlite.forkpoint.json").read_text() == content
    graph.checkpointer.close()


# --- who made an edit -------------------------------------------------------------------------

CONFIG = {"configurable": {"thread_id": "t"}}


class Kept(TypedDict, total=False):
    """State of the graphs that are edited from outside."""

    total: Annotated[int, operator.add]
    note: str


def kept(kit, saver, names, fan=()):
    """A chain of nodes, the second of which fans out to others that meet again in the last."""
    builder = kit.StateGraph(Kept)
    for name in (*names, *fan):
        builder.add_node(name, lambda state: {"total": 1})
    builder.add_edge(kit.START, names[0])
    for one, other in itertools.pairwise(names):
        if not (fan and one == names[-2]):
            builder.add_edge(one, other)
    for one in fan:
        builder.add_edge(names[-2], one)
    if fan:
        builder.add_edge(list(fan), names[-1])
    builder.add_edge(names[-1], kit.END)
    return builder.compile(checkpointer=saver)


def authors(session, thread="t"):
    """What the timeline says about each edit, by the note that it wrote."""
    session.move(thread=thread)
    return {
        json.loads(session.raw(("note",), checkpoint=row.checkpoint)): row.nodes
        for row in session.timeline().rows
        if row.source == "update"
    }


def edit_outside(graph, names):
    """Edit the second checkpoint of a thread as several nodes, by the graph's own method."""
    past = sorted(one.config["configurable"]["checkpoint_id"] for one in graph.get_state_history(CONFIG))
    place = {"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": past[2]}}
    for name in names:
        graph.update_state(place, {"note": name}, as_node=name)


def test_the_author_of_an_edit_made_outside_is_told(kit):
    graph = kept(kit, kit.saver(), "abcd")
    graph.invoke({"total": 1}, CONFIG)
    graph.update_state(CONFIG, {"note": "implied"})
    edit_outside(graph, "abcd")
    session = DebugSession(Workspace([attach(graph, None, About(name="s"))]), Cursor())
    assert authors(session) == {"implied": ("d",), **{name: (name,) for name in "abcd"}}
    session.move(branch=session.branch_list()[-1].id)
    assert session.checkpoint().nodes == ("d",)
    assert session.branch_list()[-1].by == ("d",)


def test_an_author_that_the_record_does_not_tell_is_not_guessed(kit):
    graph = kept(kit, kit.saver(), "abz", fan="mno")
    graph.invoke({"total": 1}, CONFIG)
    graph.invoke({"total": 1}, CONFIG)
    head = graph.get_state(CONFIG).config
    graph.update_state(head, {"note": "m"}, as_node="m")
    graph.update_state(head, {"note": "n"}, as_node="n")
    session = DebugSession(Workspace([attach(graph, None, About(name="s"))]), Cursor())
    told = authors(session)
    assert set(told) == {"m", "n"}
    assert all(nodes in ((), (name,)) for name, nodes in told.items())


def test_a_database_alone_tells_authors_too(tmp_path, kit):
    path = str(tmp_path / "edited.sqlite")
    if kit.root == "langgraph":
        from langgraph.checkpoint.sqlite import SqliteSaver as Saver
    else:
        Saver = SqliteSaver
    with Saver.from_conn_string(path) as saver:
        graph = kept(kit, saver, "abcd")
        graph.invoke({"total": 1}, CONFIG)
        edit_outside(graph, "abcd")
    workspace = Workspace([open_record(path)])
    assert authors(DebugSession(workspace, Cursor())) == {name: (name,) for name in "abcd"}
    workspace.close()
