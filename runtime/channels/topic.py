"""Topic: a list of everything written."""

from collections.abc import Sequence
from typing import Any, ClassVar, Generic, Self

from runtime._typing import MISSING
from runtime.channels.base import BaseChannel, Value
from runtime.errors import EmptyChannelError

__all__ = ("Topic",)


class Topic(BaseChannel[Sequence[Value], Value | list[Value], list[Value]], Generic[Value]):
    """Collects a superstep's writes in a list; a written list adds its items.

    With `accumulate` it keeps collecting; without, each superstep starts an empty list.
    """

    __slots__ = ("accumulate", "values")

    accumulate: bool
    values: list[Value]
    wants_empty_update: ClassVar[bool] = True

    def __init__(self, typ: Any, accumulate: bool = False) -> None:
        super().__init__(typ)
        self.accumulate = accumulate
        self.values = []

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Topic) and other.accumulate == self.accumulate

    def __hash__(self) -> int:
        return hash((Topic, self.accumulate))

    @property
    def ValueType(self) -> Any:
        """The type that `get` returns."""
        return Sequence[self.typ]  # type: ignore[name-defined]

    @property
    def UpdateType(self) -> Any:
        """The type of one write: an item, or a list of them."""
        return self.typ | list[self.typ]  # type: ignore[name-defined]

    def update(self, values: Sequence[Value | list[Value]]) -> bool:
        """Collect the writes."""
        new: list[Value] = []
        for value in values:
            if isinstance(value, list):
                new.extend(value)
            else:
                new.append(value)
        if self.accumulate:
            if new:
                self.values = self.values + new
            return bool(new)
        changed = bool(new or self.values)
        self.values = new
        return changed

    def get(self) -> Sequence[Value]:
        """Return the items as a new list; raise EmptyChannelError if there are none."""
        if not self.values:
            raise EmptyChannelError()
        return list(self.values)

    def is_available(self) -> bool:
        """Whether there are items."""
        return bool(self.values)

    def checkpoint(self) -> list[Value]:
        """Return the items."""
        return self.values

    def copy(self) -> Self:
        """Return a channel that can be updated without changing this one."""
        return self._clone()

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """Return a new channel like this one that holds `checkpoint`."""
        new = self._clone()
        if checkpoint is MISSING:
            new.values = []
        elif isinstance(checkpoint, tuple):  # older threads stored (seen, items)
            new.values = checkpoint[1]
        else:
            new.values = checkpoint
        return new
