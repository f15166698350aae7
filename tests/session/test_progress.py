"""A run at work: which superstep, which tasks and for how long; pausing; and retrying only what is missing."""

import threading
import time

import pytest

from debugger_ui.engines.base import Event
from debugger_ui.session.cursor import Cursor
from debugger_ui.session.jobs import Job
from debugger_ui.session.session import DebugSession
from tests.session.conftest import Total, chain, done, step

START = '{"total": 1}'


def gated(kit, gate, name="slow"):
    def slow(state):
        gate.inside.set()
        gate.open.wait(20)
        return {"total": 1}

    def after(state):
        return {"total": 1}

    slow.__name__ = name
    return chain(kit, slow, after)


def test_a_long_superstep_tells_its_number_its_tasks_and_their_time(kit, gate, open_graph):
    workspace = open_graph(gated(kit, gate))
    session = DebugSession(workspace)
    session.new_run(START, thread="t")
    done(session)
    session.proceed()
    assert gate.inside.wait(20)
    other = DebugSession(workspace, Cursor())
    other.move(thread="t")
    for each in (session, other):
        now = each.progress()
        assert (now.state, now.superstep, now.steps, now.running) == ("running", 1, 0, ("slow",))
        (task,) = now.tasks
        assert (task.name, task.elapsed >= 0) == ("slow", True)
        while each.progress().tasks[0].elapsed == task.elapsed:
            continue
        assert each.progress().serial == now.serial
    assert other.pause().state == "pausing"
    assert session.progress().state == "pausing"
    gate.open.set()
    result = done(session)
    assert (result.state, result.steps, result.tasks, result.superstep) == ("paused", 1, (), None)
    assert "after" in result.message


def test_a_run_does_not_take_back_a_cursor_that_was_moved_by_hand(kit, gate, open_graph):
    session = DebugSession(open_graph(gated(kit, gate)))
    session.new_run(START, thread="t")
    done(session)
    session.catch_up()
    session.proceed()
    assert gate.inside.wait(20)
    first = session.first().checkpoint
    gate.open.set()
    done(session)
    assert session.cursor.checkpoint == first
    assert session.catch_up().count == 2
    session.go_to_news()
    assert session.checkpoint().head


def good_is_saved(session):
    """Wait until the result of the other node is on disk."""
    saver = session.desk.engine.reader.saver
    deadline, pause = time.monotonic() + 20, threading.Event()
    while not any(value == 10 for _, _, value in saver.get_tuple({"configurable": {"thread_id": "t"}}).pending_writes):
        assert time.monotonic() < deadline
        pause.wait(0.005)


def partly(kit, calls, failing):
    """A node beside another that fails as long as `failing` has something in it."""
    builder = kit.StateGraph(Total)

    def good(state):
        calls["good"] += 1
        return {"total": 10}

    def bad(state):
        calls["bad"] += 1
        if failing:
            failing[0]()
            raise ConnectionError("the gauge is silent")
        return {"total": 100}

    for node in (good, bad):
        builder.add_node(node.__name__, node)
        builder.add_edge(kit.START, node.__name__)
        builder.add_edge(node.__name__, kit.END)
    return builder


@pytest.mark.parametrize("branch", ["newest", "older"])
def test_a_failed_superstep_says_what_is_missing_and_a_step_runs_only_that(kit, calls, open_graph, branch):
    failing = [lambda: good_is_saved(session)]
    session = DebugSession(open_graph(partly(kit, calls, failing)))
    session.new_run(START, thread="t")
    done(session)
    assert session.missing() is None
    at = session.cursor.branch
    result = step(session)
    assert result.state == "failed"
    if branch == "older":
        root = session.first().checkpoint
        session.move(checkpoint=root)
        session.save_edit([], "good")
        session.move(branch=at)
    found = session.missing()
    assert (found.saved, found.again) == (("good",), ("bad",))
    assert found.keeps == (branch == "newest")
    (task,) = (task for task in session.tasks() if task.error)
    assert (task.name, task.error.type, task.error.message) == ("bad", "ConnectionError", "the gauge is silent")
    failing.clear()
    before = calls["good"]
    assert step(session).state == "done"
    assert calls["good"] == before + (not found.keeps)
    assert session.value(("total",)).text == "111"
    assert session.missing() is None


def test_a_task_that_begins_is_news_to_a_page_that_was_drawn_before():
    job = Job("t", "step", "1")
    drawn = job.progress().serial
    job.report(Event("started", "gate", task="task"))
    assert job.progress().running == ("gate",)
    assert job.progress().serial > drawn
