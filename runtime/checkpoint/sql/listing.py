"""Histories, newest first, a page at a time.

Rule 1: pages go by key, not by offset, so that a page costs the same anywhere in a history.
Rule 2: no transaction stays open between pages: whoever stops reading blocks nobody.
Rule 3: what checkpoints of a page have in common is read once, and a checkpoint is decoded when it is taken.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import and_, bindparam, or_, select
from sqlalchemy.sql import ColumnElement, Select

from runtime.checkpoint.base import CheckpointTuple, SerializerProtocol
from runtime.checkpoint.sql import queries
from runtime.checkpoint.sql.filters import conditions, matches
from runtime.checkpoint.sql.frames import State, advance, read_state, unpack
from runtime.checkpoint.sql.reader import View, as_tuple, metadata_of, pending_writes, view
from runtime.checkpoint.sql.statements import Conn, Row, Statement
from runtime.checkpoint.sql.store import Store
from runtime.checkpoint.sql.tables import checkpoints
from runtime.checkpoint.sql.values import Values

_c = checkpoints.c
PAGE = 64


class Wanted(NamedTuple):
    """Which checkpoints to list. None stands for all of them."""

    thread_id: str | None = None
    ns: str | None = None
    checkpoint_id: str | None = None
    before: str | None = None
    filter: Mapping[str, Any] | None = None


Namespace = tuple[str, str]  # thread id and checkpoint namespace
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


_by_key, _by_place = itemgetter(0, 1, 2), itemgetter(0, 1)
PAGE_COLUMNS = (*queries.HEADER, _c.keyframe, _c.frame)
"""What `states` needs of a checkpoint's row."""


def by_namespace(rows: Iterable[Row]) -> Iterator[tuple[Namespace, list[Row]]]:
    """The rows of each namespace of a thread, oldest first."""
    for key, own in groupby(sorted(rows, key=_by_key), key=_by_place):
        yield key, list(own)


def list_tuples(
    store: Store, serde: SerializerProtocol, wanted: Wanted, limit: int | None
) -> Iterator[CheckpointTuple]:
    """Checkpoints with values and pending writes, newest first."""
    cursor: Cursor | None = None
    remaining = limit
    while remaining is None or remaining > 0:
        with store.database.read() as session:
            conn = session.conn
            rows = conn.rows(
                select_page(PAGE_COLUMNS, wanted, conn.dialect, cursor is not None),
                *page_values(wanted, cursor, PAGE if remaining is None else min(PAGE, remaining)),
            )
            found = _matching(rows, wanted)
            pages = _read(conn, serde, found, sparse=len(found) < len(rows) or bool(wanted.filter))
        if not rows:
            return
        cursor = (rows[-1][2], rows[-1][0], rows[-1][1])
        for row in found:
            yield pages[row[:2]].tuple(row[2])
        if remaining is not None:
            remaining -= len(found)


def _matching(rows: list[Row], wanted: Wanted) -> list[Row]:
    if not wanted.filter:
        return rows
    return [row for row in rows if matches(metadata_of(row[7], row[2]), wanted.filter)]


class _Page:
    """The checkpoints of a page in one namespace, read but not decoded: that is done one by one, as they are taken."""

    def __init__(self, serde: SerializerProtocol, key: Namespace) -> None:
        self._serde = serde
        self._key = key
        self.values = Values(serde, *key)
        self.views: dict[str, View] = {}
        self.written: dict[str, list[Row]] = {}

    def tuple(self, checkpoint_id: str) -> CheckpointTuple:
        """A checkpoint, decoded."""
        found = self.views.pop(checkpoint_id)
        values = self.values.at(found.places)
        writes = pending_writes(self.values, checkpoint_id, self.written.get(checkpoint_id, ()))
        return as_tuple(self._serde, *self._key, found, values, writes)


def _read(conn: Conn, serde: SerializerProtocol, rows: list[Row], sparse: bool) -> dict[Namespace, _Page]:
    """All that is stored of these checkpoints. `sparse`: there may be others between them."""
    pages: dict[Namespace, _Page] = {}
    for key, own in by_namespace(rows):
        page = pages[key] = _Page(serde, key)
        for owner, *write in _writes(conn, key, [row[2] for row in own], sparse):
            page.written.setdefault(owner, []).append(tuple(write))
            page.values.know((owner, write[0]), write[6], write[7])
        for row, state in zip(own, states(conn, key, own), strict=True):
            found = page.views[row[2]] = view(state, metadata=row[7], created_at=row[6], quiet=False)
            page.values.read(conn, found.places.values())
    return pages


def _writes(conn: Conn, key: Namespace, ids: list[str], sparse: bool) -> list[Row]:
    if not sparse:
        return conn.rows(queries.WRITES_BETWEEN, *key, ids[0], ids[-1])
    return conn.rows(queries.WRITES_OF, *key, *ids, *ids[-1:] * (queries.WRITES_OF_MOST - len(ids)))


def states(conn: Conn, key: Namespace, rows: list[Row]) -> Iterator[State]:
    """The states of some checkpoints, given oldest first. A child's is its parent's, advanced: it is used at once."""
    frames = {row[2]: (row[2], row[3], row[9], row[10]) for row in rows}
    state: State | None = None
    for row in rows:
        _, _, checkpoint_id, parent, _, _, _, _, _, keyframe, frame = row
        if state is not None and state.id == parent and not keyframe:
            advance(state, checkpoint_id, parent, unpack(frame, checkpoint_id))
        else:
            state = read_state(_chain(conn, key, frames, checkpoint_id))
        yield state


def _chain(conn: Conn, key: Namespace, frames: dict[str, Any], checkpoint_id: str) -> list[Any]:
    """A checkpoint's frame and its ancestors' down to a keyframe, out of those at hand and the database."""
    chain = [frames[checkpoint_id]]
    met = {checkpoint_id}
    while not chain[-1][2]:
        parent = chain[-1][1]
        if parent in met:
            break
        met.add(parent)
        if parent not in frames:
            older = queries.lineage(conn, *key, parent)
            if not older:
                break
            frames.update((frame[0], frame) for frame in older)
        chain.append(frames[parent])
    return chain
