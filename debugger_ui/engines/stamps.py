"""Whether a saver's data has changed, asked so cheaply that it can be asked every second."""

import sqlite3
from collections.abc import Hashable
from typing import Any


def stamp(saver: Any) -> Hashable | None:
    """Return something that differs once anybody has written to the saver's data; None if it does not tell.

    Our own savers and readers tell by `data_version`. A saver that holds an SQLite connection is asked
    through it: for the commits of others, and for what it has changed itself.
    """
    told = getattr(saver, "data_version", None)
    if callable(told):
        version: Hashable = told()
        return version
    connection, lock = getattr(saver, "conn", None), getattr(saver, "lock", None)
    if not isinstance(connection, sqlite3.Connection) or lock is None:
        return None
    with lock:
        return connection.execute("PRAGMA data_version").fetchone()[0], connection.total_changes
