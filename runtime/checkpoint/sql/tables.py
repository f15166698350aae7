"""The tables, the same on SQLite and PostgreSQL, and how an older schema becomes the newest.

Rule 1: history only grows. A stored row is never changed; only an explicit delete or prune removes any.
Rule 2: values live apart from `checkpoints`, so that listing histories reads none.
Rule 3: every value is stored once and has an address: the checkpoint that owns it and a number. Numbers
        from 0 up are the owner's rows in `checkpoint_writes`; -1, -2, ... are its rows in `checkpoint_values`.
Rule 4: a change to these tables raises `SCHEMA_VERSION` and adds a step to `MIGRATIONS`. If rows then mean something
        else to whoever reads them, `READABLE_BY` becomes the new version too.
"""

from collections.abc import Callable
from typing import Any

from sqlalchemy import Column, Integer, LargeBinary, MetaData, Table, Text, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.engine import Connection

from runtime.checkpoint.errors import CheckpointStorageError

SCHEMA_VERSION = 2
READABLE_BY = 1  # the oldest schema whose readers understand the rows of this one
OLDEST_READABLE = 1  # the oldest schema that is read as it is, without having been brought up to date

metadata = MetaData()

# Ids are ordered as bytes, on PostgreSQL too, where the database's collation would decide otherwise.
Name = Text().with_variant(Text(collation="C"), "postgresql")
Json = Text().with_variant(JSONB(), "postgresql")

# One row. `generation` changes when rows were removed or rewritten, and tells other processes to forget. `readable`
# is the writer's `READABLE_BY`: an older version of this package sees by it whether it may still look at the rows.
checkpoint_store = Table(
    "checkpoint_store",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("version", Integer, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("readable", Integer, nullable=False, server_default=text("1")),
)

# `frame` says which channels the checkpoint has, at which versions, and where their values are: in full
# (`keyframe` = 1) or against the parent. `folded` names the writes of the parent that made this checkpoint.
checkpoints = Table(
    "checkpoints",
    metadata,
    Column("thread_id", Name, primary_key=True),
    Column("checkpoint_ns", Name, primary_key=True),
    Column("checkpoint_id", Name, primary_key=True),
    Column("parent_checkpoint_id", Name),
    Column("step", Integer),
    Column("source", Text),
    Column("created_at", Text),
    Column("metadata", Json, nullable=False),
    Column("folded", Text, nullable=False),
    Column("keyframe", Integer, nullable=False),
    Column("frame", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

# What tasks wrote on top of a checkpoint. `attempt` counts the executions of a task; a later one is appended.
checkpoint_writes = Table(
    "checkpoint_writes",
    metadata,
    Column("thread_id", Name, primary_key=True),
    Column("checkpoint_ns", Name, primary_key=True),
    Column("checkpoint_id", Name, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("task_id", Text, nullable=False),
    Column("task_path", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("idx", Integer, nullable=False),
    Column("channel", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("value", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

# Values that no write holds: what a reducer made of several writes, or an input.
checkpoint_values = Table(
    "checkpoint_values",
    metadata,
    Column("thread_id", Name, primary_key=True),
    Column("checkpoint_ns", Name, primary_key=True),
    Column("checkpoint_id", Name, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("channel", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("value", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

TABLES = (checkpoint_store, checkpoints, checkpoint_writes, checkpoint_values)


def _add_readable(connection: Connection) -> None:
    connection.exec_driver_sql("ALTER TABLE checkpoint_store ADD COLUMN readable INTEGER DEFAULT 1 NOT NULL")


# MIGRATIONS[n] turns schema n into n + 1, inside the transaction that then records the new version.
MIGRATIONS: dict[int, Callable[[Connection], None]] = {1: _add_readable}


def create(connection: Connection) -> None:
    """Create the tables of the newest schema in a database that has none of them."""
    metadata.create_all(connection)
    connection.execute(
        checkpoint_store.insert().values(id=1, version=SCHEMA_VERSION, generation=0, readable=READABLE_BY)
    )


def migrate(connection: Connection, version: int) -> None:
    """Bring the tables from schema `version` to the newest, step by step, in the caller's transaction.

    Raises:
        KeyError: there never was a way from that schema.
    """
    for step in range(version, SCHEMA_VERSION):
        MIGRATIONS[step](connection)
    connection.execute(checkpoint_store.update().values(version=SCHEMA_VERSION, readable=READABLE_BY))


def check_version(name: str, row: dict[str, Any] | None, *, read_only: bool) -> int:
    """The schema version that the row of `checkpoint_store` says, if this version of the package can work with it.

    Raises:
        CheckpointStorageError: it is newer, and may not even be read; or too old; or the row makes no sense.
    """
    version, readable = (row or {}).get("version"), (row or {}).get("readable")
    if not isinstance(version, int):
        raise CheckpointStorageError(f"the database {name} does not say its schema version", "corrupt")
    if version < OLDEST_READABLE:
        raise CheckpointStorageError(
            f"the database {name} says it has schema {version}, and the first one was {OLDEST_READABLE}", "corrupt"
        )
    if version > SCHEMA_VERSION:
        understood = isinstance(readable, int) and readable <= SCHEMA_VERSION
        if read_only and understood:
            return version
        advice = ", or open it with read_only=True to look at it" if understood else ""
        raise CheckpointStorageError(
            f"the database {name} has schema {version}; this version knows schemas up to {SCHEMA_VERSION}; "
            f"update the package{advice}",
            "newer",
        )
    return version
