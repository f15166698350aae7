"""AnyValue: several writers that agree."""

from collections.abc import Sequence
from typing import ClassVar, Generic

from runtime._typing import MISSING
from runtime.channels._overwrite import payload_of, sole_overwrite
from runtime.channels._single import SingleValue
from runtime.channels.base import Value

__all__ = ("AnyValue",)


class AnyValue(SingleValue[Value], Generic[Value]):
    """Keeps one of a superstep's writes, which are taken to be equal; empty after one without.

    An `Overwrite` is stored as its payload and wins over plain writes.
    """

    __slots__ = ()

    wants_empty_update: ClassVar[bool] = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AnyValue)

    def __hash__(self) -> int:
        return hash(AnyValue)

    def update(self, values: Sequence[Value]) -> bool:
        """Store the last write; without writes, empty the channel."""
        if not values:
            changed = self.value is not MISSING
            self.value = MISSING
            return changed
        found, payload = sole_overwrite(values, self._at()) if len(values) > 1 else (False, None)
        self.value = payload if found else payload_of(values[-1])
        return True
