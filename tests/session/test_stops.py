"""Breakpoints with conditions, at changes and at the nth hit; watches; both kept beside the database."""

import json
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from types import SimpleNamespace

import pytest

from debugger_ui.engines.graph import About
from debugger_ui.engines.opening import attach
from debugger_ui.session.kept import SUFFIX, Kept
from debugger_ui.session.problems import SessionError
from debugger_ui.session.session import DebugSession
from debugger_ui.session.stops import expression_at
from debugger_ui.session.views import Edit
from debugger_ui.session.workspace import Workspace
from runtime.checkpoint.sqlite import SqliteSaver
from tests.session.conftest import Total, answer, begin, chain, done, proceed, step


def counting(kit, rounds=5):
    """A node that adds one, and asks for itself again until the total is reached; and one after it."""

    def add(state):
        return {"total": 1, "note": "go" if state["total"] < 3 else "on"}

    def rest(state):
        return {"seen": ["end"]}

    builder = kit.StateGraph(Total)
    builder.add_node("add", add)
    builder.add_node("rest", rest)
    builder.add_edge(kit.START, "add")
    builder.add_conditional_edges("add", lambda state: "rest" if state["total"] >= rounds else "add", ["add", "rest"])
    builder.add_edge("rest", kit.END)
    return builder


@pytest.fixture
def counter(kit, open_graph):
    """A session on the counting graph, at its input."""
    session = DebugSession(open_graph(counting(kit), example={"note": "go"}))
    session.new_run({"note": "go"}, thread="t")
    done(session)
    return session


def total(session):
    return next((entry.value.text for entry in session.checkpoint().entries if entry.key == "total"), "")


def hits(session):
    return {point.id: point.hits for point in session.breakpoints()}


def test_a_condition_holds_only_where_it_is_true(counter):
    counter.set_breakpoint("add", "before", condition="total == 2 or total > 3")
    stopped = proceed(counter)
    assert (stopped.state, stopped.why, total(counter)) == ("paused", "Breakpoint before add.", "2")
    assert (proceed(counter).why, total(counter)) == ("Breakpoint before add.", "4")
    assert proceed(counter).state == "done"
    assert hits(counter) == {"before:add": 2}


def test_a_change_holds_after_whoever_made_it(counter):
    counter.set_breakpoint("note", "change")
    counter.set_breakpoint("seen", "change", condition='before("seen") is None or len(before("seen")) == 0')
    assert (proceed(counter).why, total(counter)) == ("Breakpoint when note changes.", "4")
    ended = proceed(counter)
    assert (ended.state, ended.why) == ("done", "Breakpoint when seen changes.")
    # The same text was written to `note` at every step: that is no change.
    assert hits(counter) == {"change:note": 1, "change:seen": 1}


def test_the_nth_hit_stops_and_every_hit_is_counted(counter):
    counter.set_breakpoint("add", "after", stop_at=3)
    counter.set_breakpoint("add", "before", condition="total > 0")
    counter.switch_breakpoint("before:add", enabled=False)
    assert counter.breakpoints()[1].condition == "total > 0"
    stopped = proceed(counter)
    assert (stopped.why, total(counter)) == ("Breakpoint after add, hit 3.", "3")
    assert hits(counter) == {"after:add": 3, "before:add": 0}
    assert proceed(counter).why == "Breakpoint after add, hit 4."
    counter.set_breakpoint("add", "after", condition="total > 3", stop_at=1)
    assert hits(counter)["after:add"] == 0


def test_two_at_one_checkpoint_are_both_counted_and_named(counter):
    counter.set_breakpoint("add", "before", condition="total == 1")
    counter.set_breakpoint("add", "after", condition="total == 1")
    assert proceed(counter).why == "Breakpoint after add and before add."
    assert hits(counter) == {"before:add": 1, "after:add": 1}


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("seen[9] == 'x'", "seen has no value"),
        ("total / (total - total) > 1", "divides by zero"),
        ("note > 1", "str with int"),
    ],
)
def test_a_condition_without_a_value_stops_and_says_so(counter, condition, said):
    counter.set_breakpoint("add", "after", condition=condition, stop_at=7)
    stopped = proceed(counter)
    assert (stopped.state, stopped.why) == ("paused", "Breakpoint after add.")
    assert said in stopped.problem.message
    assert "could not be evaluated" in stopped.problem.message
    assert condition in stopped.problem.message
    assert hits(counter) == {"after:add": 0}


def test_they_hold_answers_new_runs_and_retries(session, calls):
    session.set_breakpoint("plan", "after", condition="len(topics) == 2")
    session.new_run({"question": "?"}, thread="new", run=True)
    assert done(session).why == "Breakpoint after plan."
    assert proceed(session).state == "interrupted"
    session.set_breakpoint("approved", "change", condition="not approved")
    assert answer(session, '"revise"').why == "Breakpoint when approved changes."
    assert calls["plan"] == 1


def test_a_retry_of_a_failed_superstep_is_held(kit, open_graph):
    tries = []

    def flaky(state):
        tries.append(1)
        if len(tries) == 1:
            raise RuntimeError("not yet")
        return {"total": 5}

    def after(state):
        return {"total": 1}

    session = DebugSession(open_graph(chain(kit, flaky, after), example={"note": "go"}))
    session.new_run({"note": "go"}, thread="t")
    done(session)
    session.set_breakpoint("total", "change", condition="total >= 5")
    assert proceed(session).state == "failed"
    assert proceed(session).why == "Breakpoint when total changes."


@pytest.mark.parametrize(
    ("point", "options", "said"),
    [
        (("add", "before"), {"condition": "total >"}, "not an expression"),
        (("add", "before"), {"condition": "totl > 1"}, "no key 'totl'; its keys are note, seen, total"),
        (("add", "before"), {"stop_at": 0}, "from 1 to"),
        (("totl", "change"), {}, "no key 'totl'"),
        (("nobody", "after"), {}, "no node 'nobody'"),
    ],
)
def test_a_wrong_breakpoint_is_refused_and_none_is_set(counter, point, options, said):
    with pytest.raises(SessionError, match=said):
        counter.set_breakpoint(*point, **options)
    assert counter.breakpoints() == ()


# --- watches ------------------------------------------------------------------------------------------


def cells(session, at=0):
    return [row.cells[at].text or row.cells[at].error for row in reversed(session.timeline().rows)]


def test_a_watch_is_a_cell_of_every_row(counter):
    proceed(counter)
    counter.add_watch("total * 10")
    counter.add_watch('len(seen) if has("seen") else "none yet"')
    shown = counter.timeline()
    assert shown.watches == ("total * 10", 'len(seen) if has("seen") else "none yet"')
    assert cells(counter)[-6:] == ["10", "20", "30", "40", "50", "50"]
    assert cells(counter, 1)[-2:] == ["none yet", "1"]
    counter.remove_watch("total * 10")
    assert cells(counter)[-1] == "1"


def test_a_cell_without_a_value_says_why_and_the_others_are_there(counter):
    proceed(counter)
    counter.add_watch("note[total]")
    counter.add_watch('changed("note")')
    assert "There is no item 5: the str has 2. (column 1)" in cells(counter)[-1]
    assert cells(counter, 1)[-3:] == ["true", "false", "false"]


def test_there_is_room_for_four_and_only_for_what_can_be_said(counter):
    for number in range(4):
        counter.add_watch(f"total + {number}")
    counter.add_watch("total + 3")
    with pytest.raises(SessionError, match="4 watches already"):
        counter.add_watch("total + 5")
    counter.remove_watch("total + 0")
    with pytest.raises(SessionError, match="no attributes here"):
        counter.add_watch("note.upper")
    with pytest.raises(SessionError, match="no key 'other'"):
        counter.add_watch("other")
    assert counter.watches() == ("total + 1", "total + 2", "total + 3")


def test_only_checkpoints_that_changed_a_key_are_read_and_each_once(counter):
    proceed(counter)
    engine = counter.desk.engine
    asked = []
    plain = engine.values

    def values(thread, ids, keys, namespace=""):
        asked.extend((id_, tuple(keys)) for id_ in ids)
        return plain(thread, ids, keys, namespace)

    # The protocol of an engine is public; the session has no other way to read values for a watch.
    engine.values = values
    counter.add_watch("len(seen)")
    counter.timeline()
    moved = [row.checkpoint for row in counter.timeline().rows if "seen" in row.changed]
    first = counter.timeline().rows[-1].checkpoint
    assert {id_ for id_, _ in asked} <= {*moved, first}
    assert {keys for _, keys in asked} == {("seen",)}
    counter.add_watch("total > 2")
    counter.timeline()
    counter.timeline()
    assert len(asked) == len(set(asked))
    assert len(counter.timeline(limit=2).rows) == 2


def test_edits_and_branches_have_cells_of_their_own(session):
    begin(session)
    step(session)
    proceed(session)
    session.add_watch("len(topics)")
    session.add_watch('before("topics")')
    session.back()
    session.save_edit([Edit("topics", '["one"]')], "plan")
    newest = session.timeline().rows[0]
    assert [cell.text for cell in newest.cells] == ["1", "[cost, traffic]"]


def test_a_database_alone_can_be_watched(reopen, tmp_path):
    session = reopen()
    session.new_run({"note": "go"}, thread="t", run=True)
    done(session)
    alone = Workspace.open(None, database=str(tmp_path / "run.sqlite"))
    try:
        looking = DebugSession(alone)
        looking.move(thread="t")
        looking.add_watch("total")
        looking.add_watch("nothing")
        assert cells(looking)[-1] == "5"
        assert "nothing has no value" in cells(looking, 1)[-1]
    finally:
        alone.close()


@pytest.mark.parametrize(
    ("path", "expression"),
    [
        (("total",), "total"),
        (("messages", 0, "content"), 'messages[0]["content"]'),
        (("my key", 'a"b'), 'state("my key")["a\\"b"]'),
        (("table", "[(1, 2)]"), "table[(1, 2)]"),
    ],
)
def test_a_path_as_an_expression(path, expression):
    assert expression_at(path) == expression


# --- kept ---------------------------------------------------------------------------------------------


@pytest.fixture
def reopen(tmp_path):
    """Open the counting graph on a file, as often as asked for."""
    graph, types = import_module("runtime.graph"), import_module("runtime.types")
    kit = SimpleNamespace(StateGraph=graph.StateGraph, START=graph.START, END=graph.END, Send=types.Send)
    opened = []

    def open_it(**options):
        saver = SqliteSaver.from_conn_string(str(tmp_path / "run.sqlite")).__enter__()
        engine = attach(counting(kit).compile(checkpointer=saver), None, About(name="counter"))
        opened.append((Workspace([engine], file=tmp_path / "run.sqlite", **options), saver))
        return DebugSession(opened[-1][0])

    yield open_it
    for workspace, saver in opened:
        workspace.close()
        saver.close()


def test_a_restart_keeps_breakpoints_and_watches(reopen, tmp_path):
    first = reopen()
    first.set_breakpoint("add", "before", condition="total > 1", stop_at=2, enabled=False)
    first.set_breakpoint("note", "change")
    first.add_watch("total")
    again = reopen()
    assert again.breakpoints() == first.breakpoints()
    assert again.watches() == ("total",)
    # Both are open: what one does, the other sees, and neither loses what the other did.
    again.add_watch("note")
    first.remove_breakpoint("change:note")
    first.add_watch("seen")
    assert again.watches() == first.watches() == ("total", "note", "seen")
    assert [point.id for point in again.breakpoints()] == ["before:add"]
    assert json.loads((tmp_path / f"run.sqlite{SUFFIX}").read_text("utf-8"))


def test_many_writers_lose_nothing(tmp_path):
    stores = [Kept(tmp_path / "rows.json") for _ in range(4)]

    def work(number):
        for row in range(15):
            stores[number].put("watch", "graph", f"{number}-{row}", {})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert len(Kept(tmp_path / "rows.json").rows("watch", "graph")) == 60
    assert [store.problem for store in stores] == [""] * 4


@pytest.mark.parametrize("content", ["{", "[1]", '[{"kind": "watch"}]', '{"a": 1}', "[" * 100_000, "\x00"])
def test_a_file_that_cannot_be_read_is_left_as_it_is(reopen, tmp_path, content):
    file = tmp_path / f"run.sqlite{SUFFIX}"
    file.write_text(content, encoding="utf-8")
    session = reopen()
    assert session.watches() == ()
    assert "cannot be read" in session.workspace.kept.problem
    session.add_watch("total")
    assert session.watches() == ("total",)
    assert file.read_text("utf-8") == content


def test_rows_that_mean_nothing_here_are_kept_and_a_bad_condition_is_told(reopen, tmp_path):
    file = tmp_path / f"run.sqlite{SUFFIX}"
    point = {"kind": "breakpoint", "graph": "counter", "enabled": True, "condition": "", "stop_at": 1}
    rows = [
        {**point, "id": "around:add"},
        {**point, "id": "after:add", "condition": 5, "stop_at": "x"},
        {**point, "id": "after:add", "graph": "other"},
        {**point, "id": "before:add", "condition": "a.b"},
        {"kind": "watch", "graph": "counter", "id": "a.b"},
    ]
    file.write_text(json.dumps(rows), encoding="utf-8")
    session = reopen()
    assert [point.id for point in session.breakpoints()] == ["before:add"]
    session.new_run({"note": "go"}, thread="t")
    done(session)
    assert "no attributes here" in proceed(session).problem.message
    assert "no attributes here" in cells(session)[0]
    session.add_watch("total")
    assert len(json.loads(file.read_text("utf-8"))) == 6


def test_a_read_only_session_keeps_them_to_itself(reopen, tmp_path):
    session = reopen(read_only=True)
    session.add_watch("total")
    assert session.watches() == ("total",)
    assert not (tmp_path / f"run.sqlite{SUFFIX}").exists()
