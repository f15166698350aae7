"""What is at a path, before SQLite is let near it: nothing, our database, or something else."""

import sqlite3
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import create_engine
from sqlalchemy.pool import StaticPool

from runtime.checkpoint.errors import CheckpointStorageError
from runtime.checkpoint.sql import tables

_MAGIC = b"SQLite format 3\x00"


def is_memory(path: str) -> bool:
    """Whether the path stands for a database in memory."""
    return path in ("", ":memory:")


def uri(path: str) -> str:
    """A file as SQLite's URI, so that a mode can be asked for."""
    return "file:" + quote(str(Path(path).absolute()).replace("\\", "/"))


def has_wal(path: str) -> bool:
    """Whether somebody may be writing: there is a write-ahead log with something in it."""
    wal = Path(path + "-wal")
    return wal.exists() and wal.stat().st_size > 0


def check(path: str, *, must_exist: bool) -> bool:
    """Whether a new file is to be made at the path. Raises if what is there is not an SQLite database."""
    file = Path(path)
    try:
        if file.is_dir():
            raise CheckpointStorageError(f"{path!r} is a folder, not a checkpoint database", "not_a_database")
        if not file.exists():
            if must_exist:
                raise CheckpointStorageError(f"there is no checkpoint database at {path!r}", "missing")
            return True
        with file.open("rb") as opened:
            head = opened.read(len(_MAGIC))
    except OSError as error:
        raise CheckpointStorageError(f"the checkpoint database {path!r} cannot be read: {error}") from error
    if head and head != _MAGIC:
        raise CheckpointStorageError(
            f"{path!r} is not an SQLite database (it begins with {head!r}); it was left as it is", "not_a_database"
        )
    return False


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
