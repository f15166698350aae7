"""Histories, newest first, a page at a time.

Rule 1: pages go by key, not by offset, so that a page costs the same anywhere in a history.
Rule 2: no transaction stays open between pages: whoever stops reading blocks nobody.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import and_, bindparam, or_, select
from sqlalchemy.sql import ColumnElement, Select

from runtime.checkpoint.base import CheckpointTuple, SerializerProtocol
from runtime.checkpoint.sql import queries
from runtime.checkpoint.sql.filters import conditions, matches
from runtime.checkpoint.sql.frames import read_state
from runtime.checkpoint.sql.reader import View, as_tuple, pending_writes, read_json, read_values
from runtime.checkpoint.sql.statements import Conn, Row, Statement
from runtime.checkpoint.sql.store import Store
from runtime.checkpoint.sql.tables import checkpoints

_c = checkpoints.c
PAGE = 64


class Wanted(NamedTuple):
    """Which checkpoints to list. None stands for all of them."""

    thread_id: str | None = None
    ns: str | None = None
    checkpoint_id: str | None = None
    before: str | None = None
    filter: Mapping[str, Any] | None = None


Cursor = tuple[str, str, str]  # checkpoint id, thread id and namespace of the last one listed


def select_page(columns: tuple[Any, ...], wanted: Wanted, dialect: str, has_cursor: bool) -> Statement:
    """The statement for one page of what is wanted."""
    shape = tuple(value is not None for value in wanted[:4])
    if wanted.filter:
        query = _page(columns, shape, has_cursor).where(*conditions(wanted.filter, dialect))
        return Statement(query, _PARAMETERS)
    return _plain_page(columns, shape, has_cursor)


def page_values(wanted: Wanted, cursor: Cursor | None, limit: int) -> tuple[Any, ...]:
    """The parameters of `select_page`'s statement."""
    return (*wanted[:4], *(cursor or (None, None, None)), limit)


_PARAMETERS = "thread ns id before last_id last_thread last_ns limit"


@lru_cache
def _plain_page(columns: tuple[Any, ...], shape: tuple[bool, ...], has_cursor: bool) -> Statement:
    return Statement(_page(columns, shape, has_cursor), _PARAMETERS)


def _page(columns: tuple[Any, ...], shape: tuple[bool, ...], has_cursor: bool) -> Select[Any]:
    by_thread, by_ns, by_id, by_before = shape
    query = select(*columns)
    if by_thread:
        query = query.where(_c.thread_id == bindparam("thread"))
    if by_ns:
        query = query.where(_c.checkpoint_ns == bindparam("ns"))
    if by_id:
        query = query.where(_c.checkpoint_id == bindparam("id"))
    if by_before:
        query = query.where(_c.checkpoint_id < bindparam("before"))
    if has_cursor:
        last: list[ColumnElement[Any]] = [bindparam("last_id"), bindparam("last_thread"), bindparam("last_ns")]
        query = query.where(
            _c.checkpoint_id <= last[0],
            or_(
                _c.checkpoint_id < last[0],
                _c.thread_id < last[1],
                and_(_c.thread_id == last[1], _c.checkpoint_ns < last[2]),
            ),
        )
    return query.order_by(_c.checkpoint_id.desc(), _c.thread_id.desc(), _c.checkpoint_ns.desc()).limit(
        bindparam("limit")
    )


_COLUMNS = (*queries.HEADER, _c.keyframe, _c.frame)


def list_tuples(
    store: Store, serde: SerializerProtocol, wanted: Wanted, limit: int | None
) -> Iterator[CheckpointTuple]:
    """Checkpoints with values and pending writes, newest first."""
    cursor: Cursor | None = None
    remaining = limit
    while remaining is None or remaining > 0:
        with store.database.read() as session:
            conn = session.conn
            store.note(session)
            rows = conn.rows(
                select_page(_COLUMNS, wanted, conn.dialect, cursor is not None),
                *page_values(wanted, cursor, PAGE if remaining is None else min(PAGE, remaining)),
            )
            found = list(_tuples(conn, serde, _matching(rows, wanted)))
        if not rows:
            return
        cursor = (rows[-1][2], rows[-1][0], rows[-1][1])
        yield from found
        if remaining is not None:
            remaining -= len(found)


def _matching(rows: list[Row], wanted: Wanted) -> list[Row]:
    if not wanted.filter:
        return rows
    return [row for row in rows if matches(read_json(row[7]), wanted.filter)]


def _tuples(conn: Conn, serde: SerializerProtocol, rows: list[Row]) -> Iterator[CheckpointTuple]:
    by_namespace: dict[tuple[str, str], dict[str, Any]] = {}
    for key, group in groupby(sorted(rows, key=lambda row: row[:3]), key=lambda row: row[:2]):
        by_namespace[key] = _built(conn, serde, key, list(group))
    for row in rows:
        yield by_namespace[row[:2]][row[2]]


def _built(conn: Conn, serde: SerializerProtocol, key: tuple[str, str], rows: list[Row]) -> dict[str, CheckpointTuple]:
    """The checkpoints of one namespace, by id."""
    frames = {row[2]: (row[2], row[3], row[9], row[10]) for row in rows}
    written: dict[str, list[Row]] = {}
    for owner, *write in conn.rows(queries.WRITES_BETWEEN, *key, rows[0][2], rows[-1][2]):
        written.setdefault(owner, []).append(tuple(write))
    built = {}
    for row in rows:
        state = read_state(_chain(conn, key, frames, row[2]))
        found = View(row[2], row[3], state.versions, state.seen, state.places, state.rest, row[7], row[6], quiet=False)
        values = read_values(conn, serde, *key, found.places)
        writes = pending_writes(serde, row[2], written.get(row[2], ()))
        built[row[2]] = as_tuple(serde, *key, found, values, writes)
    return built


def _chain(conn: Conn, key: tuple[str, str], frames: dict[str, Any], checkpoint_id: str) -> list[Any]:
    """A checkpoint's frame and its ancestors' down to a keyframe, out of those at hand and the database."""
    chain = [frames[checkpoint_id]]
    met = {checkpoint_id}
    while not chain[-1][2]:
        parent = chain[-1][1]
        if parent in met:
            break
        met.add(parent)
        if parent not in frames:
            older = conn.rows(queries.CHAIN, *key, parent)
            if not older:
                break
            frames.update((frame[0], frame) for frame in older)
        chain.append(frames[parent])
    return chain
