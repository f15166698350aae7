"""The values of a few checkpoints of one namespace: each is read once, and decoded as often as it is handed out.

Rule 1: reading needs a connection, decoding does not: a page of a history is read in one transaction, and decoded
        checkpoint by checkpoint after it.
Rule 2: only what cannot change is shared: a number or a string may be in many checkpoints, a list or an object is
        decoded anew for each.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from runtime.checkpoint.base import SerializerProtocol
from runtime.checkpoint.errors import CheckpointStorageError, undecoded
from runtime.checkpoint.sql import queries
from runtime.checkpoint.sql.places import Address, Place, Rope, addresses, assemble
from runtime.checkpoint.sql.statements import Conn

_FIXED = frozenset((str, int, float, bool, bytes, type(None), complex))
_UNREAD = object()


class Values:
    """Stored values by address. `read` fills it, `at` and `write` decode."""

    __slots__ = ("_place", "_serde", "_shared", "_stored")

    def __init__(self, serde: SerializerProtocol, thread_id: str, ns: str) -> None:
        self._serde = serde
        self._place = thread_id, ns
        self._stored: dict[Address, tuple[str, bytes]] = {}
        self._shared: dict[Address, Any] = {}

    def know(self, address: Address, kind: str, data: bytes) -> None:
        """Take in a value that was read already."""
        self._stored[address] = kind, data

    def read(self, conn: Conn, places: Iterable[Place]) -> None:
        """Read what is stored at some places, as far as it is not here yet."""
        stored = self._stored
        wanted: list[Address] = []
        for place in places:
            if isinstance(place, Rope):
                wanted.extend(address for address in addresses(place) if address not in stored)
            elif place not in stored:
                wanted.append(place)
        if wanted:
            stored.update(queries.values_at(conn, *self._place, wanted))

    def at(self, places: Mapping[str, Place]) -> dict[str, Any]:
        """The values at some places, by channel.

        Raises:
            CheckpointStorageError: one is not there, or cannot be decoded.
        """
        shared = self._shared
        values: dict[str, Any] = {}
        for channel, place in places.items():
            if isinstance(place, Rope):
                parts = {address: self._value(address, channel) for address in addresses(place)}
                values[channel] = assemble(place, parts)
                continue
            value = shared.get(place, _UNREAD)
            values[channel] = self._value(place, channel) if value is _UNREAD else value
        return values

    def _value(self, address: Address, channel: str) -> Any:
        value = self._shared.get(address, _UNREAD)
        if value is not _UNREAD:
            return value
        found = self._stored.get(address)
        if found is None:
            raise CheckpointStorageError(
                f"value {address[1]} of checkpoint {address[0]!r}, which channel {channel!r} needs, is not there",
                "corrupt",
            )
        try:
            value = self._serde.loads_typed(found)
        except CheckpointStorageError:
            raise
        except Exception as error:
            raise undecoded(f"channel {channel!r}, stored with checkpoint {address[0]!r},", found[0], error) from error
        if type(value) in _FIXED:
            self._shared[address] = value
        return value

    def write(self, checkpoint_id: str, number: int, task_id: str, channel: str) -> Any:
        """The value of a write on top of a checkpoint. Raises CheckpointStorageError if it cannot be decoded."""
        address = checkpoint_id, number
        value = self._shared.get(address, _UNREAD)
        if value is not _UNREAD:
            return value
        try:
            value = self._serde.loads_typed(self._stored[address])
        except CheckpointStorageError:
            raise
        except Exception as error:
            where = f"the write of task {task_id!r} to {channel!r} on checkpoint {checkpoint_id!r}"
            raise undecoded(where, self._stored[address][0], error) from error
        if type(value) in _FIXED:
            self._shared[address] = value
        return value
