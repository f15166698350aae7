"""One thread, checkpoint by checkpoint, into the rows that our own recording would have made of it.

Rule 1: what a source repeats is stored once: a channel whose bytes are its parent's is not stored again, a list is
        stored by what was added, and a value that a task wrote is the row of that write.
Rule 2: what a source has exactly one of, stays: ids, versions, metadata, the order, index and bytes of writes.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

from runtime.checkpoint.errors import CheckpointStorageError, SerializationError
from runtime.checkpoint.importing.carrier import Carrier, closed
from runtime.checkpoint.langgraph import LangGraphReader
from runtime.checkpoint.langgraph.stored import KNOWN_TAGS, Found, StoredWrite, decoded
from runtime.checkpoint.sql import queries
from runtime.checkpoint.sql.configs import write_json
from runtime.checkpoint.sql.jobs import load_head
from runtime.checkpoint.sql.lists import Memo
from runtime.checkpoint.sql.log import Carried, WriteLog
from runtime.checkpoint.sql.places import Rope, addresses, assemble
from runtime.checkpoint.sql.prepare import Head, Step, encode_element, prepare
from runtime.checkpoint.sql.reader import as_tuple, read_json, view
from runtime.checkpoint.sql.saver import DatabaseSaver
from runtime.checkpoint.sql.statements import Conn
from runtime.checkpoint.sql.store import read_serialized
from runtime.checkpoint.sql.values import Values

_MOST_HEADS = 8  # that are kept for their next child

Digest = bytes


class _Point:
    """A checkpoint that is stored: its head, and what its channels hold and its tasks wrote, in short."""

    __slots__ = ("digests", "head", "written")

    def __init__(self, head: Head, digests: dict[str, Digest]) -> None:
        self.head = head
        self.digests = digests
        self.written: dict[tuple[str, int], Digest] = {}  # by task id and index


class Importing:
    """A thread being imported, inside a transaction on the target."""

    def __init__(self, conn: Conn, thread_id: str, source: LangGraphReader, target: DatabaseSaver) -> None:
        self._conn = conn
        self._thread = thread_id
        self._source = source
        self._target = target
        self._serde = closed(target.serde)
        self._from = closed(source.serde)
        self._as_is = isinstance(self._serde, Carrier) and isinstance(self._from, Carrier)
        self._points: OrderedDict[tuple[str, str], _Point] = OrderedDict()
        self._known: dict[str, set[str]] = {}
        self._orphans = False
        self._added = [0, 0, 0]  # checkpoints, writes, checkpoints that were there

    def take(self, found: Found) -> None:
        """Store a checkpoint, or see that it is stored as it is. Its parent came before it.

        Raises:
            CheckpointStorageError: another one is stored under its id.
        """
        _, ns, checkpoint_id = found.key
        if ns not in self._known:
            self._known[ns] = {row[0] for row in self._conn.rows(queries.IDS, self._thread, ns)}
        if checkpoint_id in self._known[ns]:
            self._meet(found)
        else:
            self._add(found)
            self._known[ns].add(checkpoint_id)

    def finish(self) -> Sequence[int]:
        """How many checkpoints and writes were added, and how many checkpoints were there already."""
        if self._orphans:  # the source was pruned: some parents are gone, as they would be after a prune here
            self._conn.run(queries.BUMP_GENERATION)
        return self._added

    # --- what is new --------------------------------------------------------------------------------

    def _add(self, found: Found) -> None:
        thread_id, ns, checkpoint_id = found.key
        point = self._parent(ns, found.parent)
        values = found.checkpoint["channel_values"]
        digests = {channel: self._digest(value) for channel, value in values.items()}
        versions = found.checkpoint["channel_versions"]
        changed = {
            channel: versions.get(channel, 0)
            for channel, digest in digests.items()
            if point.digests.get(channel) != digest
        }
        for channel in changed:
            if type(values[channel]) is list:
                values[channel] = self._shared(point.head, channel, values[channel])
        source, step = found.metadata.get("source"), found.metadata.get("step")
        folded = {task_id for task_id, _ in point.written} if source == "loop" else ()
        # No source: it would say that elements which are the same object did not change.
        wanted = Step(
            thread_id,
            ns,
            found.parent,
            {"updated_channels": None, **found.checkpoint, "id": checkpoint_id},  # type: ignore[typeddict-item]
            self._metadata(found),
            changed,
            folded=[*folded],
        )
        wanted.checkpoint.setdefault("ts", "")
        rows = prepare(point.head, wanted, self._serde, lambda rope: self._recall(ns, rope))
        key = (thread_id, ns, checkpoint_id)
        self._conn.many(queries.INSERT_VALUE, [(*key, *row) for row in rows.values])
        self._conn.run(
            queries.INSERT_CHECKPOINT,
            *(*key, found.parent, step if type(step) is int else None, source if type(source) is str else None),
            *(found.checkpoint.get("ts"), wanted.metadata, rows.folded, rows.keyframe, rows.frame),
        )
        self._added[0] += 1
        made = _Point(point.head, digests)
        self._write(made, found, found.writes)
        self._keep(ns, checkpoint_id, made)

    def _metadata(self, found: Found) -> str:
        try:
            return write_json(found.metadata)
        except SerializationError as error:
            raise CheckpointStorageError(
                f"checkpoint {found.key[2]!r} of {self._source.name} cannot be imported: {error}", "corrupt"
            ) from error

    def _write(self, point: _Point, found: Found, writes: Sequence[StoredWrite]) -> None:
        rows = []
        for write in writes:
            value, encoded = self._carried(write, found.key[2])
            is_same = self._as_is and write.type in KNOWN_TAGS
            stored = (write.type, write.value) if is_same else encoded
            rows.append(point.head.log.carry(Carried(*write[:4], *stored), value, encoded))
            point.written[write.task_id, write.idx] = _short(write.channel, encoded)
        self._conn.many(queries.INSERT_WRITE, [(*found.key, *row) for row in rows])
        self._added[1] += len(rows)

    def _carried(self, write: StoredWrite, checkpoint_id: str) -> tuple[Any, tuple[str, bytes]]:
        what = f"the write of task {write.task_id!r} to {write.channel!r} on checkpoint {checkpoint_id!r}"
        value = decoded(self._from, (write.type, write.value), f"{what} of {self._source.name}")
        return value, self._serde.dumps_typed(value)

    def _shared(self, head: Head, channel: str, elements: list[Any]) -> list[Any]:
        """A list whose last elements, where tasks of the parent wrote them, are the objects of those writes."""
        written = [write.value for write in (head.log.objects or {}).get(channel, ())]
        flat = [item for value in written for item in (value if type(value) is list else [value])]
        if not flat:
            return elements
        by_bytes = {self._encode(item): item for item in reversed(flat)}
        start = max(len(elements) - len(flat), 0)
        return elements[:start] + [by_bytes.get(self._encode(item), item) for item in elements[start:]]

    # --- what is there ------------------------------------------------------------------------------

    def _meet(self, found: Found) -> None:
        """See that a checkpoint is stored as it is, and add the writes on top of it that came later."""
        _, ns, checkpoint_id = found.key
        point = self._load(ns, checkpoint_id)
        head = point.head
        known = view(head.state, head.metadata, head.created_at, quiet=False)
        there = as_tuple(self._serde, self._thread, ns, known, {}, [])
        digests = {channel: self._digest(value) for channel, value in found.checkpoint["channel_values"].items()}
        compared: Sequence[tuple[str, Any, Any]] = (
            ("parent", point.head.state.parent, found.parent),
            ("metadata", read_json(point.head.metadata), read_json(self._metadata(found))),
            ("values", point.digests, digests),
            ("versions", _plain(there.checkpoint), _plain(found.checkpoint)),
        )
        for what, mine, theirs in compared:
            if mine != theirs:
                raise self._conflict(checkpoint_id, what)
        self._write(point, found, self._missing(point, found))
        self._added[2] += 1
        self._keep(ns, checkpoint_id, point)

    def _missing(self, point: _Point, found: Found) -> list[StoredWrite]:
        missing = []
        for write in found.writes:
            there = point.written.get((write.task_id, write.idx))
            mine = _short(write.channel, self._carried(write, found.key[2])[1])
            if there is None or (there != mine and write.idx < 0):  # asked, failed or answered again
                missing.append(write)
            elif there != mine:
                raise self._conflict(found.key[2], f"write {write.idx} of task {write.task_id!r}")
        return missing

    def _conflict(self, checkpoint_id: str, what: str) -> CheckpointStorageError:
        return CheckpointStorageError(
            f"checkpoint {checkpoint_id!r} of thread {self._thread!r} is in the target already, and is not the same as "
            f"in {self._source.name}: they differ in their {what}. Nothing of this thread was imported; use another "
            "target, or remove the thread from this one",
            "conflict",
        )

    # --- parents ------------------------------------------------------------------------------------

    def _parent(self, ns: str, checkpoint_id: str | None) -> _Point:
        if checkpoint_id is None:
            return _Point(load_head(self._conn, self._thread, ns, None), {})
        point = self._points.pop((ns, checkpoint_id), None)
        if point is not None:
            return point
        if checkpoint_id not in self._known[ns]:
            self._orphans = True
        return self._load(ns, checkpoint_id)

    def _keep(self, ns: str, checkpoint_id: str, point: _Point) -> None:
        self._points[ns, checkpoint_id] = point
        if len(self._points) > _MOST_HEADS:
            self._points.popitem(last=False)

    def _load(self, ns: str, checkpoint_id: str) -> _Point:
        """A checkpoint as it is stored in the target; an empty one if it is not there."""
        head = load_head(self._conn, self._thread, ns, checkpoint_id, with_log=False)
        head.log = WriteLog()
        point = _Point(head, {})
        for number, task_id, task_path, attempt, idx, channel, kind, data in self._conn.rows(
            queries.WRITES, self._thread, ns, checkpoint_id
        ):
            value = read_serialized(self._serde, kind, data, f"write {number} of checkpoint {checkpoint_id!r}")
            encoded = self._serde.dumps_typed(value)
            head.log.carry(Carried(task_id, task_path, idx, channel, kind, data), value, encoded, attempt)
            point.written[task_id, idx] = _short(channel, encoded)
        stored = Values(self._serde, self._thread, ns)
        stored.read(self._conn, head.state.places.values())
        values = stored.at(head.state.places)
        for channel, place in head.state.places.items():
            if isinstance(place, Rope):
                head.memos[channel] = Memo(values[channel], [self._encode(item) for item in values[channel]])
        point.digests = {channel: self._digest(value) for channel, value in values.items()}
        return point

    def _recall(self, ns: str, rope: Rope) -> list[bytes]:
        stored = queries.values_at(self._conn, self._thread, ns, addresses(rope))
        opened = {address: self._serde.loads_typed(value) for address, value in stored.items()}
        return [self._encode(element) for element in assemble(rope, opened)]

    def _encode(self, value: Any) -> bytes:
        return encode_element(self._serde, value)

    def _digest(self, value: Any) -> Digest:
        return blake2b(self._encode(value), digest_size=16).digest()


def _short(channel: str, encoded: tuple[str, bytes]) -> Digest:
    return blake2b(f"{channel}:{encoded[0]}:".encode() + encoded[1], digest_size=16).digest()


def _plain(checkpoint: Mapping[str, Any]) -> dict[str, Any]:
    """A checkpoint without its values. A key that is absent is the same as nothing."""
    kept = {key: value for key, value in checkpoint.items() if key != "channel_values"}
    return {key: value for key, value in kept.items() if value not in (None, [], "")}
