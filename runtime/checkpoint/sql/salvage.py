"""The threads of a damaged file: those that can be reached around what cannot be read.

A list of all threads goes through every page of the table, so one bad page hides all of them. A single thread is
found by its key, over few pages; so threads are gone through one by one, from either end up to the damage.
"""

from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import bindparam, func, select

from runtime.checkpoint.errors import CheckpointStorageError
from runtime.checkpoint.sql import browse
from runtime.checkpoint.sql.listing import Wanted
from runtime.checkpoint.sql.records import ThreadRecord
from runtime.checkpoint.sql.statements import Statement
from runtime.checkpoint.sql.tables import checkpoints

_id = checkpoints.c.thread_id
_FIRST = Statement(select(_id).order_by(_id).limit(1), "")
_LAST = Statement(select(_id).order_by(_id.desc()).limit(1), "")
_NEXT = Statement(select(_id).where(_id > bindparam("thread")).order_by(_id).limit(1), "thread")
_NEWEST = Statement(
    select(func.max(checkpoints.c.checkpoint_id)).where(_id == bindparam("thread"), checkpoints.c.checkpoint_ns == ""),
    "thread",
)
_PREVIOUS = Statement(select(_id).where(_id < bindparam("thread")).order_by(_id.desc()).limit(1), "thread")

MOST = 10_000
"""Threads that are looked for."""

Look = Callable[..., Any]
"""Calls a function with a connection and arguments, in a transaction of its own."""


def readable_threads(look: Look) -> list[ThreadRecord]:
    """Threads, those with the newest checkpoints first; of one that cannot be read itself, only the id is told."""
    found: dict[str, None] = {}
    if not _walk(look, found, _FIRST, _NEXT):
        _walk(look, found, _LAST, _PREVIOUS)
    records = [_record(look, thread) for thread in found]
    # The order of a list of all threads, so that pages of the one go on where pages of the other end.
    return sorted(records, key=lambda record: record.newest or _newest(look, record.thread_id), reverse=True)


def _walk(look: Look, found: dict[str, None], first: Statement, following: Statement) -> bool:
    """Take in threads one after the other; return whether that came to the end rather than to damage."""
    try:
        for thread in _ids(look, first, following):
            if thread in found or len(found) >= MOST:  # met from the other end, or led in a circle
                return True
            found[thread] = None
    except CheckpointStorageError as error:
        if error.reason != "corrupt":
            raise
        return False
    return True


def _ids(look: Look, first: Statement, following: Statement) -> Iterator[str]:
    row = look(lambda conn: conn.one(first))
    while row is not None:
        yield row[0]
        row = look(lambda conn, last: conn.one(following, last), row[0])


def _newest(look: Look, thread: str) -> str:
    """The newest checkpoint's id, also of one whose row cannot be read; "" when not even that can be."""
    try:
        row = look(lambda conn: conn.one(_NEWEST, thread))
    except CheckpointStorageError as error:
        if error.reason != "corrupt":
            raise
        row = None
    return row[0] or "" if row is not None else ""


def _record(look: Look, thread: str) -> ThreadRecord:
    try:
        newest = look(browse.records, Wanted(thread, ""), 1)
        count = look(browse.count, thread)
    except CheckpointStorageError as error:
        if error.reason != "corrupt":
            raise
        newest, count = [], 0
    if not newest:
        return ThreadRecord(thread, count, "", "", None, None, {})
    (head,) = newest
    return ThreadRecord(thread, count, head.id, head.created_at or "", head.step, head.source, head.metadata)
