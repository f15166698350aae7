"""DeltaChannel: a key whose reducer takes a superstep's writes as one batch."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic, Self

from langgraph.checkpoint.serde.types import _DeltaSnapshot

from runtime._typing import MISSING
from runtime.channels._overwrite import overwrite_in, sole_overwrite
from runtime.channels._reducers import concrete_type, is_pure, same_reducer, unshared
from runtime.channels._single import SingleValue
from runtime.channels.base import Value

__all__ = ("DeltaChannel",)


class DeltaChannel(SingleValue[Value], Generic[Value]):
    """Folds a superstep's writes at once: `value = reducer(value, [write, ...])`.

    The value starts as `typ()`. The reducer must give the same for batches folded one after the
    other as for all their writes together. One `Overwrite` replaces the value (`Overwrite(None)`
    with `typ()`) and discards every other write of its superstep, two are refused.

    Our storage keeps increments for every channel, so the whole value is handed to it (`stored`), and
    `snapshot_frequency` is accepted and kept without effect.
    """

    __slots__ = ("reducer", "snapshot_frequency")

    reducer: Callable[[Any, Sequence[Any]], Any]
    snapshot_frequency: int
    wants_empty_update: ClassVar[bool] = False

    def __init__(
        self,
        reducer: Callable[[Any, Sequence[Any]], Any],
        typ: Any = None,
        *,
        snapshot_frequency: int = 100,
    ) -> None:
        if snapshot_frequency <= 0:
            raise ValueError(f"snapshot_frequency must be at least 1, not {snapshot_frequency}")
        super().__init__(list if typ is None else concrete_type(typ))
        self.reducer = reducer
        self.snapshot_frequency = snapshot_frequency

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, DeltaChannel)
            and other.snapshot_frequency == self.snapshot_frequency
            and same_reducer(self.reducer, other.reducer)
        )

    def __hash__(self) -> int:
        return hash((DeltaChannel, self.snapshot_frequency))

    def update(self, values: Sequence[Any]) -> bool:
        """Fold the writes; what the reducer raises passes through and leaves the value alone."""
        if not values:
            return False
        found, payload = sole_overwrite(values, self._at())
        self.value = self._base(payload) if found else self._fold(self.value, list(values))
        return True

    def replay_writes(self, writes: Sequence[tuple[str, str, Any]]) -> None:
        """Fold stored (task id, channel, value) writes of several supersteps, oldest first.

        The last Overwrite among them is where the value starts.
        """
        pending = [value for _, _, value in writes]
        base = self.value
        for index in range(len(pending) - 1, -1, -1):
            found, payload = overwrite_in(pending[index])
            if found:
                base, pending = self._base(payload), pending[index + 1 :]
                break
        self.value = self._fold(base, pending) if pending else base

    def checkpoint(self) -> Any:
        """Return MISSING: by its contract, the value is what its stored writes add up to."""
        return MISSING

    def stored(self) -> Any:
        """Return the value, marked as one that needs no earlier writes; MISSING if there is none."""
        return MISSING if self.value is MISSING else _DeltaSnapshot(self.value)

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """Return a new channel like this one that holds `checkpoint`, else `typ()`."""
        new = self._clone()
        if isinstance(checkpoint, _DeltaSnapshot):
            checkpoint = checkpoint.value
        new.value = self._base(None if checkpoint is MISSING else checkpoint)
        return new

    def _base(self, payload: Any) -> Any:
        return self.typ() if payload is None else payload

    def _fold(self, base: Any, writes: list[Any]) -> Any:
        if base is MISSING:
            base = self.typ()
        elif not is_pure(self.reducer):
            base = unshared(base)
        return self.reducer(base, writes)
