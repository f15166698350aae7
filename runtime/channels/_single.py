"""What all channels share that hold one value of their own type."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, Self

from runtime._typing import MISSING
from runtime.channels.base import BaseChannel, Value
from runtime.errors import EmptyChannelError, ErrorCode, InvalidUpdateError, create_error_message


class SingleValue(BaseChannel[Value, Value, Value], Generic[Value]):
    """A channel with one slot, `value`, which is MISSING while it is empty."""

    __slots__ = ("value",)

    value: Any

    def __init__(self, typ: Any, key: str = "") -> None:
        super().__init__(typ, key)
        self.value = MISSING

    @property
    def ValueType(self) -> Any:
        """The type that `get` returns."""
        return self.typ

    @property
    def UpdateType(self) -> Any:
        """The type of one write."""
        return self.typ

    @abstractmethod
    def update(self, values: Sequence[Value]) -> bool:
        """Take all writes of one superstep."""

    def get(self) -> Value:
        """Return the value; raise EmptyChannelError if there is none."""
        if self.value is MISSING:
            raise EmptyChannelError()
        value: Value = self.value
        return value

    def is_available(self) -> bool:
        """Whether there is a value."""
        return self.value is not MISSING

    def checkpoint(self) -> Any:
        """Return the value, MISSING if there is none."""
        return self.value

    def copy(self) -> Self:
        """Return a channel that can be updated without changing this one."""
        return self._clone()

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """Return a new channel like this one that holds `checkpoint`."""
        new = self._clone()
        new.value = checkpoint
        return new

    def _refuse_many(self, count: int, advice: str) -> InvalidUpdateError:
        return InvalidUpdateError(
            create_error_message(
                message=f"{self._at()}: {type(self).__name__} keeps one value, but {count} were "
                f"written in one superstep; {advice}",
                error_code=ErrorCode.INVALID_CONCURRENT_GRAPH_UPDATE,
            )
        )
