"""Small typing helpers shared by every part of the runtime."""

from dataclasses import Field
from typing import Any, ClassVar, Final, Protocol, TypeAlias

from pydantic import BaseModel
from typing_extensions import TypedDict

__all__ = ("EMPTY_SEQ", "MISSING", "DeprecatedKwargs", "StateLike")


class _Missing:
    """Type of `MISSING`; one instance per process, also through copies and pickles."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"

    def __reduce__(self) -> str:
        return "MISSING"

    def __copy__(self) -> "_Missing":
        return self

    def __deepcopy__(self, memo: object) -> "_Missing":
        return self


MISSING: Final[Any] = _Missing()
"""Stands for "no value", where None is a value."""

EMPTY_SEQ: Final[tuple[str, ...]] = ()


class _TypedDictLike(Protocol):
    __required_keys__: ClassVar[frozenset[str]]
    __optional_keys__: ClassVar[frozenset[str]]


class _TypedDictInstanceLike(Protocol):
    __required_keys__: frozenset[str]
    __optional_keys__: frozenset[str]


class _DataclassLike(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


StateLike: TypeAlias = _TypedDictLike | _TypedDictInstanceLike | _DataclassLike | BaseModel
"""What can describe a state: a TypedDict, a dataclass or a Pydantic model."""


class DeprecatedKwargs(TypedDict):
    """Marks, for type checkers, keyword arguments that are still taken but no longer named."""
