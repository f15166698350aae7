"""Savers of every kind behind one face, so that one test body checks them all, plain and async.

A PostgreSQL server is used if `FORKPOINT_TEST_POSTGRES` holds its URL.
"""

import asyncio
import os
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest

from runtime.checkpoint.sql import SqlSaver
from runtime.checkpoint.sqlite import SqliteSaver
from runtime.checkpoint.sqlite.aio import AsyncSqliteSaver

POSTGRES = os.environ.get("FORKPOINT_TEST_POSTGRES")


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


def kinds() -> list[str]:
    return ["sync", "async", *(["postgres"] if POSTGRES else [])]


@pytest.fixture(params=kinds())
def open_saver(request, tmp_path) -> Iterator[Callable[..., Face]]:
    """Opens the same database again each time it is called, as another process would."""
    opened: list[Any] = []
    schema = f"t{uuid4().hex}"
    if request.param == "postgres":
        _schema(f"CREATE SCHEMA {schema}")

    def make(**options: Any) -> Face:
        if request.param == "postgres":
            saver: Any = SqlSaver(f"{POSTGRES}?options=-csearch_path%3D{schema}", **options)
        else:
            cls = SqliteSaver if request.param == "sync" else AsyncSqliteSaver
            saver = cls.from_conn_string(tmp_path / "checkpoints.db", **options)
        opened.append(saver)
        saver.setup()
        return Face(saver, request.param == "async")

    yield make
    for saver in opened:
        saver.close()
    if request.param == "postgres":
        _schema(f"DROP SCHEMA {schema} CASCADE")


@pytest.fixture
def saver(open_saver) -> Face:
    return open_saver()


def _schema(statement: str) -> None:
    from sqlalchemy import create_engine

    engine = create_engine(POSTGRES or "")
    with engine.begin() as connection:
        connection.exec_driver_sql(statement)
    engine.dispose()
