"""What a stored value may ask of the machine: a few bytes never become gigabytes.

Rule: a range, or a network of addresses, is a short way to write very many elements. As a value it may be stored;
      nothing that goes through the elements of what it is given, or unpacks it, is ever given one.
"""

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable
from fractions import Fraction
from ipaddress import IPv4Network, IPv6Network
from math import prod
from typing import Any

from langgraph.store.base import Item

_COPYING = (set, frozenset, deque, OrderedDict, Counter, defaultdict)
_HELD = (list, tuple, dict, set, frozenset, deque)
_LAZY = (range, IPv4Network, IPv6Network)
_SCALARS = frozenset((str, int, float, bool, bytes, type(None)))

MOST_BYTES = 64 << 20
"""What an array may take in memory beyond what was stored of it."""


def items(value: Any) -> list[Any]:
    """A value that must be a list: of parts, of elements, of arguments.

    Raises:
        ValueError: it is something else.
    """
    if type(value) is not list:
        raise ValueError(f"a list should be here, and there is a {type(value).__name__}")
    return value


def held(value: Any) -> Any:
    """A value whose elements are all there, to be copied.

    Raises:
        ValueError: it is something else, which may make any number of elements when it is asked for them.
    """
    if not isinstance(value, _HELD):
        raise ValueError(f"elements should be here, and there is a {type(value).__name__}")
    return value


def check_arguments(cls: Any, arguments: Iterable[Any]) -> None:
    """Refuse arguments from which a constructor would make far more than is stored.

    Raises:
        ValueError: says which class, and what it was to be given.
    """
    if cls in _COPYING:
        for argument in arguments:
            held(argument)
    elif cls is Fraction:  # of a text such as "1e999999999" it makes a number of that length
        if not all(type(argument) is int for argument in arguments):
            raise ValueError("a fraction is stored as two integers")
    elif cls is Item or hasattr(cls, "__pydantic_validator__") or hasattr(cls, "__get_validators__"):
        _refuse_lazy(cls, arguments)


def _refuse_lazy(cls: Any, values: Iterable[Any]) -> None:
    waiting = [*values]
    while waiting:
        value = waiting.pop()
        if type(value) in _SCALARS:
            continue
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, _HELD):
            waiting.extend(value)
        elif isinstance(value, _LAZY) or type(value).__name__ == "RangeIndex":
            raise ValueError(f"{cls.__name__} is not given a {type(value).__name__}: it would go through all of it")


def check_shape(shape: list[Any], count: int, itemsize: int) -> None:
    """Refuse an array whose shape does not go with its elements, or that would take far more room than they.

    Raises:
        ValueError: says what does not fit.
    """
    if any(type(length) is not int or length < 0 for length in shape) or prod(shape) != count:
        raise ValueError(f"an array of shape {tuple(shape)} does not have {count} elements")
    if count * itemsize > MOST_BYTES and itemsize > 4096:
        raise ValueError(f"{count} elements of {itemsize} bytes are more than such an array may have")
