"""From a checkpoint and its parent's state to the rows that store it. No IO here.

Rule 1: what did not change costs nothing. Only channels that changed are looked at, where the caller says which.
Rule 2: a value that a task of the parent wrote is stored once, in the row of that write, and referred to.
Rule 3: the state in memory is advanced by the very delta that is stored, so that both always agree.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import is_
from typing import Any

from runtime.checkpoint.base import Checkpoint, SerializerProtocol
from runtime.checkpoint.sql.frames import State, Version, advance, delta_frame
from runtime.checkpoint.sql.lists import Memo, changes, reachable
from runtime.checkpoint.sql.log import WriteLog, WriteRow, Written, encoded
from runtime.checkpoint.sql.places import Rope

_KNOWN = frozenset(
    ("id", "ts", "v", "channel_values", "channel_versions", "versions_seen", "updated_channels", "pending_sends")
)
_ABSENT = object()

TaskWrites = tuple[str, str, Sequence[tuple[str, Any]]]
Recall = Callable[[Rope], list[bytes]]


@dataclass(slots=True)
class Step:
    """A checkpoint to store, as the caller gave it."""

    thread_id: str
    ns: str
    parent: str | None
    checkpoint: Checkpoint
    metadata: str  # JSON
    new_versions: Mapping[str, Version]
    step: int | None = None
    source: str | None = None
    writes: Sequence[TaskWrites] = ()
    nodes: Sequence[str] | None = None
    folded: Sequence[str] | None = None
    complete: bool = False  # `new_versions` names every channel that changed; other values may be missing


class Head:
    """A checkpoint in memory: its state, the writes on top of it, and the lists it was stored from."""

    __slots__ = ("created_at", "log", "memos", "metadata", "serde", "state")

    def __init__(self, state: State, log: WriteLog, metadata: Any = None, created_at: str | None = None) -> None:
        self.state = state
        self.log = log
        self.memos: dict[str, Memo] = {}
        self.metadata = metadata
        self.created_at = created_at
        self.serde: SerializerProtocol | None = None


@dataclass(slots=True)
class Rows:
    """What a step adds to the database. `base` is the number of rows that the parent must have before."""

    base: int
    writes: list[WriteRow]
    values: list[tuple[int, str, str, bytes]]
    folded: str
    keyframe: int
    frame: bytes


class NotInMemory(Exception):
    """The bytes of a stored list are needed, and only a connection can get them."""


def no_recall(rope: Rope) -> list[bytes]:
    """The `Recall` of a preparation that has no connection."""
    raise NotInMemory


def prepare(head: Head, step: Step, serde: SerializerProtocol, recall: Recall = no_recall) -> Rows:
    """Turn `head`, the parent, into the head of the new checkpoint, and return the rows to store.

    When this raises, the head is good for nothing any more.
    """
    base = head.log.count
    writes, folded = _writes(head.log, step, serde)
    builder = _Builder(head, step, serde, recall)
    delta = builder.delta()
    state, checkpoint = head.state, step.checkpoint
    is_first = state.id is None or builder.shrinks
    advance(state, checkpoint["id"], step.parent, delta)
    if builder.shrinks:
        state.versions = dict(checkpoint["channel_versions"])
        state.seen = {node: dict(seen) for node, seen in checkpoint["versions_seen"].items()}
    frame = b"" if is_first else delta_frame(delta)
    keyframe = int(is_first or state.keyframe_due(len(frame)))
    if keyframe:
        frame = state.keyframe()
    head.log, head.metadata, head.created_at, head.serde = WriteLog(), step.metadata, checkpoint["ts"], serde
    return Rows(base, writes, builder.values, folded, keyframe, frame)


def _writes(log: WriteLog, step: Step, serde: SerializerProtocol) -> tuple[list[WriteRow], str]:
    """The rows of the step's writes, and the numbers of those that the checkpoint folds."""
    if step.source == "loop" and step.folded is None:
        short = log.last(step.writes, serde)
        if short is not None:
            return short
    log.settle()
    writes = [row for task in step.writes for row in log.add(*task, serde)]
    if step.folded is not None:
        return writes, log.folded(step.folded)
    return writes, log.folded(None if step.source == "loop" else [task[0] for task in step.writes])


class _Builder:
    """The delta of one step, channel by channel."""

    def __init__(self, head: Head, step: Step, serde: SerializerProtocol, recall: Recall) -> None:
        self.state = head.state
        self.memos = head.memos
        self.objects = head.log.objects if step.source == "loop" else None
        self.candidates = head.log.objects or {}
        self.checkpoint = step.checkpoint
        self.step = step
        self.serde = serde
        self.recall = recall
        self.values: list[tuple[int, str, str, bytes]] = []
        self.shrinks = False

    def delta(self) -> dict[str, Any]:
        """What differs from the parent's state, in the form that `State.apply` takes."""
        versions, changed = self._versions()
        values, places = self.checkpoint["channel_values"], self.state.places
        added, replaced = self._seen()
        delta: dict[str, Any] = {"v": versions, "s": added, "t": replaced, "p": {}, "d": []}
        for channel in changed:
            if channel in values:
                delta["p"][channel] = self._place(channel, values[channel])
            elif channel in places:
                delta["d"].append(channel)
                self.memos.pop(channel, None)
        rest = self._rest()
        if rest != self.state.rest:
            delta["r"] = rest
        return delta

    def _versions(self) -> tuple[dict[str, Version], Sequence[str]]:
        """The versions that changed, and the channels whose values did."""
        now, before = self.checkpoint["channel_versions"], self.state.versions
        values, places = self.checkpoint["channel_values"], self.state.places
        if self.step.complete:
            return self._told_versions()
        changed = {channel: version for channel, version in now.items() if before.get(channel, _ABSENT) != version}
        self.shrinks = len(before) + sum(channel not in before for channel in changed) > len(now)
        stored = [
            channel
            for channel in values
            if channel in changed or channel in self.step.new_versions or channel not in places or channel not in now
        ]
        return changed, stored + [channel for channel in places if channel not in values]

    def _told_versions(self) -> tuple[dict[str, Version], Sequence[str]]:
        """The same, as the caller says. Values of other channels need not be there."""
        now, before, told = self.checkpoint["channel_versions"], self.state.versions, self.step.new_versions
        size = len(before)
        for channel in told:
            if channel not in before:
                size += 1
        if size <= len(now):
            return dict(told), list(told)
        self.shrinks = True
        return dict(told), [*told, *(channel for channel in self.state.places if channel not in now)]

    def _seen(self) -> tuple[dict[str, dict[str, Version]], dict[str, dict[str, Version]]]:
        """What nodes have seen since: entries to add to theirs, and entries to replace theirs by."""
        now, before = self.checkpoint["versions_seen"], self.state.seen
        added, replaced = {}, {}
        for node in now if self.step.nodes is None else self.step.nodes:
            new, old = now.get(node, {}), before.get(node)
            if old is None:
                replaced[node] = dict(new)
            elif new != old and new.keys() >= old.keys():
                added[node] = {channel: version for channel, version in new.items() if old.get(channel) != version}
            elif new != old:
                replaced[node] = dict(new)
        if len(before) + len([node for node in replaced if node not in before]) != len(now):
            if self.step.nodes is None:
                self.shrinks = True
            else:  # the caller's hint was not the whole truth
                self.step.nodes = None
                return self._seen()
        return added, replaced

    def _rest(self) -> dict[str, Any]:
        checkpoint: Mapping[str, Any] = self.checkpoint
        rest = {"v": checkpoint.get("v"), "u": checkpoint.get("updated_channels")}
        if checkpoint.get("pending_sends") or not _KNOWN.issuperset(checkpoint):
            extra = {key: value for key, value in checkpoint.items() if key not in _KNOWN or key == "pending_sends"}
            rest["x"] = list(self.serde.dumps_typed(extra))
        elif "pending_sends" in checkpoint:
            rest["e"] = True
        return rest

    # --- values -----------------------------------------------------------------------------------

    def _place(self, channel: str, value: Any) -> Any:
        """Where the value is from now on: a number, or whether the list starts anew, and its splices."""
        if type(value) is list:
            return self._list(channel, value)
        self.memos.pop(channel, None)
        written = self.candidates.get(channel, ())
        for write in written:
            if write.fresh and write.value is value:
                return write.number
        kind, data = encoded(self.serde, channel, value)
        for write in written:
            if write.type == kind and write.data == data:
                return write.number
        return self._own(channel, kind, data)

    def _own(self, channel: str, kind: str, data: bytes) -> int:
        number = -1 - len(self.values)
        self.values.append((number, channel, kind, data))
        return number

    def _list(self, channel: str, value: list[Any]) -> Any:
        rope, memo = self.state.places.get(channel), self.memos.get(channel)
        if not isinstance(rope, Rope) or rope.is_scattered():
            self.memos[channel] = Memo(value)
            return True, self._fresh(channel, value)
        splices, self.memos[channel] = changes(
            memo, value, self._returned(channel), self._encode, lambda: self.recall(rope)
        )
        if splices is None or sum(splice.hi - splice.lo for splice in splices) * 2 > len(value) + rope.length:
            return True, self._fresh(channel, value)
        placed = []
        for splice in splices:
            added = value[splice.lo : splice.hi]
            placed.append((splice.start, splice.stop, self._parts(channel, added)))
        return False, placed

    def _fresh(self, channel: str, value: list[Any]) -> list[Any]:
        return [(0, 0, self._parts(channel, value))] if value else []

    def _parts(self, channel: str, elements: list[Any]) -> list[Any]:
        """Parts that hold these elements: those of writes if they are just those, else a value of our own."""
        if not elements:
            return []
        parts, at = [], 0
        for write in self.candidates.get(channel, ()):
            taken = _match(write, elements, at)
            if taken:
                written = write.value
                is_list = type(written) is list and written is not elements[at]
                parts.append((write.number, 0 if is_list else -1, taken if is_list else -1, len(write.data)))
                at += taken
        if at == len(elements) and all(self._is_current(write) for write in self._used(channel, parts)):
            return parts
        kind, data = encoded(self.serde, channel, elements)
        for write in self.candidates.get(channel, ()):
            if write.type == kind and write.data == data:
                return [(write.number, 0, len(elements), len(data))]
        return [(self._own(channel, kind, data), 0, len(elements), len(data))]

    def _used(self, channel: str, parts: Sequence[tuple[int, ...]]) -> list[Written]:
        numbers = {part[0] for part in parts}
        return [write for write in self.candidates.get(channel, ()) if write.number in numbers]

    def _is_current(self, write: Written) -> bool:
        """Whether the stored bytes are still those of the object, which a reducer may have changed since."""
        return write.fresh or (write.type, write.data) == self.serde.dumps_typed(write.value)

    def _returned(self, channel: str) -> list[Any] | None:
        """What tasks returned for a channel, with all that is in it; None if not known."""
        if self.objects is None:
            return None
        return reachable([write.value for write in self.objects.get(channel, ())])

    def _encode(self, element: Any) -> bytes:
        return encode_element(self.serde, element)


def encode_element(serde: SerializerProtocol, element: Any) -> bytes:
    """An element's bytes, to compare by. Of a serializer that encrypts, the bytes before that."""
    inner = getattr(serde, "serde", serde) if hasattr(serde, "cipher") else serde
    kind, data = inner.dumps_typed(element)
    return bytes(kind.encode() + b":" + data)


def _match(write: Written, elements: Sequence[Any], at: int) -> int:
    """How many of the elements from `at` on are what this write brought, by identity."""
    value = write.value
    if at < len(elements) and elements[at] is value:
        return 1
    if type(value) is list and value and all(map(is_, value, elements[at : at + len(value)])):
        return len(value) if len(value) <= len(elements) - at else 0
    return 0
