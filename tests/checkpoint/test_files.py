"""Files that are not ours, damaged, locked, read-only or newer: one clear error, and nothing written."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from runtime.checkpoint.errors import CheckpointStorageError
from runtime.checkpoint.sqlite import SqliteSaver
from tests.checkpoint.kit import Line, at, check


def make(path, steps=30):
    with SqliteSaver.from_conn_string(path) as saver:
        line = Line(saver, "t")
        for n in range(steps):
            line.put({"m": [*line.values.get("m", []), "x" * 500], "n": n})
    return line


def files_in(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def reason(path, **options):
    with pytest.raises(CheckpointStorageError) as raised, SqliteSaver.from_conn_string(path, **options) as saver:
        list(saver.list(None))
    assert Path(path).name in str(raised.value)
    return raised.value.reason


@pytest.mark.parametrize("content", [os.urandom(8192), b"hello, not a database\n" * 50, b"SQLite format 2\0 old"])
def test_a_file_that_is_no_database_is_left_alone(tmp_path, content):
    path = tmp_path / "other.db"
    path.write_bytes(content)
    assert reason(path) == "not_a_database"
    assert files_in(tmp_path) == {"other.db": content}


def test_a_file_with_the_right_beginning_and_nothing_else_is_refused(tmp_path):
    path = tmp_path / "other.db"
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    assert reason(path) in ("not_a_database", "corrupt")
    assert path.read_bytes() == b"SQLite format 3\0" + b"\xff" * 5000


def test_a_folder_is_no_database(tmp_path):
    assert reason(tmp_path) == "not_a_database"


def test_the_database_of_something_else_is_left_alone(tmp_path):
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE checkpoints (thread_id TEXT, checkpoint BLOB)")
    connection.commit()
    connection.close()
    before = files_in(tmp_path)
    assert reason(path) == "foreign"
    assert files_in(tmp_path) == before


def test_an_empty_file_becomes_a_database(tmp_path):
    path = tmp_path / "new.db"
    path.touch()
    check(SqliteSaver.from_conn_string(path), make(path, 3))


def test_a_damaged_file_is_reported_as_damaged(tmp_path):
    path = tmp_path / "db"
    make(path, 60)
    whole = path.read_bytes()
    path.write_bytes(whole[:8192] + os.urandom(len(whole) - 8192))
    assert reason(path) in ("corrupt", "not_a_database")


def test_a_damaged_row_names_the_checkpoint_and_leaves_the_others_readable(tmp_path):
    path = tmp_path / "db"
    line = make(path, 12)
    newest = line.id
    connection = sqlite3.connect(path)
    connection.execute("UPDATE checkpoints SET frame = x'c1' WHERE checkpoint_id = ?", (newest,))
    connection.commit()
    connection.close()
    with SqliteSaver.from_conn_string(path) as saver:
        with pytest.raises(CheckpointStorageError, match=newest) as raised:
            saver.get_tuple(at("t"))
        assert raised.value.reason == "corrupt"
        parent = saver.checkpoints("t")[0].parent
        assert saver.get_tuple(at("t", parent)).checkpoint["channel_values"]["n"] == 10


def test_waiting_for_a_locked_database_ends_in_a_clear_error(tmp_path):
    path = tmp_path / "db"
    line = make(path, 1)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with SqliteSaver.from_conn_string(path, busy_timeout=0.05) as saver:
        line.saver = saver
        with pytest.raises(CheckpointStorageError, match="locked for longer than the busy timeout") as raised:
            saver.put_writes(line.config, [("n", 1)], "task")
        assert raised.value.reason == "busy"
        assert saver.get_tuple(at("t")).checkpoint["channel_values"]["n"] == 0
        holder.execute("COMMIT")
        saver.put_writes(line.config, [("n", 1)], "task")
        assert saver.get_tuple(at("t")).pending_writes == [("task", "n", 1)]
    holder.close()


def test_a_full_disk_fails_the_step_and_keeps_what_was_there(tmp_path):
    connection = sqlite3.connect(tmp_path / "db", check_same_thread=False)
    with SqliteSaver(connection) as saver:
        line = Line(saver, "t")
        line.put({"m": ["fine"]})
        connection.execute("PRAGMA max_page_count = 20")
        with pytest.raises(CheckpointStorageError, match="full") as raised:
            line.put({"m": ["x" * 1_000_000]})
        assert raised.value.reason == "full"
        assert saver.get_tuple(at("t")).checkpoint["channel_values"]["m"] == ["fine"]
        connection.execute("PRAGMA max_page_count = 100000")
        again = line.fork(next(iter(line.expected)))
        again.put({"m": ["fine", "again"]})
        assert saver.get_tuple(at("t")).checkpoint["channel_values"]["m"] == ["fine", "again"]
    connection.close()


def test_reading_only_creates_nothing_and_refuses_to_write(tmp_path):
    path = tmp_path / "db"
    line = make(path)
    os.chmod(path, 0o444)
    os.chmod(tmp_path, 0o555)
    before = files_in(tmp_path)
    with SqliteSaver.from_conn_string(path, read_only=True) as saver:
        check(saver, line)
        with pytest.raises(CheckpointStorageError, match="opened read-only") as raised:
            saver.put_writes(line.config, [("n", 1)], "task")
        assert raised.value.reason == "read_only"
        assert files_in(tmp_path) == before
    os.chmod(tmp_path, 0o755)
    assert files_in(tmp_path) == before


def test_reading_only_sees_what_a_writer_does_meanwhile(tmp_path):
    path = tmp_path / "db"
    make(path)
    with SqliteSaver.from_conn_string(path, read_only=True) as reader:
        assert len(list(reader.list(at("t")))) == 30
        with SqliteSaver.from_conn_string(path) as writer:
            line = Line(writer, "another")
            line.put({"m": ["new"]})
            check(reader, line)
            line.put({"m": ["newer"]})
            check(reader, line)


def test_a_file_that_is_not_there_cannot_be_read(tmp_path):
    assert reason(tmp_path / "absent.db", read_only=True) == "missing"
    assert list(tmp_path.iterdir()) == []
    assert reason(tmp_path / "no folder" / "absent.db") == "unavailable"


def test_a_closed_saver_says_so(tmp_path):
    with SqliteSaver.from_conn_string(tmp_path / "db") as saver:
        pass
    with pytest.raises(CheckpointStorageError, match="was closed") as raised:
        saver.get_tuple(at("t"))
    assert raised.value.reason == "closed"


def test_the_synchronous_level_is_one_of_sqlites(tmp_path):
    with pytest.raises(ValueError, match="synchronous is 'SOMETIMES'"):
        SqliteSaver.from_conn_string(tmp_path / "db", synchronous="SOMETIMES")
    for level, number in ("OFF", 0), ("NORMAL", 1), ("FULL", 2):
        connection = sqlite3.connect(":memory:", check_same_thread=False)
        saver = SqliteSaver(connection)
        saver._store.database.synchronous = level
        saver.setup()
        assert connection.execute("PRAGMA synchronous").fetchone()[0] == number
        connection.close()


def test_the_core_does_not_load_the_database_layer():
    code = "import sys, runtime.checkpoint, runtime.cache.sqlite; print('sqlalchemy' in sys.modules)"
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=True)
    assert done.stdout.strip() == "False"


def test_the_newest_damaged_checkpoint_does_not_hide_what_can_be_read(tmp_path):
    line = make(tmp_path / "db", steps=6)
    ids = list(line.expected)
    lead_round(tmp_path / "db", ids[-1], ids[-1])
    with SqliteSaver.from_conn_string(tmp_path / "db") as saver:
        with pytest.raises(CheckpointStorageError, match="round in a circle") as raised:
            saver.get_tuple(at("t"))
        assert raised.value.reason == "corrupt"
        assert ids[-1] in str(raised.value)
        assert saver.get_tuple(at("t", ids[-2])).checkpoint["id"] == ids[-2]


@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize("face", ["get_tuple", "list", "outline", "channel_bytes", "put", "prune"])
def test_parents_that_lead_round_in_a_circle_are_an_error_and_no_endless_loop(tmp_path, length, face):
    line = make(tmp_path / "db", steps=6)
    first, last = list(line.expected)[-length], list(line.expected)[-1]
    lead_round(tmp_path / "db", first, last)
    calls = {
        "get_tuple": lambda saver: saver.get_tuple(at("t", first)),
        "list": lambda saver: list(saver.list(at("t"))),
        "outline": lambda saver: saver.outline(at("t", first)),
        "channel_bytes": lambda saver: saver.channel_bytes(at("t", first)),
        "put": lambda saver: Line.put(other(saver, line), {"n": 1}),
        "prune": lambda saver: saver.prune(["t"]),
    }
    with SqliteSaver.from_conn_string(tmp_path / "db") as saver:
        with pytest.raises(CheckpointStorageError, match="round in a circle") as raised:
            calls[face](saver)
        assert raised.value.reason == "corrupt"
        assert len(saver.checkpoints("t")) == 6


def lead_round(path, first, last):
    """Damage a file: make the last checkpoint the parent of the first, and all between them deltas."""
    connection = sqlite3.connect(path)
    connection.execute("UPDATE checkpoints SET parent_checkpoint_id = ? WHERE checkpoint_id = ?", (last, first))
    connection.execute("UPDATE checkpoints SET keyframe = 0 WHERE checkpoint_id BETWEEN ? AND ?", (first, last))
    connection.commit()
    connection.close()


def other(saver, line):
    """A line on another saver that goes on from the newest checkpoint."""
    fork = line.fork(line.id)
    fork.saver = saver
    return fork
