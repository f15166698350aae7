"""Checkpoints in an SQLite file, entered with `async with`: `AsyncSqlSaver` under its familiar name."""

from runtime.checkpoint.sql.faces import AsyncSqlSaver
from runtime.checkpoint.sqlite import SqliteSaver

__all__ = ["AsyncSqliteSaver"]


class AsyncSqliteSaver(SqliteSaver, AsyncSqlSaver):
    """`SqliteSaver`, entered with `async with`."""
