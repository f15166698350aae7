"""PostgreSQL databases of `langgraph-checkpoint-postgres`, of all its versions but the shallow saver's.

Rule 1: transactions are read-only, and each sees one state of the database.
Rule 2: a blob that several checkpoints of a page share is sent once.
"""

import copy
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Self

from sqlalchemy import URL, Engine, inspect, make_url, text
from sqlalchemy.exc import ArgumentError

from runtime.checkpoint.base import SerializerProtocol
from runtime.checkpoint.errors import CheckpointStorageError
from runtime.checkpoint.langgraph.reader import KeyRow, LangGraphReader, Look
from runtime.checkpoint.langgraph.stored import Encoded, Key, Stored, StoredWrite, in_order
from runtime.checkpoint.sql.postgres_db import PostgresDatabase
from runtime.checkpoint.sql.statements import Conn, Statement

_TABLES = {
    "checkpoints": "thread_id checkpoint_ns checkpoint_id parent_checkpoint_id checkpoint metadata",
    "checkpoint_blobs": "thread_id checkpoint_ns channel version type blob",
    "checkpoint_writes": "thread_id checkpoint_ns checkpoint_id task_id idx channel type blob",
}
_CONDITIONS = {
    "thread_id": "thread_id = :thread_id",
    "checkpoint_ns": "checkpoint_ns = :checkpoint_ns",
    "checkpoint_id": "checkpoint_id = :checkpoint_id",
    "before": "checkpoint_id < :before",
}
_BUSY_TIMEOUT = 5.0  # seconds to wait for who is changing the tables themselves; nobody else locks readers out

_PAGE = (
    "(SELECT * FROM unnest(CAST(:threads AS text[]), CAST(:spaces AS text[]), CAST(:ids AS text[])) "
    "AS k(thread_id, checkpoint_ns, checkpoint_id)) AS k"
)
_KEY = "(thread_id, checkpoint_ns, checkpoint_id)"
_PARAMETERS = "threads spaces ids"

_CHECKPOINTS = Statement(
    text(
        "SELECT thread_id, checkpoint_ns, checkpoint_id, c.parent_checkpoint_id, c.checkpoint, c.metadata "
        f"FROM {_PAGE} JOIN checkpoints AS c USING {_KEY}"
    ),
    _PARAMETERS,
)
_BLOBS = Statement(
    text(
        "SELECT b.thread_id, b.checkpoint_ns, b.channel, b.version, b.type, b.blob FROM "
        "(SELECT DISTINCT thread_id, checkpoint_ns, v.key AS channel, v.value AS version "
        f"FROM {_PAGE} JOIN checkpoints AS c USING {_KEY} "
        "CROSS JOIN LATERAL jsonb_each_text(c.checkpoint -> 'channel_versions') AS v) AS wanted "
        "JOIN checkpoint_blobs AS b USING (thread_id, checkpoint_ns, channel, version)"
    ),
    _PARAMETERS,
)
_THREADS = Statement(text('SELECT DISTINCT thread_id COLLATE "C" AS thread_id FROM checkpoints ORDER BY thread_id'))
_LINEAGE = Statement(
    text(
        "SELECT checkpoint_ns, checkpoint_id, parent_checkpoint_id FROM checkpoints WHERE thread_id = :thread_id "
        'ORDER BY checkpoint_ns COLLATE "C", checkpoint_id COLLATE "C"'
    ),
    "thread_id",
)


class LangGraphPostgresReader(LangGraphReader):
    """The checkpoints in a database that `langgraph-checkpoint-postgres` wrote. It reads, and refuses to write.

    The URL is `postgresql://...`, with `+psycopg` or without. Databases of versions that had no `task_path` yet are
    read too. Close it, or use it as a context manager, to give its connections back.

    Raises:
        CheckpointStorageError: there is no connection, or the tables are not LangGraph's.
    """

    def __init__(self, url: str, *, serde: SerializerProtocol | None = None) -> None:
        super().__init__(serde=serde)
        self._database = _Tables(_parsed(url), busy_timeout=_BUSY_TIMEOUT, read_only=True)
        self._database.open()

    @property
    def name(self) -> str:
        """The URL, without its password."""
        return self._database.name

    def close(self) -> None:
        """Close every connection."""
        self._database.close()

    def data_version(self) -> Hashable:
        """Something that is different once anybody has written to the database, or to one beside it."""
        return self._database.changes()

    def _with(self, serde: SerializerProtocol) -> Self:
        clone = copy.copy(self)
        clone.serde = serde
        return clone

    @contextmanager
    def _look(self) -> Iterator[Look]:
        with self._database.read() as session:
            yield _PostgresLook(session.conn, self._database.has_task_path)


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError:
        parsed = None
    if parsed is None or parsed.get_backend_name() != "postgresql":
        raise CheckpointStorageError("the address of a database begins with postgresql:// and names it")
    return parsed


class _Tables(PostgresDatabase):
    """The connections to such a database."""

    has_task_path = False

    def _setup(self, engine: Engine) -> None:
        with engine.connect() as connection:
            inspector = inspect(connection)
            present = set(inspector.get_table_names())
            for table, needed in _TABLES.items():
                columns = {column["name"] for column in inspector.get_columns(table)} if table in present else set()
                if missing := set(needed.split()) - columns:
                    raise CheckpointStorageError(
                        f"{self.name} is not a checkpoint database of LangGraph: its table {table!r} is missing or "
                        f"has no {', '.join(sorted(missing))}",
                        "foreign",
                    )
            self.has_task_path = "task_path" in columns


class _PostgresLook:
    def __init__(self, conn: Conn, has_task_path: bool) -> None:
        self._conn = conn
        self._has_task_path = has_task_path

    def keys(self, wanted: Mapping[str, Any], limit: int | None) -> Sequence[KeyRow]:
        chosen = {name: value for name, value in wanted.items() if value is not None}
        rows: list[Any] = self._conn.rows(_keys(tuple(chosen)), *chosen.values(), limit)
        return rows

    def read(self, keys: Sequence[Key]) -> Iterator[Stored]:
        page = [[*column] for column in zip(*keys, strict=True)] or [[], [], []]
        checkpoints = {row[:3]: row[3:] for row in self._conn.rows(_CHECKPOINTS, *page)}
        blobs: dict[tuple[str, str, str, str], Encoded] = {}
        for *address, tag, blob in self._conn.rows(_BLOBS, *page):
            blobs[address[0], address[1], address[2], address[3]] = tag, blob
        written: dict[Key, list[StoredWrite]] = {}
        for thread_id, ns, checkpoint_id, *write in self._conn.rows(_written(self._has_task_path), *page):
            written.setdefault((thread_id, ns, checkpoint_id), []).append(StoredWrite(*write))
        for key in keys:
            if key in checkpoints:
                parent, checkpoint, metadata = checkpoints[key]
                versions = (checkpoint.get("channel_versions") or {}).items()
                places = {channel: (*key[:2], channel, str(version)) for channel, version in versions}
                mine = {channel: blobs[place] for channel, place in places.items() if place in blobs}
                yield Stored(key, parent or None, checkpoint, mine, metadata, written.get(key, []))

    def writes(self, key: Key, channel: str) -> Sequence[StoredWrite]:
        rows = self._conn.rows(_written(self._has_task_path), *([part] for part in key))
        found = [StoredWrite(*row[3:]) for row in rows]
        return in_order(write for write in found if write.channel == channel)

    def threads(self) -> Sequence[str]:
        return [row[0] for row in self._conn.rows(_THREADS)]

    def lineage(self, thread_id: str) -> Sequence[tuple[str, str, str | None]]:
        return [(row[0], row[1], row[2] or None) for row in self._conn.rows(_LINEAGE, thread_id)]


@lru_cache
def _keys(limited_by: tuple[str, ...]) -> Statement:
    where = " AND ".join(_CONDITIONS[name] for name in limited_by)
    return Statement(
        text(
            f"SELECT thread_id, checkpoint_ns, checkpoint_id, metadata FROM checkpoints {'WHERE ' if where else ''}"
            f"{where} ORDER BY checkpoint_id DESC, thread_id DESC, checkpoint_ns DESC LIMIT CAST(:at_most AS bigint)"
        ),
        " ".join((*limited_by, "at_most")),
    )


@lru_cache
def _written(has_task_path: bool) -> Statement:
    path = "w.task_path" if has_task_path else "''"
    return Statement(
        text(
            f"SELECT thread_id, checkpoint_ns, checkpoint_id, w.task_id, {path}, w.idx, w.channel, w.type, w.blob "
            f"FROM {_PAGE} JOIN checkpoint_writes AS w USING {_KEY}"
        ),
        _PARAMETERS,
    )
