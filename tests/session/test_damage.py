"""Databases with bad rows, and databases that somebody else is using."""

import os
import re
import sqlite3
from contextlib import closing

import pytest

from debugger_ui.engines.graph import About
from debugger_ui.engines.opening import attach
from debugger_ui.session.problems import SessionError
from debugger_ui.session.session import DebugSession
from debugger_ui.session.views import Edit
from debugger_ui.session.workspace import Workspace
from runtime.checkpoint.sqlite import SqliteSaver
from runtime.graph import END, START, StateGraph
from runtime.types import Command, interrupt
from tests.session.conftest import Total, done


def counter():
    builder = StateGraph(Total)
    builder.add_node("loop", lambda state: {"total": 1})
    builder.add_edge(START, "loop")
    builder.add_conditional_edges("loop", lambda state: "loop" if state["total"] < 8 else END, ["loop", END])
    return builder


@pytest.fixture
def file(tmp_path):
    """A database with one finished thread."""
    path = tmp_path / "runs.sqlite"
    with SqliteSaver.from_conn_string(path) as saver:
        counter().compile(checkpointer=saver).invoke({"note": "go"}, {"configurable": {"thread_id": "t"}})
    return path


@pytest.fixture
def opened():
    """Open a database with the graph that made it."""
    savers = []

    def open_it(path, **options):
        saver = SqliteSaver.from_conn_string(path, **options)
        savers.append(saver)
        session = DebugSession(Workspace([attach(counter().compile(), saver, About(example={"note": "go"}))]))
        session.move(thread="t")
        return session

    yield open_it
    for saver in savers:
        saver.close()


def change(path, statement, *values):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)


def ids(path):
    with closing(sqlite3.connect(path)) as connection:
        return [row[0] for row in connection.execute("select checkpoint_id from checkpoints order by 1")]


def test_a_damaged_row_is_marked_and_the_others_are_shown(file, opened):
    bad = ids(file)[4]
    change(file, "update checkpoints set frame = x'00' where checkpoint_id = ?", bad)
    session = opened(file)
    rows = {row.checkpoint: row for row in session.timeline().rows}
    assert len(rows) == len(ids(file))
    assert rows[bad].mark == "damaged"
    first = ids(file)[1]
    session.move(checkpoint=first)
    assert session.checkpoint().nodes == ()
    session.move(checkpoint=bad)
    with pytest.raises(SessionError) as refusal:
        session.checkpoint()
    assert refusal.value.problem.kind == "database"
    assert "Copy the file" in refusal.value.problem.message


def test_a_watch_says_of_a_damaged_row_that_it_is_and_shows_the_others(file, opened):
    bad = ids(file)[4]
    change(file, "update checkpoints set frame = x'00' where checkpoint_id = ?", bad)
    session = opened(file)
    session.add_watch("total")
    session.add_watch('before("total")')
    cells = {row.checkpoint: row.cells for row in session.timeline().rows}
    assert "damaged" in cells[bad][0].error
    assert [cells[id_][0].text for id_ in ids(file)[1:4]] == ["0", "1", "2"]
    assert [cells[id_][1].text for id_ in ids(file)[2:4]] == ["0", "1"]
    # What is stored against the damaged one cannot be read either; what has a frame of its own can.
    assert all(cell.text or "damaged" in cell.error for row in cells.values() for cell in row)


@pytest.mark.parametrize("parent", ["gone", "itself"])
def test_parents_that_lead_nowhere_or_in_a_circle_are_marked(file, opened, parent):
    bad = ids(file)[4]
    change(
        file,
        "update checkpoints set parent_checkpoint_id = ? where checkpoint_id = ?",
        bad if parent == "itself" else "gone",
        bad,
    )
    session = opened(file)
    session.add_watch("total")
    marks = {row.checkpoint: row.mark for row in session.timeline().rows}
    assert marks[bad] in ("orphan", "cycle", "damaged")
    assert marks[ids(file)[2]] == ""
    session.move(checkpoint=ids(file)[1])
    assert session.checkpoint() is not None
    assert session.graph().nodes


def test_writes_without_a_checkpoint_and_odd_ids_do_no_harm(file, opened):
    change(
        file,
        "insert into checkpoint_writes select thread_id, checkpoint_ns, 'nowhere', number, task_id, task_path, attempt,"
        " idx, channel, type, value from checkpoint_writes limit 1",
    )
    change(file, "update checkpoints set step = null, source = null, created_at = 'yesterday' where step = 3")
    session = opened(file)
    rows = session.timeline().rows
    assert len(rows) == len(ids(file))
    assert any(row.created == "yesterday" and row.milliseconds is None for row in rows)


def test_a_clock_that_went_back_gives_no_negative_durations(file, opened):
    change(file, "update checkpoints set created_at = '1999-01-01T00:00:00+00:00' where step = 4")
    session = opened(file)
    rows = [row for row in session.timeline().rows if row.step == 4]
    assert [row.milliseconds for row in rows] == [None]
    steps = [row.step for row in session.timeline().rows]
    assert steps == sorted(steps, reverse=True)


def test_a_locked_database_is_a_sentence_and_stays_readable(file, opened):
    session = opened(file, busy_timeout=0.05)
    session.checkpoint()
    with closing(sqlite3.connect(file)) as other:
        other.execute("begin immediate")
        with pytest.raises(SessionError, match="locked"):
            session.new_run({"note": "again"}, thread="second")
        assert session.cursor.thread == "t"
        assert session.checkpoint().status == "done"
        with pytest.raises(SessionError) as refusal:
            session.save_edit([Edit("note", '"again"')], "loop")
        assert "Try again in a moment" in refusal.value.problem.message
        assert "CheckpointStorageError" not in refusal.value.problem.message
        other.rollback()
    session.new_run({"note": "again"}, thread="second")
    assert done(session).state == "paused"


def test_what_another_process_adds_appears(file, opened):
    session = opened(file)
    before = session.timeline().total
    with SqliteSaver.from_conn_string(file) as saver:
        counter().compile(checkpointer=saver).invoke({"note": "more"}, {"configurable": {"thread_id": "t"}})
    assert session.timeline().total > before
    assert session.checkpoint().head


def test_a_link_to_a_deleted_thread_says_that_it_is_gone(file, opened):
    session = opened(file)
    params = session.cursor.to_params()
    with SqliteSaver.from_conn_string(file) as saver:
        saver.delete_thread("t")
    assert session.checkpoint() is None
    assert DebugSession(session.workspace).load_params(params) == [
        f"There is no thread 't' in {session.workspace.database}."
    ]


def test_a_damaged_row_inside_a_subgraph_leaves_the_graph_around_it_readable(tmp_path):
    def ask(state):
        return {"note": interrupt("sure?")}

    inner, outer = StateGraph(Total), StateGraph(Total)
    inner.add_node("ask", ask)
    inner.add_edge(START, "ask")
    outer.add_node("sub", inner.compile())
    outer.add_edge(START, "sub")
    with SqliteSaver.from_conn_string(tmp_path / "x.sqlite") as saver:
        graph = outer.compile(checkpointer=saver)
        graph.invoke({"note": "go"}, {"configurable": {"thread_id": "t"}})
    change(tmp_path / "x.sqlite", "update checkpoints set frame = x'00' where checkpoint_ns != ''")
    with SqliteSaver.from_conn_string(tmp_path / "x.sqlite") as saver:
        session = DebugSession(Workspace([attach(graph, saver, About(example={"note": "go"}))]))
        session.move(thread="t")
        assert {node.id: node.mark for node in session.picture().nodes}["sub"] == "waiting"
        assert [run.path for run in session.nesting().inside] == ["sub"]
        assert session.abilities().step.reason == "It waits for an answer."
        session.step_into()
        assert {row.mark for row in session.timeline().rows} == {"damaged"}
        with pytest.raises(SessionError, match="Copy the file"):
            session.checkpoint()
        assert session.nesting().out.allowed
        session.step_out()
        assert session.checkpoint().status == "waiting"


def test_a_damaged_row_around_a_run_that_was_left_by_a_command_spoils_no_picture(tmp_path):
    inner, outer = StateGraph(Total), StateGraph(Total)
    inner.add_node("leave", lambda state: Command(graph=Command.PARENT, goto="after"))
    inner.add_node("never", lambda state: {})
    inner.add_edge(START, "leave")
    inner.add_edge("leave", "never")
    outer.add_node("sub", inner.compile())
    outer.add_node("after", lambda state: {"total": 1})
    outer.add_edge(START, "sub")
    with SqliteSaver.from_conn_string(tmp_path / "x.sqlite") as saver:
        graph = outer.compile(checkpointer=saver)
        graph.invoke({"note": "go"}, {"configurable": {"thread_id": "t"}})
        session = DebugSession(Workspace([attach(graph, saver, About())]))
        session.move(thread="t")
        assert [(run.node, run.status) for run in session.inner_runs().rows] == [("sub", "done")]
        (before,) = [row.checkpoint for row in session.timeline().rows if row.step == 0]
    change(tmp_path / "x.sqlite", "update checkpoints set frame = x'00' where checkpoint_id = ?", before)
    with SqliteSaver.from_conn_string(tmp_path / "x.sqlite") as saver:
        session = DebugSession(Workspace([attach(graph, saver, About())]))
        session.move(thread="t")
        assert {"sub", "after"} <= {node.id for node in session.picture().nodes}
        assert [run.node for run in session.inner_runs().rows] == ["sub"]


@pytest.mark.parametrize(
    "change_",
    ["metadata = '[1, 2'", "metadata = '7'", "metadata = ''"],
)
def test_a_row_whose_text_is_no_json_is_marked_and_the_others_are_shown(file, opened, change_):
    bad, newest = ids(file)[4], ids(file)[-1]
    change(file, f"update checkpoints set {change_} where checkpoint_id in (?, ?)", bad, newest)
    session = opened(file)
    rows = {row.checkpoint: row for row in session.timeline().rows}
    assert {id_ for id_, row in rows.items() if row.mark == "damaged"} == {bad, newest}
    assert rows[bad].status == rows[newest].status == "damaged"
    (thread,) = session.threads().rows
    assert (thread.id, thread.status, thread.checkpoints) == ("t", "damaged", len(rows))
    assert session.overview().drift.message == ""
    can = session.abilities()
    assert {can.step.reason, can.run.reason, can.edit.reason} == {"This checkpoint cannot be read."}
    with pytest.raises(SessionError, match="is damaged in the database"):
        session.checkpoint()
    session.move(checkpoint=ids(file)[2])
    assert session.checkpoint().nodes == ("loop",)
    assert session.abilities().edit.allowed


@pytest.mark.parametrize("folded", ["'none'", "x'00'", "7"])
def test_a_row_that_does_not_tell_what_made_it_is_marked_and_its_state_is_shown(file, opened, folded):
    bad = ids(file)[4]
    change(file, f"update checkpoints set folded = {folded} where checkpoint_id = ?", bad)
    session = opened(file)
    assert [row.checkpoint for row in session.timeline().rows if row.mark] == ([] if folded == "7" else [bad])
    session.move(checkpoint=bad)
    assert [entry.key for entry in session.checkpoint().entries] == ["total", "note"]


@pytest.mark.parametrize("columns", ["step = 'one', source = 7", "created_at = 12, source = x'00'", "step = 1.5"])
def test_a_column_of_another_type_counts_as_not_recorded(file, opened, columns):
    change(file, f"update checkpoints set {columns} where checkpoint_id = ?", ids(file)[4])
    session = opened(file)
    assert len(session.timeline().rows) == len(ids(file))
    assert session.threads().rows[0].status == "done"
    session.move(checkpoint=ids(file)[4])
    str(session.checkpoint())


def test_text_that_is_no_utf8_is_damage_of_its_thread_alone(file, opened):
    with SqliteSaver.from_conn_string(file) as saver:
        counter().compile(checkpointer=saver).invoke({"note": "go"}, {"configurable": {"thread_id": "good"}})
    change(file, "update checkpoints set metadata = cast(x'ff7b' as text) where thread_id = 't'")
    session = DebugSession(Workspace.open(database=str(file)))
    found = session.threads()
    assert {row.id: row.status for row in found.rows} == {"t": "damaged", "good": "done"}
    assert "damaged" in found.damaged
    with pytest.raises(SessionError, match="is damaged"):
        session.move(thread="t")
    session.move(thread="good")
    assert session.checkpoint().status == "done"
    session.workspace.close()


LEAF = 0x0A
"""What a page begins with that holds rows of a table without row ids."""
ABOUT = "x" * 200


def spoil(path, table, share):
    """Spoil one page with rows of a table, at a share of its pages in the order of their keys."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma wal_checkpoint(truncate)")
        size = connection.execute("pragma page_size").fetchone()[0]
    data = bytearray(path.read_bytes())
    pages = [bytes(data[at : at + size]) for at in range(0, len(data), size)]
    leaves = [
        (re.findall(rb"thread-\d\d", page)[0], number)
        for number, page in enumerate(pages)
        if page[0] == LEAF and b"thread-" in page and (ABOUT.encode() in page) == (table == "checkpoints")
    ]
    _, number = sorted(leaves)[int(share * len(leaves))]
    data[number * size : (number + 1) * size] = b"\xff" * size
    path.write_bytes(data)


@pytest.fixture
def many(tmp_path):
    """A database with sixty threads; what is said of each is some hundred bytes."""
    path = tmp_path / "many.sqlite"
    with SqliteSaver.from_conn_string(path) as saver:
        graph = counter().compile(checkpointer=saver)
        for n in range(60):
            config = {"configurable": {"thread_id": f"thread-{n:02}"}, "metadata": {"about": ABOUT}}
            graph.invoke({"note": f"note {n}"}, config)
    return path


def refused(session, thread):
    """Whether a thread's newest checkpoint is refused in words rather than shown."""
    session.move(thread=thread)
    try:
        return session.checkpoint().status != "done"
    except SessionError as refusal:
        return "Copy the file" in refusal.problem.message


@pytest.mark.parametrize("share", [0, 0.5, 0.99])
@pytest.mark.parametrize("table", ["checkpoints", "checkpoint_writes"])
def test_a_spoilt_page_hides_no_thread_but_those_on_it(many, table, share):
    spoil(many, table, share)
    before = many.read_bytes()
    session = DebugSession(Workspace.open(database=str(many)))
    try:
        page = session.threads(limit=100)
        whole = [row.id for row in page.rows if row.status == "done"]
        assert page.damaged or [row for row in page.rows if row.status == "damaged"]
        assert len(whole) >= 50
        assert sum(refused(session, thread) for thread in whole) <= 10
        assert session.threads(text=f"note {int(whole[3][-2:])}", limit=5).rows
        assert session.inbox(limit=10).rows == ()
        assert session.newest_failure() is None
    finally:
        session.workspace.close()
    assert many.read_bytes() == before


def test_the_threads_of_a_damaged_file_are_gone_through_once(many, monkeypatch):
    change(many, "update checkpoints set metadata = cast(x'ff7b' as text) where thread_id = 'thread-30'")
    os.utime(many, (0, 0))  # written just now, it would count as one that somebody may still write
    gone_through = []
    plain = SqliteSaver.readable_threads
    monkeypatch.setattr(SqliteSaver, "readable_threads", lambda saver: gone_through.append(1) or plain(saver))
    session = DebugSession(Workspace.open(database=str(many)))
    pages = [[row.id for row in session.threads(offset=at, limit=20).rows] for at in (0, 20, 40)]
    assert len({id_ for page in pages for id_ in page}) == 60
    assert session.inbox().damaged
    assert len(gone_through) == 1
    session.workspace.close()
