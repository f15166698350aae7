"""BaseChannel: how a state key takes the writes of one superstep.

Rule 1: a stored value is never changed in place. `update` puts a new value in its place, so that a
copy, a checkpoint and a running node may all hold the old one.
Rule 2: `update`, `consume` and `finish` return whether anything changed; a channel's version is
bumped by that alone.
Rule 3: an update that raises has changed nothing.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Generic, Self, TypeVar

from langgraph.checkpoint.base import EmptyChannelError

from runtime._typing import MISSING

__all__ = ("BaseChannel",)

Value = TypeVar("Value")
Update = TypeVar("Update")
Checkpoint = TypeVar("Checkpoint")


class BaseChannel(ABC, Generic[Value, Update, Checkpoint]):
    """A state key's value and the way it takes writes.

    `typ` is the type of what is written, `key` the name in the graph (set when it is compiled).
    A subclass gives `get`, `update` and `from_checkpoint`, and the two types; it is put into a
    state as `Annotated[T, MyChannel(...)]`, or as the class itself if it is made from `typ` alone.

    The `wants_...` flags let a run leave out calls that change nothing: `update([])` for channels
    without writes in a superstep, `consume()` and `finish()`. They are worked out for every
    subclass from the methods it defines; a class that defines `update` without setting
    `wants_empty_update` counts as True.
    """

    __slots__ = ("key", "typ")

    wants_empty_update: ClassVar[bool] = True
    wants_consume: ClassVar[bool] = False
    wants_finish: ClassVar[bool] = False

    _copied: ClassVar[tuple[str, ...]] = ("key", "typ")
    _copies_dict: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.wants_consume = cls.consume is not BaseChannel.consume
        cls.wants_finish = cls.finish is not BaseChannel.finish
        if "wants_empty_update" not in cls.__dict__:
            owner = next(base for base in cls.__mro__ if "update" in base.__dict__)
            cls.wants_empty_update = owner.__dict__.get("wants_empty_update", True)
        slots = dict.fromkeys(name for base in reversed(cls.__mro__) for name in base.__dict__.get("__slots__", ()))
        cls._copied = tuple(name for name in slots if name not in ("__dict__", "__weakref__"))
        cls._copies_dict = cls.__dictoffset__ != 0

    def __init__(self, typ: Any, key: str = "") -> None:
        self.typ = typ
        self.key = key

    @property
    @abstractmethod
    def ValueType(self) -> Any:
        """The type that `get` returns."""

    @property
    @abstractmethod
    def UpdateType(self) -> Any:
        """The type of one write."""

    @abstractmethod
    def get(self) -> Value:
        """Return the value; raise EmptyChannelError if there is none."""

    @abstractmethod
    def update(self, values: Sequence[Update]) -> bool:
        """Take all writes of one superstep, in the order of their tasks' paths.

        Returns whether the channel changed. Called without values in supersteps that do not write
        here, if `wants_empty_update`. Raises InvalidUpdateError for writes that do not go together.
        """

    @abstractmethod
    def from_checkpoint(self, checkpoint: Checkpoint | Any) -> Self:
        """Return a new channel like this one that holds `checkpoint`; MISSING is an empty one."""

    def checkpoint(self) -> Checkpoint | Any:
        """Return what to store of the channel, MISSING if that is nothing."""
        try:
            return self.get()
        except EmptyChannelError:
            return MISSING

    def stored(self) -> Any:
        """Return the form in which the channel is written out: `checkpoint()`, unless it has one of its own.

        `from_checkpoint` reads it back.
        """
        return self.checkpoint()

    def copy(self) -> Self:
        """Return a channel that can be updated without changing this one."""
        return self.from_checkpoint(self.checkpoint())

    def is_available(self) -> bool:
        """Whether `get` would return a value."""
        try:
            self.get()
        except EmptyChannelError:
            return False
        return True

    def consume(self) -> bool:
        """Note that a task which this channel triggered has run. Returns whether it changed."""
        return False

    def finish(self) -> bool:
        """Note that nothing else is left to run. Returns whether the channel changed."""
        return False

    def _clone(self) -> Self:
        """Return a copy that shares every value: enough where rule 1 is kept."""
        cls = type(self)
        new: Self = cls.__new__(cls)
        for name in cls._copied:
            try:
                setattr(new, name, getattr(self, name))
            except AttributeError:  # a slot that was never filled
                continue
        if cls._copies_dict:
            new.__dict__.update(self.__dict__)
        return new

    def _at(self) -> str:
        """Return how an error message names this channel."""
        return f"At key {self.key!r}" if self.key else f"In a {type(self).__name__}"
