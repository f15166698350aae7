"""Lists of messages that were handed out to a run, for the next run that goes on from them.

Rule 1: only who asks for the newest checkpoint of a thread, as a run does at its start, gets messages that another
        such caller has had. Who asks by id, or lists, gets everything decoded anew.
Rule 2: what is kept is what is stored. Each message is compared with a private copy of its fields before it is handed
        out again; where one was changed in place, the list is decoded anew.
Rule 3: bounded, in lists and in what they weigh. Values at an address never change, so that the parts of a list
        say whether it still begins as it did; removed or rewritten rows show in the epoch of `Heads`.
"""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Any

from langchain_core.messages import BaseMessage

from runtime.checkpoint.base import SerializerProtocol
from runtime.checkpoint.sql.places import Part, Rope

Key = tuple[int, str, str, str]  # which serializer, thread id, namespace, channel

_MOST_LISTS = 64
_MOST_BYTES = 64 << 20
_MOST_SERIALIZERS = 16
_MESSAGE_BYTES = 2048  # about what a message takes in memory, beyond its text

_FIXED = frozenset((str, int, float, bool, bytes, type(None), complex))


class _Kept:
    """A list as it is stored, the messages in it, and copies of their fields."""

    __slots__ = ("elements", "fields", "messages", "parts", "weight")

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.elements: list[Any] = []
        self.messages: list[BaseMessage] = []
        self.fields: list[dict[str, Any]] = []
        self.weight = 0

    def extend(self, parts: Sequence[Part], elements: Sequence[Any]) -> bool:
        """Add what was just decoded. False if some of it is not to be shared."""
        for element in elements:
            if type(element) in _FIXED:
                continue
            fields = _fields(element)
            if fields is None:
                return False
            self.messages.append(element)
            self.fields.append(fields)
            self.weight += _MESSAGE_BYTES
        self.parts.extend(parts)
        self.elements.extend(elements)
        self.weight += sum(part.size for part in parts)
        return True

    def begins(self, rope: Rope) -> bool:
        """Whether the list at this place begins with this one, and nobody has changed a message since."""
        if rope.parts[: len(self.parts)] != self.parts:
            return False
        try:
            now = [message.__dict__ for message in self.messages]
            return now == self.fields and not any([message.__pydantic_extra__ for message in self.messages])
        except Exception:  # a node put something into a message that cannot be compared: it was changed
            return False


class Handed:
    """What one store has handed out. `epoch` is that of its heads at the time of each call."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._epoch = 0
        self._lists: OrderedDict[Key, _Kept] = OrderedDict()
        self._weight = 0
        self._serializers: dict[int, SerializerProtocol] = {}

    def key(self, serde: SerializerProtocol, thread_id: str, ns: str, channel: str) -> Key:
        """What a list is kept under. A serializer is held on to, so that its number stays its own."""
        with self._lock:
            if id(serde) not in self._serializers:
                if len(self._serializers) >= _MOST_SERIALIZERS:
                    self._forget()
                self._serializers[id(serde)] = serde
        return id(serde), thread_id, ns, channel

    def take(self, key: Key, rope: Rope, epoch: int) -> tuple[int, list[Any]]:
        """How many of the place's parts are at hand, and a new list of their elements."""
        with self._lock:
            if epoch != self._epoch:
                self._forget()
                self._epoch = epoch
            kept = self._lists.get(key)
            if kept is None:
                return 0, []
            if not kept.begins(rope):
                self._drop(key)
                return 0, []
            self._lists.move_to_end(key)
            return len(kept.parts), list(kept.elements)

    def keep(self, key: Key, rope: Rope, at: int, elements: Sequence[Any], epoch: int) -> None:
        """Remember the parts from `at` on, which hold these elements. The ones before came from `take`."""
        with self._lock:
            kept = self._lists.get(key)
            if epoch != self._epoch or (len(kept.parts) if kept is not None else 0) != at:
                return  # somebody else was here in between
            self._drop(key)
            kept = _Kept() if kept is None else kept
            if kept.extend(rope.parts[at:], elements) and kept.weight <= _MOST_BYTES:
                self._lists[key] = kept
                self._weight += kept.weight
            while len(self._lists) > _MOST_LISTS or self._weight > _MOST_BYTES:
                self._drop(next(iter(self._lists)))

    def _drop(self, key: Key) -> None:
        kept = self._lists.pop(key, None)
        if kept is not None:
            self._weight -= kept.weight

    def _forget(self) -> None:
        self._lists.clear()
        self._serializers.clear()
        self._weight = 0


def _fields(message: Any) -> dict[str, Any] | None:
    """A copy of a message's fields; None for anything else, and for a message that holds more than plain data."""
    if not isinstance(message, BaseMessage) or message.__pydantic_extra__ or message.__pydantic_private__:
        return None
    try:
        copied: dict[str, Any] = _copied(message.__dict__)
    except TypeError:
        return None
    return copied


def _copied(value: Any) -> Any:
    kind = type(value)
    if kind in _FIXED:
        return value
    if kind is dict:
        return {_copied(key): _copied(item) for key, item in value.items()}
    if kind is list:
        return [_copied(item) for item in value]
    raise TypeError(kind)
