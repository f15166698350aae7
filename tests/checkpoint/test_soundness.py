"""`check` finds every change to a sound database that can be told from one: all tables, all columns, all rows."""

import json
import shutil
import sqlite3

import pytest
from langchain_core.messages import HumanMessage

from runtime.checkpoint.sql import tables
from runtime.checkpoint.sqlite import SqliteSaver
from tests.checkpoint.kit import Line, at

KEYS = ("thread_id", "checkpoint_ns", "checkpoint_id", "number")

# What rows could as well have been, so that no look at them can tell: the reasons, by table and column.
PLAUSIBLE = {
    ("checkpoint_store", "generation"): "it counts removals, and says nothing of what is there",
    ("checkpoints", "checkpoint_id"): "the newest one, with nothing stored under its id, may have any later id",
    ("checkpoints", "created_at"): "another time is a time; what is none is found",
    ("checkpoints", "parent_checkpoint_id"): "a keyframe that took nothing from its parent fits any older checkpoint",
    ("checkpoints", "metadata"): "further keys are the caller's; step and source are in columns too",
    ("checkpoints", "folded"): "what an edit took is the editor's to say",
    ("checkpoint_writes", "task_id"): "any name is a task's",
    ("checkpoint_writes", "task_path"): "any text is a path",
    ("checkpoint_writes", "channel"): "a write that became no state may be to any channel",
    ("checkpoint_writes", "idx"): "a task may leave indexes out",
    ("checkpoint_writes", "attempt"): "a task may write the rest in its next attempt",
    ("checkpoint_writes", "value"): "another value of the same kind is a value",
    ("checkpoint_values", "value"): "another value of the same kind is a value",
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """Threads with lists in slices, a fork, tasks tried again, an inner namespace, keyframes and deltas."""
    path = tmp_path_factory.mktemp("sound") / "sound.db"
    with SqliteSaver.from_conn_string(path) as saver:
        line = Line(saver, "t")
        for n in range(4):
            pairs = [("m", [HumanMessage(f"message {n}" * 9)]), ("n", n), ("none", None)]
            writes = [(f"task-{n}", "p", pairs)] if n else []
            line.put({"m": [*line.values.get("m", []), *pairs[0][1]], "n": n, "none": None, "own": (n,)}, writes=writes)
            saver.put_writes(line.config, [("__error__", "first")], f"tried-{n}")
            saver.put_writes(line.config, [("n", n)], f"tried-{n}")
        line.fork(list(line.expected)[1]).put({"n": 99, "own": 1}, source="update")
        inner = Line(saver, "t", ns="inner:1")
        inner.put({"x": 1})
        inner.put({"x": 2}, writes=[("a", "p", [("x", 2)])])
        assert list(saver.audit()) == []
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode=DELETE")
    connection.close()
    return path


def rows_of(path, table):
    """Each row's key, as columns and values."""
    columns = [column.name for column in table.primary_key]
    connection = sqlite3.connect(path)
    found = connection.execute(f"SELECT {', '.join(columns)} FROM {table.name}").fetchall()
    connection.close()
    return [dict(zip(columns, row, strict=True)) for row in found]


class Changing:
    """A copy of the sound database in memory, changed, looked at and put right again."""

    def __init__(self, sound) -> None:
        self.sound = sqlite3.connect(sound)
        self.connection = sqlite3.connect(":memory:", check_same_thread=False)
        self.sound.backup(self.connection)
        self.saver = SqliteSaver(self.connection)
        self.saver.setup()

    def findings(self, statement, values):
        """What `audit` says after one statement; None if there was nothing to change, or SQLite did not allow it."""
        self.connection.execute("BEGIN")
        try:
            changed = self.connection.execute(statement, values).rowcount
        except sqlite3.IntegrityError:
            return None
        finally:
            self.connection.execute("COMMIT")
        if not changed:
            return None
        try:
            return list(self.saver.audit())
        finally:
            self.connection.commit()
            self.sound.backup(self.connection)

    def close(self) -> None:
        self.saver.close()
        self.connection.close()
        self.sound.close()


@pytest.fixture
def changing(sound):
    made = Changing(sound)
    yield made
    made.close()


def where(key):
    return " AND ".join(f"{name} = ?" for name in key), list(key.values())


def changes(column):
    """SQL for values that a column might be changed to."""
    name = column.name
    if name in ("frame", "value"):
        return [f"substr({name}, 1, length({name}) - 1)", f"{name} || x'01'", "x'c1'", "x''", "x'dfffffffff'"]
    if name == "metadata":
        return ["'[]'", "'{'", "'{}'", f"json_set({name}, '$.step', 77)", f"json_set({name}, '$.source', 'fork')"]
    if name == "folded":
        return ["'x'", "'0-99'", "'7-'"]
    if name == "created_at":
        return ["'yesterday'", "'2026-13-01'"]
    if name == "type":
        return ["'pickle'", "'null'", "''", "'nonsense'"]
    if column.type.python_type is int:
        return [f"{name} + 1", f"{name} - 1", "99", "-99"]
    return [f"{name} || 'x'", "'zzz'", "''", "NULL"]


@pytest.mark.parametrize("table", tables.TABLES, ids=lambda table: table.name)
def test_a_change_to_any_column_is_found(table, sound, changing):
    missed = {}
    for column in table.c:
        for change in changes(column):
            for key in rows_of(sound, table):
                chosen, values = where(key)
                statement = f"UPDATE {table.name} SET {column.name} = {change} WHERE {chosen}"
                said = changing.findings(f"{statement} AND {column.name} IS NOT {change}", values)
                if said == []:
                    missed.setdefault(column.name, []).append((change, json.dumps(key)))
    unknown = {name: those for name, those in missed.items() if (table.name, name) not in PLAUSIBLE}
    assert {name: those[:2] for name, those in unknown.items()} == {}


def test_a_row_that_is_gone_is_found(sound, changing):
    missed = []
    for table in tables.TABLES:
        for key in rows_of(sound, table):
            chosen, values = where(key)
            if changing.findings(f"DELETE FROM {table.name} WHERE {chosen}", values) == []:
                missed.append((table.name, key))
    # What came last, and nobody built on, might never have been: a checkpoint without writes, a write nobody took.
    last = [("checkpoints", "inner:1"), ("checkpoint_writes", "")]
    assert [(name, key["checkpoint_ns"]) for name, key in missed] == last, missed


def test_a_row_too_many_is_found(sound, changing):
    missed = []
    for table in tables.TABLES[2:]:
        columns = [column.name for column in table.c]
        for key in rows_of(sound, table):
            chosen, values = where(key)
            for change in ({"checkpoint_id": "'nobody'"}, {"thread_id": "'nobody'"}, {"number": "number * 9 - 50"}):
                copied = ", ".join(change.get(name, name) for name in columns)
                statement = f"INSERT INTO {table.name} SELECT {copied} FROM {table.name} WHERE {chosen}"
                if changing.findings(statement, values) == []:
                    missed.append((table.name, key, change))
    assert missed == []


def test_what_is_removed_leaves_nothing_behind(sound, tmp_path):
    path = tmp_path / "removed.db"
    shutil.copy(sound, path)
    with SqliteSaver.from_conn_string(path) as saver:
        saver.copy_thread("t", "kept")
        saver.delete_thread("t")
        assert saver.get_tuple(at("t")) is None
        assert list(saver.audit()) == []
        preview = saver.preview_prune(["kept"])["kept"]
        assert preview[0] == saver.sizes("kept")
        saver.prune(["kept"])
        assert preview[1] == saver.sizes("kept")
        assert list(saver.audit()) == []
    connection = sqlite3.connect(path)
    for table in tables.TABLES[1:]:
        count = f"SELECT count(*) FROM {table.name} WHERE thread_id = 't'"
        assert connection.execute(count).fetchone() == (0,)
    connection.close()
