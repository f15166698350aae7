"""Checkpoints in an SQLite file: `SqlSaver` under its familiar name."""

import sqlite3
from os import PathLike, fspath
from typing import Self

from runtime.checkpoint.base import SerializerProtocol
from runtime.checkpoint.sql.faces import SqlSaver
from runtime.checkpoint.sql.saver import DatabaseSaver
from runtime.checkpoint.sql.sqlite_db import BUSY_TIMEOUT, SqliteDatabase, Synchronous

__all__ = ["SqliteSaver"]


class SqliteSaver(SqlSaver):
    """Checkpoints in an SQLite file, or on a connection that the caller opened and will close.

    A given connection must be usable from several threads (`check_same_thread=False`); the saver switches it to
    explicit transactions.
    """

    def __init__(self, conn: sqlite3.Connection, *, serde: SerializerProtocol | None = None) -> None:
        DatabaseSaver.__init__(self, SqliteDatabase(":memory:", connection=conn), serde=serde)

    @classmethod
    def from_conn_string(
        cls,
        conn_string: str | PathLike[str],
        *,
        serde: SerializerProtocol | None = None,
        synchronous: Synchronous = "NORMAL",
        busy_timeout: float = BUSY_TIMEOUT,
        read_only: bool = False,
    ) -> Self:
        """A saver on the file at this path, or in memory for `:memory:`. Use it in a `with` block.

        `synchronous` is SQLite's: with NORMAL a power cut may lose the last commits but never damages the file,
        FULL survives it. `busy_timeout` is how many seconds a writer waits for another process. `read_only` opens
        what is there and creates nothing.

        Raises:
            CheckpointStorageError: the file cannot be opened, or is not ours; when entered or first used.
        """
        saver = cls.__new__(cls)
        database = SqliteDatabase(
            fspath(conn_string), synchronous=synchronous, busy_timeout=busy_timeout, read_only=read_only
        )
        DatabaseSaver.__init__(saver, database, serde=serde)
        return saver
