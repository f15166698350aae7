"""A cache in an SQLite file, shared by processes that open the same one.

Rule 1: a namespace is stored as a list of names, never joined by a separator, so that any name will do.
Rule 2: what has expired is never returned; it is removed when something is stored.
Rule 3: values are decoded by the safe serializer: no pickle, no class that is not allowed.
"""

import asyncio
import json
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from threading import RLock

from runtime.cache.base import BaseCache, FullKey, Namespace, ValueT
from runtime.checkpoint import files
from runtime.checkpoint.errors import CheckpointStorageError
from runtime.checkpoint.serde import Serializer
from runtime.checkpoint.serde.base import SerializerProtocol

__all__ = ["SqliteCache"]

_CREATE = """
CREATE TABLE IF NOT EXISTS node_cache (
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    expires REAL,
    type TEXT NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (namespace, key)
) WITHOUT ROWID
"""
_GET = "SELECT type, value FROM node_cache WHERE namespace = ? AND key = ? AND (expires IS NULL OR expires > ?)"
_SET = "INSERT OR REPLACE INTO node_cache (namespace, key, expires, type, value) VALUES (?, ?, ?, ?, ?)"
_EXPIRE = "DELETE FROM node_cache WHERE expires <= ?"
_CLEAR = "DELETE FROM node_cache WHERE namespace = ?"
_CLEAR_ALL = "DELETE FROM node_cache"


class SqliteCache(BaseCache[ValueT]):
    """Keeps results of nodes in the SQLite file at `path` (`:memory:` for none), with an optional time to live.

    Usable from several threads and processes. The async methods run on worker threads.

    Raises:
        CheckpointStorageError: the file is not a cache, or cannot be read or written.
    """

    def __init__(
        self, path: str | PathLike[str], *, serde: SerializerProtocol | None = None, busy_timeout: float = 5.0
    ) -> None:
        super().__init__(serde=serde or Serializer())
        self._path = fspath(path)
        self._lock = RLock()
        if not files.is_memory(self._path):
            files.check(self._path, must_exist=False)
        with self._translated():
            self._connection = sqlite3.connect(
                self._path, timeout=busy_timeout, isolation_level=None, check_same_thread=False
            )
            self._prepare()

    def _prepare(self) -> None:
        """Create the table, unless the file is another program's."""
        query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        present = {row[0] for row in self._connection.execute(query)}
        if present and "node_cache" not in present:
            self._connection.close()
            raise CheckpointStorageError(
                f"the database {self._path!r} holds the tables of something else ({', '.join(sorted(present)[:5])}); "
                "it was left as it is; choose another file for the cache",
                "foreign",
            )
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.execute(_CREATE)

    def get(self, keys: Sequence[FullKey]) -> dict[FullKey, ValueT]:
        """Return what is stored under these keys and has not expired."""
        now = time.time()
        with self._lock, self._translated():
            rows = [(key, self._connection.execute(_GET, (*_row(key), now)).fetchone()) for key in keys]
        return {key: self.serde.loads_typed(row) for key, row in rows if row is not None}

    def set(self, pairs: Mapping[FullKey, tuple[ValueT, int | None]]) -> None:
        """Store values, each with its seconds to live, or None to keep it."""
        now = time.time()
        rows = [
            (*_row(key), None if ttl is None else now + ttl, *self.serde.dumps_typed(value))
            for key, (value, ttl) in pairs.items()
        ]
        with self._transaction() as connection:
            connection.execute(_EXPIRE, (now,))
            connection.executemany(_SET, rows)

    def clear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        """Remove what is stored in these namespaces; without any, everything."""
        with self._transaction() as connection:
            if namespaces is None:
                connection.execute(_CLEAR_ALL)
            else:
                connection.executemany(_CLEAR, [(_text(namespace),) for namespace in namespaces])

    async def aget(self, keys: Sequence[FullKey]) -> dict[FullKey, ValueT]:
        """`get`, without blocking the event loop."""
        return await asyncio.to_thread(self.get, keys)

    async def aset(self, pairs: Mapping[FullKey, tuple[ValueT, int | None]]) -> None:
        """`set`, without blocking the event loop."""
        await asyncio.to_thread(self.set, pairs)

    async def aclear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        """`clear`, without blocking the event loop."""
        await asyncio.to_thread(self.clear, namespaces)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def __del__(self) -> None:
        # Graphs have no end at which they could close their cache.
        connection = getattr(self, "_connection", None)
        if connection is not None:
            connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._translated():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.rollback()
                raise
            self._connection.execute("COMMIT")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise files.storage_error(f"the cache {self._path!r}", error) from error


def _text(namespace: Namespace) -> str:
    return json.dumps(list(namespace), ensure_ascii=True)


def _row(key: FullKey) -> tuple[str, str]:
    namespace, name = key
    return _text(namespace), name
