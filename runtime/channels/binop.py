"""BinaryOperatorAggregate: a key with a reducer."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic, Self

from langgraph.checkpoint.serde.types import _DeltaSnapshot

from runtime._typing import MISSING
from runtime.channels._overwrite import overwrite_in as _get_overwrite
from runtime.channels._overwrite import sole_overwrite
from runtime.channels._reducers import initial_value, is_pure, same_reducer, unshared
from runtime.channels._single import SingleValue
from runtime.channels.base import Value

__all__ = ("BinaryOperatorAggregate", "_get_overwrite")


class BinaryOperatorAggregate(SingleValue[Value], Generic[Value]):
    """Folds writes into the value: `value = operator(value, write)`, in task path order.

    The value starts as `typ()` (an abstract container as its builtin); if that cannot be made, the
    first write is the value. One `Overwrite` in a superstep replaces the value and discards every
    other write, two are refused.
    """

    __slots__ = ("operator",)

    operator: Callable[[Any, Any], Any]
    wants_empty_update: ClassVar[bool] = False

    def __init__(self, typ: Any, operator: Callable[[Any, Any], Any]) -> None:
        super().__init__(typ)
        self.operator = operator
        self.value = initial_value(typ)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BinaryOperatorAggregate) and same_reducer(self.operator, other.operator)

    def __hash__(self) -> int:
        return hash(BinaryOperatorAggregate)  # a lambda equals any reducer

    def update(self, values: Sequence[Value]) -> bool:
        """Fold the writes; what the reducer raises passes through and leaves the value alone."""
        if not values:
            return False
        found, payload = sole_overwrite(values, self._at())
        if found:
            self.value = payload
            return True
        pending: Sequence[Any] = values
        value = self.value
        if value is MISSING:
            value, pending = values[0], values[1:]
        if pending and not is_pure(self.operator):
            value = unshared(value)
        for write in pending:
            value = self.operator(value, write)
        self.value = value
        return True

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """Return a new channel like this one that holds `checkpoint`, else its initial value."""
        new = self._clone()
        if checkpoint is MISSING:
            new.value = initial_value(self.typ)
        else:
            # A key that used to be a DeltaChannel may have been stored as a snapshot.
            new.value = checkpoint.value if isinstance(checkpoint, _DeltaSnapshot) else checkpoint
        return new
