"""Whose tables are in an SQLite database: nobody's, ours, or somebody else's."""

import sqlite3

from sqlalchemy import create_engine
from sqlalchemy.pool import StaticPool

from runtime.checkpoint.errors import CheckpointStorageError
from runtime.checkpoint.files import uri
from runtime.checkpoint.sql import tables


def look(path: str) -> None:
    """Raise if an existing database is somebody else's, or newer, before it is opened for writing.

    Merely opening for writing may change a file: SQLite finishes what a crashed program left in its log.
    """
    connection = sqlite3.connect(uri(path) + "?mode=ro", uri=True)
    try:
        check_schema(connection.cursor(), path)
    except sqlite3.OperationalError:
        return  # it needs a recovery that only a writer can do; it is checked again then
    finally:
        connection.close()


def check_schema(cursor: sqlite3.Cursor, path: str) -> bool:
    """Whether our tables are there and of the newest schema. Raises if the tables are somebody else's, or newer."""
    present = {row[0] for row in cursor.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if "checkpoint_store" not in present:
        others = sorted(name for name in present if not name.startswith("sqlite_"))
        if others:
            raise CheckpointStorageError(
                f"the database {path!r} holds the tables of something else ({', '.join(others[:5])}); "
                "it was left as it is; choose another file",
                "foreign",
            )
        return False
    row = cursor.execute("SELECT version FROM checkpoint_store").fetchone()
    if row is None or not isinstance(row[0], int):
        raise CheckpointStorageError(f"the database {path!r} does not say its schema version", "corrupt")
    if row[0] > tables.SCHEMA_VERSION:
        raise CheckpointStorageError(
            f"the database {path!r} has schema {row[0]}; this version knows schemas up to {tables.SCHEMA_VERSION}; "
            "update the package",
            "newer",
        )
    return bool(row[0] == tables.SCHEMA_VERSION)


def create_schema(connection: sqlite3.Connection, path: str) -> None:
    """Create the tables, or bring them to the newest schema, in one transaction."""
    engine = create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)
    with engine.connect() as conn:
        conn.exec_driver_sql("BEGIN IMMEDIATE")
        cursor = connection.cursor()
        cursor.row_factory = None
        try:
            # Another process may have been quicker.
            if not check_schema(cursor, path):
                version = cursor.execute("SELECT name FROM sqlite_master WHERE name = 'checkpoint_store'").fetchone()
                if version is None:
                    tables.create(conn)
                else:
                    tables.migrate(conn, cursor.execute("SELECT version FROM checkpoint_store").fetchone()[0])
            conn.exec_driver_sql("COMMIT")
        except BaseException:
            conn.exec_driver_sql("ROLLBACK")
            raise
