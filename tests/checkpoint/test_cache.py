"""The node cache in an SQLite file."""

import asyncio
import pickle
import sqlite3
import time

import pytest

from runtime.cache.sqlite import SqliteCache
from runtime.checkpoint.errors import CheckpointStorageError
from tests.checkpoint.things import Point

NAMES = [("a,b", "c"), ("a", "b,c"), ("a:b|c", "d"), ('quo"te', "'"), (), ("",), ("", "")]


@pytest.fixture(params=["sync", "async"])
def call(request):
    def plain(cache, name, *arguments):
        return getattr(cache, name)(*arguments)

    def through_async(cache, name, *arguments):
        return asyncio.run(getattr(cache, f"a{name}")(*arguments))

    return plain if request.param == "sync" else through_async


def test_names_of_any_kind_are_kept_apart(tmp_path, call):
    cache = SqliteCache(tmp_path / "cache.db")
    call(cache, "set", {(ns, "key"): (list(ns), None) for ns in NAMES})
    keys = [(ns, "key") for ns in NAMES]
    assert call(cache, "get", keys) == {(ns, "key"): list(ns) for ns in NAMES}
    call(cache, "clear", [NAMES[0]])
    assert call(cache, "get", keys[:2]) == {keys[1]: list(NAMES[1])}
    call(cache, "clear")
    assert call(cache, "get", keys) == {}
    cache.close()


def test_values_expire(tmp_path, call, monkeypatch):
    cache = SqliteCache(tmp_path / "cache.db")
    key = (("node",), "key")
    call(cache, "set", {key: ("value", 60)})
    assert call(cache, "get", [key]) == {key: "value"}
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 61)
    assert call(cache, "get", [key]) == {}
    call(cache, "set", {(("other",), "key"): (1, None)})
    monkeypatch.setattr(time, "time", lambda: now)
    assert call(cache, "get", [key]) == {}, "expired values are removed when something is stored"
    cache.close()


def test_another_process_finds_what_was_stored(tmp_path, call):
    first = SqliteCache(path=str(tmp_path / "cache.db"))
    key = (("node",), "key")
    call(first, "set", {key: ({"t": (1, 2)}, None)})
    second = SqliteCache(path=str(tmp_path / "cache.db"))
    assert call(second, "get", [key]) == {key: {"t": (1, 2)}}
    first.close()
    second.close()


def test_pickles_in_the_file_are_not_executed_and_unknown_classes_not_imported(tmp_path):
    path = tmp_path / "cache.db"
    cache = SqliteCache(path)
    key = (("node",), "key")
    cache.set({key: (Point(1), None)})
    assert type(cache.get([key])[key]).__name__ == "Opaque"
    connection = sqlite3.connect(path)
    connection.execute("UPDATE node_cache SET type = 'pickle', value = ?", (pickle.dumps([1]),))
    connection.commit()
    connection.close()
    with pytest.raises(ValueError, match="pickle"):
        cache.get([key])
    cache.close()


def test_a_file_of_something_else_is_left_alone(tmp_path):
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (x)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(CheckpointStorageError, match="theirs"):
        SqliteCache(path)
    assert path.read_bytes() == before
    text = tmp_path / "text.db"
    text.write_text("not a database at all")
    with pytest.raises(CheckpointStorageError, match="not an SQLite database"):
        SqliteCache(text)
    assert text.read_text() == "not a database at all"
