"""What changed in a list since the parent's checkpoint, without a reducer: by identity, or by encoded bytes.

Rule 1: an element that is the same object as before is unchanged if it cannot change (a string, a number), or if no
        task returned it in this step. A change in place that no task returned is not part of the state.
Rule 2: in every other case the encoded bytes decide. When those of the old elements are not in memory, `recall`
        reads them back from the database.
"""

from collections.abc import Callable, Iterable, Sequence
from operator import is_
from typing import Any, NamedTuple

_FIXED = (str, int, bool, bytes, type(None), float, complex)
# Compared by value when they are not the same object. Not float: 0.0 equals -0.0, nan does not equal nan.
_PLAIN = (str, int, bool, bytes, type(None))

# More objects than this in what tasks returned for one channel are not looked through: the bytes decide then.
_MANY = 20_000


class Splice(NamedTuple):
    """Elements `start` to `stop` of the old list became elements `lo` to `hi` of the new one."""

    start: int
    stop: int
    lo: int
    hi: int


class Memo:
    """The elements of a list as they were last stored, and, where they had to be compared, their bytes."""

    __slots__ = ("elements", "encoded", "ids")

    def __init__(self, elements: Iterable[Any], encoded: list[bytes] | None = None) -> None:
        self.elements = list(elements)
        self.encoded = encoded
        self.ids: set[int] | None = None

    def holds(self, values: Iterable[Any]) -> bool:
        """Whether one of these objects, able to change, is among the elements."""
        able = [id(value) for value in values if type(value) not in _FIXED]
        if not able:
            return False
        if self.ids is None:
            self.ids = set(map(id, self.elements))
        return not self.ids.isdisjoint(able)

    def shares(self, new: list[Any]) -> bool:
        """Whether the list begins or ends with the very objects that are here. If not, it was decoded anew."""
        old = self.elements
        return not old or not new or new[0] is old[0] or new[0] is old[-1] or new[-1] is old[-1]


def changes(
    memo: Memo | None,
    new: list[Any],
    returned: Sequence[Any] | None,
    encode: Callable[[Any], bytes],
    recall: Callable[[], list[bytes]],
) -> tuple[list[Splice] | None, Memo]:
    """How the list of `memo` became `new`: splices, in order, or None to store it anew; and the next memo.

    `returned` are the objects that tasks returned for this channel, with all that is in them; None if that
    is not known.
    """
    trusted = memo is not None and returned is not None and not memo.holds(returned)
    if trusted and memo is not None and memo.shares(new):
        return _by_identity(memo, new, encode)
    encoded = [encode(element) for element in new]
    known = memo.encoded if memo is not None and memo.encoded is not None else recall()
    return _splices(known, encoded), Memo(new, None if trusted or memo is None else encoded)


def _by_identity(memo: Memo, new: list[Any], encode: Callable[[Any], bytes]) -> tuple[list[Splice] | None, Memo]:
    old = memo.elements
    if len(new) >= len(old) and all(map(is_, old, new)):  # an append, by far the most frequent change
        added = new[len(old) :]
        if memo.ids is not None:
            memo.ids.update(map(id, added))
        if memo.encoded is not None:
            memo.encoded.extend(map(encode, added))
        splices = [Splice(len(old), len(old), len(old), len(new))] if added else []
        old.extend(added)
        return splices, memo
    return _splices([_key(element) for element in old], [_key(element) for element in new]), Memo(new)


def reachable(values: list[Any]) -> list[Any] | None:
    """These objects and what their lists, tuples, dicts and wrappers hold; None if that is too much to look at."""
    found: list[Any] = []
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        found.append(value)
        if len(found) > _MANY:
            return None
        kind = type(value)
        if kind in _FIXED:
            continue
        if isinstance(value, list | tuple | set | frozenset):
            waiting.extend(value)
        elif isinstance(value, dict):
            waiting.extend(value.values())
        elif kind.__name__ == "Overwrite":
            waiting.append(getattr(value, "value", None))
    return found


def _key(element: Any) -> Any:
    kind = type(element)
    return (kind, element) if kind in _PLAIN else id(element)


def _splices(old: Sequence[Any], new: Sequence[Any]) -> list[Splice] | None:
    """The change between two sequences of comparable keys: one replaced stretch, or a shifted window."""
    prefix = _common(old, new)
    suffix = _common(old[prefix:][::-1], new[prefix:][::-1])
    middle = Splice(prefix, len(old) - suffix, prefix, len(new) - suffix)
    if middle.hi - middle.lo > 1 and new and new[0] in old[1:]:
        shift = old.index(new[0], 1)
        kept = _common(old[shift:], new)
        if len(new) - kept < middle.hi - middle.lo:
            return [Splice(0, shift, 0, 0), Splice(kept, len(old) - shift, kept, len(new))]
    if middle.hi - middle.lo == len(new) and new:
        return None
    return [middle] if middle.stop > middle.start or middle.hi > middle.lo else []


def _common(left: Sequence[Any], right: Sequence[Any]) -> int:
    for at, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return at
    return min(len(left), len(right))
