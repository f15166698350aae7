"""LangGraph's graphs behind one set of names, blocking and awaiting, and what a story has seen, comparable."""

import asyncio
import re
from collections.abc import Callable
from typing import Any

from runtime.checkpoint.sql import AsyncSqlSaver, SqlSaver
from runtime.checkpoint.sqlite import SqliteSaver
from runtime.checkpoint.sqlite.aio import AsyncSqliteSaver

CONFIG = {"configurable": {"thread_id": "t"}}
DURABILITY = ("sync", "async", "exit")


class Sync:
    """A compiled graph, by its plain methods."""

    def __init__(self, graph: Any, saver: Any, **options: Any) -> None:
        self.saver = saver
        self.app = graph.compile(checkpointer=saver, **options)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.app, name)
        if name in ("stream", "get_state_history"):
            return lambda *arguments, **options: list(found(*arguments, **options))
        return found

    def close(self) -> None:
        """Nothing to close: the saver is whoever's opened it."""


class Async(Sync):
    """The same by its async methods, on one event loop."""

    def __init__(self, graph: Any, saver: Any, **options: Any) -> None:
        super().__init__(graph, saver, **options)
        self.runner = asyncio.Runner()

    def __getattr__(self, name: str) -> Any:
        other = {"get_state_history": "aget_state_history", "get_state": "aget_state", "update_state": "aupdate_state"}
        found = getattr(self.app, other.get(name, f"a{name}"))

        async def collected(*arguments: Any, **options: Any) -> list[Any]:
            return [item async for item in found(*arguments, **options)]

        asked = collected if name in ("stream", "get_state_history") else found
        return lambda *arguments, **options: self.runner.run(asked(*arguments, **options))

    def close(self) -> None:
        self.runner.close()


def of_file(cls: Any) -> Callable[[Any], Any]:
    """Open a saver on a file of the test's folder."""
    return lambda request: cls.from_conn_string(request.getfixturevalue("tmp_path") / "checkpoints.db")


def of_url(request: Any) -> Any:
    """Open a saver on a file, by URL."""
    return SqlSaver(f"sqlite:///{request.getfixturevalue('tmp_path') / 'checkpoints.db'}")


def of_postgres(cls: Any) -> Callable[[Any], Any]:
    """Open a saver on an empty PostgreSQL schema of the test's own."""
    return lambda request: cls(request.getfixturevalue("postgres_schema"))


FACES = {
    "sqlite": (Sync, of_file(SqliteSaver)),
    "async sqlite": (Async, of_file(AsyncSqliteSaver)),
    "url": (Sync, of_url),
    "async url, in memory": (Async, lambda request: AsyncSqlSaver("sqlite://")),
    "the plain saver, awaited": (Async, of_file(SqliteSaver)),
    "postgres": (Sync, of_postgres(SqlSaver)),
    "async postgres": (Async, of_postgres(AsyncSqlSaver)),
}


# --- what was seen, comparable ------------------------------------------------------------------------


def snapshot(found: Any) -> dict[str, Any]:
    """All that a snapshot says."""
    return {
        "values": found.values,
        "next": found.next,
        "id": found.config["configurable"].get("checkpoint_id"),
        "ns": found.config["configurable"].get("checkpoint_ns"),
        "parent": found.parent_config and found.parent_config["configurable"]["checkpoint_id"],
        # In order of the keys: PostgreSQL's JSON has no other.
        "metadata": {key: value for key, value in sorted((found.metadata or {}).items()) if key != "run_id"},
        "tasks": [
            {
                "id": task.id,
                "name": task.name,
                "path": task.path,
                "error": task.error and repr(task.error),
                "interrupts": [(item.id, item.value) for item in task.interrupts],
                "state": snapshot(task.state)
                if hasattr(task.state, "values") and hasattr(task.state, "next")
                else None,
                "result": task.result,
            }
            for task in found.tasks
        ],
    }


ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b")


def numbered(seen: list[Any]) -> list[str]:
    """What was seen as text, with ids numbered in the order in which they appear."""
    known: dict[str, str] = {}
    return [ID.sub(lambda found: known.setdefault(found.group(), f"#{len(known)}"), repr(item)) for item in seen]


def history(app: Any, **options: Any) -> list[dict[str, Any]]:
    """Snapshots, oldest first."""
    return [snapshot(item) for item in app.get_state_history(CONFIG, **options)][::-1]


# --- stories ------------------------------------------------------------------------------------------
