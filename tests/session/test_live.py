"""What comes from elsewhere: seen within a look, followed at a head, told otherwise, and never a reason to move."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from debugger_ui.engines.graph import About
from debugger_ui.engines.opening import attach, open_record
from debugger_ui.session.cursor import Cursor
from debugger_ui.session.session import DebugSession
from debugger_ui.session.views import Edit
from debugger_ui.session.workspace import Workspace
from runtime.checkpoint.sqlite import SqliteSaver
from tests.session.conftest import chain, done, proceed

ROOT = Path(__file__).resolve().parents[2]
WRITER = """
import sys
from importlib import import_module
kind = sys.argv[1]
root = "runtime" if kind == "ours" else "langgraph"
saver_of = import_module(f"{root}.checkpoint.sqlite").SqliteSaver
graph = import_module(f"{root}.graph")
builder = graph.StateGraph(dict)
for node in ("one", "two"):
    builder.add_node(node, lambda state: {"seen": 1})
builder.add_edge(graph.START, "one")
builder.add_edge("one", "two")
for line in sys.stdin:
    path, verb, thread = line.rstrip("\\n").split("\\t")
    with saver_of.from_conn_string(path) as saver:
        app = builder.compile(checkpointer=saver)
        config = {"configurable": {"thread_id": thread}}
        if verb == "run":
            app.invoke({"seen": 0}, config)
        else:
            past = [one.config["configurable"]["checkpoint_id"] for one in app.get_state_history(config)]
            place = {"configurable": {"thread_id": thread, "checkpoint_ns": "", "checkpoint_id": sorted(past)[1]}}
            app.update_state(place, {"seen": 5}, as_node="one")
    print("written", flush=True)
"""


@pytest.fixture(scope="module")
def writers():
    """Other processes, one of each kind, that write when they are told to."""
    started = {}

    def write(kind, path, verb, thread):
        if kind not in started:
            started[kind] = subprocess.Popen(
                [sys.executable, "-c", WRITER, kind],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )
        process = started[kind]
        process.stdin.write(f"{path}\t{verb}\t{thread}\n")
        process.stdin.flush()
        assert process.stdout.readline() == "written\n"

    yield write
    for process in started.values():
        process.communicate(timeout=60)


@pytest.fixture(params=["ours", "langgraph"])
def watched(request, tmp_path, writers):
    """A database that another process has begun, open in a session."""
    if request.param == "langgraph":
        pytest.importorskip("langgraph.checkpoint.sqlite")
    path = tmp_path / "watched.sqlite"
    write = partial(writers, request.param, path)
    write("run", "t")
    workspace = Workspace([open_record(str(path))])
    session = DebugSession(workspace, Cursor())
    session.move(thread="t")
    session.catch_up()
    yield write, session
    workspace.close()


def settled(session):
    """Ask until two looks agree: a file that was just written says for a moment that it may be changing."""
    before = session.pulse()
    while (now := session.pulse()) != before:
        before = now
    return now


def test_a_look_without_news_says_the_same_and_one_after_a_write_does_not(watched):
    write, session = watched
    before = settled(session)
    assert session.pulse() == before
    write("run", "other")
    assert session.pulse() != before
    assert {row.id for row in session.threads().rows} == {"t", "other"}
    settled(session)


def test_who_stands_at_the_head_goes_along_and_nobody_else_is_moved(watched):
    write, session = watched
    head = session.checkpoint().id
    session.move(checkpoint=head)
    assert not session.catch_up().count
    write("run", "t")
    assert not session.catch_up().count
    assert session.checkpoint().id != head
    assert session.checkpoint().head
    session.first()
    assert not session.catch_up().count
    first = session.checkpoint().id
    write("run", "t")
    news = session.catch_up()
    assert (news.ahead, news.branches) == (True, 1)
    assert news.count >= 3
    assert session.checkpoint().id == first
    session.go_to_news()
    assert session.checkpoint().head
    assert not session.catch_up().count


def test_a_branch_from_elsewhere_is_told_and_does_not_take_the_cursor(watched):
    write, session = watched
    head = session.checkpoint().id
    assert session.cursor.branch == ""
    write("edit", "t")
    news = session.catch_up()
    assert (news.count, news.ahead, news.name) == (1, False, "edit 1")
    assert session.checkpoint().id == head
    assert session.timeline().total == len(session.timeline().rows)
    session.go_to_news()
    assert session.checkpoint().source == "update"
    assert not session.catch_up().count


def test_an_edit_in_hand_is_held_at_its_checkpoint(watched):
    write, session = watched
    head = session.checkpoint().id
    write("run", "t")
    news = session.catch_up(hold=True)
    assert news.count
    assert news.ahead
    assert session.checkpoint().id == head


def editing(kit, open_graph):
    """A session at the newest checkpoint of a thread, with an edit in hand."""

    def one(state):
        return {"total": 1}

    session = DebugSession(open_graph(chain(kit, one)))
    session.new_run('{"total": 1}', thread="t")
    done(session)
    session.catch_up(hold=True)
    return session


def test_a_run_of_ones_own_is_gone_along_with_though_an_edit_is_in_hand(kit, open_graph):
    session = editing(kit, open_graph)
    before = session.checkpoint().id
    session.step()
    ended = done(session)  # as a look from the timer sees it, before the page is drawn
    assert not session.catch_up(hold=True).count
    assert session.checkpoint().id == ended.checkpoint != before


def test_an_edit_of_ones_own_is_gone_along_with_and_stepped_on_from(kit, open_graph):
    session = editing(kit, open_graph)
    saved = session.save_edit([Edit("total", "5")])  # after the newest checkpoint, with the tab still at Edit
    assert not session.catch_up(hold=True).count
    assert session.checkpoint().id == saved.checkpoint
    session.step(saved.checkpoint)
    done(session)
    assert len(session.branches()) == 1
    assert session.checkpoint().parent == saved.checkpoint


def test_a_hidden_branch_brings_no_news(watched):
    write, session = watched
    write("edit", "t")
    session.catch_up()
    session.label_branch(session.catch_up().branch, hidden=True)
    assert not session.catch_up().count


def test_a_saver_that_does_not_tell_is_not_asked(kit, calls, open_graph):
    def one(state):
        return {"total": 1}

    session = DebugSession(open_graph(chain(kit, one)))
    session.new_run('{"total": 1}', thread="t")
    done(session)
    assert session.pulse() == session.pulse()
    proceed(session)
    assert not session.catch_up().count


def test_the_same_process_outside_of_the_session_is_seen(kit, calls, tmp_path):
    if kit.root == "langgraph":
        pytest.importorskip("langgraph.checkpoint.sqlite")
        from langgraph.checkpoint.sqlite import SqliteSaver as Saver
    else:
        Saver = SqliteSaver

    def one(state):
        return {"total": 1}

    with Saver.from_conn_string(str(tmp_path / "own.sqlite")) as saver:
        graph = chain(kit, one).compile(checkpointer=saver)
        session = DebugSession(Workspace([attach(graph, None, About(name="own"))]))
        session.new_run('{"total": 1}', thread="t")
        done(session)
        session.catch_up()
        before = session.pulse()
        assert session.pulse() == before
        graph.invoke({"total": 5}, {"configurable": {"thread_id": "t"}})
        assert session.pulse() != before
        session.catch_up()
        assert session.checkpoint().head
