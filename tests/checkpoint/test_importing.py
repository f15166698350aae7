"""LangGraph's databases, imported: every checkpoint is the same, gone on from here, stored by what changed."""

import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Annotated, TypedDict

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.postgres import PostgresSaver as PeerPostgres
from langgraph.checkpoint.sqlite import SqliteSaver as PeerSqlite
from langgraph.types import Command

from debugger_ui import cli
from debugger_ui.engines.base import Place
from debugger_ui.engines.opening import open_record
from runtime.channels import DeltaChannel as OurDeltaChannel
from runtime.checkpoint.errors import CheckpointStorageError
from runtime.checkpoint.importing import Imported, import_threads
from runtime.checkpoint.langgraph import LangGraphSqliteReader, open_langgraph
from runtime.checkpoint.sql import SqlSaver
from runtime.checkpoint.sqlite import SqliteSaver
from runtime.graph import StateGraph as OurGraph
from runtime.types import Command as OurCommand
from runtime.types import Send as OurSend
from runtime.types import interrupt as our_interrupt
from tests.checkpoint import recorded
from tests.checkpoint.kit import at
from tests.checkpoint.recorded import plain


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """An SQLite file with every thread."""
    path = tmp_path_factory.mktemp("recorded") / "peer.db"
    with PeerSqlite.from_conn_string(str(path)) as saver:
        recorded.record(saver)
    return path


@pytest.fixture
def target(tmp_path):
    with SqliteSaver.from_conn_string(tmp_path / "ours.db") as saver:
        yield saver


class OurGrown(TypedDict):
    grown: Annotated[list, OurDeltaChannel(recorded.collect, snapshot_frequency=3)]
    n: int


ROOT = Path(__file__).parents[2]
POINT = [("tests.checkpoint.things", "Point")]


def same(saver, expected):
    """Every checkpoint of every thread, one by one and listed, is what LangGraph's saver reads."""
    saver = saver.with_allowlist(POINT)
    wanted = {plain(item.config): plain(item) for item in expected}
    assert len(wanted) == len(expected) > 50
    listed = {plain(item.config): plain(item) for item in saver.list(None)}
    assert listed.keys() == wanted.keys()
    for item in expected:
        key = plain(item.config)
        assert listed[key] == wanted[key]
        assert plain(saver.get_tuple(item.config)) == wanted[key]


def test_every_checkpoint_of_a_file_is_imported_as_it_is(file, target):
    source = LangGraphSqliteReader(file)
    done = import_threads(source, target)
    with PeerSqlite.from_conn_string(str(file)) as peer:
        expected = list(peer.list(None))
    assert (done.threads, done.checkpoints, done.present) == (len(recorded.THREADS), len(expected), 0)
    same(source, expected)
    same(target, expected)
    assert list(target.audit()) == []


def test_every_checkpoint_of_a_postgres_database_is_imported_as_it_is(postgres_schema, target):
    with PeerPostgres.from_conn_string(postgres_schema.replace("+psycopg", "")) as peer:
        peer.setup()
        recorded.record(peer)
        expected = list(peer.list(None))
    with open_langgraph(postgres_schema) as source:
        done = import_threads(source, target)
        same(source, expected)
        assert import_threads(source, target)[1:] == (0, 0, len(expected))
    assert (done.threads, done.checkpoints, done.present) == (len(recorded.THREADS), len(expected), 0)
    same(target, expected)
    assert list(target.audit()) == []


def test_into_postgres_too(file, postgres_schema):
    source = LangGraphSqliteReader(file)
    with SqlSaver(postgres_schema) as target:
        import_threads(source, target)
        same(target, list(source.with_allowlist(POINT).list(None)))
        assert list(target.audit()) == []


def test_importing_again_adds_what_is_new(file, target, tmp_path):
    path = copied(file, tmp_path)
    source = LangGraphSqliteReader(path)
    first = import_threads(source, target, ["asking"])
    again = import_threads(source, target, ["asking"])
    assert again == Imported(1, 0, 0, first.checkpoints)
    with PeerSqlite.from_conn_string(str(path)) as peer:
        with pytest.raises(ValueError, match="told to fail"):
            recorded.work().compile(checkpointer=peer).invoke(Command(resume="fail"), at("asking"))
        expected = [item for item in peer.list(at("asking")) if item.pending_writes]
    more = import_threads(source, target, ["asking"])
    assert (more.checkpoints, more.present) == (0, first.checkpoints)
    assert more.writes > 0
    for item in expected:
        assert plain(target.get_tuple(item.config)) == plain(item)
    assert list(target.audit()) == []


CHANGES = {
    "metadata": "UPDATE checkpoints SET metadata = json_set(metadata, '$.step', 77) WHERE checkpoint_id = ?",
    "parent": "UPDATE checkpoints SET parent_checkpoint_id = NULL WHERE checkpoint_id = ?",
    "write 0 of task": "UPDATE writes SET value = x'c0' WHERE idx = 0 AND checkpoint_id = ?",
}


@pytest.mark.parametrize("what", CHANGES)
def test_another_checkpoint_under_the_same_id_is_refused(file, target, tmp_path, what):
    path = copied(file, tmp_path)
    source = LangGraphSqliteReader(path)
    import_threads(source, target, ["chat"])
    before = [plain(item) for item in target.list(None)]
    (middle,) = (item for item in source.list(at("chat")) if item.metadata["step"] == 3)
    sql(path, CHANGES[what], middle.config["configurable"]["checkpoint_id"])
    sql(path, "UPDATE checkpoints SET thread_id = 'chat' WHERE thread_id = 'forked'")
    with pytest.raises(CheckpointStorageError, match=f"differ in their {what}") as raised:
        import_threads(source, target)
    assert raised.value.reason == "conflict"
    assert [plain(item) for item in target.list(at("chat"))] == before


def test_a_thread_that_cannot_be_read_is_left_out_whole(file, target, tmp_path):
    path = copied(file, tmp_path)
    source = LangGraphSqliteReader(path)
    newest = source.get_tuple(at("chat")).config["configurable"]["checkpoint_id"]
    sql(path, "UPDATE checkpoints SET checkpoint = x'c1' WHERE checkpoint_id = ?", newest)
    with pytest.raises(CheckpointStorageError, match="cannot be decoded"):
        import_threads(source, target)
    assert sorted(thread.thread_id for thread in target.threads()) == ["answered", "asking"]
    with pytest.raises(CheckpointStorageError, match="no thread 'absent'"):
        import_threads(source, target, ["absent"])


@pytest.mark.parametrize("imported", [False, True])
def test_without_a_graph_a_delta_channel_is_shown_as_what_it_is_made_of(file, tmp_path, imported):
    path = file
    if imported:
        path = tmp_path / "ours.db"
        with SqliteSaver.from_conn_string(path) as target:
            import_threads(LangGraphSqliteReader(file), target, ["grown"])
    engine = open_record(str(path))
    states = [engine.record(Place("grown", head.id)).state for head in engine.headers("grown")]
    engine.close()
    for state in states[1:]:
        made = state.get("grown", {"written since": []})
        folded = recorded.collect(made.get("snapshot", []), made["written since"])
        assert folded == [f"item {n}" for n in range(len(folded))]
    assert len(folded) == 10
    assert {len(state["grown"]["written since"]) for state in states if "grown" in state} == {0, 1, 2}


KILLED = """
import os, sys
from runtime.checkpoint.importing import import_threads
from runtime.checkpoint.langgraph import LangGraphSqliteReader
from runtime.checkpoint.sqlite import SqliteSaver

def die(thread, done, total):
    if thread == "chat":
        os._exit(9)

with SqliteSaver.from_conn_string(sys.argv[2]) as target:
    import_threads(LangGraphSqliteReader(sys.argv[1]), target, progress=die)
"""


def test_whole_threads_stay_of_an_import_that_was_killed(file, target, tmp_path):
    killed = subprocess.run([sys.executable, "-c", KILLED, file, tmp_path / "ours.db"], cwd=ROOT, check=False)
    assert killed.returncode == 9
    assert sorted(thread.thread_id for thread in target.threads()) == ["answered", "asking"]
    assert list(target.audit()) == []
    import_threads(LangGraphSqliteReader(file), target)
    with PeerSqlite.from_conn_string(str(file)) as peer:
        same(target, list(peer.list(None)))


def test_a_pruned_source_is_sound(file, target, tmp_path):
    path = copied(file, tmp_path)
    newest = LangGraphSqliteReader(path).get_tuple(at("chat")).config["configurable"]["checkpoint_id"]
    sql(path, "DELETE FROM checkpoints WHERE thread_id = 'chat' AND checkpoint_id <> ?", newest)
    import_threads(LangGraphSqliteReader(path), target)
    assert target.get_tuple(at("chat")).checkpoint["id"] == newest
    assert list(target.audit()) == []


def test_parents_in_a_circle_are_refused(file, target, tmp_path):
    path = copied(file, tmp_path)
    sql(path, "UPDATE checkpoints SET parent_checkpoint_id = checkpoint_id WHERE thread_id = 'chat'")
    with pytest.raises(CheckpointStorageError, match="round in a circle"):
        import_threads(LangGraphSqliteReader(path), target, ["chat"])


def test_bytes_follow_what_changed(tmp_path, target):
    path = tmp_path / "long.db"
    with PeerSqlite.from_conn_string(str(path)) as peer:
        app = recorded.chat().compile(checkpointer=peer)
        for turn in range(30):
            app.invoke({"messages": [HumanMessage("x" * 500, id=f"h-{turn}")]}, at("long"))
    import_threads(LangGraphSqliteReader(path), target)
    # The source has every message in each later checkpoint.
    assert target.sizes("long").bytes < path.stat().st_size / 8
    assert len(target.get_tuple(at("long")).checkpoint["channel_values"]["messages"]) == 60


# --- going on ------------------------------------------------------------------------------------------


def test_langgraph_goes_on_from_our_database(file, target):
    import_threads(LangGraphSqliteReader(file), target)
    talking = recorded.chat().compile(checkpointer=target)
    talking.invoke({"messages": [HumanMessage("more", id="h-9")]}, at("chat"))
    values = talking.get_state(at("chat")).values
    assert [message.content for message in values["messages"]][-4:] == [
        "turn 3",
        "you said turn 3",
        "more",
        "you said more",
    ]
    working = recorded.work().compile(checkpointer=target)
    assert working.invoke(Command(resume="yes"), at("asking"))["m"][-1] == "yes"
    with pytest.raises(ValueError, match="told to fail"):
        working.invoke(None, at("failed"))
    growing = recorded.grow().compile(checkpointer=target)
    assert growing.get_state(at("grown")).values["grown"] == [f"item {n}" for n in range(10)]
    assert growing.invoke({"n": 3}, at("grown"))["grown"][-1] == "item 11"
    assert list(target.audit()) == []


def test_our_runtime_goes_on_from_it(file, target):
    import_threads(LangGraphSqliteReader(file), target)

    def ask(state):
        return {"m": [our_interrupt("go on?")], "n": 1}

    inner = OurGraph(recorded.Work)
    inner.add_node("within", lambda state: {"m": ["within"]})
    inner.add_node("ask", ask)
    inner.add_edge("__start__", "within")
    inner.add_edge("within", "ask")
    builder = OurGraph(recorded.Work)
    builder.add_node("split", lambda state: {"m": ["split"]})
    builder.add_node("each", lambda state: {"m": [f"each {state['n']}"]})
    builder.add_node("inner", inner.compile())
    builder.add_edge("__start__", "split")
    builder.add_conditional_edges("split", lambda state: [OurSend("each", {"m": [], "n": n}) for n in range(3)])
    builder.add_edge("each", "inner")
    app = builder.compile(checkpointer=target)
    assert app.get_state(at("asking")).next == ("inner",)
    assert app.invoke(OurCommand(resume="ours"), at("asking"))["m"][-1] == "ours"
    split = next(state for state in app.get_state_history(at("answered")) if "each" in state.next)
    assert split.next == ("each", "each", "each")
    assert app.invoke(None, split.config)["m"][:4] == ["split", "each 0", "each 1", "each 2"]
    assert list(target.audit()) == []


@pytest.mark.parametrize("imported", [False, True])
def test_delta_channels_are_rebuilt_from_what_was_written(file, target, imported):
    saver = LangGraphSqliteReader(file)
    if imported:
        import_threads(saver, target, ["grown"])
        saver = target
    builder = OurGraph(OurGrown)
    builder.add_node("grow", lambda state: {"grown": [f"item {len(state['grown'])}"], "n": state["n"] + 1})
    builder.add_edge("__start__", "grow")
    builder.add_conditional_edges("grow", lambda state: "grow" if state["n"] % 5 else "__end__")
    app = builder.compile(checkpointer=saver)
    with PeerSqlite.from_conn_string(str(file)) as peer:
        expected = [
            (state.metadata["step"], state.values.get("grown", []))
            for state in recorded.grow().compile(checkpointer=peer).get_state_history(at("grown"))
        ]
    found = [(s.metadata["step"], s.values.get("grown", [])) for s in app.get_state_history(at("grown"))]
    assert found == expected
    assert found[0][1] == [f"item {n}" for n in range(10)]
    if imported:
        assert app.invoke({"n": 3}, at("grown"))["grown"] == [f"item {n}" for n in range(12)]
        assert list(target.audit()) == []


def test_the_debugger_opens_what_was_imported(file, tmp_path):
    with SqliteSaver.from_conn_string(tmp_path / "ours.db") as target:
        import_threads(LangGraphSqliteReader(file), target)
    ours, theirs = open_record(str(tmp_path / "ours.db")), open_record(str(file))
    for thread in recorded.THREADS:
        assert [head.id for head in ours.headers(thread)] == [head.id for head in theirs.headers(thread)]
        for head in theirs.headers(thread):
            mine, other = (engine.record(Place(thread, head.id)) for engine in (ours, theirs))
            assert plain(mine.state) == plain(other.state)
            assert [task.name for task in mine.tasks] == [task.name for task in other.tasks]
    ours.close()
    theirs.close()


def copied(file, folder):
    path = folder / "copy.db"
    shutil.copy(file, path)
    return path


def sql(path, statement, *values):
    connection = sqlite3.connect(path)
    assert connection.execute(statement, values).rowcount > 0
    connection.commit()
    connection.close()


# --- the command ---------------------------------------------------------------------------------------


@pytest.fixture
def db(capsys):
    """Run `forkpoint db ...`; return the exit status and what was said."""

    def run(*arguments):
        status = cli.main(["db", *map(str, arguments)])
        said = capsys.readouterr()
        return status, said.out + said.err

    return run


def test_the_command_imports_and_says_what(file, db, tmp_path):
    ours = tmp_path / "ours.db"
    status, said = db("import", file, ours, "--thread", "chat", "--progress")
    assert status == 0, said
    assert "thread 'chat': 12 of 12 checkpoints" in said
    assert "imported 1 thread: 12 checkpoints and" in said
    status, said = db("import", file, ours)
    assert status == 0
    assert "12 checkpoints there already" in said
    assert db("check", ours)[0] == 0


def test_what_cannot_be_imported_is_said_and_makes_nothing(file, db, tmp_path):
    ours, new = tmp_path / "ours.db", tmp_path / "new.db"
    with SqliteSaver.from_conn_string(ours):
        pass
    for source, target, says in (
        (tmp_path / "none.db", new, "there is no checkpoint database"),
        (tmp_path / "thread.json", new, "not kept byte for byte"),
        ("mysql://host/db", new, "begins with postgresql://"),
        (ours, new, "is a database of ours already"),
        (file, file, "is a database of LangGraph's saver"),
    ):
        status, said = db("import", source, target)
        assert (status, says in said) == (2, True), said
    assert not new.exists()


def test_the_command_reads_postgres(file, db, postgres_schema, tmp_path):
    with PeerPostgres.from_conn_string(postgres_schema.replace("+psycopg", "")) as peer:
        peer.setup()
        recorded.chat().compile(checkpointer=peer).invoke({"messages": [HumanMessage("hi", id="1")]}, at("t"))
    engine = open_record(postgres_schema)
    assert [head.step for head in engine.headers("t")] == [-1, 0, 1]
    engine.close()
    status, said = db("import", postgres_schema, tmp_path / "ours.db")
    assert status == 0, said
    assert "imported 1 thread: 3 checkpoints" in said
