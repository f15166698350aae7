"""Looking at histories: threads, checkpoints, writes and sizes; nothing is decoded, and no value but in digests read.

Rule: functions of a connection; every list is paged by the caller.
"""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, TypeVar

from sqlalchemy import bindparam, func, select

from runtime.checkpoint.errors import CheckpointStorageError
from runtime.checkpoint.sql import queries
from runtime.checkpoint.sql.frames import damaged
from runtime.checkpoint.sql.jobs import load_head
from runtime.checkpoint.sql.listing import PAGE_COLUMNS, Wanted, by_namespace, page_values, select_page, states
from runtime.checkpoint.sql.log import numbers
from runtime.checkpoint.sql.places import Rope
from runtime.checkpoint.sql.prune import prune
from runtime.checkpoint.sql.reader import metadata_of
from runtime.checkpoint.sql.records import (
    CheckpointRecord,
    NamespaceRecord,
    OutlineRecord,
    Sizes,
    ThreadRecord,
    WriteDigest,
    WriteRecord,
)
from runtime.checkpoint.sql.statements import Conn, Row, Statement
from runtime.checkpoint.sql.tables import TABLES, checkpoint_values, checkpoint_writes, checkpoints

T = TypeVar("T")
_c, _w, _v = checkpoints.c, checkpoint_writes.c, checkpoint_values.c


def _threads() -> Statement:
    newest = (
        select(_c.thread_id, func.max(_c.checkpoint_id).label("newest"))
        .where(_c.checkpoint_ns == "")
        .group_by(_c.thread_id)
        .order_by(func.max(_c.checkpoint_id).desc(), _c.thread_id)
        .limit(bindparam("limit"))
        .offset(bindparam("offset"))
        .subquery()
    )
    every = checkpoints.alias("every")
    counted = select(func.count()).select_from(every).where(every.c.thread_id == newest.c.thread_id)
    return Statement(
        select(
            newest.c.thread_id,
            counted.scalar_subquery(),
            newest.c.newest,
            _c.created_at,
            _c.step,
            _c.source,
            _c.metadata,
        )
        .join_from(
            newest,
            checkpoints,
            (_c.thread_id == newest.c.thread_id) & (_c.checkpoint_ns == "") & (_c.checkpoint_id == newest.c.newest),
        )
        .order_by(newest.c.newest.desc(), newest.c.thread_id),
        "limit offset",
    )


def _namespaces() -> Statement:
    each = (
        select(_c.checkpoint_ns, func.count().label("checkpoints"), func.max(_c.checkpoint_id).label("newest"))
        .where(_c.thread_id == bindparam("thread"), _c.checkpoint_ns != "")
        .group_by(_c.checkpoint_ns)
        .subquery()
    )
    return Statement(
        select(each.c.checkpoint_ns, each.c.checkpoints, each.c.newest, _c.metadata)
        .join_from(
            each,
            checkpoints,
            (_c.thread_id == bindparam("same"))
            & (_c.checkpoint_ns == each.c.checkpoint_ns)
            & (_c.checkpoint_id == each.c.newest),
        )
        .order_by(each.c.newest),
        "thread same",
    )


_THREADS = _threads()
_NAMESPACES = _namespaces()
_SIZES = tuple(
    Statement(
        select(func.coalesce(func.sum(func.length(column)), 0)).where(column.table.c.thread_id == bindparam("thread")),
        "thread",
    )
    for column in (_c.frame, _w.value, _v.value)
)
_COUNTS = tuple(
    Statement(select(func.count()).select_from(table).where(table.c.thread_id == bindparam("thread")), "thread")
    for table in (checkpoints, checkpoint_writes)
)
_ROWS = {table.name: Statement(select(func.count()).select_from(table)) for table in TABLES}
_WRITTEN = (_w.number, _w.task_id, _w.task_path, _w.attempt, _w.idx, _w.channel, func.length(_w.value))
_WRITES = Statement(
    select(*_WRITTEN)
    .where(
        _w.thread_id == bindparam("thread"),
        _w.checkpoint_ns == bindparam("ns"),
        _w.checkpoint_id == bindparam("id"),
    )
    .order_by(_w.number),
    "thread ns id",
)
_WRITES_BETWEEN = Statement(
    select(_w.checkpoint_id, *_WRITTEN)
    .where(
        _w.thread_id == bindparam("thread"),
        _w.checkpoint_ns == bindparam("ns"),
        _w.checkpoint_id >= bindparam("first"),
        _w.checkpoint_id <= bindparam("last"),
    )
    .order_by(_w.checkpoint_id, _w.number),
    "thread ns first last",
)


def _size_at(columns: Any) -> Statement:
    return Statement(
        select(func.length(columns.value)).where(
            columns.thread_id == bindparam("thread"),
            columns.checkpoint_ns == bindparam("ns"),
            columns.checkpoint_id == bindparam("id"),
            columns.number == bindparam("number"),
        ),
        "thread ns id number",
    )


_WRITE_SIZE, _VALUE_SIZE = _size_at(_w), _size_at(_v)
_FOLDED = Statement(
    select(_c.parent_checkpoint_id, _c.folded).where(
        _c.thread_id == bindparam("thread"), _c.checkpoint_ns == bindparam("ns"), _c.checkpoint_id == bindparam("id")
    ),
    "thread ns id",
)


def threads(conn: Conn, limit: int, offset: int, with_bytes: bool) -> list[ThreadRecord]:
    """Threads, those with the newest checkpoints first."""
    return [
        ThreadRecord(
            thread_id=row[0],
            checkpoints=row[1],
            newest=row[2],
            updated_at=_of(str, row[3]) or "",
            step=_of(int, row[4]),
            source=_of(str, row[5]),
            metadata=_shown(row[6], row[2]),
            bytes=thread_bytes(conn, row[0]) if with_bytes else None,
        )
        for row in conn.rows(_THREADS, limit, offset)
    ]


def namespaces(conn: Conn, thread_id: str) -> list[NamespaceRecord]:
    """The namespaces of a thread but its root, those with the newest checkpoints last."""
    rows = conn.rows(_NAMESPACES, thread_id, thread_id)
    return [NamespaceRecord(ns, count, newest, _shown(metadata, newest)) for ns, count, newest, metadata in rows]


def count(conn: Conn, thread_id: str) -> int:
    """How many checkpoints a thread has, in all its namespaces."""
    row = conn.one(_COUNTS[0], thread_id)
    return row[0] if row else 0


def thread_bytes(conn: Conn, thread_id: str) -> int:
    """How many bytes the frames and values of a thread take, in all its namespaces."""
    rows = [conn.one(statement, thread_id) for statement in _SIZES]
    return sum(row[0] for row in rows if row)


def tables(conn: Conn) -> tuple[int, dict[str, int]]:
    """The schema version, and how many rows each table has."""
    store = conn.one(queries.STORE)
    rows = {name: conn.one(statement) for name, statement in _ROWS.items()}
    return store[0] if store else 0, {name: row[0] if row else 0 for name, row in rows.items()}


def sizes(conn: Conn, thread_id: str) -> Sizes:
    """How many rows and bytes a thread has, in all its namespaces."""
    counted = [conn.one(statement, thread_id) for statement in _COUNTS]
    checkpoints_, writes_ = (row[0] if row else 0 for row in counted)
    return Sizes(checkpoints_, writes_, thread_bytes(conn, thread_id))


def records(conn: Conn, wanted: Wanted, limit: int) -> list[CheckpointRecord]:
    """Checkpoints, newest first. A damaged row is there too, with what can be read of it; its outline is an error."""
    statement = select_page(queries.HEADER, wanted, conn.dialect, has_cursor=False)
    return [_record(row) for row in conn.rows(statement, *page_values(wanted, None, limit))]


def record(row: Row) -> CheckpointRecord:
    """A row of `queries.HEADER` as a record.

    Raises:
        CheckpointStorageError: the row is damaged.
    """
    metadata = metadata_of(row[7], row[2])
    try:
        folded = tuple(numbers(row[8]))
    except (ValueError, TypeError, AttributeError) as error:
        raise damaged(row[2], f"the writes that made it are given as {row[8]!r}") from error
    return CheckpointRecord(row[0], row[1], row[2], *_header(row), metadata, folded)


def _record(row: Row) -> CheckpointRecord:
    try:
        return record(row)
    except CheckpointStorageError:
        return CheckpointRecord(row[0], row[1], row[2], *_header(row), _shown(row[7], row[2]))


def _header(row: Row) -> tuple[str | None, int | None, str | None, str | None]:
    parent, step, source, created_at = row[3:7]
    return _of(str, parent), _of(int, step), _of(str, source), _of(str, created_at)


def _of(kind: type[T], value: Any) -> T | None:
    # SQLite keeps in any column whatever it was given.
    return value if isinstance(value, kind) else None


def _shown(metadata: Any, checkpoint_id: str) -> Mapping[str, Any]:
    try:
        return metadata_of(metadata, checkpoint_id)
    except CheckpointStorageError as error:
        return {"damaged": str(error)}


def outlines(conn: Conn, wanted: Wanted, limit: int) -> list[OutlineRecord]:
    """Checkpoints with versions and writes, newest first."""
    statement = select_page(PAGE_COLUMNS, wanted, conn.dialect, has_cursor=False)
    rows = conn.rows(statement, *page_values(wanted, None, limit))
    found: dict[Row, OutlineRecord] = {}
    for key, own in by_namespace(rows):
        written: dict[str, list[Row]] = {}
        for owner, *write in conn.rows(_WRITES_BETWEEN, *key, own[0][2], own[-1][2]):
            written.setdefault(owner, []).append(tuple(write))
        for row, state in zip(own, states(conn, key, own), strict=True):
            updated = state.rest.get("u")
            found[row[:3]] = OutlineRecord(
                record(row),
                state.versions.copy(),
                state.seen.copy(),  # what a node has seen is replaced in a state, never changed
                None if updated is None else tuple(updated),
                tuple(state.places),
                tuple(_records(written.get(row[2], ()))),
            )
    return [found[row[:3]] for row in rows]


def writes(conn: Conn, thread_id: str, ns: str, checkpoint_id: str) -> list[WriteRecord]:
    """Every stored write on top of a checkpoint, all attempts, in the order in which they were stored."""
    return _records(conn.rows(_WRITES, thread_id, ns, checkpoint_id))


def _records(rows: Sequence[Row]) -> list[WriteRecord]:
    newest = {(row[1], row[4]): row[0] for row in rows}
    return [
        WriteRecord(row[0], row[1], row[2], row[3], row[4], row[5], row[6], newest[row[1], row[4]] == row[0])
        for row in rows
    ]


def step_digests(conn: Conn, thread_id: str, ns: str, wanted: Sequence[str]) -> dict[str, list[WriteDigest]]:
    """The writes that made each of these checkpoints, with a digest of their stored bytes in place of the value."""
    found: dict[str, list[WriteDigest]] = {}
    for checkpoint_id in wanted:
        made = conn.one(_FOLDED, thread_id, ns, checkpoint_id)
        folded = set(numbers(made[1])) if made is not None and made[0] else set()
        rows = conn.rows(queries.WRITES, thread_id, ns, made[0]) if made is not None and folded else []
        found[checkpoint_id] = [
            WriteDigest(row[0], row[1], row[2], row[4], row[5], _digest(row[6], row[7]))
            for row in rows
            if row[0] in folded
        ]
    return found


def _digest(kind: str, data: bytes) -> bytes:
    return blake2b(data, digest_size=16, person=kind.encode()[:16]).digest()


def channel_bytes(conn: Conn, thread_id: str, ns: str, checkpoint_id: str) -> dict[str, int]:
    """How many stored bytes the value of each channel of a checkpoint takes."""
    head = load_head(conn, thread_id, ns, checkpoint_id)
    if head.state.id is None:
        raise CheckpointStorageError(f"there is no checkpoint {checkpoint_id!r} on thread {thread_id!r}", "missing")
    sizes = {}
    for channel, place in head.state.places.items():
        if isinstance(place, Rope):
            sizes[channel] = place.size
        else:
            statement = _WRITE_SIZE if place[1] >= 0 else _VALUE_SIZE
            row = conn.one(statement, thread_id, ns, *place)
            sizes[channel] = row[0] if row else 0
    return sizes


def pruned(conn: Conn, thread_ids: Sequence[str], strategy: str) -> dict[str, tuple[Sizes, Sizes]]:
    """Prune, and return what each thread had before and has after."""
    found = {}
    for thread_id in thread_ids:
        before = sizes(conn, thread_id)
        prune(conn, [thread_id], strategy)
        found[thread_id] = before, sizes(conn, thread_id)
    return found
