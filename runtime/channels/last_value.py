"""LastValue: the default channel of a state key, one write per superstep."""

from collections.abc import Sequence
from typing import Any, ClassVar, Generic, Self

from runtime._typing import MISSING
from runtime.channels._overwrite import payload_of, sole_overwrite
from runtime.channels._single import SingleValue
from runtime.channels.base import Value
from runtime.errors import EmptyChannelError

__all__ = ("LastValue", "LastValueAfterFinish")


class LastValue(SingleValue[Value], Generic[Value]):
    """Keeps the last value written; two writes in one superstep are refused.

    An `Overwrite` is stored as its payload, and wins over a plain write beside it.
    """

    __slots__ = ()

    wants_empty_update: ClassVar[bool] = False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LastValue)

    def __hash__(self) -> int:
        return hash(LastValue)

    def copy(self) -> Self:
        """Return a channel that can be updated without changing this one."""
        return self.from_checkpoint(self.value)

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """Return a new channel like this one that holds `checkpoint`."""
        if type(self) is not LastValue:
            return super().from_checkpoint(checkpoint)
        new: Any = LastValue.__new__(LastValue)  # the commonest copy of all, so slot by slot
        new.key, new.typ, new.value = self.key, self.typ, checkpoint
        return new  # type: ignore[no-any-return]  # of exactly this class

    def update(self, values: Sequence[Value]) -> bool:
        """Store the one write; raise InvalidUpdateError for more than one."""
        if not values:
            return False
        if len(values) == 1:
            self.value = payload_of(values[0])
            return True
        found, payload = sole_overwrite(values, self._at())
        if not found:
            raise self._refuse_many(
                len(values),
                "give the key a reducer, e.g. Annotated[list, operator.add], or let one node of the superstep write it",
            )
        self.value = payload
        return True


class LastValueAfterFinish(SingleValue[Value], Generic[Value]):
    """Keeps the last value written, and shows it only when nothing else is left to run.

    The trigger of deferred nodes. Emptied when the node has run.
    """

    __slots__ = ("finished",)

    finished: bool
    wants_empty_update: ClassVar[bool] = False

    def __init__(self, typ: Any, key: str = "") -> None:
        super().__init__(typ, key)
        self.finished = False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LastValueAfterFinish)

    def __hash__(self) -> int:
        return hash(LastValueAfterFinish)

    def update(self, values: Sequence[Value]) -> bool:
        """Store the last write and hide it until `finish`."""
        if not values:
            return False
        self.value = values[-1]
        self.finished = False
        return True

    def finish(self) -> bool:
        """Show the value."""
        if self.finished or self.value is MISSING:
            return False
        self.finished = True
        return True

    def consume(self) -> bool:
        """Drop the value once it has been shown."""
        if not self.finished:
            return False
        self.value = MISSING
        self.finished = False
        return True

    def get(self) -> Value:
        """Return the value; raise EmptyChannelError before `finish`."""
        if not self.finished:
            raise EmptyChannelError()
        return super().get()

    def is_available(self) -> bool:
        """Whether there is a value and it is shown."""
        return self.finished and self.value is not MISSING

    def checkpoint(self) -> Any:
        """Return (value, shown), MISSING if there is no value."""
        return MISSING if self.value is MISSING else (self.value, self.finished)

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """Return a new channel like this one that holds `checkpoint`."""
        new = self._clone()
        new.value, new.finished = (MISSING, False) if checkpoint is MISSING else checkpoint
        return new
