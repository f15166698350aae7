"""Both faces pass the conformance suite that `langgraph-checkpoint` publishes for every saver."""

import asyncio
import os

import pytest
from langgraph.checkpoint.conformance import checkpointer_test, validate

from runtime.checkpoint.sql import AsyncSqlSaver, SqlSaver
from runtime.checkpoint.sqlite import SqliteSaver
from runtime.checkpoint.sqlite.aio import AsyncSqliteSaver

MAKERS = {
    "sqlite": lambda: SqliteSaver.from_conn_string(":memory:"),
    "async sqlite": lambda: AsyncSqliteSaver.from_conn_string(":memory:"),
    "url": lambda: SqlSaver("sqlite://"),
    "async url": lambda: AsyncSqlSaver("sqlite://"),
}
if os.environ.get("FORKPOINT_TEST_POSTGRES"):
    MAKERS["postgres"] = lambda: AsyncSqlSaver(os.environ["FORKPOINT_TEST_POSTGRES"])


@pytest.mark.parametrize("kind", MAKERS)
def test_it_passes_in_full(kind):
    @checkpointer_test(name=kind)
    async def made():
        saver = MAKERS[kind]()
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
