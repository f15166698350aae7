"""UntrackedValue: kept while the run lasts, never stored."""

from collections.abc import Sequence
from typing import Any, ClassVar, Generic, Self

from runtime._typing import MISSING
from runtime.channels._overwrite import payload_of
from runtime.channels._single import SingleValue
from runtime.channels.base import Value

__all__ = ("UntrackedValue",)


class UntrackedValue(SingleValue[Value], Generic[Value]):
    """Keeps the last value written, but not in checkpoints: a resumed run starts without it.

    With `guard`, two writes in one superstep are refused; without, the last one counts. An
    `Overwrite` is stored as its payload.
    """

    __slots__ = ("guard",)

    guard: bool
    wants_empty_update: ClassVar[bool] = False

    def __init__(self, typ: Any, guard: bool = True) -> None:
        super().__init__(typ)
        self.guard = guard

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntrackedValue) and other.guard == self.guard

    def __hash__(self) -> int:
        return hash((UntrackedValue, self.guard))

    def update(self, values: Sequence[Value]) -> bool:
        """Store the write."""
        if not values:
            return False
        if self.guard and len(values) > 1:
            raise self._refuse_many(len(values), "make it UntrackedValue(typ, guard=False) if any one of them will do")
        self.value = payload_of(values[-1])
        return True

    def checkpoint(self) -> Any:
        """Return MISSING: there is nothing to store."""
        return MISSING

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """Return a new, empty channel like this one."""
        new = self._clone()
        new.value = MISSING
        return new
