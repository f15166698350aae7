"""SQLite files of `langgraph-checkpoint-sqlite`, of all its versions.

Rule: each look opens the file anew and closes it, and makes no side files next to it.
"""

import sqlite3
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from os import PathLike, fspath
from typing import Any, Self

from runtime.checkpoint import files
from runtime.checkpoint.base import SerializerProtocol
from runtime.checkpoint.errors import CheckpointStorageError
from runtime.checkpoint.langgraph.reader import KeyRow, LangGraphReader, Look
from runtime.checkpoint.langgraph.stored import Key, Stored, StoredWrite, in_order

_COLUMNS = {
    "checkpoints": {
        "thread_id",
        "checkpoint_ns",
        "checkpoint_id",
        "parent_checkpoint_id",
        "type",
        "checkpoint",
        "metadata",
    },
    "writes": {"thread_id", "checkpoint_ns", "checkpoint_id", "task_id", "idx", "channel", "type", "value"},
}
_CONDITIONS = {
    "thread_id": "thread_id = ?",
    "checkpoint_ns": "checkpoint_ns = ?",
    "checkpoint_id": "checkpoint_id = ?",
    "before": "checkpoint_id < ?",
}


class LangGraphSqliteReader(LangGraphReader):
    """The checkpoints in a file that `langgraph-checkpoint-sqlite` wrote. It reads, and refuses to write.

    Files of versions that had no `task_path` yet are read too. There is nothing to close.

    Raises:
        CheckpointStorageError: the file is not there, is no SQLite database, or holds other tables.
    """

    def __init__(self, path: str | PathLike[str], *, serde: SerializerProtocol | None = None) -> None:
        super().__init__(serde=serde)
        self.path = fspath(path)
        self._at = files.fixed(self.path)
        with self._look():
            pass

    @property
    def name(self) -> str:
        """The path, quoted."""
        return repr(self.path)

    def data_version(self) -> Hashable:
        """Something that is different once anybody has written to the file. Asking reads a few bytes of it.

        A file that was written a moment ago may be written again without its times showing it, so until it has
        been left alone for a moment every answer is different.
        """
        files.check(self._at, must_exist=True)
        return files.stamp(self._at)

    def _with(self, serde: SerializerProtocol) -> Self:
        return type(self)(self._at, serde=serde)

    @contextmanager
    def _look(self) -> Iterator[Look]:
        files.check(self._at, must_exist=True)
        # Where nobody is writing, SQLite is told so, and makes no side files.
        mode = "?mode=ro" if files.has_wal(self._at) else "?mode=ro&immutable=1"
        try:
            with closing(sqlite3.connect(files.uri(self._at) + mode, uri=True, check_same_thread=False)) as connection:
                connection.execute("BEGIN")
                yield _SqliteLook(connection, self.name)
        except sqlite3.Error as error:
            raise files.storage_error(f"the checkpoint file {self.name}", error) from error


class _SqliteLook:
    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self._connection = connection
        columns = {table: self._columns(table) for table in _COLUMNS}
        for table, needed in _COLUMNS.items():
            if missing := needed - columns[table]:
                raise CheckpointStorageError(
                    f"{name} is not a checkpoint file of LangGraph: its table {table!r} is missing or has no "
                    f"{', '.join(sorted(missing))}",
                    "foreign",
                )
        # Not text from the file: one of two constants.
        path = "task_path" if "task_path" in columns["writes"] else "''"
        self._writes = (
            f"SELECT task_id, {path}, idx, channel, type, value FROM writes "
            "WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?"
        )

    def keys(self, wanted: Mapping[str, Any], limit: int | None) -> Sequence[KeyRow]:
        chosen = {_CONDITIONS[name]: value for name, value in wanted.items() if value is not None}
        where = f"WHERE {' AND '.join(chosen)} " if chosen else ""
        query = (
            f"SELECT thread_id, checkpoint_ns, checkpoint_id, metadata FROM checkpoints {where}"
            "ORDER BY checkpoint_id DESC, thread_id DESC, checkpoint_ns DESC LIMIT ?"
        )
        return self._rows(query, *chosen.values(), -1 if limit is None else limit)

    def read(self, keys: Sequence[Key]) -> Iterator[Stored]:
        query = (
            "SELECT parent_checkpoint_id, type, checkpoint, metadata FROM checkpoints "
            "WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?"
        )
        for key in keys:
            for parent, tag, data, metadata in self._rows(query, *key):
                writes = [StoredWrite(*row) for row in self._rows(self._writes, *key)]
                yield Stored(key, parent or None, (tag, data), {}, metadata, writes)

    def writes(self, key: Key, channel: str) -> Sequence[StoredWrite]:
        return in_order(StoredWrite(*row) for row in self._rows(f"{self._writes} AND channel = ?", *key, channel))

    def threads(self) -> Sequence[str]:
        return [row[0] for row in self._rows("SELECT DISTINCT thread_id FROM checkpoints ORDER BY thread_id")]

    def lineage(self, thread_id: str) -> Sequence[tuple[str, str, str | None]]:
        query = (
            "SELECT checkpoint_ns, checkpoint_id, parent_checkpoint_id FROM checkpoints WHERE thread_id = ? "
            "ORDER BY checkpoint_ns, checkpoint_id"
        )
        return [(ns, checkpoint_id, parent or None) for ns, checkpoint_id, parent in self._rows(query, thread_id)]

    def _columns(self, table: str) -> set[str]:
        return {row[0] for row in self._rows("SELECT name FROM pragma_table_info(?)", table)}

    def _rows(self, query: str, *values: Any) -> list[Any]:
        return self._connection.execute(query, values).fetchall()
