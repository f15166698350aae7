"""LangGraph's databases, imported: every checkpoint is the same, gone on from here, stored by what changed."""

import pytest
from langgraph.checkpoint.postgres import PostgresSaver as PeerPostgres
from langgraph.checkpoint.sqlite import SqliteSaver as PeerSqlite

from runtime.checkpoint.importing import Imported, import_threads
from runtime.checkpoint.langgraph import LangGraphSqliteReader, open_langgraph
from runtime.checkpoint.sqlite import SqliteSaver
from tests.checkpoint import recorded
from tests.checkpoint.kit import at


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


POINT = [("tests.checkpoint.things", "Point")]


def plain(value):
    """A value as text that is the same whichever side's classes, and whichever order of keys, it has."""
    if isinstance(value, dict):
        return "{" + ", ".join(sorted(f"{key!r}: {plain(item)}" for key, item in value.items())) + "}"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}[{', '.join(map(plain, value))}]"
    return repr(value).replace("runtime.types", "langgraph.types")


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
