"""The values of some channels at many checkpoints, for whoever looks along a history. Functions of a connection.

Rule 1: only the channels that are asked for are read.
Rule 2: from a checkpoint to its child costs what the child changed: its frame is applied to the state at hand, and
        of a list that has grown only the new elements are read and decoded. So what is handed out shares elements.
"""

from collections.abc import Collection, Sequence
from typing import Any

from runtime.checkpoint.base import SerializerProtocol
from runtime.checkpoint.errors import CheckpointStorageError
from runtime.checkpoint.sql import queries
from runtime.checkpoint.sql.frames import State, advance, read_state, unpack
from runtime.checkpoint.sql.places import Address, Part, Place, Rope
from runtime.checkpoint.sql.statements import Conn, Row
from runtime.checkpoint.sql.values import Values

NEAR = 64
"""Checkpoints between two that are asked for, up to which the way from one to the other is walked."""

Column = tuple[str, dict[str, Any]]


class Columns:
    """A look along one namespace of a thread. It remembers the state and values of where it is."""

    def __init__(self, serde: SerializerProtocol, thread_id: str, ns: str, channels: Collection[str]) -> None:
        self.serde = serde
        self.key = (thread_id, ns)
        self.channels = tuple(channels)
        self._state = State()
        self._ones: dict[str, tuple[Address, Any]] = {}
        self._lists: dict[str, tuple[list[Part], list[Any]]] = {}

    def read(self, conn: Conn, checkpoint_ids: Sequence[str]) -> tuple[list[Column], CheckpointStorageError | None]:
        """The values by channel at some checkpoints, and what ended it early. Who has no value is left out."""
        found: list[Column] = []
        for checkpoint_id in checkpoint_ids:
            try:
                found.append((checkpoint_id, self._at(conn, checkpoint_id)))
            except CheckpointStorageError as error:
                self._state = State()
                return found, error
        return found, None

    def _at(self, conn: Conn, checkpoint_id: str) -> dict[str, Any]:
        if not self._move(conn, checkpoint_id):
            return {}
        values: dict[str, Any] = {}
        rest: dict[str, Place] = {}
        for channel in self.channels:
            place = self._state.places.get(channel)
            if isinstance(place, Rope):
                values[channel], rest[channel] = self._begun(channel, place)
            elif place is not None and self._ones.get(channel, (None,))[0] == place:
                values[channel] = self._ones[channel][1]
            elif place is not None:
                rest[channel] = place
        stored = Values(self.serde, *self.key)
        stored.read(conn, rest.values())
        for channel, value in stored.at(rest).items():
            place = self._state.places[channel]
            if isinstance(place, Rope):
                values[channel] = [*values[channel], *value]
                self._lists[channel] = (list(place.parts), values[channel])
            else:
                values[channel] = value
                self._ones[channel] = (place, value)
        return values

    def _begun(self, channel: str, place: Rope) -> tuple[list[Any], Rope]:
        """The elements of a list that were read last time and are still its first ones, and where the others are."""
        parts, elements = self._lists.get(channel, ([], []))
        if place.parts[: len(parts)] == parts:
            return elements, Rope(place.parts[len(parts) :])
        return [], place

    def _move(self, conn: Conn, checkpoint_id: str) -> bool:
        """Bring the state to a checkpoint; False if there is none."""
        chain: list[Row] = []
        wanted: str | None = checkpoint_id
        while wanted is not None and wanted != self._state.id:
            row = conn.one(queries.FRAME, *self.key, wanted) if len(chain) < NEAR else None
            if row is None:
                if not chain:
                    return False
                chain += conn.rows(queries.CHAIN, *self.key, wanted)
                break
            chain.append(row)
            if row[2]:
                break
            wanted = row[1]
        else:
            if wanted is not None:
                for id_, parent, _, packed, *_ in reversed(chain):
                    advance(self._state, id_, parent, unpack(packed, id_))
                return True
        self._state = read_state(chain)
        return True
