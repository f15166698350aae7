"""A graph's two faces, blocking and awaiting, behind one set of names: a test's body is written once."""

import asyncio
from contextlib import contextmanager
from typing import Any

from runtime.checkpoint.memory import InMemorySaver
from runtime.checkpoint.sql import AsyncSqlSaver, SqlSaver
from runtime.checkpoint.sqlite import SqliteSaver
from runtime.checkpoint.sqlite.aio import AsyncSqliteSaver


class Face:
    """Calls a compiled graph's methods, through `asyncio.run` where the face is the awaiting one."""

    def __init__(self, is_async: bool) -> None:
        self.is_async = is_async

    def __call__(self, graph: Any, given: Any, config: Any = None, **options: Any) -> Any:
        """Run to the end or to a pause."""
        return self.call(graph, "invoke", given, config, **options)

    def call(self, target: Any, name: str, *arguments: Any, **options: Any) -> Any:
        """Call the method of that name, or its awaiting twin."""
        if not self.is_async:
            return getattr(target, name)(*arguments, **options)

        async def awaited() -> Any:
            return await getattr(target, f"a{name}")(*arguments, **options)

        return asyncio.run(awaited())

    def collect(self, target: Any, name: str, *arguments: Any, until: Any = None, **options: Any) -> list[Any]:
        """All that an iterating method yields; closed as soon as `until` holds for an item."""
        found: list[Any] = []
        if not self.is_async:
            items = getattr(target, name)(*arguments, **options)
            for item in items:
                found.append(item)
                if until is not None and until(item):
                    items.close()
                    break
            return found

        async def awaited() -> list[Any]:
            items = getattr(target, f"a{name}")(*arguments, **options)
            async for item in items:
                found.append(item)
                if until is not None and until(item):
                    await items.aclose()
                    break
            return found

        return asyncio.run(awaited())

    def stream(self, graph: Any, given: Any, config: Any = None, **options: Any) -> list[Any]:
        return self.collect(graph, "stream", given, config, **options)

    def history(self, graph: Any, config: Any, **options: Any) -> list[Any]:
        return self.collect(graph, "get_state_history", config, **options)

    def state(self, graph: Any, config: Any, **options: Any) -> Any:
        return self.call(graph, "get_state", config, **options)

    def edit(self, graph: Any, config: Any, values: Any, as_node: str | None = None) -> Any:
        return self.call(graph, "update_state", config, values, as_node)

    def bulk(self, graph: Any, config: Any, supersteps: Any) -> Any:
        return self.call(graph, "bulk_update_state", config, supersteps)

    def plan(self, graph: Any, config: Any) -> Any:
        return self.call(graph, "plan", config)

    def step(self, graph: Any, config: Any, given: Any = None, **options: Any) -> Any:
        return self.call(graph, "step", config, given, **options)

    def explain(self, graph: Any, config: Any) -> Any:
        return self.call(graph, "explain_update", config)

    def preview(self, graph: Any, config: Any, values: Any, as_node: str | None = None) -> Any:
        return self.call(graph, "preview_update", config, values, as_node)


@contextmanager
def opened(kind: str, is_async: bool, path: Any):
    """A saver of the kind, for the face, on the file or at the URL; closed at the end."""
    if kind == "memory":
        yield InMemorySaver()
        return
    if kind == "postgres":
        saver: Any = (AsyncSqlSaver if is_async else SqlSaver)(path)
    else:
        saver = (AsyncSqliteSaver if is_async else SqliteSaver).from_conn_string(path)
    try:
        yield saver
    finally:
        saver.close()
