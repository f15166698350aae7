"""Managed values: state keys that the run computes and nobody writes."""

from abc import ABC, abstractmethod
from inspect import isclass
from typing import Any, Generic, Protocol, TypeAlias, TypeGuard, TypeVar

__all__ = ("ManagedValue", "ManagedValueMapping", "ManagedValueSpec", "is_managed_value")

V = TypeVar("V", covariant=True)


class Clock(Protocol):
    """Where a run is: the superstep `step`, and `stop`, the last one within its limit."""

    @property
    def step(self) -> int:
        """Number of the current superstep."""

    @property
    def stop(self) -> int:
        """Number of the last superstep that the recursion limit allows."""


class ManagedValue(ABC, Generic[V]):
    """Put into a state as `Annotated[T, MyManagedValue]`; every read computes it."""

    @staticmethod
    @abstractmethod
    def get(scratchpad: Clock) -> V:
        """Return the value for the superstep at hand."""


ManagedValueSpec: TypeAlias = type[ManagedValue[Any]]
ManagedValueMapping: TypeAlias = dict[str, ManagedValueSpec]


def is_managed_value(value: Any) -> TypeGuard[ManagedValueSpec]:
    """Whether `value` is a managed value's class."""
    return isclass(value) and issubclass(value, ManagedValue)
