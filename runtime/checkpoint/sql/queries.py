"""Every statement, once, as a constant and as a function of a connection where it is more than that."""

import json
from collections.abc import Iterable
from typing import Any

from sqlalchemy import BigInteger, Text, bindparam, cast, delete, func, insert, select, update
from sqlalchemy.sql import ColumnElement

from runtime.checkpoint.sql.places import Address
from runtime.checkpoint.sql.statements import Conn, Row, Statement
from runtime.checkpoint.sql.tables import (
    checkpoint_store,
    checkpoint_values,
    checkpoint_writes,
    checkpoints,
)

_c, _w, _v = checkpoints.c, checkpoint_writes.c, checkpoint_values.c


def _in_namespace(columns: Any) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return columns.thread_id == bindparam("thread"), columns.checkpoint_ns == bindparam("ns")


INSERT_CHECKPOINT = Statement(insert(checkpoints), " ".join(c.name for c in checkpoints.c))
INSERT_WRITE = Statement(insert(checkpoint_writes), " ".join(c.name for c in checkpoint_writes.c))
INSERT_VALUE = Statement(insert(checkpoint_values), " ".join(c.name for c in checkpoint_values.c))

STORE = Statement(select(checkpoint_store.c.version, checkpoint_store.c.generation))
BUMP_GENERATION = Statement(update(checkpoint_store).values(generation=checkpoint_store.c.generation + 1))

NEWEST_ID = Statement(
    select(_c.checkpoint_id).where(*_in_namespace(_c)).order_by(_c.checkpoint_id.desc()).limit(1), "thread ns"
)
IDENTITY = Statement(
    select(_c.parent_checkpoint_id, _c.created_at).where(*_in_namespace(_c), _c.checkpoint_id == bindparam("id")),
    "thread ns id",
)

CHILD = Statement(
    select(_c.checkpoint_id)
    .where(*_in_namespace(_c), _c.checkpoint_id > bindparam("id"), _c.parent_checkpoint_id == bindparam("id"))
    .limit(1),
    "thread ns id",
)

HEADER = (
    _c.thread_id,
    _c.checkpoint_ns,
    _c.checkpoint_id,
    _c.parent_checkpoint_id,
    _c.step,
    _c.source,
    _c.created_at,
    _c.metadata,
    _c.folded,
)

_FRAME = (_c.checkpoint_id, _c.parent_checkpoint_id, _c.keyframe, _c.frame)
FRAME = Statement(
    select(*_FRAME, _c.metadata, _c.created_at).where(*_in_namespace(_c), _c.checkpoint_id == bindparam("id")),
    "thread ns id",
)
FRAMES_DOWN = Statement(
    select(*_FRAME, _c.metadata, _c.created_at)
    .where(*_in_namespace(_c), _c.checkpoint_id <= bindparam("id"))
    .order_by(_c.checkpoint_id.desc()),
    "thread ns id",
)


def _chain() -> Statement:
    """A checkpoint's frame, its parent's, and so on down to the nearest keyframe."""
    chain = select(*_FRAME).where(*_in_namespace(_c), _c.checkpoint_id == bindparam("id")).cte("chain", recursive=True)
    older = select(*_FRAME).where(
        *_in_namespace(_c), _c.checkpoint_id == chain.c.parent_checkpoint_id, chain.c.keyframe == 0
    )
    # UNION, not UNION ALL: in a damaged file parents may lead round in a circle, and a row met again ends it.
    return Statement(select(chain.union(older)), "thread ns id")


CHAIN = _chain()

# So many checkpoints of other branches are passed over on the way down from one to its keyframe.
_PASSED = 8


def lineage(conn: Conn, thread_id: str, ns: str, checkpoint_id: str | None) -> list[Row]:
    """A checkpoint, as `FRAME` has it, and the frames of its ancestors down to the nearest keyframe's.

    Nothing if it is not there; shorter if an ancestor is not.
    """
    if checkpoint_id is None:
        return []
    if conn.dialect == "sqlite":
        chain, missing = _down(conn.walk(FRAMES_DOWN, thread_id, ns, checkpoint_id), checkpoint_id)
    else:
        chain = conn.rows(FRAME, thread_id, ns, checkpoint_id)
        missing = chain[0][1] if chain and not chain[0][2] else None
    return chain if missing is None else chain + conn.rows(CHAIN, thread_id, ns, missing)


def _down(rows: Iterable[Row], checkpoint_id: str) -> tuple[list[Row], str | None]:
    """The lineage as far as it lies close together, as it nearly always does, and whose frame comes next then."""
    chain: list[Row] = []
    wanted, passed = checkpoint_id, 0
    for row in rows:
        if row[0] != wanted:
            passed += 1
            if not chain or passed > _PASSED:
                break
            continue
        chain.append(row)
        if row[2]:
            return chain, None
        wanted = row[1]
    return chain, wanted if chain else None


WRITE_KEYS = Statement(
    select(_w.number, _w.task_id, _w.attempt, _w.idx, _w.channel)
    .where(*_in_namespace(_w), _w.checkpoint_id == bindparam("id"))
    .order_by(_w.number),
    "thread ns id",
)
WRITE_COUNT = Statement(
    select(func.coalesce(func.max(_w.number), -1) + 1).where(*_in_namespace(_w), _w.checkpoint_id == bindparam("id")),
    "thread ns id",
)
WRITES = Statement(
    select(_w.number, _w.task_id, _w.task_path, _w.attempt, _w.idx, _w.channel, _w.type, _w.value)
    .where(*_in_namespace(_w), _w.checkpoint_id == bindparam("id"))
    .order_by(_w.number),
    "thread ns id",
)
WRITES_BETWEEN = Statement(
    select(_w.checkpoint_id, _w.number, _w.task_id, _w.task_path, _w.attempt, _w.idx, _w.channel, _w.type, _w.value)
    .where(*_in_namespace(_w), _w.checkpoint_id >= bindparam("first"), _w.checkpoint_id <= bindparam("last"))
    .order_by(_w.checkpoint_id, _w.number),
    "thread ns first last",
)

WRITES_OF_MOST = 64  # checkpoints that `WRITES_OF` takes at a time
WRITES_OF = Statement(
    select(_w.checkpoint_id, _w.number, _w.task_id, _w.task_path, _w.attempt, _w.idx, _w.channel, _w.type, _w.value)
    .where(*_in_namespace(_w), _w.checkpoint_id.in_([bindparam(f"id{at}") for at in range(WRITES_OF_MOST)]))
    .order_by(_w.checkpoint_id, _w.number),
    "thread ns " + " ".join(f"id{at}" for at in range(WRITES_OF_MOST)),
)

WRITE_AT = Statement(
    select(_w.type, _w.value).where(
        *_in_namespace(_w), _w.checkpoint_id == bindparam("id"), _w.number == bindparam("number")
    ),
    "thread ns id number",
)
VALUE_AT = Statement(
    select(_v.type, _v.value).where(
        *_in_namespace(_v), _v.checkpoint_id == bindparam("id"), _v.number == bindparam("number")
    ),
    "thread ns id number",
)


def _between(columns: Any) -> Statement:
    return Statement(
        select(columns.number, columns.type, columns.value).where(
            *_in_namespace(columns),
            columns.checkpoint_id == bindparam("id"),
            columns.number >= bindparam("first"),
            columns.number <= bindparam("last"),
        ),
        "thread ns id first last",
    )


WRITES_AT, VALUES_AT = _between(_w), _between(_v)


def _each_at(columns: Any) -> Statement:
    owners = select(func.json_each(bindparam("ids")).table_valued("value").c.value)
    return Statement(
        select(columns.checkpoint_id, columns.type, columns.value).where(
            *_in_namespace(columns), columns.checkpoint_id.in_(owners), columns.number == bindparam("number")
        ),
        "thread ns ids number",
    )


_EACH_WRITE_AT, _EACH_VALUE_AT = _each_at(_w), _each_at(_v)

# So many values of one checkpoint are read as a range, with one statement; and of so many checkpoints one each.
_MANY = 4
_MANY_OWNERS = 16


def values_at(conn: Conn, thread_id: str, ns: str, addresses: Iterable[Address]) -> dict[Address, tuple[str, bytes]]:
    """The stored values at these addresses, as type tag and bytes. What is not there is left out."""
    wanted = set(addresses)
    found: dict[Address, tuple[str, bytes]] = {}
    if len(wanted) >= _MANY_OWNERS and conn.dialect == "sqlite":
        found.update(_one_of_each(conn, thread_id, ns, wanted))
    if len(wanted) >= _MANY:
        found.update(_ranges(conn, thread_id, ns, wanted))
    if conn.dialect == "sqlite":  # where a look-up costs less than arranging for a few at once
        for address in wanted:
            row = conn.one(WRITE_AT if address[1] >= 0 else VALUE_AT, thread_id, ns, *address)
            if row is not None:
                found[address] = row[0], row[1]
        return found
    for statement, some in (
        (WRITE_AT, [address for address in wanted if address[1] >= 0]),
        (VALUE_AT, [address for address in wanted if address[1] < 0]),
    ):
        rows = conn.each(statement, [(thread_id, ns, *address) for address in some])
        found.update((address, (row[0], row[1])) for address, row in zip(some, rows, strict=True) if row)
    return found


def _ranges(conn: Conn, thread_id: str, ns: str, wanted: set[Address]) -> dict[Address, tuple[str, bytes]]:
    """The values that lie close together, taken out of `wanted`."""
    found: dict[Address, tuple[str, bytes]] = {}
    owners: dict[tuple[str, bool], list[int]] = {}
    for owner, number in wanted:
        owners.setdefault((owner, number >= 0), []).append(number)
    for (owner, is_write), numbers in owners.items():
        first, last = min(numbers), max(numbers)
        if len(numbers) < _MANY or last - first >= 2 * len(numbers):
            continue
        for number, kind, data in conn.rows(WRITES_AT if is_write else VALUES_AT, thread_id, ns, owner, first, last):
            if (owner, number) in wanted:
                found[owner, number] = kind, data
        wanted.difference_update((owner, number) for number in numbers)
    return found


def _one_of_each(conn: Conn, thread_id: str, ns: str, wanted: set[Address]) -> dict[Address, tuple[str, bytes]]:
    """The values with the same number in many checkpoints, as a list that grew has them, taken out of `wanted`."""
    found: dict[Address, tuple[str, bytes]] = {}
    owners: dict[int, list[str]] = {}
    for owner, number in wanted:
        owners.setdefault(number, []).append(owner)
    for number, ids in owners.items():
        if len(ids) < _MANY_OWNERS:
            continue
        statement = _EACH_WRITE_AT if number >= 0 else _EACH_VALUE_AT
        for owner, kind, data in conn.rows(statement, thread_id, ns, json.dumps(ids), number):
            found[owner, number] = kind, data
        wanted.difference_update((owner, number) for owner in ids)
    return found


def newest_id(conn: Conn, thread_id: str, ns: str) -> str | None:
    """The id of the newest checkpoint of a thread's namespace."""
    row = conn.one(NEWEST_ID, thread_id, ns)
    return row[0] if row else None


# --- removing --------------------------------------------------------------------------------------

_OWNED = (checkpoints, checkpoint_writes, checkpoint_values)
DELETE_THREAD = tuple(
    Statement(delete(table).where(table.c.thread_id == bindparam("thread")), "thread") for table in _OWNED
)
DELETE_CHECKPOINT = tuple(
    Statement(delete(table).where(*_in_namespace(table.c), table.c.checkpoint_id == bindparam("id")), "thread ns id")
    for table in _OWNED
)
REWRITE_FRAME = Statement(
    update(checkpoints)
    .where(*_in_namespace(_c), _c.checkpoint_id == bindparam("id"))
    .values(keyframe=1, frame=bindparam("new_frame")),
    "new_frame thread ns id",
)
NAMESPACES = Statement(
    select(_c.checkpoint_ns).where(_c.thread_id == bindparam("thread")).distinct().order_by(_c.checkpoint_ns), "thread"
)
IDS = Statement(select(_c.checkpoint_id).where(*_in_namespace(_c)).order_by(_c.checkpoint_id), "thread ns")
ALL_METADATA = Statement(select(_c.thread_id, _c.checkpoint_ns, _c.checkpoint_id, _c.metadata))
VALUE_COUNT = Statement(
    select(func.coalesce(-func.min(_v.number), 0)).where(*_in_namespace(_v), _v.checkpoint_id == bindparam("id")),
    "thread ns id",
)


def _copied(table: Any) -> Statement:
    columns = [column for column in table.c if column.name != "thread_id"]
    rows = select(bindparam("target", type_=table.c.thread_id.type), *columns).where(
        table.c.thread_id == bindparam("thread")
    )
    return Statement(insert(table).from_select(["thread_id", *(c.name for c in columns)], rows), "target thread")


COPY_THREAD = tuple(_copied(table) for table in _OWNED)

# --- PostgreSQL only --------------------------------------------------------------------------------

LOCK_THREAD = Statement(select(func.pg_advisory_xact_lock(func.hashtext(bindparam("thread")))), "thread")
CHANGES = Statement(select(cast(cast(func.pg_snapshot_xmax(func.pg_current_snapshot()), Text), BigInteger)))
