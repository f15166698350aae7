"""Jobs: one per thread, pausable, stoppable, never the same step twice."""

from concurrent.futures import ThreadPoolExecutor
from typing import Annotated

import pytest
from typing_extensions import TypedDict

from debugger_ui.session.problems import SessionError
from debugger_ui.session.session import DebugSession
from tests.session.conftest import WAIT, Total, answer, begin, chain, done, proceed, step


def slow(gate, calls):
    """A node that waits at the gate, and one after it."""

    def first(state):
        calls["first"] += 1
        gate.inside.set()
        assert gate.open.wait(WAIT)
        return {"total": 1}

    def second(state):
        calls["second"] += 1
        return {"total": 10}

    return first, second


@pytest.fixture
def slow_session(kit, gate, calls, open_graph):
    session = DebugSession(open_graph(chain(kit, *slow(gate, calls)), example={"note": "go"}))
    session.new_run({"note": "go"}, thread="t")
    done(session)
    return session


def test_a_double_click_runs_the_step_once(slow_session, gate, calls):
    first = slow_session.step()
    assert gate.inside.wait(WAIT)
    second = slow_session.step()
    assert (first.busy, second.busy, second.running) == (True, True, ("first",))
    gate.open.set()
    assert done(slow_session).steps == 1
    assert calls == {"first": 1}


def test_another_tab_cannot_run_a_busy_thread(slow_session, gate, calls):
    other = DebugSession(slow_session.workspace)
    other.move(thread="t")
    other.checkpoint()
    slow_session.step()
    assert gate.inside.wait(WAIT)
    with pytest.raises(SessionError, match="busy") as refusal:
        other.proceed()
    assert refusal.value.problem.kind == "busy"
    gate.open.set()
    done(slow_session)
    assert calls == {"first": 1}


def test_another_tab_that_still_shows_the_old_head_is_told(session, calls):
    begin(session)
    other = DebugSession(session.workspace)
    other.move(thread="t")
    other.checkpoint()
    step(session)
    with pytest.raises(SessionError, match="moved on") as refusal:
        other.step()
    assert refusal.value.problem.kind == "moved-on"
    assert calls == {"plan": 1}
    assert len(session.branches()) == 1
    other.checkpoint()
    other.step()
    done(other)
    assert calls["work"] == 2


def test_a_button_that_knows_its_checkpoint_is_held_to_it(session, calls):
    begin(session)
    shown = session.checkpoint().id
    step(session)
    with pytest.raises(SessionError, match="moved on"):
        session.step(at=shown)
    assert calls == {"plan": 1}


def test_two_tabs_answer_and_the_first_one_wins(session, calls):
    begin(session)
    proceed(session)
    (question,) = session.questions()
    other = DebugSession(session.workspace)
    other.move(thread="t")
    assert other.questions() == (question,)
    session.answer({question.id: '"approve"'}, checkpoint=question.checkpoint)
    done(session)
    with pytest.raises(SessionError, match=r"was not used|moved on") as refusal:
        other.answer({question.id: '"revise"'}, checkpoint=question.checkpoint)
    assert refusal.value.problem.kind == "moved-on"
    assert (calls["report"], calls["plan"]) == (1, 1)


def test_stop_gives_the_thread_back_while_a_node_still_sleeps(slow_session, gate, calls):
    slow_session.step()
    assert gate.inside.wait(WAIT)
    slow_session.stop()
    progress = done(slow_session)
    assert progress.state == "stopped"
    assert "first" in progress.message
    rows = slow_session.timeline().total
    gate.open.set()
    assert slow_session.checkpoint().next == ("first",)
    assert slow_session.timeline().total == rows
    step(slow_session)
    assert calls == {"first": 2}


def test_pause_ends_after_the_superstep_that_is_at_work(slow_session, gate, calls):
    slow_session.proceed()
    assert gate.inside.wait(WAIT)
    assert slow_session.pause().state == "pausing"
    gate.open.set()
    progress = done(slow_session)
    assert (progress.state, progress.steps, calls) == ("paused", 1, {"first": 1})
    assert slow_session.checkpoint().next == ("second",)


def test_a_running_node_is_marked_on_the_graph_and_in_the_tasks(slow_session, gate):
    slow_session.step()
    assert gate.inside.wait(WAIT)
    assert {n.id: n.mark for n in slow_session.graph().nodes}["first"] == "running"
    assert [task.status for task in slow_session.tasks()] == ["running"]
    assert slow_session.timeline().rows[0].status == "running"
    assert slow_session.threads().rows[0].status == "running"
    gate.open.set()
    done(slow_session)


def test_the_serial_grows_with_every_change(slow_session, gate):
    before = slow_session.progress().serial
    slow_session.step()
    gate.open.set()
    assert done(slow_session).serial != before


def test_breakpoints_hold_before_and_after_a_node(session, calls):
    session.set_breakpoint("check")
    begin(session)
    progress = proceed(session)
    assert (progress.state, session.checkpoint().next) == ("paused", ("check",))
    assert "before check" in progress.message
    session.remove_breakpoint("before:check")
    session.set_breakpoint("check", "after")
    proceed(session)
    assert session.checkpoint().next == ("review",)
    assert [(point.id, point.hits) for point in session.breakpoints()] == [("after:check", 1)]
    assert proceed(session).state == "interrupted"


def test_a_breakpoint_that_is_switched_off_does_not_hold(session):
    session.set_breakpoint("check", enabled=False)
    begin(session)
    assert proceed(session).state == "interrupted"


def test_a_breakpoint_needs_a_node_of_the_graph(session):
    with pytest.raises(SessionError, match="no node 'nobody'"):
        session.set_breakpoint("nobody")
    with pytest.raises(SessionError, match="before or after"):
        session.set_breakpoint("plan", "around")


def test_a_waiting_thread_is_not_stepped(session):
    begin(session)
    proceed(session)
    assert not session.abilities().step.allowed
    with pytest.raises(SessionError, match="waits for an answer"):
        session.step()


def test_a_finished_thread_has_nothing_to_run(session):
    begin(session)
    proceed(session)
    answer(session, '"approve"')
    with pytest.raises(SessionError, match="Nothing is left"):
        session.step()


def failing_once(kit, calls):
    def left(state):
        calls["left"] += 1
        return {"seen": ["left"]}

    def right(state):
        calls["right"] += 1
        if calls["right"] == 1:
            raise ValueError("the line is <b>down</b>")
        return {"total": 1}

    builder = chain(kit, left)
    builder.add_node("right", right)
    builder.add_edge(kit.START, "right")
    return builder


def test_a_failed_node_is_a_sentence_and_only_it_runs_again(kit, calls, open_graph):
    session = DebugSession(open_graph(failing_once(kit, calls), example={"note": "go"}))
    session.new_run({"note": "go"}, thread="t", run=True)
    progress = done(session)
    assert (progress.state, progress.problem.kind) == ("failed", "node")
    assert progress.message == "right raised ValueError: the line is <b>down</b>"
    assert "Traceback" in progress.problem.details
    view = session.checkpoint()
    assert view.status == "failed"
    assert {task.name: task.status for task in view.tasks} == {"left": "saved", "right": "failed"}
    failed = next(task for task in view.tasks if task.name == "right")
    assert (failed.error.type, failed.error.message) == ("ValueError", "the line is <b>down</b>")
    assert session.threads(status="failed").rows[0].id == "t"
    assert step(session).state == "done"
    assert calls == {"left": 1, "right": 2}
    assert session.checkpoint().status == "done"


def test_a_coroutine_node_runs_and_stops(kit, calls, open_graph, gate):
    import asyncio

    async def wait(state):
        calls["wait"] += 1
        gate.inside.set()
        if calls["wait"] == 1:
            await asyncio.Event().wait()
        return {"total": 1}

    session = DebugSession(open_graph(chain(kit, wait), example={"note": "go"}))
    session.new_run({"note": "go"}, thread="t", run=True)
    assert gate.inside.wait(WAIT)
    session.stop()
    assert done(session).state == "stopped"
    assert step(session).state == "done"
    assert calls["wait"] == 2


def two_questions(kit):
    def ask(name):
        def node(state):
            return {"seen": [kit.interrupt(f"{name}?")]} if name == "one" else {"note": kit.interrupt(f"{name}?")}

        node.__name__ = name
        return node

    builder = chain(kit, ask("one"))
    builder.add_node("two", ask("two"))
    builder.add_edge(kit.START, "two")
    return builder


def test_two_questions_are_answered_one_by_one(kit, open_graph):
    session = DebugSession(open_graph(two_questions(kit), example={"note": "go"}))
    session.new_run({"note": "go"}, thread="t", run=True)
    done(session)
    one, two = sorted(session.questions(), key=lambda question: question.node)
    assert session.inbox().total == 2
    session.answer({two.id: "second"}, checkpoint=two.checkpoint)
    assert done(session).state == "interrupted"
    (left,) = session.questions()
    assert (left.node, left.kept) == ("one", ("two",))
    session.answer({left.id: "first"}, checkpoint=left.checkpoint)
    assert done(session).state == "done"
    values = {entry.key: entry.value for entry in session.checkpoint().entries}
    assert (values["seen"].children[0].value.text, values["note"].text) == ("first", "second")
    assert one.id == left.id


def test_two_questions_are_answered_together(kit, open_graph):
    session = DebugSession(open_graph(two_questions(kit), example={"note": "go"}))
    session.new_run({"note": "go"}, thread="t", run=True)
    done(session)
    session.answer({question.id: question.node for question in session.questions()})
    assert done(session).state == "done"


def test_an_empty_answer_is_refused_and_the_question_stays(session, calls):
    begin(session)
    proceed(session)
    (question,) = session.questions()
    for text in ("", "   "):
        with pytest.raises(SessionError, match="empty") as refusal:
            session.answer({question.id: text})
        assert refusal.value.problem.field == question.id
    with pytest.raises(SessionError, match="Line 1"):
        session.answer({question.id: "approve"})
    assert session.questions() == (question,)
    assert calls["review"] == 1


def test_a_question_says_what_it_offers_and_what_answering_runs_again(session):
    begin(session)
    proceed(session)
    (question,) = session.questions()
    assert (question.prompt, question.shape, question.node) == ("Good enough?", "choice", "review")
    assert question.options == ("approve", "revise")
    assert question.option_values == ('"approve"', '"revise"')
    assert question.reruns == ("review",)


def test_a_question_on_an_older_branch_is_answered_there(session, calls):
    begin(session)
    proceed(session)
    (asked,) = session.questions()
    first = session.branches()[0].id
    fan_out = next(row.checkpoint for row in session.timeline().rows if row.next == ("work",))
    session.move(checkpoint=fan_out)
    proceed(session)
    second = session.branches()[1].id
    assert {question.branch for question in session.inbox().rows} == {branch.name for branch in session.branches()}
    session.move(branch=first)
    assert session.questions() == (asked,)
    assert answer(session, '"approve"').state == "done"
    assert session.cursor.branch == first
    assert (calls["report"], calls["work"]) == (1, 4)
    session.move(branch=second)
    assert session.checkpoint().status == "waiting"
    assert session.inbox().total == 1
    assert len(session.branches()) == 2


def test_pages_can_be_drawn_from_many_tabs_while_a_thread_runs(kit, open_graph):
    def loop(state):
        return {"total": 1}

    builder = kit.StateGraph(Total)
    builder.add_node("loop", loop)
    builder.add_edge(kit.START, "loop")
    builder.add_conditional_edges("loop", lambda state: "loop" if state["total"] < 12 else kit.END, ["loop", kit.END])
    workspace = open_graph(builder, example={"note": "go"})
    session = DebugSession(workspace)
    session.new_run({"note": "go"}, thread="t", run=True)

    def draw(tab):
        mine = DebugSession(workspace)
        seen = 0
        while session.workspace.board.get("t").busy or not seen:
            if mine.threads().rows:
                mine.move(thread="t")
                looks = (mine.checkpoint, mine.graph, mine.timeline, mine.diff, mine.channels, mine.plan, mine.progress)
                seen += sum(look() is not None for look in looks)
        return seen

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(draw, range(4)))
    assert done(session).state == "done"
    assert next(node.visits for node in session.graph().nodes if node.id == "loop") == 12


def test_a_hostile_error_is_shown_literally(kit, open_graph):
    def bad(state):
        raise ValueError("\x1b[31m<script>alert(1)</script>\u202e\nsecond line")

    session = DebugSession(open_graph(chain(kit, bad), example={"note": "go"}))
    session.new_run({"note": "go"}, thread="t", run=True)
    assert done(session).message == "bad raised ValueError: \\u001b[31m<script>alert(1)</script>\\u202e"
    (task,) = session.tasks()
    assert "<script>alert(1)</script>" in task.error.message
    assert "\x1b" not in task.error.message


@pytest.mark.parametrize("kit", ["runtime"], indirect=True)
def test_a_reducer_that_raises_is_told_with_its_key_and_whose_write_it_took(kit, open_graph):
    def refuse(before, after):
        if after == "no":
            raise ValueError("never <b>that</b>")
        return after

    builder = kit.StateGraph(TypedDict("Picky", {"picky": Annotated[str, refuse]}))
    builder.add_node("writer", lambda state: {"picky": "no"})
    builder.add_edge(kit.START, "writer")
    session = DebugSession(open_graph(builder, example={"picky": "yes"}))
    session.new_run({"picky": "yes"}, thread="one", run=True)
    message = done(session).problem.message
    assert "ValueError: never <b>that</b>, in channel 'picky', folding writes of 'writer'" in message
