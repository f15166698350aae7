"""Every saver passes the conformance suite that `langgraph-checkpoint` publishes, its optional parts included."""

import asyncio

import pytest
from langgraph.checkpoint.conformance import checkpointer_test, validate

from runtime.checkpoint.sql import AsyncSqlSaver, SqlSaver
from runtime.checkpoint.sqlite import SqliteSaver
from runtime.checkpoint.sqlite.aio import AsyncSqliteSaver

MAKERS = {
    "sqlite": SqliteSaver.from_conn_string,
    "async sqlite": AsyncSqliteSaver.from_conn_string,
    "url": SqlSaver,
    "async url": AsyncSqlSaver,
    "postgres": SqlSaver,
    "async postgres": AsyncSqlSaver,
}


@pytest.mark.parametrize("kind", MAKERS)
def test_it_passes_in_full(kind, request):
    where = {"url": "sqlite://", "sqlite": ":memory:"}.get(kind.split()[-1]) or request.getfixturevalue("postgres_url")

    @checkpointer_test(name=kind)
    async def made():
        saver = MAKERS[kind](where)
        if hasattr(saver, "__aenter__"):
            async with saver:
                yield saver
        else:
            with saver:
                yield saver

    report = asyncio.run(validate(made))
    failures = {name: found["failures"] for name, found in report.to_dict()["results"].items() if found["failures"]}
    assert failures == {}
    assert report.passed_all()
