"""The functions that expressions can call, with how many values each takes. There are no others.

Each gets the meter of the evaluation and plain values; those of `ITERATING` also an iterator.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cmp_to_key
from typing import Any

from debugger_ui.session.plainly import (
    BITS,
    ExpressionError,
    Meter,
    Sealed,
    compare,
    hashable,
    items,
    named,
    number,
    plain,
    sealed,
)
from debugger_ui.session.text import literal

PLACES = 400
"""Digits that `round` goes to."""
TEXT = 2_000
"""Characters of a text that is read as a number."""
MANY = 1_000

ITERATING = ("any", "all", "sum", "min", "max", "sorted", "set")
"""Those that take `... for ... in ...` without brackets of its own."""

Function = Callable[..., Any]


def through(values: Any, meter: Meter) -> Iterable[Any]:
    """Return what a function goes through: an iterator as it is, the items of anything else."""
    return values if isinstance(values, Iterator) else items(values, meter)


def set_of(values: list[Any]) -> frozenset[Any]:
    """Return a set of values that can be in one."""
    for value in values:
        if not hashable(value):
            raise ExpressionError(f"A {named(value)} cannot be in a set, nor be a key of a dict.")
    return frozenset(values)


def _len(meter: Meter, value: Any) -> int:
    if type(value) not in (str, bytes, list, tuple, dict, set, frozenset):
        raise sealed(value) if isinstance(value, Sealed) else ExpressionError(f"{named(value)} has no length.")
    return len(value)


def _any(meter: Meter, values: Any) -> bool:
    return any(through(values, meter))


def _all(meter: Meter, values: Any) -> bool:
    return all(through(values, meter))


def _sum(meter: Meter, values: Any) -> Any:
    found = list(through(values, meter))
    for value in found:
        if not number(value):
            raise ExpressionError(f"sum adds numbers, not {named(value)}.")
        if isinstance(value, int) and value.bit_length() > BITS:
            raise ExpressionError("A number is too large to reckon with.")
    try:
        return sum(found)
    except OverflowError:
        raise ExpressionError("The sum is too large.") from None


def _sorted(meter: Meter, values: Any) -> list[Any]:
    found = list(through(values, meter))
    if _alike(found):
        meter.take(len(found))
        return sorted(found)
    return sorted(found, key=cmp_to_key(lambda one, other: -1 if compare("<", one, other, meter) else 0))


def _alike(found: list[Any]) -> bool:
    """Whether Python's own comparison says the same, and sooner."""
    return all(number(value) for value in found) or all(type(value) is str for value in found)


def _best(name: str, sign: str) -> Function:
    def best(meter: Meter, *values: Any) -> Any:
        found = list(values) if len(values) > 1 else list(through(values[0], meter))
        if not found:
            raise ExpressionError(f"{name} has nothing to choose from.")
        chosen = found[0]
        for value in found[1:]:
            if compare(sign, value, chosen, meter):
                chosen = value
        return chosen

    return best


def _abs(meter: Meter, value: Any) -> Any:
    if not number(value):
        raise ExpressionError(f"abs takes a number, not {named(value)}.")
    return abs(value)


def _round(meter: Meter, value: Any, places: Any = None) -> Any:
    if not number(value):
        raise ExpressionError(f"round takes a number, not {named(value)}.")
    if type(places) not in (int, bool, type(None)) or abs(places or 0) > PLACES:
        raise ExpressionError(f"round goes to a whole number of digits, at most {PLACES}.")
    try:
        return round(value, places)
    except (OverflowError, ValueError):
        raise ExpressionError(f"{value} cannot be rounded.") from None


def _str(meter: Meter, value: Any) -> str:
    if isinstance(value, int) and value.bit_length() > BITS:
        raise ExpressionError("The number is too large to write out.")
    if type(value) not in (str, bool, int, float, type(None)):
        raise ExpressionError(f"str writes out a number, text, bool or None, not {named(value)}.")
    return str(value)


def _number(name: str, make: Callable[[Any], Any]) -> Function:
    def read(meter: Meter, value: Any) -> Any:
        if not number(value) and type(value) is not str:
            raise ExpressionError(f"{name} reads a number or a text, not {named(value)}.")
        shown = literal(str(value)[:40]) if isinstance(value, (str, float)) else "the number"
        if isinstance(value, str) and len(value) > TEXT:
            raise ExpressionError(f"{name} reads texts of up to {TEXT:,} characters.")
        try:
            return make(value)
        except (ValueError, OverflowError):
            raise ExpressionError(f"{name} cannot read {shown}.") from None

    return read


def _bool(meter: Meter, value: Any) -> bool:
    return bool(value)


def _set(meter: Meter, values: Any) -> frozenset[Any]:
    return set_of(list(through(values, meter)))


def _keys(meter: Meter, value: Any) -> list[Any]:
    return items(_dict("keys", value), meter)


def _values(meter: Meter, value: Any) -> list[Any]:
    found = _dict("values", value)
    meter.take(len(found))
    return [plain(member) for member in found.values()]


def _dict(name: str, value: Any) -> dict[Any, Any]:
    if not isinstance(value, dict):
        raise ExpressionError(f"{name} takes a dict, not {named(value)}.")
    return value


def _lower(meter: Meter, value: Any) -> str:
    if type(value) is not str:
        raise ExpressionError(f"lower takes a text, not {named(value)}.")
    meter.take(1 + len(value) // 64)
    return value.lower()


def _elsewhere(meter: Meter, *values: Any) -> Any:
    raise ExpressionError("This cannot be called so.")


FUNCTIONS: dict[str, tuple[int, int, Function]] = {
    "len": (1, 1, _len),
    "min": (1, MANY, _best("min", "<")),
    "max": (1, MANY, _best("max", ">")),
    "sum": (1, 1, _sum),
    "abs": (1, 1, _abs),
    "round": (1, 2, _round),
    "any": (1, 1, _any),
    "all": (1, 1, _all),
    "sorted": (1, 1, _sorted),
    "set": (1, 1, _set),
    "str": (1, 1, _str),
    "int": (1, 1, _number("int", int)),
    "float": (1, 1, _number("float", float)),
    "bool": (1, 1, _bool),
    "lower": (1, 1, _lower),
    "keys": (1, 1, _keys),
    "values": (1, 1, _values),
    # The evaluator does these itself: they ask for more than a plain value.
    "type": (1, 1, _elsewhere),
    "state": (1, 1, _elsewhere),
    "has": (1, 1, _elsewhere),
    "before": (1, 1, _elsewhere),
    "changed": (1, 1, _elsewhere),
}
