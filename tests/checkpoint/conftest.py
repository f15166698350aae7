"""Savers of every kind behind one face, so that one test body checks them all, plain and async."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from runtime.checkpoint.sql import AsyncSqlSaver, SqlSaver
from runtime.checkpoint.sqlite import SqliteSaver
from runtime.checkpoint.sqlite.aio import AsyncSqliteSaver

KINDS = ("sync", "async", "postgres")
"""On SQLite each face; on PostgreSQL one, for both faces call the same functions of a connection."""

ON_EACH_FACE = pytest.mark.parametrize("open_saver", [*KINDS, "async postgres"], indirect=True)
"""For what is about the faces."""

ON_EACH_DATABASE = pytest.mark.parametrize("open_saver", ["sync", "postgres"], indirect=True)
"""For long histories, whose bytes and pieces depend on the database and not on the face."""


class Face:
    """A saver's methods by their plain names, whichever face they are called through."""

    def __init__(self, saver: Any, is_async: bool) -> None:
        self.saver = saver
        self.is_async = is_async

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            if not self.is_async:
                return getattr(self.saver, name)(*arguments, **options)
            return asyncio.run(getattr(self.saver, f"a{name}")(*arguments, **options))

        return call

    def list(self, *arguments: Any, **options: Any) -> list[Any]:
        if not self.is_async:
            return list(self.saver.list(*arguments, **options))

        async def collect() -> list[Any]:
            return [item async for item in self.saver.alist(*arguments, **options)]

        return asyncio.run(collect())


@pytest.fixture(params=KINDS)
def open_saver(request, tmp_path) -> Iterator[Callable[..., Face]]:
    """Opens the same database again each time it is called, as another process would."""
    opened: list[Any] = []
    is_async = request.param.startswith("async")
    on_postgres = request.param.endswith("postgres")
    url = request.getfixturevalue("postgres_schema") if on_postgres else ""

    def make(**options: Any) -> Face:
        if on_postgres:
            saver: Any = (AsyncSqlSaver if is_async else SqlSaver)(url, **options)
        else:
            cls = AsyncSqliteSaver if is_async else SqliteSaver
            saver = cls.from_conn_string(tmp_path / "checkpoints.db", **options)
        opened.append(saver)
        saver.setup()
        return Face(saver, is_async)

    yield make
    for saver in opened:
        saver.close()


@pytest.fixture
def saver(open_saver) -> Face:
    return open_saver()
