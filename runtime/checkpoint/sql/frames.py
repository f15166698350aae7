"""Frames: which channels a checkpoint has, at which versions, seen by whom, and where their values are.

Rule 1: a frame is a keyframe (everything) or a delta (what differs from the parent's state). A keyframe is due
        when the deltas since the last one are larger than it, so that the bytes of a history stay linear in
        what changed, and reading a checkpoint takes deltas of at most its own size.
Rule 2: in a delta, addresses are short. A number from 0 up is a write of the parent, a negative one is a value
        of the checkpoint itself. That is all a step can make.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import ormsgpack

from runtime.checkpoint.errors import CheckpointStorageError
from runtime.checkpoint.sql.places import Part, Place, Rope

Version = int | float | str
Seen = dict[str, dict[str, Version]]

_NON_STR = ormsgpack.OPT_NON_STR_KEYS
# What finding and decoding one more delta costs a reader, in bytes of keyframe.
_DELTA_COST = 48


class State:
    """A checkpoint without its values: its frame, in memory.

    `rest` holds what else the checkpoint carried: its format version `v`, `updated_channels`, and further keys.
    """

    __slots__ = ("id", "keyframe_size", "parent", "places", "rest", "seen", "since_keyframe", "versions")

    def __init__(self, checkpoint_id: str | None = None, parent: str | None = None) -> None:
        self.id = checkpoint_id
        self.parent = parent
        self.versions: dict[str, Version] = {}
        self.seen: Seen = {}
        self.places: dict[str, Place] = {}
        self.rest: dict[str, Any] = {}
        self.keyframe_size = 0
        self.since_keyframe = 0

    def keyframe(self) -> bytes:
        """The whole state as a keyframe."""
        owners: dict[str, int] = {}
        frame = {
            "v": self.versions,
            "s": self.seen,
            "p": {channel: _packed(place, owners) for channel, place in self.places.items()},
            "r": self.rest,
            "o": list(owners),
        }
        packed = ormsgpack.packb(frame, option=_NON_STR)
        self.keyframe_size = len(packed)
        self.since_keyframe = 0
        return packed

    def keyframe_due(self, delta_size: int) -> bool:
        """Whether a delta of this size would be one too many."""
        self.since_keyframe += delta_size + _DELTA_COST
        return self.since_keyframe > self.keyframe_size

    def apply(self, delta: Mapping[str, Any]) -> None:
        """Turn the parent's state into that of the checkpoint whose delta this is. `id` and `parent` are set."""
        self.versions.update(delta.get("v", ()))
        for node, versions in delta.get("s", {}).items():
            self.seen[node] = {**self.seen[node], **versions}
        self.seen.update(delta.get("t", ()))
        for channel, change in delta.get("p", {}).items():
            self._move(channel, change)
        for channel in delta.get("d", ()):
            self.places.pop(channel, None)
        self.rest = delta.get("r", self.rest)

    def _move(self, channel: str, change: Any) -> None:
        if isinstance(change, int):
            self.places[channel] = (self._owner(change), change)
            return
        fresh, splices = change
        rope = Rope() if fresh else self.places.get(channel)
        if not isinstance(rope, Rope):
            raise damaged(self.id, f"channel {channel!r} grows a list that its parent does not have")
        self.places[channel] = rope
        for start, stop, parts in splices:
            rope.splice(start, stop, [Part(self._owner(part[0]), *part) for part in parts])

    def _owner(self, number: int) -> str:
        owner = self.parent if number >= 0 else self.id
        if owner is None:
            raise damaged(self.id, "it refers to a write of its parent, and has none")
        return owner


def delta_frame(delta: Mapping[str, Any]) -> bytes:
    """A delta, packed."""
    return ormsgpack.packb({key: part for key, part in delta.items() if part or key == "r"}, option=_NON_STR)


def read_state(chain: Sequence[tuple[Any, ...]]) -> State:
    """The state of a checkpoint out of its chain of frames: its own first, then its ancestors', to a keyframe.

    Each begins with the checkpoint's id, its parent's, whether it is a keyframe, and the frame.
    """
    checkpoint_id, parent, is_keyframe, packed = chain[-1][:4]
    if not is_keyframe:
        if any(frame[0] == parent for frame in chain):
            raise damaged(chain[0][0], f"its ancestors lead round in a circle, by {parent!r}")
        raise damaged(chain[0][0], f"its ancestor {parent!r}, which it is stored against, is not there")
    state = State(checkpoint_id, parent)
    state.keyframe_size = len(packed)
    _restore(state, unpack(packed, checkpoint_id))
    for at in range(len(chain) - 2, -1, -1):
        checkpoint_id, parent, _, packed = chain[at][:4]
        advance(state, checkpoint_id, parent, unpack(packed, checkpoint_id))
        state.since_keyframe += len(packed) + _DELTA_COST
    return state


def advance(state: State, checkpoint_id: str, parent: str | None, delta: Mapping[str, Any]) -> None:
    """Turn the parent's state into that of its child, in place."""
    state.id, state.parent = checkpoint_id, parent
    try:
        state.apply(delta)
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        raise damaged(checkpoint_id, "its frame does not fit its parent's") from error


def unpack(packed: bytes, checkpoint_id: str) -> dict[str, Any]:
    """A frame, decoded. It holds plain data only: no class is ever looked up."""
    try:
        frame = ormsgpack.unpackb(packed, option=_NON_STR)
    except ormsgpack.MsgpackDecodeError as error:
        raise damaged(checkpoint_id, "its frame cannot be decoded") from error
    if not isinstance(frame, dict):
        raise damaged(checkpoint_id, "its frame is not a frame")
    return frame


def damaged(checkpoint_id: str | None, what: str) -> CheckpointStorageError:
    """The error for a row that cannot be right."""
    return CheckpointStorageError(f"checkpoint {checkpoint_id!r} is damaged in the database: {what}", "corrupt")


def _restore(state: State, frame: Mapping[str, Any]) -> None:
    try:
        owners = frame["o"]
        state.versions, state.seen, state.rest = frame["v"], frame["s"], frame["r"]
        state.places = {channel: _unpacked(place, owners) for channel, place in frame["p"].items()}
    except (TypeError, ValueError, AttributeError, KeyError, IndexError) as error:
        raise damaged(state.id, "its keyframe lacks something") from error


def _packed(place: Place, owners: dict[str, int]) -> list[Any]:
    if isinstance(place, Rope):
        return [[owners.setdefault(part[0], len(owners)), *part[1:]] for part in place.parts]
    return [owners.setdefault(place[0], len(owners)), place[1]]


def _unpacked(place: Iterable[Any], owners: Sequence[str]) -> Place:
    parts = list(place)
    if parts and not isinstance(parts[0], list):
        owner, number = parts
        return owners[owner], number
    return Rope(Part(owners[part[0]], *part[1:]) for part in parts)
