"""Values as expressions see them: plain ones, made one level at a time, and never by running a user's code.

A message, model or dataclass is a dict of its fields; an enum is its value; a time is its text. What is none
of these is `Sealed`: it can be asked for its type, and for nothing else.
"""

import operator
from collections.abc import Callable, Mapping
from typing import Any

from debugger_ui.session.shape import MASKED, Masked, fields_of, kind_of, ordered, show_int, type_name
from debugger_ui.session.text import literal

SCALARS = (type(None), bool, int, float, str, bytes)
EXACT = (*SCALARS, list, tuple, dict, set, frozenset)
DEPTH = 100
"""Levels of nested values that a comparison goes into."""
STEPS = 200_000
"""Values that one evaluation may look at."""
BITS = 4_096
"""Size of the integers that arithmetic takes and makes."""
ITEMS = 100_000
"""Items, or characters, of what an operation may make."""


class ExpressionError(Exception):
    """Why an expression is refused or has no value; `column` (from 1) is where in it, if that is known."""

    def __init__(self, message: str, column: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.column = column

    def __str__(self) -> str:
        at = f" (column {self.column})" if self.column is not None else ""
        return f"{self.message}{at}"


class Meter:
    """What an evaluation may still spend."""

    def __init__(self, steps: int = STEPS) -> None:
        self.left = steps

    def take(self, steps: int = 1) -> None:
        """Spend some steps, or give up."""
        self.left -= steps
        if self.left < 0:
            raise ExpressionError(f"It looks at more than {STEPS:,} values; ask for a smaller part.")


class Sealed:
    """A value that expressions cannot look into."""

    __slots__ = ("type",)

    def __init__(self, type_: str) -> None:
        self.type = type_

    def __bool__(self) -> bool:
        raise sealed(self)


def sealed(value: Sealed) -> ExpressionError:
    """Return the error of looking into a sealed value."""
    return ExpressionError(f"A value of type {value.type} cannot be looked into; only type(...) and `is None` take it.")


def plain(value: Any) -> Any:
    """Return a value with its outermost level made of exactly Python's own types."""
    if type(value) in EXACT or type(value) is Sealed:
        return value
    if isinstance(value, Masked):
        return Sealed(MASKED)
    make = PLAIN.get(kind_of(value))
    return Sealed(type_name(value)) if make is None else make(value)


def _mapping(value: Mapping[Any, Any]) -> dict[Any, Any]:
    if isinstance(value, dict):
        return dict(dict.items(value))
    try:
        return dict(value.items())
    except Exception as error:  # a mapping that is no dict is the user's code: whatever it raises is its answer
        raise ExpressionError(f"A {type_name(value)} could not be read: it raised {type(error).__name__}.") from None


def _list(value: Any) -> list[Any]:
    return list.copy(value) if isinstance(value, list) else list(value)


def _set(value: Any) -> Any:
    items = [plain(item) for item in ordered(value)]
    return frozenset(items) if all(hashable(item) for item in items) else items


def _time(value: Any) -> str:
    return str(value.isoformat() if hasattr(value, "isoformat") else value)


PLAIN: dict[str, Callable[[Any], Any]] = {
    "bool": bool,
    "int": int.__int__,
    "float": float.__float__,
    "str": str.__str__,
    "bytes": bytes,
    "enum": lambda value: plain(value._value_),
    "list": _list,
    "tuple": lambda value: tuple.__getitem__(value, slice(None)),
    "set": _set,
    "dict": _mapping,
    "message": fields_of,
    "model": fields_of,
    "dataclass": fields_of,
    "datetime": _time,
}


def hashable(value: Any) -> bool:
    """Whether a plain value can be a member of a set or the key of a dict, with no code but Python's own."""
    if type(value) is tuple:
        return all(hashable(item) for item in value)
    return type(value) in SCALARS


def named(value: Any) -> str:
    """Return what kind of value it is, for a sentence."""
    if isinstance(value, Sealed):
        return value.type
    return "None" if value is None else type(value).__name__


# --- comparing ------------------------------------------------------------------------------------


def equal(one: Any, other: Any, meter: Meter, depth: int = DEPTH) -> bool:
    """Whether two values are equal as plain ones; whoever is nested too deep to tell is refused."""
    meter.take()
    if depth <= 0:
        raise ExpressionError(f"The values are nested deeper than {DEPTH} levels.")
    one, other = plain(one), plain(other)
    for value in (one, other):
        if isinstance(value, Sealed):
            raise sealed(value)
    if type(one) in (str, bytes) and type(one) is type(other):
        meter.take(min(len(one), len(other)) // 64)
    if type(one) in SCALARS or type(other) in SCALARS:
        return type(one) in SCALARS and type(other) in SCALARS and bool(one == other)
    if isinstance(one, (set, frozenset)) or isinstance(other, (set, frozenset)):
        return isinstance(one, (set, frozenset)) and isinstance(other, (set, frozenset)) and one == other
    if type(one) is not type(other) or len(one) != len(other):
        return False
    meter.take(len(one))
    if isinstance(one, dict):
        pairs = [(value, other[key]) if key in other else None for key, value in one.items()]
        return all(pair is not None and _same(pair[0], pair[1], meter, depth) for pair in pairs)
    return all(_same(a, b, meter, depth) for a, b in zip(one, other, strict=True))


def _same(one: Any, other: Any, meter: Meter, depth: int) -> bool:
    return one is other or equal(one, other, meter, depth - 1)


SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def compare(sign: str, one: Any, other: Any, meter: Meter, depth: int = DEPTH) -> bool:
    """Whether two values stand in an order: numbers, texts, bytes, and lists or tuples of these."""
    meter.take()
    one, other = plain(one), plain(other)
    if number(one) and number(other):
        return bool(SIGNS[sign](one, other))
    if type(one) is not type(other) or type(one) not in (str, bytes, list, tuple) or depth <= 0:
        raise ExpressionError(f"{sign} does not compare {named(one)} with {named(other)}.")
    if type(one) in (str, bytes):
        return bool(SIGNS[sign](one, other))
    meter.take(min(len(one), len(other)))
    for a, b in zip(one, other, strict=False):
        if not _same(a, b, meter, depth):
            return compare(sign, a, b, meter, depth - 1)
    return bool(SIGNS[sign](len(one), len(other)))


def number(value: Any) -> bool:
    """Whether it counts as a number, as True and False do."""
    return type(value) in (bool, int, float)


def contains(container: Any, item: Any, meter: Meter) -> bool:
    """Whether a value is in a text, list, tuple, set, or among the keys of a dict."""
    if type(container) is str and type(item) is str:
        meter.take(1 + len(container) // 64)
        return item in container
    if type(container) in (list, tuple):
        for member in container:
            meter.take()
            if _same(member, item, meter, DEPTH):
                return True
        return False
    if type(container) in (dict, set, frozenset):
        if not hashable(item):
            raise ExpressionError(f"A {named(item)} cannot be in a {named(container)}.")
        return item in container
    raise ExpressionError(f"`in` does not look for {named(item)} in {named(container)}.")


def items(value: Any, meter: Meter) -> list[Any]:
    """Return what can be gone through one by one, as a list of plain values."""
    if type(value) not in (list, tuple, dict, set, frozenset, str):
        raise ExpressionError(f"A {named(value)} has no items to go through.")
    meter.take(len(value))
    members = ordered(value) if isinstance(value, (set, frozenset)) else value
    return [plain(item) for item in members]


# --- showing --------------------------------------------------------------------------------------


def short(value: Any, limit: int, depth: int = 3) -> str:
    """Return a value on one line in at most `limit` characters, the rest cut off."""
    text = _shown(value, limit, depth)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _shown(value: Any, limit: int, depth: int) -> str:
    value = plain(value)
    if isinstance(value, Sealed):
        return literal(value.type)
    if isinstance(value, (list, tuple, dict, set, frozenset)):
        return _container(value, limit, depth)
    if isinstance(value, str):
        return literal(value[: limit + 1])
    if isinstance(value, bytes):
        return literal(repr(value[: limit + 1]))
    if isinstance(value, int) and not isinstance(value, bool):
        return show_int(value)
    return "null" if value is None else str(value).lower()


def _container(value: Any, limit: int, depth: int) -> str:
    opening, closing = "[]" if isinstance(value, list) else "()" if isinstance(value, tuple) else "{}"
    if depth <= 0:
        return f"{opening}…{closing}" if value else opening + closing
    pieces: list[str] = []
    room = limit
    members = ordered(value) if isinstance(value, (set, frozenset)) else value
    for member in members:
        if room <= 0:
            break
        text = _shown(member, room, depth - 1)
        if isinstance(value, dict):
            text = f"{text}: {_shown(value[member], room, depth - 1)}"
        pieces.append(text)
        room -= len(text) + 2
    return opening + ", ".join(pieces) + closing
