"""The main job through the session alone: run, step, answer, go back, edit, go on, compare."""

import sqlite3
from contextlib import closing
from types import SimpleNamespace

import pytest

from debugger_ui.engines.graph import About
from debugger_ui.engines.opening import attach
from debugger_ui.session.problems import SessionError
from debugger_ui.session.session import DebugSession
from debugger_ui.session.views import Edit
from debugger_ui.session.workspace import Workspace
from runtime.checkpoint.sqlite import SqliteSaver
from runtime.graph import END, START, StateGraph
from runtime.types import Command, Send, interrupt
from tests.session.conftest import answer, begin, done, marks, proceed, research, step


def entry(session, key):
    return next(entry for entry in session.checkpoint().entries if entry.key == key)


def test_a_new_run_shows_its_input_before_any_node_has_run(session, calls):
    progress = begin(session)
    view = session.checkpoint()
    assert (progress.state, progress.steps, sum(calls.values())) == ("paused", 0, 0)
    assert (view.status, view.next, view.head) == ("ready", ("plan",), True)
    assert entry(session, "question").value.text == "bridge or ferry?"
    assert marks(session) == {"__start__": "done", "plan": "next"}


def test_each_step_runs_one_superstep_and_the_cursor_follows(session, calls):
    begin(session)
    seen = []
    for _ in range(4):
        progress = step(session)
        seen.append((progress.state, session.checkpoint().step, session.checkpoint().next))
    assert seen == [
        ("paused", 1, ("work",)),
        ("paused", 2, ("check",)),
        ("paused", 3, ("review",)),
        ("interrupted", 3, ("review",)),
    ]
    assert calls == {"plan": 1, "work": 2, "check": 1, "review": 1}
    assert marks(session)["review"] == "waiting"


def test_a_fan_out_shows_its_tasks_with_their_writes(session):
    begin(session)
    step(session)
    assert [(task.name, task.status) for task in session.tasks()] == [("work", "to run"), ("work", "to run")]
    assert [task.input.children[0].value.text for task in session.tasks()] == ["cost", "traffic"]
    step(session)
    made = session.checkpoint().made_by
    assert [(task.status, [w.channel for w in task.writes if not w.control]) for task in made] == [
        ("saved", ["found"]),
        ("saved", ["found"]),
    ]
    assert entry(session, "found").writers == ("work",)
    assert [child.value.text for child in entry(session, "found").value.children] == ["cost: known", "traffic: known"]


def test_revise_goes_round_again_and_approve_ends(session, calls):
    begin(session)
    proceed(session)
    progress = answer(session, '"revise"')
    assert (progress.state, calls["plan"], calls["work"]) == ("interrupted", 2, 4)
    progress = answer(session, '"approve"')
    assert (progress.state, calls["report"]) == ("done", 1)
    view = session.checkpoint()
    assert (view.status, view.next, view.head) == ("done", (), True)
    nodes = {node.id: node.visits for node in session.graph().nodes}
    assert (nodes["plan"], nodes["review"], nodes["report"]) == (2, 2, 1)
    taken = {(edge.source, edge.target): edge.taken for edge in session.graph().edges}
    assert taken["review", "plan"] == 1
    assert taken["review", "report"] == 1


def fan_out_of(session):
    rows = session.timeline().rows
    return next(row.checkpoint for row in reversed(rows) if row.next == ("work",))


def test_an_edit_as_the_worker_forks_and_the_workers_do_not_run_again(session, calls):
    begin(session)
    proceed(session)
    answer(session, '"approve"')
    before = {row.checkpoint: session.checkpoint(row.checkpoint) for row in session.timeline().rows}
    session.move(checkpoint=fan_out_of(session))
    assert marks(session)["work"] == "next"
    runs = dict(calls)
    saved = session.save_edit([Edit("found", '["mine"]')], "work")
    assert saved.next == ("check",)
    assert dict(calls) == runs
    assert session.checkpoint().nodes == ("work",)
    assert {(e.source, e.target) for e in session.graph().edges if e.last} == {("work", "check")}
    progress = proceed(session)
    assert (progress.state, calls["work"], calls["check"]) == ("interrupted", runs["work"], runs["check"] + 1)
    answer(session, '"approve"')
    assert entry(session, "report").value.text == "mine"
    branches = session.branches()
    assert [(branch.name, branch.current) for branch in branches] == [("main", False), ("edit 1", True)]
    assert branches[1].forked_from == fan_out_of(session)
    for checkpoint, view in before.items():
        now = session.checkpoint(checkpoint)
        assert (now.entries, now.step, now.created) == (view.entries, view.step, view.created)


def test_every_row_of_the_first_branch_stays_as_it_was(tmp_path, calls):
    """Through a database file: an edit and its run only add rows."""
    kit = SimpleNamespace(root="runtime", StateGraph=StateGraph, START=START, END=END)
    kit.Send, kit.Command, kit.interrupt = Send, Command, interrupt
    file = tmp_path / "story.sqlite"

    def rows():
        with closing(sqlite3.connect(file)) as connection:
            tables = ("checkpoints", "checkpoint_writes", "checkpoint_values")
            return {(table, row) for table in tables for row in connection.execute(f"select * from {table}")}

    with SqliteSaver.from_conn_string(file) as saver:
        graph = research(kit, calls).compile()
        session = DebugSession(Workspace([attach(graph, saver, About(name="research"))]))
        begin(session)
        proceed(session)
        answer(session, '"approve"')
        before = rows()
        session.move(checkpoint=fan_out_of(session))
        session.save_edit([Edit("found", '["mine"]')], "work")
        proceed(session)
        answer(session, '"approve"')
        session.move(checkpoint=fan_out_of(session))
        step(session)
        assert before < rows()


def test_an_edit_as_the_planner_runs_the_workers_again(session, calls):
    begin(session)
    proceed(session)
    session.move(checkpoint=fan_out_of(session))
    workers = calls["work"]
    saved = session.save_edit([Edit("topics", '["winter"]')], "plan")
    assert saved.next == ("work",)
    proceed(session)
    assert calls["work"] == workers + 1
    assert [child.value.text for child in entry(session, "found").value.children] == ["winter: known"]


def test_the_preview_is_what_saving_then_makes_and_writes_nothing(session):
    begin(session)
    proceed(session)
    session.move(checkpoint=fan_out_of(session))
    rows = session.timeline().total
    edits = [Edit("found", '["mine"]', "append"), Edit("question", '"why?"')]
    preview = session.preview_edit(edits, "work")
    assert session.timeline().total == rows
    assert preview.saveable
    assert session.save_edit(edits, "work").next == preview.next == ("check",)
    assert {out.key: out.after for out in preview.outcomes} == {
        e.key: e.value for e in session.checkpoint().entries if e.key in ("found", "question")
    }


def test_stepping_from_the_past_forks_and_leaves_the_first_branch_alone(session, calls):
    begin(session)
    proceed(session)
    session.move(checkpoint=fan_out_of(session))
    head = session.branches()[0].head
    step(session)
    assert calls["work"] == 4
    assert [branch.name for branch in session.branches()] == ["main", "replay 1"]
    assert session.branches()[0].head == head
    assert session.branches()[1].current
    proceed(session)
    assert len(session.branches()) == 2


def test_stepping_at_the_head_writes_no_fork_checkpoint(session):
    begin(session)
    step(session)
    step(session)
    assert [row.source for row in session.timeline().rows] == ["loop", "loop", "loop", "input"]


def test_moving_and_looking_run_nothing_and_write_nothing(session, calls):
    begin(session)
    proceed(session)
    runs, rows = dict(calls), session.timeline().total
    for row in session.timeline().rows:
        session.move(checkpoint=row.checkpoint)
        for look in (session.checkpoint, session.graph, session.diff, session.channels, session.plan, session.update):
            look()
        session.edit_form()
        session.why(("question",))
    assert (dict(calls), session.timeline().total) == (runs, rows)


def test_first_back_forward_and_last_walk_the_branch(session):
    begin(session)
    step(session)
    steps = []
    for move in (session.first, session.back, session.forward, session.forward, session.forward, session.last):
        move()
        steps.append(session.checkpoint().step)
    assert steps == [-1, -1, 0, 1, 1, 1]


def test_the_plan_says_why_each_node_runs_or_does_not(session):
    begin(session)
    step(session)
    verdicts = {verdict.node: verdict for verdict in session.plan().verdicts}
    assert {node for node, verdict in verdicts.items() if verdict.runs} == {"work"}
    assert verdicts["work"].sends == 2
    assert "Send" in verdicts["work"].reason
    assert verdicts["report"].reason
    assert not verdicts["report"].runs


def test_the_update_folds_each_write_into_the_stored_value(session):
    begin(session)
    step(session)
    at = session.checkpoint().id
    step(session)
    fold = next(fold for fold in session.update(at).folds if fold.channel == "found")
    assert [step.node for step in fold.steps] == ["work", "work"]
    assert fold.steps[-1].after == fold.after
    assert fold.before.size == 0
    assert fold.after.size == 2


def test_where_a_value_came_from_leads_back_to_the_input(session):
    begin(session)
    proceed(session)
    answer(session, '"approve"')
    hops = session.why(("report",))
    assert (hops[0].node, hops[0].kind) == ("report", "task")
    assert "found" in hops[0].reads
    assert {"work", "plan"} <= {hop.node for hop in hops}
    assert any(hop.kind == "input" and hop.path == ("question",) for hop in hops)


def test_the_last_change_of_a_value_is_where_it_was_written(session):
    begin(session)
    proceed(session)
    change = session.last_change(("found",))
    assert (change.step, change.writers, change.before.size, change.after.size) == (2, ("work",), 0, 2)
    session.first()
    assert session.next_change(("found",)).checkpoint == change.checkpoint
    assert session.last_change(("report",)) is None


def test_a_wrong_author_is_refused_and_nothing_is_written(session):
    begin(session)
    rows = session.timeline().total
    with pytest.raises(SessionError, match="no node 'nobody'"):
        session.save_edit([Edit("question", '"x"')], "nobody")
    assert session.timeline().total == rows


def test_a_second_tab_sees_what_the_first_one_did(session):
    begin(session)
    other = DebugSession(session.workspace)
    other.move(thread="t")
    step(session)
    assert other.checkpoint().id == session.checkpoint().id
    assert done(other).state == "paused"
