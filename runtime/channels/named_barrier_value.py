"""NamedBarrierValue: waits until every one of a set of names has been written."""

from collections.abc import Sequence
from typing import Any, ClassVar, Generic, Self

from runtime._typing import MISSING
from runtime.channels.base import BaseChannel, Checkpoint, Value
from runtime.errors import EmptyChannelError, InvalidUpdateError

__all__ = ("NamedBarrierValue", "NamedBarrierValueAfterFinish")


class _Barrier(BaseChannel[Value, Value, Checkpoint], Generic[Value, Checkpoint]):
    """The names waited for and those seen so far."""

    __slots__ = ("names", "seen")

    names: set[Value]
    seen: set[Value]
    wants_empty_update: ClassVar[bool] = False

    def __init__(self, typ: Any, names: set[Value]) -> None:
        super().__init__(typ)
        self.names = names
        self.seen = set()

    @property
    def ValueType(self) -> Any:
        """The type that `get` returns."""
        return self.typ

    @property
    def UpdateType(self) -> Any:
        """The type of one write: a name."""
        return self.typ

    def update(self, values: Sequence[Value]) -> bool:
        """Note the names; raise InvalidUpdateError for one that is not waited for."""
        for value in values:
            if value not in self.names:
                raise InvalidUpdateError(
                    f"{self._at()}: {value!r} reached a {type(self).__name__} that waits for "
                    f"{', '.join(sorted(map(repr, self.names)))} only"
                )
        new = self.seen.union(values)
        changed = len(new) != len(self.seen)
        self.seen = new
        return changed

    def get(self) -> Value:
        """Return None once the barrier is open; raise EmptyChannelError before."""
        if not self.is_available():
            raise EmptyChannelError()
        return None  # type: ignore[return-value]  # a barrier triggers, it carries no value

    def copy(self) -> Self:
        """Return a channel that can be updated without changing this one."""
        return self._clone()


class NamedBarrierValue(_Barrier[Value, set[Value]], Generic[Value]):
    """Opens when all `names` have been written; closes when the node behind it has run."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamedBarrierValue) and other.names == self.names

    def __hash__(self) -> int:
        return hash((NamedBarrierValue, frozenset(self.names)))

    def is_available(self) -> bool:
        """Whether every name has been written."""
        return self.seen == self.names

    def consume(self) -> bool:
        """Close again."""
        if self.seen != self.names:
            return False
        self.seen = set()
        return True

    def checkpoint(self) -> set[Value]:
        """Return the names seen so far."""
        return self.seen

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """Return a new channel like this one that holds `checkpoint`."""
        new = self._clone()
        new.seen = set() if checkpoint is MISSING else set(checkpoint)
        return new


class NamedBarrierValueAfterFinish(_Barrier[Value, tuple[set[Value], bool]], Generic[Value]):
    """Opens when all `names` have been written and nothing else is left to run."""

    __slots__ = ("finished",)

    finished: bool

    def __init__(self, typ: Any, names: set[Value]) -> None:
        super().__init__(typ, names)
        self.finished = False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamedBarrierValueAfterFinish) and other.names == self.names

    def __hash__(self) -> int:
        return hash((NamedBarrierValueAfterFinish, frozenset(self.names)))

    def is_available(self) -> bool:
        """Whether every name has been written and `finish` was called since."""
        return self.finished and self.seen == self.names

    def finish(self) -> bool:
        """Open, if every name has been written."""
        if self.finished or self.seen != self.names:
            return False
        self.finished = True
        return True

    def consume(self) -> bool:
        """Close again."""
        if not self.is_available():
            return False
        self.seen = set()
        self.finished = False
        return True

    def checkpoint(self) -> tuple[set[Value], bool]:
        """Return (names seen so far, open)."""
        return (self.seen, self.finished)

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """Return a new channel like this one that holds `checkpoint`."""
        new = self._clone()
        if checkpoint is MISSING:
            new.seen, new.finished = set(), False
        else:
            seen, new.finished = checkpoint
            new.seen = set(seen)
        return new
