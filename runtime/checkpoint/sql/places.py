"""Where a channel's value is: in one stored value, or, for a list, in slices of several.

Rule 1: a place never holds a value, only addresses, so that states of any size are cheap to keep and to compare.
Rule 2: a list's place is the concatenation of its parts. What was cut out is no longer named, so that reading a
        list costs what it holds now, not what it ever held.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from runtime.checkpoint.errors import CheckpointStorageError

Address: TypeAlias = tuple[str, int]
Fetched: TypeAlias = dict[Address, Any]

# A list in more parts than this is stored anew as one value, once the later parts outweigh the first one.
# Waiting for that keeps the bytes linear in what was appended; doing it keeps reading cheap.
MAX_PARTS = 48


class Part(NamedTuple):
    """Elements `lo` to `hi` of a stored list, or, if `lo` is -1, one element: the stored value itself.

    `size` is about how many stored bytes these elements take.
    """

    owner: str
    number: int
    lo: int
    hi: int
    size: int

    def __len__(self) -> int:
        return 1 if self.lo < 0 else self.hi - self.lo

    def cut(self, start: int, stop: int) -> "Part":
        """The part that holds elements `start` to `stop` of this one."""
        if start == 0 and stop == len(self):
            return self
        size = self.size * (stop - start) // len(self)
        return Part(self.owner, self.number, self.lo + start, self.lo + stop, size)


class Rope:
    """The place of a list: parts in order, and how many elements they have together."""

    __slots__ = ("length", "parts", "size")

    def __init__(self, parts: Iterable[Part] = ()) -> None:
        self.parts = list(parts)
        self.length = sum(map(len, self.parts))
        self.size = sum(part.size for part in self.parts)

    def copy(self) -> "Rope":
        """A rope with the same parts, that can be spliced without changing this one."""
        twin = Rope.__new__(Rope)
        twin.parts, twin.length, twin.size = self.parts.copy(), self.length, self.size
        return twin

    def splice(self, start: int, stop: int, parts: Sequence[Part]) -> None:
        """Replace elements `start` to `stop` by those of `parts`."""
        if start == stop == self.length:  # an append, by far the most frequent change
            self.parts.extend(parts)
        else:
            self.parts = [*self._within(0, start), *parts, *self._within(stop, self.length)]
            self.length = sum(map(len, self.parts))
            self.size = sum(part.size for part in self.parts)
            return
        self.length += sum(map(len, parts))
        self.size += sum(part.size for part in parts)

    def is_scattered(self) -> bool:
        """Whether it is time to store the list in one piece again."""
        parts = self.parts
        return len(parts) > MAX_PARTS and self.size - parts[0].size >= parts[0].size

    def _within(self, start: int, stop: int) -> list[Part]:
        kept, at = [], 0
        for part in self.parts:
            lo, hi = max(start - at, 0), min(stop - at, len(part))
            if lo < hi:
                kept.append(part.cut(lo, hi))
            at += len(part)
        return kept


Place: TypeAlias = "Address | Rope"


def addresses(place: Place) -> Iterable[Address]:
    """Every address that reading this place needs."""
    if isinstance(place, Rope):
        return [(part.owner, part.number) for part in place.parts]
    return (place,)


def assemble(place: Place, fetched: Fetched) -> Any:
    """The value at a place, out of the decoded values at its addresses. The list of a rope is a new one."""
    if not isinstance(place, Rope):
        return fetched[place]
    value: list[Any] = []
    for part in place.parts:
        stored = fetched[part.owner, part.number]
        if part.lo < 0:
            value.append(stored)
        elif not isinstance(stored, list) or len(stored) < part.hi:
            raise CheckpointStorageError(
                f"the stored value {part.number} of checkpoint {part.owner!r} should be a list of at least "
                f"{part.hi} elements, but is {type(stored).__name__}: the database is damaged",
                "corrupt",
            )
        else:
            value.extend(stored if part.hi - part.lo == len(stored) else stored[part.lo : part.hi])
    return value
