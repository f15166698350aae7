"""What reducer channels share: the initial value of a type, and safety from reducers that mutate."""

import collections.abc
import operator
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Final, NotRequired, Required, get_origin

from runtime._typing import MISSING

_CONCRETE: Final[dict[Any, type]] = {
    collections.abc.Sequence: list,
    collections.abc.MutableSequence: list,
    collections.abc.Set: set,
    collections.abc.MutableSet: set,
    collections.abc.Mapping: dict,
    collections.abc.MutableMapping: dict,
}

_PURE: Final = frozenset(
    {operator.add, operator.or_, operator.and_, operator.mul, operator.sub, operator.xor, max, min}
)
"""Reducers known to leave their arguments as they are, at least for the builtin containers."""

_CONTAINERS: Final = frozenset({list, dict, set, bytearray})


def concrete_type(typ: Any) -> Any:
    """Return the class behind an annotation: `Sequence[int]` is list, `Required[dict]` is dict."""
    while (origin := get_origin(typ)) is not None:
        typ = typ.__args__[0] if origin in (Annotated, Required, NotRequired) else origin
    return _CONCRETE.get(typ, typ)


def initial_value(typ: Any) -> Any:
    """Return what a reducer of `typ` starts from: `typ()`, or MISSING if that cannot be made."""
    try:
        return concrete_type(typ)()
    except Exception:
        # The type needs arguments or is no class: the first write becomes the value.
        return MISSING


def is_pure(reducer: Callable[..., Any]) -> bool:
    """Whether `reducer` is known not to change its first argument."""
    try:
        return reducer in _PURE or getattr(reducer, "__keeps_arguments__", False) is True
    except TypeError:  # an unhashable callable
        return False


def unshared(value: Any) -> Any:
    """Return a builtin container as a copy of its own, anything else as it is.

    A reducer that extends its first argument in place would otherwise change the value that
    checkpoints and running nodes hold.
    """
    return value.copy() if type(value) in _CONTAINERS else value


def same_reducer(one: Callable[..., Any], other: Callable[..., Any]) -> bool:
    """Whether two channels with these reducers may stand for the same key.

    Each evaluation of a lambda makes a new object, so a lambda is taken to equal any reducer.
    """
    if one is other:
        return True
    if isinstance(one, partial) and isinstance(other, partial):
        same_arguments = (one.args, one.keywords) == (other.args, other.keywords)
        return same_arguments and same_reducer(one.func, other.func)
    return "<lambda>" in (getattr(one, "__name__", ""), getattr(other, "__name__", ""))
