"""How much of the recursion limit is left, as state keys."""

from typing import Annotated

from runtime.managed.base import Clock, ManagedValue

__all__ = ("IsLastStep", "IsLastStepManager", "RemainingSteps", "RemainingStepsManager")


class IsLastStepManager(ManagedValue[bool]):
    """Whether the recursion limit allows no superstep after this one."""

    @staticmethod
    def get(scratchpad: Clock) -> bool:
        """Return whether this is the last superstep."""
        return scratchpad.step >= scratchpad.stop


class RemainingStepsManager(ManagedValue[int]):
    """How many supersteps the recursion limit allows, this one included."""

    @staticmethod
    def get(scratchpad: Clock) -> int:
        """Return the number of supersteps."""
        return scratchpad.stop - scratchpad.step + 1


IsLastStep = Annotated[bool, IsLastStepManager]
RemainingSteps = Annotated[int, RemainingStepsManager]
