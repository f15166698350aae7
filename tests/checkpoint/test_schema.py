"""Databases of older and newer schemas: the old ones are brought up to date whole, the new ones are refused in words.

`files/schema_1.db3` was written when schema 1 was the newest.
"""

import shutil
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import update

from debugger_ui.engines.opening import open_saver as open_to_debug
from runtime.checkpoint.errors import CheckpointStorageError
from runtime.checkpoint.sql import SqlSaver, tables
from runtime.checkpoint.sql.statements import Statement
from runtime.checkpoint.sqlite import SqliteSaver
from tests.checkpoint.kit import Line, at, id_of
from tests.kit.postgres import execute

OLD = Path(__file__).parent / "files" / "schema_1.db3"


@pytest.fixture
def old(tmp_path):
    return Path(shutil.copy(OLD, tmp_path / "old.db"))


def sql(path, statement):
    connection = sqlite3.connect(path)
    rows = connection.execute(statement).fetchall()
    connection.commit()
    connection.close()
    return rows


def newer(path, readable):
    """Make a file look as if schema 99 had come, and can be read from schema `readable` on."""
    with SqliteSaver.from_conn_string(path) as saver:
        line = Line(saver, "t")
        line.put({"a": 1})
    sql(path, f"UPDATE checkpoint_store SET version = 99, readable = {readable}")
    return line


def check_old(saver):
    """All that the old file holds: six checkpoints of a growing list, and a branch with one more."""
    found = list(saver.list(at("old")))
    values = [item.checkpoint["channel_values"] for item in found]
    assert [value["n"] for value in values] == [99, 5, 4, 3, 2, 1, 0]
    assert [len(value["messages"]) for value in values] == [0, 5, 4, 3, 2, 1, 0]
    assert values[1]["messages"][4].content == "message 5"
    assert found[1].pending_writes == [("late", "n", 6)]
    assert id_of(found[0].parent_config) == id_of(found[6].config)
    assert list(saver.audit()) == []


def test_an_older_file_is_brought_up_to_date_and_goes_on(old):
    assert sql(old, "SELECT version FROM checkpoint_store") == [(1,)]
    with SqliteSaver.from_conn_string(old) as saver:
        check_old(saver)
        line = Line(saver, "new")
        line.put({"a": 1})
        assert saver.get_tuple(at("new")).checkpoint["channel_values"] == {"a": 1}
    assert sql(old, "SELECT version FROM checkpoint_store") == [(tables.SCHEMA_VERSION,)]
    with SqliteSaver.from_conn_string(old) as saver:
        check_old(saver)


def test_an_older_file_can_be_looked_at_as_it_is(old):
    before = old.read_bytes()
    with SqliteSaver.from_conn_string(old, read_only=True) as saver:
        check_old(saver)
    assert [path.name for path in old.parent.iterdir()] == ["old.db"]
    assert old.read_bytes() == before


def test_what_was_brought_up_to_date_has_the_tables_of_a_new_one(old, tmp_path):
    for path in old, tmp_path / "new.db":
        with SqliteSaver.from_conn_string(path):
            pass
    names = [table.name for table in tables.TABLES]
    columns = {path: [sql(path, f"PRAGMA table_info({name})") for name in names] for path in (old, tmp_path / "new.db")}
    assert columns[old] == columns[tmp_path / "new.db"]


def test_a_failure_half_way_leaves_the_old_file(old, monkeypatch):
    real = tables.MIGRATIONS[1]

    def fails(connection):
        real(connection)
        raise RuntimeError("half way")

    monkeypatch.setitem(tables.MIGRATIONS, 1, fails)
    saver = SqliteSaver.from_conn_string(old)
    with pytest.raises(RuntimeError, match="half way"):
        saver.setup()
    assert len(sql(old, "PRAGMA table_info(checkpoint_store)")) == 3
    monkeypatch.undo()
    with saver:
        check_old(saver)


def test_an_older_database_on_postgresql_is_brought_up_to_date(postgres_schema):
    with SqlSaver(postgres_schema) as saver:
        line = Line(saver, "t")
        line.put({"a": 1})
    execute(
        postgres_schema,
        "ALTER TABLE checkpoint_store DROP COLUMN readable",
        "UPDATE checkpoint_store SET version = 1",
    )
    with SqlSaver(postgres_schema, read_only=True) as saver:
        assert saver.get_tuple(at("t")).checkpoint["channel_values"] == {"a": 1}
    assert execute(postgres_schema, "SELECT version FROM checkpoint_store") == [(1,)]
    with SqlSaver(postgres_schema) as saver:
        line.saver = saver
        line.put({"a": 2})
        assert list(saver.audit()) == []
    assert execute(postgres_schema, "SELECT version, readable FROM checkpoint_store") == [(tables.SCHEMA_VERSION, 1)]


def test_a_newer_file_that_may_be_read_is_read_and_not_written(tmp_path):
    newer(tmp_path / "db", readable=tables.SCHEMA_VERSION)
    before = (tmp_path / "db").read_bytes()
    with pytest.raises(CheckpointStorageError, match=r"schema 99.*open it with read_only=True to look at it") as raised:
        SqliteSaver.from_conn_string(tmp_path / "db").setup()
    assert raised.value.reason == "newer"
    with SqliteSaver.from_conn_string(tmp_path / "db", read_only=True) as saver:
        assert saver.get_tuple(at("t")).checkpoint["channel_values"] == {"a": 1}
    assert (tmp_path / "db").read_bytes() == before


@pytest.mark.parametrize("read_only", [False, True])
def test_a_newer_file_that_may_not_be_read_is_refused(tmp_path, read_only):
    newer(tmp_path / "db", readable=99)
    before = (tmp_path / "db").read_bytes()
    with pytest.raises(CheckpointStorageError, match=r"schemas up to 2; update the package$") as raised:
        SqliteSaver.from_conn_string(tmp_path / "db", read_only=read_only).setup()
    assert raised.value.reason == "newer"
    assert (tmp_path / "db").read_bytes() == before


def test_the_debugger_opens_a_newer_file_to_look_at(tmp_path):
    newer(tmp_path / "db", readable=1)
    saver, why = open_to_debug(str(tmp_path / "db"), read_only=False)
    with saver:
        assert saver.get_tuple(at("t")).checkpoint["channel_values"] == {"a": 1}
    assert why == "db was written by a newer version of this program."


def test_a_database_that_becomes_newer_while_it_is_open_is_not_written_any_more(open_saver):
    saver, other = open_saver(), open_saver()
    line = Line(saver, "t")
    line.put({"a": 1})
    with other.saver._store.database.write() as session:
        session.conn.run(Statement(update(tables.checkpoint_store).values(version=99)))
    with pytest.raises(CheckpointStorageError, match="brought to schema 99 by a newer version") as raised:
        line.put({"a": 2})
    assert raised.value.reason == "newer"
    assert saver.get_tuple(at("t")).checkpoint["channel_values"] == {"a": 1}


@pytest.mark.parametrize(("version", "said"), [("0", "says it has schema 0"), ("'one'", "does not say")])
def test_a_version_that_never_was_is_damage(old, version, said):
    sql(old, f"UPDATE checkpoint_store SET version = {version}")
    with pytest.raises(CheckpointStorageError, match=said) as raised:
        SqliteSaver.from_conn_string(old).setup()
    assert raised.value.reason == "corrupt"
