"""The savers' public classes: by URL here, and by file name in `runtime.checkpoint.sqlite`.

Both faces, plain and async, are on each of them. The `Async` ones differ only in how they are entered.
"""

from types import TracebackType
from typing import Self

from sqlalchemy import make_url

from runtime.checkpoint.base import SerializerProtocol
from runtime.checkpoint.sql.database import Database
from runtime.checkpoint.sql.postgres_db import PostgresDatabase
from runtime.checkpoint.sql.saver import DatabaseSaver
from runtime.checkpoint.sql.sqlite_db import BUSY_TIMEOUT, SqliteDatabase, Synchronous


class SqlSaver(DatabaseSaver):
    """Checkpoints in the database at a SQLAlchemy URL.

    `sqlite:///file.db` (`sqlite://` for one in memory) and `postgresql+psycopg://...` are known. `synchronous` is
    for SQLite: with NORMAL a power cut may lose the last commits but never damages the file, FULL survives it.
    `busy_timeout` is how many seconds a writer waits for another process. `read_only` opens what is there and
    creates nothing.

    Raises:
        CheckpointStorageError: the database cannot be opened, or is not ours; when entered or first used.
    """

    def __init__(
        self,
        url: str = "sqlite://",
        *,
        serde: SerializerProtocol | None = None,
        synchronous: Synchronous = "NORMAL",
        busy_timeout: float = BUSY_TIMEOUT,
        read_only: bool = False,
    ) -> None:
        database = open_url(url, synchronous=synchronous, busy_timeout=busy_timeout, read_only=read_only)
        super().__init__(database, serde=serde)


class AsyncSqlSaver(SqlSaver):
    """`SqlSaver`, entered with `async with`."""

    async def __aenter__(self) -> Self:
        await self._worker.call(self.setup)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._worker.call(self._store.database.close)


def open_url(url: str, *, synchronous: Synchronous, busy_timeout: float, read_only: bool) -> Database:
    """The database that a URL names, not opened yet."""
    parsed = make_url(url)
    backend = parsed.get_backend_name()
    if backend == "sqlite":
        return SqliteDatabase(
            parsed.database or ":memory:", synchronous=synchronous, busy_timeout=busy_timeout, read_only=read_only
        )
    if backend == "postgresql":
        return PostgresDatabase(parsed, busy_timeout=busy_timeout, read_only=read_only)
    raise ValueError(f"checkpoints can be kept in sqlite or postgresql+psycopg databases, not in {backend!r}: {url!r}")
