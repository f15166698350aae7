"""Databases that older versions of LangGraph wrote (`files/make.py` made them), and hostile ones."""

import json
import pickle
import shutil
import sqlite3
import sys
from pathlib import Path

import ormsgpack
import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.postgres import PostgresSaver as PeerPostgres
from langgraph.checkpoint.sqlite import SqliteSaver as PeerSqlite
from langgraph.types import Send
from sqlalchemy import create_engine

from runtime.checkpoint.importing import import_threads
from runtime.checkpoint.langgraph import LangGraphSqliteReader, open_langgraph
from runtime.checkpoint.serde import Opaque
from runtime.checkpoint.sqlite import SqliteSaver
from tests.checkpoint.files import make
from tests.checkpoint.kit import at
from tests.checkpoint.recorded import plain

FILES = Path(__file__).parent / "files"
# Named, not looked for: a file that is missing then fails its tests, where an empty folder would test nothing.
SQLITE = ["sqlite-1.0.0", "sqlite-1.0.4", "sqlite-2.0.11", "sqlite-2.0.7"]
POSTGRES = ["postgres-1.0.9", "postgres-2.0.20", "postgres-2.0.25"]


@pytest.fixture
def older(request, tmp_path):
    """A reader of one of the databases, and how LangGraph's own saver of today opens a copy of it."""
    name = request.param
    if name in SQLITE:
        path = tmp_path / "copy.db"
        shutil.copy(FILES / f"{name}.db3", path)
        shutil.copy(path, tmp_path / "peer.db")
        yield LangGraphSqliteReader(path), lambda: PeerSqlite.from_conn_string(str(tmp_path / "peer.db"))
        return
    url = request.getfixturevalue("postgres_schema")
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql((FILES / f"{name}.sql").read_text().replace("%", "%%"))
    engine.dispose()
    with open_langgraph(url) as reader:
        yield reader, lambda: PeerPostgres.from_conn_string(url.replace("+psycopg", ""))


@pytest.fixture
def target(tmp_path):
    with SqliteSaver.from_conn_string(tmp_path / "ours.db") as saver:
        yield saver


def test_the_files_are_those_that_are_tested():
    assert sorted(path.stem for path in FILES.glob("sqlite-*.db3")) == SQLITE
    assert sorted(path.stem for path in FILES.glob("postgres-*.sql")) == POSTGRES


@pytest.mark.parametrize("older", [*SQLITE, *POSTGRES], indirect=True)
def test_an_older_database_is_read_and_imported(older, target):
    source, _ = older
    steps = {item.metadata["step"]: item for item in source.list(at("waiting"))}
    assert sorted(steps) == [-1, 0, 1, 2]
    due = steps[1].checkpoint["channel_values"]["__pregel_tasks"]
    assert [(type(send), send.node, send.arg) for send in due] == [(Send, "each", {"n": n}) for n in range(2)]
    values = steps[2].checkpoint["channel_values"]
    assert values["kinds"] == {"a", "b"}
    said = [(type(message), message.content, message.id) for message in values["messages"]]
    assert said == [
        (HumanMessage, "go", "go"),
        (AIMessage, "two things", "plan"),
        (AIMessage, "thing 0", "each-0"),
        (AIMessage, "thing 1", "each-1"),
    ]
    done = import_threads(source, target)
    expected = list(source.list(None))
    assert (done.threads, done.checkpoints) == (2, len(expected))
    for item in expected:
        assert plain(without_nothing(target.get_tuple(item.config))) == plain(without_nothing(item))
    assert list(target.audit()) == []
    assert import_threads(source, target)[1:] == (0, 0, len(expected))


@pytest.mark.parametrize("older", [name for name in [*SQLITE, *POSTGRES] if "1.0" not in name], indirect=True)
def test_langgraph_goes_on_from_the_previous_version(older, target):
    source, open_peer = older
    import_threads(source, target)
    with open_peer() as peer:
        expected = make.graph().compile(checkpointer=peer).invoke(None, at("waiting"))
    assert make.graph().compile(checkpointer=target).invoke(None, at("waiting")) == expected
    assert expected["n"] == 4


@pytest.mark.parametrize("older", POSTGRES, indirect=True)
def test_older_postgres_is_read_as_langgraph_reads_it_today(older):
    source, open_peer = older
    with open_peer() as peer:
        peer.setup()  # adds what today's saver needs
        # One by one: when it lists several threads, it looks up what was sent for the first of them only.
        expected = {plain(item.config): peer.get_tuple(item.config) for item in [*peer.list(None)]}
    for item in source.list(None):
        wanted = expected.pop(plain(item.config))
        if item.checkpoint["channel_values"].get("__pregel_tasks"):
            wanted.checkpoint.pop("pending_sends", None)
        assert plain(item) == plain(wanted)
    assert not expected


def without_nothing(item):
    """Without `updated_channels` where an older checkpoint has no such key: ours then say None."""
    checkpoint = {key: value for key, value in item.checkpoint.items() if (key, value) != ("updated_channels", None)}
    return item._replace(checkpoint=checkpoint)


# --- hostile -------------------------------------------------------------------------------------------


class Bomb:
    """Pickled, it would show that it was opened."""

    opened = False

    def __reduce__(self):
        return _explode, ()


def _explode():
    Bomb.opened = True


def hostile_values(path):
    """Values that would do harm if they were obeyed, as type tag and bytes, by the task they are to be written by."""
    named = ormsgpack.packb(ormsgpack.Ext(1, ormsgpack.packb(["bomb_module", "Bomb", ["x"]])))
    system = ormsgpack.packb(ormsgpack.Ext(0, ormsgpack.packb(["os", "system", "touch /nowhere"])))
    called = ormsgpack.packb(ormsgpack.Ext(3, ormsgpack.packb(["pathlib", "Path", str(path), "unlink"])))
    envelope = {"lc": 2, "type": "constructor", "id": ["os", "system"], "args": ["touch /nowhere"]}
    template = {"lc": 1, "type": "constructor", "id": ["bomb_module", "Prompt"], "kwargs": {"a": 1}}
    return {
        "pickle": ("pickle", pickle.dumps(Bomb())),
        "class": ("msgpack", named),
        "function": ("msgpack", system),
        "method": ("msgpack", called),
        "json": ("json", json.dumps(envelope).encode()),
        "nested": ("json", json.dumps([template]).encode()),
    }


def test_nothing_that_a_file_says_is_run_and_everything_is_carried(tmp_path, target):
    path = tmp_path / "hostile.db"
    shutil.copy(FILES / "sqlite-2.0.11.db3", path)
    hostile = hostile_values(path)
    newest = LangGraphSqliteReader(path).get_tuple(at("waiting")).config["configurable"]["checkpoint_id"]
    connection = sqlite3.connect(path)
    for task, (tag, data) in hostile.items():
        row = ("waiting", "", newest, task, 0, "messages", tag, data)
        connection.execute("INSERT INTO writes VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    connection.commit()
    connection.close()
    source = LangGraphSqliteReader(path)
    import_threads(source, target)
    for saver in source, target:
        found = {task: value for task, _, value in saver.get_tuple(at("waiting")).pending_writes}
        values = {**found, "nested": found["nested"][0]}
        assert {task: type(value) for task, value in values.items()} == dict.fromkeys(hostile, Opaque)
        assert (values["json"].module, values["json"].name) == ("os", "system")
        assert (values["nested"].module, values["nested"].data) == ("bomb_module", {"a": 1})
    assert "bomb_module" not in sys.modules
    assert not Bomb.opened
    assert path.exists()
    ours = sqlite3.connect(tmp_path / "ours.db")
    stored = {row[0]: row[1:] for row in ours.execute("SELECT task_id, type, value FROM checkpoint_writes")}
    ours.close()
    for task, (tag, data) in hostile.items():
        assert stored[task] == (tag, data) or data in stored[task][1]
    assert hostile["pickle"][1] in stored["pickle"][1]
    assert list(target.audit()) == []
    assert import_threads(source, target).writes == 0
