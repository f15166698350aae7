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


def check_schema(cursor: sqlite3.Cursor, path: str, *, read_only: bool = False) -> int | None:
    """The version of our tables; None if there are no tables. Raises if they are somebody else's, or too new."""
    present = {row[0] for row in cursor.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if "checkpoint_store" not in present:
        others = sorted(name for name in present if not name.startswith("sqlite_"))
        if others:
            raise CheckpointStorageError(
                f"the database {path!r} holds the tables of something else ({', '.join(others[:5])}); "
                "it was left as it is; choose another file",
                "foreign",
            )
        return None
    row = cursor.execute("SELECT * FROM checkpoint_store").fetchone()
    said = dict(zip((column[0] for column in cursor.description), row, strict=True)) if row else None
    return tables.check_version(repr(path), said, read_only=read_only)


def create_schema(connection: sqlite3.Connection, path: str) -> None:
    """Create the tables, or bring them to the newest schema, in one transaction."""
    engine = create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)
    with engine.connect() as conn:
        conn.exec_driver_sql("BEGIN IMMEDIATE")
        cursor = connection.cursor()
        cursor.row_factory = None
        try:
            # Another process may have been quicker.
            version = check_schema(cursor, path)
            if version is None:
                tables.create(conn)
            elif version < tables.SCHEMA_VERSION:
                tables.migrate(conn, version)
            conn.exec_driver_sql("COMMIT")
        except BaseException:
            conn.exec_driver_sql("ROLLBACK")
            raise
