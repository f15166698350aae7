"""A disk that is full, a file that is gone, locked or read-only: one clear error, nothing half, and on it goes.

All of it to a graph that runs, through both faces: the error comes out of the run, what was saved before stays
readable meanwhile, and the thread goes on from there.
"""

import asyncio
import json
import os
import re
import sqlite3
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from runtime.checkpoint.errors import CheckpointStorageError
from runtime.checkpoint.sqlite import SqliteSaver
from runtime.checkpoint.sqlite.aio import AsyncSqliteSaver
from tests.checkpoint.kit import Line, at
from tests.kit.faces import Face
from tests.kit.graphs import chain, thread

ROOT = Path(__file__).parents[2]
BIG = "x" * 3_000_000


@contextmanager
def full(path, saver):
    """The database may not grow: what SQLite says of a full disk."""
    connection = saver._store.database._connection
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    yield
    connection.execute("PRAGMA max_page_count = 1000000")


@contextmanager
def at_a_limit(path, saver):
    """No file of this process may be longer than a megabyte."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def gone(path, saver):
    """The file is moved away while it is open, and comes back."""
    path.rename(path.with_name("elsewhere"))
    yield
    path.with_name("elsewhere").rename(path)


@contextmanager
def replaced(path, saver):
    """Another file takes its place while it is open."""
    path.rename(path.with_name("elsewhere"))
    path.write_bytes(path.with_name("elsewhere").read_bytes())
    yield
    path.with_name("elsewhere").replace(path)


@contextmanager
def locked(path, saver):
    """Another process is in the middle of a transaction."""
    holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    yield
    holder.execute("COMMIT")
    holder.close()


TROUBLES = {
    full: ("full", "the disk is full; make room and try again"),
    at_a_limit: ("unavailable", "look at its disk"),
    gone: ("missing", "was removed, moved or replaced while it was open"),
    replaced: ("missing", "was removed, moved or replaced while it was open"),
    locked: ("busy", "has kept it locked for longer than the busy timeout"),
}
if sys.platform == "win32":  # where an open file cannot be moved, and has no limit
    TROUBLES = {full: TROUBLES[full], locked: TROUBLES[locked]}


@pytest.fixture(params=["sync", "async"])
def face(request):
    return Face(request.param == "async")


@pytest.fixture
def saver(face, tmp_path):
    kind = AsyncSqliteSaver if face.is_async else SqliteSaver
    with kind.from_conn_string(tmp_path / "agent.db", busy_timeout=0.05) as saver:
        yield saver


@pytest.mark.parametrize("durability", ["sync", "async"])
@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda trouble: trouble.__name__)
def test_a_run_in_trouble_ends_in_one_error_and_goes_on_when_it_is_mended(saver, face, trouble, durability, tmp_path):
    inside = []

    def breaks(state):
        inside.append(trouble(tmp_path / "agent.db", saver))
        if len(inside) == 1:
            inside[0].__enter__()
        return {"value": BIG}

    graph = chain("one", "two", "three", two=breaks).compile(checkpointer=saver)
    reason, said = TROUBLES[trouble]
    with pytest.raises(CheckpointStorageError, match=re.escape(said)) as raised:
        face(graph, {"log": []}, thread(), durability=durability)
    assert raised.value.reason == reason
    assert "agent.db'" in str(raised.value)

    before = face.state(graph, thread())
    if durability == "sync":
        assert (before.values["log"], before.next) == (["one"], ("two",))
    else:  # saved behind the run, which may have come to the trouble sooner
        assert before.values.get("log", []) in ([], ["one"])

    inside[0].__exit__(None, None, None)
    given = None if before.created_at else {"log": []}
    result = face(graph, given, thread(), durability=durability)
    assert (result["log"], result["value"] == BIG) == (["one", "three"], True)
    assert len(inside) == 2
    assert list(saver.audit()) == []


def test_a_file_cut_short_is_said_to_be_damaged_and_left_as_it_is(tmp_path, face):
    path = tmp_path / "agent.db"
    with SqliteSaver.from_conn_string(path) as saver:
        line = Line(saver, "t")
        for n in range(40):
            line.put({"n": n, "text": os.urandom(2000)})
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    saver = SqliteSaver.from_conn_string(path, read_only=True)
    with pytest.raises(CheckpointStorageError, match="damaged; restore it from a copy") as raised, saver:
        face.call(Listing(saver), "list")
    assert raised.value.reason == "corrupt"
    assert path.read_bytes() == whole[: len(whole) // 2]
    path.write_bytes(whole)
    with SqliteSaver.from_conn_string(path) as saver:
        assert face.call(saver, "get_tuple", at("t")).checkpoint["channel_values"]["n"] == 39


def test_a_node_that_changes_the_folder_does_not_lose_the_database(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with SqliteSaver.from_conn_string("agent.db") as saver:
        line = Line(saver, "t")
        line.put({"n": 1})
        with SqliteSaver.from_conn_string("agent.db", read_only=True) as looking:
            monkeypatch.chdir(elsewhere)
            line.put({"n": 2})
            assert looking.get_tuple(at("t")).checkpoint["channel_values"] == {"n": 2}
    assert list(elsewhere.iterdir()) == []


class Listing:
    """A saver's whole list, through either face."""

    def __init__(self, saver):
        self.saver = saver

    def list(self):
        return list(self.saver.list(None))

    async def alist(self):
        return [item async for item in self.saver.alist(None)]


def test_a_writer_waits_for_another_process_as_long_as_it_was_told(tmp_path, face):
    path = tmp_path / "agent.db"
    with SqliteSaver.from_conn_string(path) as saver:
        line = Line(saver, "t")
        line.put({"n": 1})
        holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        holder.execute("BEGIN IMMEDIATE")

        async def both():
            putting = asyncio.ensure_future(asyncio.to_thread(face.call, saver, "put_writes", line.config, *WRITES))
            for _ in range(200):
                await asyncio.sleep(0)
            waits = not putting.done()
            holder.execute("COMMIT")
            await putting
            return waits

        assert asyncio.run(both())
        holder.close()
        assert saver.get_tuple(at("t")).pending_writes == [("task", "n", 2)]


WRITES = ([("n", 2)], "task")

NOBODY = """
import asyncio, json, os, sys
from runtime.checkpoint.errors import CheckpointStorageError
from runtime.checkpoint.sqlite import SqliteSaver
from runtime.checkpoint.sqlite.aio import AsyncSqliteSaver
from tests.checkpoint.kit import at
path = sys.argv[1]
if os.geteuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)

def blocking():
    with SqliteSaver.from_conn_string(path) as saver:
        saver.put_writes(at("t", sys.argv[2]), [("n", 1)], "task")

async def awaiting():
    async with AsyncSqliteSaver.from_conn_string(path) as saver:
        await saver.aput_writes(at("t", sys.argv[2]), [("n", 1)], "task")

told = []
for write in blocking, lambda: asyncio.run(awaiting()):
    try:
        write()
    except CheckpointStorageError as error:
        told.append([error.reason, str(error)])
with SqliteSaver.from_conn_string(path, read_only=True) as saver:
    told.append(saver.get_tuple(at("t")).checkpoint["channel_values"])
print(json.dumps(told))
"""


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="Windows has no modes of files")
@pytest.mark.parametrize(("file", "folder"), [(0o444, 0o777), (0o666, 0o555)], ids=["file", "folder"])
def test_a_file_or_folder_that_may_not_be_written_is_named_and_can_be_read(tmp_path_factory, tmp_path, file, folder):
    with SqliteSaver.from_conn_string(tmp_path / "agent.db") as saver:
        line = Line(saver, "t")
        line.put({"n": 0})
    for parent in (tmp_path, *tmp_path.parents):  # up to what is open to everybody: root becomes nobody for this
        if parent == Path("/") or parent.stat().st_mode & 0o001:
            break
        parent.chmod(parent.stat().st_mode | 0o011)
    (tmp_path / "agent.db").chmod(file)
    tmp_path.chmod(folder)
    command = [sys.executable, "-c", NOBODY, str(tmp_path / "agent.db"), line.id]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    tmp_path.chmod(0o755)
    assert done.returncode == 0, done.stderr
    *refused, values = json.loads(done.stdout)
    assert [reason for reason, _ in refused] == ["read_only", "read_only"]
    assert all("agent.db'" in said and "cannot be written" in said for _, said in refused)
    assert values == {"n": 0}
