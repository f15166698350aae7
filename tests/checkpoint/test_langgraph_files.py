"""Files that LangGraph's own saver wrote: read as that saver reads them, never written to."""

import operator
import sqlite3
from typing import Annotated, TypedDict

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver as Peer
from langgraph.graph import START, StateGraph
from langgraph.types import Command, Send, interrupt

from debugger_ui.engines.base import Place
from debugger_ui.engines.opening import open_record
from runtime.checkpoint.errors import CheckpointStorageError
from runtime.checkpoint.langgraph import LangGraphSqliteReader
from runtime.checkpoint.serde import Opaque
from runtime.checkpoint.sqlite import SqliteSaver
from tests.checkpoint.conftest import Face
from tests.checkpoint.kit import at
from tests.checkpoint.things import Point


class State(TypedDict):
    m: Annotated[list, operator.add]
    n: int


def ask(state):
    return {"m": [HumanMessage(interrupt("how many?"), id="x")], "n": 1}


def graph():
    builder = StateGraph(State)
    builder.add_node("split", lambda state: {"m": ["split"]})
    builder.add_node("work", lambda state: {"m": [f"work {state['n']}"]})
    builder.add_node("ask", ask)
    builder.add_edge(START, "split")
    builder.add_conditional_edges("split", lambda state: [Send("work", {"m": [], "n": n}) for n in range(3)])
    builder.add_edge("work", "ask")
    return builder


@pytest.fixture
def path(tmp_path):
    """Two threads: one finished and forked, one that waits for an answer."""
    file = tmp_path / "peer.db"
    with Peer.from_conn_string(str(file)) as saver:
        app = graph().compile(checkpointer=saver)
        for thread in "waiting", "finished":
            app.invoke({"m": [], "n": 0}, at(thread))
        app.invoke(Command(resume="three"), at("finished"))
        middle = list(app.get_state_history(at("finished")))[2].config
        app.update_state(middle, {"n": 7})
    return file


@pytest.fixture(params=["sync", "async"])
def reader(path, request):
    with LangGraphSqliteReader(path) as opened:
        yield Face(opened, request.param == "async")


def contents(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def plain(found):
    """A tuple as text that is the same whichever side's classes it holds."""
    return repr(tuple(found)).replace("runtime.types", "langgraph.types")


def test_everything_is_read_as_langgraph_reads_it_and_the_file_stays_as_it_is(path, reader):
    before = contents(path.parent)
    found = reader.list(None)
    by_id = [reader.get_tuple(item.config) for item in found]
    assert contents(path.parent) == before
    with Peer.from_conn_string(str(path)) as saver:
        expected = list(saver.list(None))
    assert len(found) == 10
    key = operator.itemgetter(0)
    assert sorted(map(plain, found), key=key) == sorted(map(plain, expected), key=key)
    assert list(map(plain, by_id)) == list(map(plain, found))
    assert any(item.pending_writes for item in found)


def test_the_newest_and_the_absent(reader):
    newest = reader.list(at("finished"))[0]
    assert plain(reader.get_tuple({"configurable": {"thread_id": "finished"}})) == plain(newest)
    assert newest.checkpoint["channel_values"]["n"] == 7
    assert reader.get_tuple(at("absent")) is None
    assert reader.get_tuple(at("finished", "absent")) is None


def test_lists_are_narrowed_down(reader):
    every = reader.list(at("finished"))
    ids = [item.checkpoint["id"] for item in every]
    assert ids == sorted(ids, reverse=True)
    assert {item.config["configurable"]["thread_id"] for item in every} == {"finished"}
    assert [item.checkpoint["id"] for item in reader.list(at("finished"), limit=2)] == ids[:2]
    assert [item.checkpoint["id"] for item in reader.list(at("finished"), before=every[2].config)] == ids[3:]
    assert [item.metadata["step"] for item in reader.list(None, filter={"source": "input"})] == [-1, -1]
    assert len(reader.list(None, filter={"source": "update"})) == 1
    assert reader.list(at("finished"), filter={"step": "1"}) == []
    with pytest.raises(ValueError, match="filter key"):
        reader.list(None, filter={"a' OR 1=1": 1})


WRITES = {
    "put": (at("t"), {}, {}, {}),
    "put_writes": (at("t", "1"), [("n", 1)], "task"),
    "delete_thread": ("finished",),
    "copy_thread": ("finished", "other"),
    "delete_for_runs": (["run"],),
    "prune": (["finished"],),
}


@pytest.mark.parametrize("method", WRITES)
def test_writing_is_refused_in_words(path, reader, method):
    before = contents(path.parent)
    with pytest.raises(CheckpointStorageError, match=r"LangGraph's and is only read here") as raised:
        getattr(reader, method)(*WRITES[method])
    assert raised.value.reason == "read_only"
    assert contents(path.parent) == before


def test_what_is_written_meanwhile_is_seen(path):
    reader = LangGraphSqliteReader(path)
    with Peer.from_conn_string(str(path)) as saver:
        graph().compile(checkpointer=saver).invoke(Command(resume="two"), at("waiting"))
        values = reader.get_tuple(at("waiting")).checkpoint["channel_values"]
        assert values["m"][-1] == HumanMessage("two", id="x")
    assert reader.get_tuple(at("waiting")).checkpoint["channel_values"]["n"] == 1


def test_it_stays_readable_when_the_process_changes_its_folder(path, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(path.parent)
    reader = LangGraphSqliteReader(path.name)
    before = [found.config for found in reader.list(None)]
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert before
    assert [found.config for found in reader.list(None)] == before
    assert reader.data_version() is not None


def test_a_file_from_before_task_paths_is_read(path):
    connection = sqlite3.connect(path)
    connection.execute("ALTER TABLE writes DROP COLUMN task_path")
    connection.commit()
    connection.close()
    found = list(LangGraphSqliteReader(path).list(at("waiting")))
    assert any(channel == "__interrupt__" for item in found for _, channel, _ in item.pending_writes)


def test_classes_that_are_not_allowed_stay_closed(path):
    with Peer.from_conn_string(str(path)) as saver:
        newest = saver.get_tuple(at("waiting")).config
        saver.put_writes(newest, [("n", Point(3))], "task")
    reader = LangGraphSqliteReader(path)
    writes = {task: value for task, _, value in reader.get_tuple(newest).pending_writes}
    assert isinstance(writes["task"], Opaque)
    allowing = reader.with_allowlist([(Point.__module__, "Point")])
    writes = {task: value for task, _, value in allowing.get_tuple(newest).pending_writes}
    assert writes["task"] == Point(3)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("UPDATE checkpoints SET checkpoint = x'c1'", "cannot be decoded"),
        ("UPDATE checkpoints SET checkpoint = x'90'", "not a checkpoint"),
        ("UPDATE checkpoints SET type = 'pickle'", "'pickle' are not decoded"),
        ("UPDATE checkpoints SET metadata = '{'", "not JSON"),
        ("UPDATE writes SET value = x'c1', type = 'msgpack'", "the write of task"),
    ],
)
def test_damage_is_an_error_that_names_the_checkpoint(path, change, says):
    connection = sqlite3.connect(path)
    connection.execute(change)
    connection.commit()
    connection.close()
    with pytest.raises(CheckpointStorageError, match=says) as raised:
        list(LangGraphSqliteReader(path).list(at("waiting")))
    assert raised.value.reason == "corrupt"


def test_a_graph_of_ours_looks_at_it(path):
    from runtime.graph import START as OUR_START
    from runtime.graph import StateGraph as OurGraph

    builder = OurGraph(State)
    for node in "split", "work", "ask":
        builder.add_node(node, ask)
    builder.add_edge(OUR_START, "split")
    builder.add_edge("split", "ask")
    app = builder.compile(checkpointer=LangGraphSqliteReader(path))
    assert app.get_state(at("waiting")).next == ("ask",)
    assert [state.metadata["step"] for state in app.get_state_history(at("waiting"))] == [2, 1, 0, -1]
    with pytest.raises(CheckpointStorageError, match="only read here"):
        app.update_state(at("waiting"), {"n": 3})


def test_the_debugger_opens_such_a_file_to_look_at(path):
    before = contents(path.parent)
    engine = open_record(str(path))
    threads, count = engine.threads(0, 10)
    assert ({thread.id for thread in threads}, count) == ({"waiting", "finished"}, 2)
    headers = engine.headers("waiting")
    assert [header.step for header in headers] == [-1, 0, 1, 2]
    record = engine.record(Place("waiting", headers[-1].id))
    assert record.state["m"] == ["split", "work 0", "work 1", "work 2"]
    assert [task.name for task in record.tasks] == ["ask"]
    engine.close()
    assert contents(path.parent) == before


def test_the_debugger_refuses_files_of_others_as_before(tmp_path):
    connection = sqlite3.connect(tmp_path / "other.db")
    connection.execute("CREATE TABLE checkpoints (name TEXT)")
    connection.close()
    with pytest.raises(CheckpointStorageError, match="tables of something else") as raised:
        open_record(str(tmp_path / "other.db"))
    assert raised.value.reason == "foreign"


def test_other_files_are_refused(tmp_path):
    ours, text = tmp_path / "ours.db", tmp_path / "text.db"
    with SqliteSaver.from_conn_string(ours):
        pass
    text.write_text("no database")
    for file, reason in (ours, "foreign"), (text, "not_a_database"), (tmp_path / "none.db", "missing"):
        with pytest.raises(CheckpointStorageError, match=file.name) as raised:
            LangGraphSqliteReader(file)
        assert raised.value.reason == reason
