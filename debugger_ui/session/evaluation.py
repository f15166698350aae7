"""Evaluates checked expressions over plain values. Only `expression.parse` makes trees for it.

Whatever does not go is an `ExpressionError` with the column of the innermost part that it was met in.
"""

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from debugger_ui.session.diff import equal as equal_values
from debugger_ui.session.functions import FUNCTIONS, set_of
from debugger_ui.session.plainly import (
    BITS,
    ITEMS,
    ExpressionError,
    Meter,
    Sealed,
    compare,
    contains,
    equal,
    hashable,
    items,
    named,
    number,
    plain,
    sealed,
    short,
)
from debugger_ui.session.shape import type_name
from debugger_ui.session.text import literal

CONSTANTS = {"true": True, "false": False, "null": None}
"""Names for what the page shows as true, false and null; Python's own work as well."""

State = Mapping[str, Any]


class Evaluator:
    """One evaluation: the state, the state before it, and what may still be spent."""

    def __init__(self, now: State, before: Callable[[], State]) -> None:
        self.now = now
        self._before = before
        self._earlier: State | None = None
        self.meter = Meter()
        self.bound: dict[str, Any] = {}
        self._changed: dict[str, bool] = {}

    @property
    def earlier(self) -> State:
        """The state of the checkpoint before."""
        if self._earlier is None:
            self._earlier = self._before()
        return self._earlier

    def result(self, node: ast.expr) -> Any:
        """Return what the whole comes to."""
        try:
            return self.value(node)
        except RecursionError:
            raise ExpressionError("The values are nested too deep.") from None

    def value(self, node: ast.expr) -> Any:
        """Return the plain value of a part."""
        return plain(self.raw(node))

    def raw(self, node: ast.expr) -> Any:
        """Return the value of a part as it was found."""
        try:
            self.meter.take()
            return PARTS[type(node)](self, node)
        except ExpressionError as error:
            if error.column is None:
                error.column = node.col_offset + 1
            raise

    def test(self, node: ast.expr) -> bool:
        """Return whether a part holds."""
        return bool(self.value(node))

    # --- the parts ----------------------------------------------------------------------------

    def constant(self, node: ast.Constant) -> Any:
        """A value that is written out."""
        return node.value

    def name(self, node: ast.Name) -> Any:
        """A name of a comprehension, or a key of the state."""
        if node.id in self.bound:
            return self.bound[node.id]
        return CONSTANTS[node.id] if node.id in CONSTANTS else self.key(node.id)

    def key(self, key: str) -> Any:
        """Return the value of a key of the state."""
        if key not in self.now:
            raise ExpressionError(f"{literal(key)} has no value in this checkpoint.")
        return self.now[key]

    def subscript(self, node: ast.Subscript) -> Any:
        """An item, or a slice."""
        value = self.value(node.value)
        if isinstance(node.slice, ast.Slice):
            parts = (node.slice.lower, node.slice.upper, node.slice.step)
            return sliced(value, slice(*[None if part is None else self.value(part) for part in parts]), self.meter)
        return item(value, self.value(node.slice))

    def binary(self, node: ast.BinOp) -> Any:
        """Arithmetic."""
        return arithmetic(OPERATORS[type(node.op)], self.value(node.left), self.value(node.right), self.meter)

    def unary(self, node: ast.UnaryOp) -> Any:
        """`not`, and signs."""
        if isinstance(node.op, ast.Not):
            return not self.test(node.operand)
        value = self.value(node.operand)
        if not number(value):
            raise ExpressionError(f"A sign goes before a number, not before {named(value)}.")
        return -value if isinstance(node.op, ast.USub) else +value

    def boolean(self, node: ast.BoolOp) -> Any:
        """`and` and `or`, which look no further than they have to."""
        value = None
        for part in node.values:
            value = self.value(part)
            if bool(value) is isinstance(node.op, ast.Or):
                break
        return value

    def compare(self, node: ast.Compare) -> bool:
        """A chain of comparisons."""
        left = self.value(node.left)
        for sign, part in zip(node.ops, node.comparators, strict=True):
            right = self.value(part)
            if not COMPARISONS[type(sign)](left, right, self.meter):
                return False
            left = right
        return True

    def choice(self, node: ast.IfExp) -> Any:
        """One of two."""
        return self.value(node.body if self.test(node.test) else node.orelse)

    def listed(self, node: ast.List) -> Any:
        """A list that is written out."""
        return [self.value(part) for part in node.elts]

    def paired(self, node: ast.Tuple) -> Any:
        """A tuple that is written out."""
        return tuple(self.value(part) for part in node.elts)

    def gathered(self, node: ast.Set) -> Any:
        """A set that is written out."""
        return set_of([self.value(part) for part in node.elts])

    def mapped(self, node: ast.Dict) -> Any:
        """A dict that is written out."""
        keys = [self.value(key) for key in node.keys if key is not None]
        set_of(keys)
        return dict(zip(keys, [self.value(part) for part in node.values], strict=True))

    def list_made(self, node: ast.ListComp) -> Any:
        """A list made from others."""
        return list(self.made(node))

    def set_made(self, node: ast.SetComp) -> Any:
        """A set made from others."""
        return set_of(list(self.made(node)))

    def made(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, depth: int = 0) -> Iterator[Any]:
        """Go through what a comprehension makes; each item is paid for as it comes."""
        if depth == len(node.generators):
            yield self.value(node.elt)
            return
        part = node.generators[depth]
        targets = part.target.elts if isinstance(part.target, ast.Tuple) else None
        outer = dict(self.bound)
        for member in items(self.value(part.iter), self.meter):
            if targets is None:
                self.bound = {**self.bound, _id(part.target): member}
            else:
                taken = items(member, self.meter)
                if len(taken) != len(targets):
                    raise ExpressionError(f"`for` wants {len(targets)} values, but an item has {len(taken)}.")
                self.bound = {**self.bound, **{_id(t): one for t, one in zip(targets, taken, strict=True)}}
            if all(self.test(condition) for condition in part.ifs):
                yield from self.made(node, depth + 1)
        self.bound = outer

    def call(self, node: ast.Call) -> Any:
        """A call of a listed function."""
        name = _id(node.func)
        function = FUNCTIONS[name][2]
        if name in STATE and isinstance(node.args[0], ast.Constant):
            return STATE[name](self, str(node.args[0].value))
        if name == "type":
            return type_name(self.raw(node.args[0]))
        (first, *rest) = node.args
        if isinstance(first, ast.GeneratorExp):
            outer = self.bound
            try:
                return function(self.meter, self.made(first))
            finally:
                self.bound = outer  # any and all stop in the middle
        return function(self.meter, self.value(first), *[self.value(part) for part in rest])

    # --- the functions that read the state ----------------------------------------------------

    def has(self, key: str) -> bool:
        """Whether a key has a value here."""
        return key in self.now

    def before(self, key: str) -> Any:
        """Return the value of a key in the checkpoint before; None when it had none."""
        return plain(self.earlier.get(key))

    def changed(self, key: str) -> bool:
        """Whether the value of a key differs from the one before."""
        if key not in self._changed:
            there = key in self.now, key in self.earlier
            self._changed[key] = not equal_values(self.now[key], self.earlier[key]) if all(there) else any(there)
        return self._changed[key]


def _id(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


# --- operators ------------------------------------------------------------------------------------


def arithmetic(sign: str, one: Any, other: Any, meter: Meter) -> Any:
    """Return a sum, product or the like, of bounded size."""
    if number(one) and number(other):
        return _numbers(sign, one, other)
    if sign == "+" and type(one) is type(other) and type(one) in (str, list, tuple):
        _room(len(one) + len(other), meter)
        return one + other
    if sign == "*" and {type(one), type(other)} & {str, list, tuple} and {type(one), type(other)} & {int, bool}:
        times, many = (one, other) if number(one) else (other, one)
        _room(len(many) * max(times, 0), meter)
        return many * times
    raise ExpressionError(f"{sign} does not go with {named(one)} and {named(other)}.")


def _numbers(sign: str, one: Any, other: Any) -> Any:
    whole = isinstance(one, int) and isinstance(other, int)
    for value in (one, other):
        if isinstance(value, int) and value.bit_length() > BITS:
            raise ExpressionError("The number is too large to reckon with.")
    if sign == "**" and whole and other > 0 and one.bit_length() * other > BITS and abs(one) > 1:
        raise ExpressionError("The power is too large.")
    try:
        result = SIGNS[sign](one, other)
    except ZeroDivisionError:
        raise ExpressionError("This divides by zero.") from None
    except OverflowError:
        raise ExpressionError("The result is too large.") from None
    if isinstance(result, complex):
        raise ExpressionError("A fractional power of a negative number is no real number.")
    if isinstance(result, int) and result.bit_length() > BITS:
        raise ExpressionError("The result is too large.")
    return result


def _room(size: int, meter: Meter) -> None:
    if size > ITEMS:
        raise ExpressionError(f"The result would have more than {ITEMS:,} items.")
    meter.take(size // 32)


def item(value: Any, at: Any) -> Any:
    """Return an item of a list, tuple or text, or what a dict has at a key."""
    if isinstance(value, dict):
        if hashable(at) and at in value:
            return value[at]
        near = ", ".join(literal(str(key)) for key in list(value)[:8])
        raise ExpressionError(f"There is no key {short(at, 40)} in it; it has {near or 'none'}.")
    if type(value) not in (list, tuple, str, bytes):
        raise sealed(value) if isinstance(value, Sealed) else ExpressionError(f"{named(value)} has no items.")
    if type(at) not in (int, bool):
        raise ExpressionError(f"A {named(value)} is indexed by whole numbers, not by {named(at)}.")
    if not -len(value) <= at < len(value):
        raise ExpressionError(f"There is no item {at}: the {named(value)} has {len(value)}.")
    return value[at]


def sliced(value: Any, part: slice, meter: Meter) -> Any:
    """Return a slice of a list, tuple or text."""
    if type(value) not in (list, tuple, str, bytes):
        raise ExpressionError(f"{named(value)} cannot be sliced.")
    for bound in (part.start, part.stop, part.step):
        if type(bound) not in (int, bool, type(None)):
            raise ExpressionError(f"A slice goes by whole numbers, not by {named(bound)}.")
    if part.step is not None and not part.step:
        raise ExpressionError("The step of a slice cannot be 0.")
    meter.take(len(range(*part.indices(len(value)))) // 32)
    return value[part]


SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
}
OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.Not: "not",
    ast.USub: "-",
    ast.UAdd: "+",
}
COMPARISONS: dict[type[ast.AST], Callable[[Any, Any, Meter], Any]] = {
    ast.Eq: equal,
    ast.NotEq: lambda one, other, meter: not equal(one, other, meter),
    ast.Lt: partial(compare, "<"),
    ast.LtE: partial(compare, "<="),
    ast.Gt: partial(compare, ">"),
    ast.GtE: partial(compare, ">="),
    ast.In: lambda one, other, meter: contains(other, one, meter),
    ast.NotIn: lambda one, other, meter: not contains(other, one, meter),
    ast.Is: lambda one, other, meter: one is other,
    ast.IsNot: lambda one, other, meter: one is not other,
}
PARTS: dict[type[ast.AST], Callable[[Evaluator, Any], Any]] = {
    ast.Constant: Evaluator.constant,
    ast.Name: Evaluator.name,
    ast.Subscript: Evaluator.subscript,
    ast.BinOp: Evaluator.binary,
    ast.UnaryOp: Evaluator.unary,
    ast.BoolOp: Evaluator.boolean,
    ast.Compare: Evaluator.compare,
    ast.IfExp: Evaluator.choice,
    ast.List: Evaluator.listed,
    ast.Tuple: Evaluator.paired,
    ast.Set: Evaluator.gathered,
    ast.Dict: Evaluator.mapped,
    ast.ListComp: Evaluator.list_made,
    ast.SetComp: Evaluator.set_made,
    ast.Call: Evaluator.call,
}
STATE: dict[str, Callable[[Evaluator, str], Any]] = {
    "state": Evaluator.key,
    "has": Evaluator.has,
    "before": Evaluator.before,
    "changed": Evaluator.changed,
}
