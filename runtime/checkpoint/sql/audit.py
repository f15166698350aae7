"""Whether a database holds what it promises: every rule about its rows, looked at row by row.

Rule 1: nothing is changed, and no rule is taken on trust: every frame is rebuilt and every value decoded.
Rule 2: damage is found where it is, and the rest is looked at all the same.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sqlalchemy import bindparam, select

from runtime.checkpoint.base import SerializerProtocol
from runtime.checkpoint.errors import CheckpointStorageError
from runtime.checkpoint.sql import queries, soundness
from runtime.checkpoint.sql.database import Database
from runtime.checkpoint.sql.frames import State, read_state
from runtime.checkpoint.sql.log import numbers
from runtime.checkpoint.sql.places import Address, Place, Rope, addresses
from runtime.checkpoint.sql.reader import read_json
from runtime.checkpoint.sql.records import Finding
from runtime.checkpoint.sql.soundness import WriteKey, few
from runtime.checkpoint.sql.statements import Conn, Row, Statement
from runtime.checkpoint.sql.store import read_serialized
from runtime.checkpoint.sql.tables import (
    OLDEST_READABLE,
    READABLE_BY,
    SCHEMA_VERSION,
    checkpoint_store,
    checkpoint_values,
    checkpoint_writes,
    checkpoints,
)

_c, _w, _v = checkpoints.c, checkpoint_writes.c, checkpoint_values.c

Progress = Callable[[int, int], None]  # checkpoints looked at, of how many
Namespace = tuple[str, str]


def _everywhere() -> Statement:
    pairs = [
        select(table.c.thread_id, table.c.checkpoint_ns)
        for table in (checkpoints, checkpoint_writes, checkpoint_values)
    ]
    return Statement(pairs[0].union(*pairs[1:]))


def _of_namespace(table: Any, *columns: Any) -> Statement:
    query = select(*columns).where(table.c.thread_id == bindparam("thread"), table.c.checkpoint_ns == bindparam("ns"))
    return Statement(query.order_by(table.c.checkpoint_id), "thread ns")


_NAMESPACES = _everywhere()
_HEADERS = _of_namespace(
    checkpoints,
    *(_c.checkpoint_id, _c.parent_checkpoint_id, _c.metadata, _c.folded, _c.keyframe),
    *(_c.step, _c.source, _c.created_at),
)
_WRITE_KEYS = _of_namespace(
    checkpoint_writes, *(_w.checkpoint_id, _w.number, _w.task_id, _w.attempt, _w.idx, _w.channel)
)
_VALUE_KEYS = _of_namespace(checkpoint_values, _v.checkpoint_id, _v.number, _v.channel)
_STORES = Statement(select(checkpoint_store.c.id, checkpoint_store.c.version, checkpoint_store.c.generation))
_READABLE = Statement(select(checkpoint_store.c.readable))


def audit(database: Database, serde: SerializerProtocol, progress: Progress | None = None) -> Iterator[Finding]:
    """What is wrong with the rows of a database, in the order of threads, namespaces and checkpoints."""
    with database.read() as session:
        places = sorted((row[0], row[1]) for row in session.conn.rows(_NAMESPACES))
        headers = {place: session.conn.rows(_HEADERS, *place) for place in places}
        stores = session.conn.rows(_STORES)
        readable = session.conn.rows(_READABLE) if [row[1] for row in stores] == [SCHEMA_VERSION] else []
    whole = bool(stores) and stores[0][2] == 0  # nothing was ever removed
    yield from _store_findings(stores, readable, OLDEST_READABLE if database.read_only else SCHEMA_VERSION)
    total, done = sum(map(len, headers.values())), 0
    for place, rows in headers.items():
        try:
            with database.read() as session:
                found = list(_Namespace(session.conn, serde, place, rows, whole).findings())
        except CheckpointStorageError as error:
            found = [Finding(*place, "", str(error))]
        yield from found
        done += len(rows)
        if progress is not None:
            progress(done, total)


def _store_findings(stores: list[Row], readable: list[Row], oldest: int) -> Iterator[Finding]:
    """What is wrong with the row that tells the schema. A file that is only looked at may have an older one."""
    if [row[0] for row in stores] != [1] or not oldest <= stores[0][1] <= SCHEMA_VERSION:
        what = f"the table of the schema's version has the rows {stores!r}, not one with id 1 and {SCHEMA_VERSION}"
        yield Finding("", "", "", what)
    elif readable not in ([], [(READABLE_BY,)]):
        what = f"the table of the schema's version says {readable[0][0]} can read it, not {READABLE_BY}"
        yield Finding("", "", "", what)


class _Namespace:
    """The rows of one thread's namespace."""

    def __init__(
        self, conn: Conn, serde: SerializerProtocol, place: Namespace, headers: Sequence[Row], whole: bool
    ) -> None:
        self.conn = conn
        self.serde = serde
        self.place = place
        self.headers = {row[0]: row for row in headers}
        self.whole = whole
        self.writes: dict[str, list[WriteKey]] = {}
        self.channels: dict[Address, str] = {}
        self.lengths: dict[Address, int] = {}  # of what can be decoded; -1: not a list
        self.states: dict[str, State] = {}

    def findings(self) -> Iterator[Finding]:
        """Everything that is wrong here."""
        for owner, *key in self.conn.rows(_WRITE_KEYS, *self.place):
            write = WriteKey(*key)
            self.writes.setdefault(owner, []).append(write)
            self.channels[owner, write.number] = write.channel
        values: dict[str, list[int]] = {}
        for owner, number, channel in self.conn.rows(_VALUE_KEYS, *self.place):
            values.setdefault(owner, []).append(number)
            self.channels[owner, number] = channel
        for owner in sorted({*self.writes, *values} - self.headers.keys()):
            count = len(self.writes.get(owner, ())) + len(values.get(owner, ()))
            yield self._finding(owner, f"{count} writes or values belong to it, and there is no such checkpoint")
        for owner in sorted({*self.writes, *values}):
            writes, others = sorted(self.writes.get(owner, ())), values.get(owner, [])
            yield from self._decoded(owner, [write.number for write in writes] + others)
            for what in (*soundness.of_log(writes), *soundness.of_values(others)):
                yield self._finding(owner, what)
        for checkpoint_id in self.headers:
            yield from self._header(checkpoint_id)
            yield from self._state(checkpoint_id)
            yield from self._unnamed(checkpoint_id, values.get(checkpoint_id, ()))

    def _finding(self, checkpoint_id: str, what: str) -> Finding:
        return Finding(*self.place, checkpoint_id, what)

    def _decoded(self, owner: str, those: Sequence[int]) -> Iterator[Finding]:
        """Every stored value of a checkpoint can be decoded."""
        for number in those:
            statement = queries.WRITE_AT if number >= 0 else queries.VALUE_AT
            row = self.conn.one(statement, *self.place, owner, number)
            name = f"write {number}" if number >= 0 else f"value {number}"
            if row is None:
                yield self._finding(owner, f"{name} has gone while it was read")
                continue
            wrong = soundness.of_type(row[0], len(row[1]))
            if wrong:
                yield self._finding(owner, f"{name} is damaged: {wrong}")
            try:
                value = read_serialized(self.serde, row[0], row[1], name)
            except CheckpointStorageError as error:
                yield self._finding(owner, str(error))
                continue
            self.lengths[owner, number] = len(value) if isinstance(value, list) else -1

    def _unnamed(self, checkpoint_id: str, those: Sequence[int]) -> Iterator[Finding]:
        """What a checkpoint stores besides writes is part of its state."""
        state = self.states.get(checkpoint_id)
        if state is None or not those:
            return
        named = {address for place in state.places.values() for address in addresses(place)}
        for number in those:
            if (checkpoint_id, number) not in named:
                yield self._finding(checkpoint_id, f"value {number} is stored with it, and its state has no such value")

    def _header(self, checkpoint_id: str) -> Iterator[Finding]:
        """The parent is there and older, the metadata are JSON, and what was folded was written."""
        _, parent, metadata, folded, keyframe, step, source, created_at = self.headers[checkpoint_id]
        if parent is not None and parent not in self.headers and (self.whole or not keyframe):
            yield self._finding(checkpoint_id, f"its parent {parent!r} is not there")
        if keyframe not in (0, 1):
            yield self._finding(checkpoint_id, f"whether its frame is a keyframe is given as {keyframe!r}, not 0 or 1")
        if parent is not None and parent >= checkpoint_id:
            yield self._finding(checkpoint_id, f"its parent {parent!r} is not older: ids increase along a branch")
        try:
            about = read_json(metadata)
            if isinstance(about, dict):
                for what in soundness.of_header(step, source, created_at, about):
                    yield self._finding(checkpoint_id, what)
            else:
                yield self._finding(checkpoint_id, "its metadata are not a JSON object")
        except ValueError as error:
            yield self._finding(checkpoint_id, f"its metadata are not JSON: {error}")
        try:
            wanted = numbers(folded)
        except ValueError:
            yield self._finding(checkpoint_id, f"the writes that made it are given as {folded!r}, which are no numbers")
            return
        absent = sorted(set(wanted) - {write.number for write in self.writes.get(parent, ())})
        if absent and parent is None:
            yield self._finding(checkpoint_id, f"write {few(absent)} of its parent made it, and it has no parent")
        elif absent and parent in self.headers:
            yield self._finding(checkpoint_id, f"write {few(absent)} of its parent made it, and is not there")

    def _state(self, checkpoint_id: str) -> Iterator[Finding]:
        """The chain of frames leads to a keyframe, its addresses to values, and versions go up."""
        try:
            state = read_state(self.conn.rows(queries.CHAIN, *self.place, checkpoint_id))
        except CheckpointStorageError as error:
            said = str(error).removeprefix(f"checkpoint {checkpoint_id!r} is damaged in the database: ")
            yield self._finding(checkpoint_id, said)
            return
        self.states[checkpoint_id] = state
        # LangGraph's versions are strings, and its first releases gave empty channels none.
        imported = any(isinstance(version, str) for version in state.versions.values())
        for channel, place in state.places.items():
            wrong = self._wrong(channel, place)
            if wrong:
                yield self._finding(checkpoint_id, f"channel {channel!r} needs {wrong}")
            if channel not in state.versions and not imported:
                yield self._finding(checkpoint_id, f"channel {channel!r} has a value and no version")
        before = self.states.get(state.parent or "")
        if before is not None:
            yield from self._versions(checkpoint_id, before.versions, state.versions)
            yield from self._taken(checkpoint_id, before, state)
        for node, seen in state.seen.items():
            ahead = [name for name, version in seen.items() if _is_less(state.versions.get(name), version)]
            if ahead:
                yield self._finding(
                    checkpoint_id, f"node {node!r} has seen a later version of {ahead[0]!r} than it has"
                )

    def _taken(self, checkpoint_id: str, before: State, now: State) -> Iterator[Finding]:
        """What its state has of its parent's writes, which its parent's state has not, is among what made it."""
        known = {address for place in before.places.values() for address in addresses(place)}
        try:
            folded = set(numbers(self.headers[checkpoint_id][3]))
        except ValueError:
            return  # said already
        if self.headers[checkpoint_id][6] != "loop":
            return  # an edit may be equal to a write that it does not take, and refer to it
        for channel, place in now.places.items():
            for owner, number in addresses(place):
                if owner == now.parent and number >= 0 and number not in folded and (owner, number) not in known:
                    yield self._finding(
                        checkpoint_id, f"channel {channel!r} has write {number} of its parent, which did not make it"
                    )

    def _versions(self, checkpoint_id: str, before: dict[str, Any], now: dict[str, Any]) -> Iterator[Finding]:
        for channel, version in now.items():
            if _is_less(version, before.get(channel)):
                yield self._finding(
                    checkpoint_id,
                    f"channel {channel!r} goes back from version {before[channel]!r} to {version!r}",
                )

    def _wrong(self, channel: str, place: Place) -> str:
        """What is wrong with where a value is; "" if nothing."""
        for address in addresses(place):
            other = self.channels.get(address, channel)
            if other != channel:
                return f"value {address[1]} of checkpoint {address[0]!r}, which is one of channel {other!r}"
        if not isinstance(place, Rope):
            return "" if place in self.lengths else _unreadable(place)
        for part in place.parts:
            length = self.lengths.get((part.owner, part.number))
            if length is None:
                return _unreadable((part.owner, part.number))
            if part.lo >= 0 and not part.lo <= part.hi <= length:
                return f"elements up to {part.hi} of value {part.number} of {part.owner!r}, which has {max(length, 0)}"
        return ""


def _unreadable(address: Address) -> str:
    return f"value {address[1]} of checkpoint {address[0]!r}, which is not there or cannot be decoded"


def _is_less(one: Any, other: Any) -> bool:
    """Whether a version is before another; versions of different types, or none, say nothing."""
    if isinstance(one, str) != isinstance(other, str) or one is None or other is None:
        return False
    return bool(one < other)
