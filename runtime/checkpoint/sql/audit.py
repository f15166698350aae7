"""Whether a database holds what it promises: every rule about its rows, looked at row by row.

Rule 1: nothing is changed, and no rule is taken on trust: every frame is rebuilt and every value decoded.
Rule 2: damage is found where it is, and the rest is looked at all the same.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sqlalchemy import bindparam, select

from runtime.checkpoint.base import SerializerProtocol
from runtime.checkpoint.errors import CheckpointStorageError
from runtime.checkpoint.sql import queries
from runtime.checkpoint.sql.database import Database
from runtime.checkpoint.sql.frames import State, read_state
from runtime.checkpoint.sql.log import numbers
from runtime.checkpoint.sql.places import Address, Place, Rope
from runtime.checkpoint.sql.reader import read_json
from runtime.checkpoint.sql.records import Finding
from runtime.checkpoint.sql.statements import Conn, Row, Statement
from runtime.checkpoint.sql.store import read_serialized
from runtime.checkpoint.sql.tables import checkpoint_values, checkpoint_writes, checkpoints

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
_HEADERS = _of_namespace(checkpoints, _c.checkpoint_id, _c.parent_checkpoint_id, _c.metadata, _c.folded, _c.keyframe)
_WRITE_NUMBERS = _of_namespace(checkpoint_writes, _w.checkpoint_id, _w.number, _w.task_id, _w.attempt)
_VALUE_NUMBERS = _of_namespace(checkpoint_values, _v.checkpoint_id, _v.number)


def audit(database: Database, serde: SerializerProtocol, progress: Progress | None = None) -> Iterator[Finding]:
    """What is wrong with the rows of a database, in the order of threads, namespaces and checkpoints."""
    with database.read() as session:
        places = sorted((row[0], row[1]) for row in session.conn.rows(_NAMESPACES))
        headers = {place: session.conn.rows(_HEADERS, *place) for place in places}
        store = session.conn.one(queries.STORE)
    whole = store is not None and store[1] == 0  # nothing was ever removed
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
        self.writes: dict[str, list[Row]] = {}
        self.lengths: dict[Address, int] = {}  # of what can be decoded; -1: not a list
        self.states: dict[str, State] = {}

    def findings(self) -> Iterator[Finding]:
        """Everything that is wrong here."""
        for row in self.conn.rows(_WRITE_NUMBERS, *self.place):
            self.writes.setdefault(row[0], []).append(row[1:])
        values: dict[str, list[int]] = {}
        for owner, number in self.conn.rows(_VALUE_NUMBERS, *self.place):
            values.setdefault(owner, []).append(number)
        for owner in sorted({*self.writes, *values} - self.headers.keys()):
            count = len(self.writes.get(owner, ())) + len(values.get(owner, ()))
            yield self._finding(owner, f"{count} writes or values belong to it, and there is no such checkpoint")
        for owner in sorted({*self.writes, *values}):
            yield from self._decoded(owner, [row[0] for row in self.writes.get(owner, ())] + values.get(owner, []))
            yield from self._log(owner)
        for checkpoint_id in self.headers:
            yield from self._header(checkpoint_id)
            yield from self._state(checkpoint_id)

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
            try:
                value = read_serialized(self.serde, row[0], row[1], name)
            except CheckpointStorageError as error:
                yield self._finding(owner, str(error))
                continue
            self.lengths[owner, number] = len(value) if isinstance(value, list) else -1

    def _log(self, owner: str) -> Iterator[Finding]:
        """The writes on a checkpoint are all there, and attempts go up."""
        rows = sorted(self.writes.get(owner, ()))
        missing = sorted(set(range(rows[-1][0] + 1)) - {row[0] for row in rows}) if rows else []
        if missing:
            yield self._finding(owner, f"writes are numbered from 0 without a gap, and {_few(missing)} is not there")
        attempts: dict[str, int] = {}
        for number, task, attempt in rows:
            if attempt < attempts.get(task, 0):
                yield self._finding(owner, f"write {number} of task {task!r} goes back to attempt {attempt}")
            attempts[task] = attempt

    def _header(self, checkpoint_id: str) -> Iterator[Finding]:
        """The parent is there and older, the metadata are JSON, and what was folded was written."""
        _, parent, metadata, folded, keyframe = self.headers[checkpoint_id]
        if parent is not None and parent not in self.headers and (self.whole or not keyframe):
            yield self._finding(checkpoint_id, f"its parent {parent!r} is not there")
        if parent is not None and parent >= checkpoint_id:
            yield self._finding(checkpoint_id, f"its parent {parent!r} is not older: ids increase along a branch")
        try:
            if not isinstance(read_json(metadata), dict):
                yield self._finding(checkpoint_id, "its metadata are not a JSON object")
        except ValueError as error:
            yield self._finding(checkpoint_id, f"its metadata are not JSON: {error}")
        try:
            wanted = numbers(folded)
        except ValueError:
            yield self._finding(checkpoint_id, f"the writes that made it are given as {folded!r}, which are no numbers")
            return
        absent = sorted(set(wanted) - {row[0] for row in self.writes.get(parent, ())})
        if absent and parent in self.headers:
            yield self._finding(checkpoint_id, f"write {_few(absent)} of its parent made it, and is not there")

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
            wrong = self._wrong(place)
            if wrong:
                yield self._finding(checkpoint_id, f"channel {channel!r} needs {wrong}")
            if channel not in state.versions and not imported:
                yield self._finding(checkpoint_id, f"channel {channel!r} has a value and no version")
        before = self.states.get(state.parent or "")
        if before is not None:
            yield from self._versions(checkpoint_id, before.versions, state.versions)
        for node, seen in state.seen.items():
            ahead = [name for name, version in seen.items() if _is_less(state.versions.get(name), version)]
            if ahead:
                yield self._finding(
                    checkpoint_id, f"node {node!r} has seen a later version of {ahead[0]!r} than it has"
                )

    def _versions(self, checkpoint_id: str, before: dict[str, Any], now: dict[str, Any]) -> Iterator[Finding]:
        for channel, version in now.items():
            if _is_less(version, before.get(channel)):
                yield self._finding(
                    checkpoint_id,
                    f"channel {channel!r} goes back from version {before[channel]!r} to {version!r}",
                )

    def _wrong(self, place: Place) -> str:
        """What is wrong with where a value is; "" if nothing."""
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


def _few(found: Sequence[int]) -> str:
    return ", ".join(map(str, found[:5])) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
