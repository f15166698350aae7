"""Where a process is killed: a count of everything it does that is saved, or is about to be.

A point is each SQL statement, just before it is executed, whoever issues it: opening a file and making its tables are
points too. Also each call that saves, before and after; each node, at its first line and its last; each commit.

Rule: nothing here changes what is done. Ids and times are made from a count, so that two runs of one story save the
      same bytes; of the machine's clock nothing is left.
"""

import functools
import os
import signal
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from types import SimpleNamespace
from typing import Any

from runtime.checkpoint import ids
from runtime.checkpoint.sql.saver import DatabaseSaver
from runtime.pregel import record

SAVES = ("put", "put_step", "put_writes", "submit_step", "submit_writes")


class Points:
    """Counts points once it is armed, and kills this process at the one that is fatal (0: none is)."""

    def __init__(self, told: Path, fatal: int = 0) -> None:
        self.told = told
        self.fatal = fatal
        self.armed = False
        self.labels: list[str] = []
        self._lock = Lock()

    def at(self, label: str) -> None:
        """Here is a point."""
        if not self.armed:
            return
        with self._lock:
            self.labels.append(label)
            if len(self.labels) == self.fatal:
                os.kill(os.getpid(), signal.SIGKILL)

    def tell(self, checkpoint_id: str) -> None:
        """A save returned: from here on the checkpoint is promised."""
        if self.armed:
            with self.told.open("a", encoding="utf-8") as file:
                file.write(f"{checkpoint_id}\n")


def watch(points: Points, seed: int) -> None:
    """Make this process deadly. `seed` tells processes of one story apart: a later one has a later clock."""
    ids._entropy.seed(seed)
    ids._last = ("", 0)
    ids.time = SimpleNamespace(time_ns=lambda: (1_800_000_000 + 1000 * seed) * 10**9)
    record.datetime = SimpleNamespace(now=lambda zone: datetime(2026, 1, 1 + seed, tzinfo=UTC))
    _watch_sqlite(points)
    _watch_postgres(points)
    for name in SAVES:
        setattr(DatabaseSaver, name, _watched(points, getattr(DatabaseSaver, name), f"call {name}"))
        if hasattr(DatabaseSaver, f"a{name}"):
            setattr(DatabaseSaver, f"a{name}", _awaited(points, getattr(DatabaseSaver, f"a{name}"), f"call {name}"))


def _watch_sqlite(points: Points) -> None:
    real = sqlite3.connect

    def connect(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = real(*arguments, **options)
        connection.set_trace_callback(lambda sql: points.at(f"sql {' '.join(sql.split()[:3])}"))
        return connection

    sqlite3.connect = connect


def _watch_postgres(points: Points) -> None:
    import psycopg

    def before(cls: Any, name: str) -> None:
        real = getattr(cls, name)

        @functools.wraps(real)
        def call(self: Any, *arguments: Any, **options: Any) -> Any:
            points.at(f"sql {' '.join(str(arguments[0]).split()[:3]) if arguments else name}")
            return real(self, *arguments, **options)

        setattr(cls, name, call)

    before(psycopg.Cursor, "execute")
    before(psycopg.Cursor, "executemany")
    before(psycopg.Connection, "commit")


def _watched(points: Points, real: Any, label: str) -> Any:
    @functools.wraps(real)
    def call(self: Any, config: Any, *arguments: Any, **options: Any) -> Any:
        points.at(f"{label}, before")
        result = real(self, config, *arguments, **options)
        if isinstance(result, dict):
            points.tell(arguments[0]["id"])
        points.at(f"{label}, after")
        return result

    return call


def _awaited(points: Points, real: Any, label: str) -> Any:
    @functools.wraps(real)
    async def call(self: Any, config: Any, *arguments: Any, **options: Any) -> Any:
        points.at(f"{label}, before")
        result = await real(self, config, *arguments, **options)
        if isinstance(result, dict):
            points.tell(arguments[0]["id"])
        points.at(f"{label}, after")
        return result

    return call
