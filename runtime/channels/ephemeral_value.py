"""EphemeralValue: gone after one superstep."""

from collections.abc import Sequence
from typing import Any, ClassVar, Generic, Self

from runtime._typing import MISSING
from runtime.channels._single import SingleValue
from runtime.channels.base import Value

__all__ = ("EphemeralValue",)


class EphemeralValue(SingleValue[Value], Generic[Value]):
    """Holds what the last superstep wrote, for the next superstep only.

    With `guard`, two writes in one superstep are refused; without, the last one counts.
    """

    __slots__ = ("guard",)

    guard: bool
    wants_empty_update: ClassVar[bool] = True

    def __init__(self, typ: Any, guard: bool = True) -> None:
        super().__init__(typ)
        self.guard = guard

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EphemeralValue) and other.guard == self.guard

    def __hash__(self) -> int:
        return hash((EphemeralValue, self.guard))

    def copy(self) -> Self:
        """Return a channel that can be updated without changing this one."""
        return self.from_checkpoint(self.value)

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """Return a new channel like this one that holds `checkpoint`."""
        if type(self) is not EphemeralValue:
            return super().from_checkpoint(checkpoint)
        new: Any = EphemeralValue.__new__(EphemeralValue)  # one is made in every superstep, so slot by slot
        new.key, new.typ, new.guard, new.value = self.key, self.typ, self.guard, checkpoint
        return new  # type: ignore[no-any-return]  # of exactly this class

    def update(self, values: Sequence[Value]) -> bool:
        """Store the write; without writes, empty the channel."""
        if not values:
            changed = self.value is not MISSING
            self.value = MISSING
            return changed
        if self.guard and len(values) > 1:
            raise self._refuse_many(len(values), "make it EphemeralValue(typ, guard=False) if any one of them will do")
        self.value = values[-1]
        return True
