"""The writer thread: what is handed over to it, in which order it lands, and whose trouble is whose."""

import asyncio
import sqlite3
from contextlib import contextmanager

import pytest

from runtime.checkpoint.errors import CheckpointStorageError
from runtime.checkpoint.ids import next_checkpoint_id
from runtime.checkpoint.sql import AsyncSqlSaver, SqlSaver
from tests.checkpoint.conftest import ON_EACH_FACE
from tests.checkpoint.kit import Line, at, check, checkpoint


@contextmanager
def held(saver, kind, path):
    """Another process in the middle of a transaction on the thread: the whole file, or its lock on PostgreSQL."""
    if kind == "sqlite":
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        yield lambda: holder.execute("COMMIT")
        holder.close()
        return
    with SqlSaver(saver._store.database.url.render_as_string(hide_password=False)) as other:
        session = other._store.database.write()
        session.begin()
        session.lock({"t"})
        yield lambda: session.end(commit=True)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_the_event_loop_goes_on_while_another_process_holds_the_database(tmp_path, kind, request):
    path = tmp_path / "held.db"
    url = request.getfixturevalue("postgres_schema") if kind == "postgres" else f"sqlite:///{path}"
    with AsyncSqlSaver(url, busy_timeout=120) as saver:
        line = Line(saver, "t")
        line.put({"a": 1})

        async def both(release):
            putting = asyncio.ensure_future(saver.aput_writes(line.config, [("a", 2)], "task"))
            ticks = 0
            while not putting.done() and ticks < 1000:
                await asyncio.sleep(0)
                ticks += 1
            release()
            await putting
            return ticks

        with held(saver, kind, path) as release:
            assert asyncio.run(both(release)) == 1000
        assert saver.get_tuple(line.config).pending_writes == [("task", "a", 2)]


@ON_EACH_FACE
def test_many_async_writers_at_once_lose_nothing(open_saver):
    face = open_saver()
    line = Line(face, "t")
    line.put({"a": 1})

    async def all_of_them():
        puts = [face.saver.aput_writes(line.config, [("a", n)], f"task-{n:03}", f"{n:03}") for n in range(100)]
        await asyncio.gather(*puts)
        return await face.saver.aget_tuple(line.config)

    found = asyncio.run(all_of_them())
    assert [value for _, _, value in found.pending_writes] == list(range(100))


@ON_EACH_FACE
def test_one_bad_step_among_many_waiting_together_fails_alone(open_saver):
    face = open_saver()
    stored = checkpoint(next_checkpoint_id(), {"a": 1}, {"a": 1})
    face.put(at("taken"), stored, {"source": "input", "step": -1}, {"a": 1})

    async def together():
        puts = [
            face.saver.aput(at(thread), {**stored, "ts": "later"}, {"source": "input", "step": -1}, {"a": 1})
            for thread in ("x", "taken", "y")
        ]
        return await asyncio.gather(*puts, return_exceptions=True)

    results = asyncio.run(together())
    assert [type(result).__name__ for result in results] == ["dict", "CheckpointStorageError", "dict"]
    assert face.get_tuple(at("y")).checkpoint["channel_values"] == {"a": 1}


class Submitting:
    """A saver whose steps are handed over instead of waited for."""

    def __init__(self, saver):
        self.saver = saver
        self.futures = []

    def put_step(self, config, stored, metadata, new, writes):
        self.futures.append(self.saver.submit_step(config, stored, metadata, new, writes))
        stored["channel_versions"].clear()
        stored["versions_seen"].clear()
        stored["channel_values"].clear()
        return at(config["configurable"]["thread_id"], stored["id"])


@ON_EACH_FACE
def test_steps_handed_over_land_in_order_and_are_seen_by_whoever_reads_next(open_saver):
    face = open_saver()
    line = Line(Submitting(face.saver), "t")
    for n in range(50):
        writes = [(f"t{n}", "p", [("m", [n])])] if n else []
        line.put({"m": [*line.values.get("m", []), n]}, writes=writes)
    assert face.get_tuple(at("t")).checkpoint["channel_values"]["m"] == list(range(50))
    check(face, line)
    assert all(future.done() for future in line.saver.futures)


@ON_EACH_FACE
def test_trouble_with_what_was_handed_over_is_told_by_its_future(open_saver):
    face = open_saver()
    line = Line(face, "t")
    line.put({"a": 1})
    taken = checkpoint(line.id, {"a": 9}, {"a": 9})
    future = face.saver.submit_step(at("t"), {**taken, "ts": "another"}, {"source": "loop"}, {"a": 9})
    face.saver.flush()
    with pytest.raises(CheckpointStorageError, match="never overwritten"):
        future.result()
    assert face.get_tuple(at("t")).checkpoint["channel_values"] == {"a": 1}
    later = face.saver.submit_writes(line.config, [("a", 2)], "task")
    later.result()
    assert face.get_tuple(at("t")).pending_writes == [("task", "a", 2)]
