"""Puts `Masked` where a value has parts that are not shown, and knows the way back.

Only what holds a masked part is built anew; everything else is the very object. A new part keeps its
class where that can be had without running the class's own code.
"""

import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from debugger_ui.session.shape import Masked, items_of, kind_of, vars_of
from debugger_ui.session.view_values import Path

MAX_DEPTH = 120
"""What is nested deeper is masked whole."""
MAX_PARTS = 2_000_000
"""What comes after so many parts is masked whole."""

WORTH = 8
"""Containers with more parts are remembered."""
JSON_STARTS = ("{", "[")
LEAVES = frozenset({type(None), bool, int, float, bytes})
PLAIN = ("str", "null", "bool", "int", "float", "bytes", "enum", "datetime", "masked")

Originals = dict[int, tuple[Any, Any]]


@dataclass(frozen=True, slots=True)
class Veil:
    """A value as it may be shown."""

    shown: Any
    originals: Originals = field(default_factory=dict)
    """New part and original by the id of the new part."""

    @property
    def hides(self) -> bool:
        """Whether any part is masked."""
        return bool(self.originals)

    def real(self, shown: Any) -> Any:
        """Return what a part of `shown` really is."""
        found = self.originals.get(id(shown))
        return shown if found is None else found[1]


class Walk:
    """A walk over values; what was met before at the same place is not walked again."""

    def __init__(self, hidden: Callable[[str], bool], met: Callable[[Any], None]) -> None:
        self.hidden = hidden
        self.met = met
        self.originals: Originals = {}
        self._open: set[int] = set()
        self._known: dict[tuple[str, int], tuple[Any, Any]] = {}
        self._parts = 0

    def value(self, path: Path, value: Any) -> Any:
        """Return the value as it may be shown; the same object when nothing in it is masked."""
        return self._value(".".join(map(str, path)), value, 0)

    def _value(self, path: str, value: Any, depth: int) -> Any:
        """Walk one part. Paths are joined by dots here: there are many parts."""
        self._parts += 1
        if path and self.hidden(path):
            return value if _nothing(value) else self._mask(value)
        cls = type(value)
        if cls in LEAVES or (cls is str and value[:1] not in JSON_STARTS):
            return value
        if depth > MAX_DEPTH or self._parts > MAX_PARTS or id(value) in self._open:
            return self._mask(value)
        if cls in (list, dict) and len(value) > WORTH and (path, id(value)) in self._known:
            return self._known[path, id(value)][1]
        self._open.add(id(value))
        try:
            made = self._walked(path, value, kind_of(value), depth)
        finally:
            self._open.discard(id(value))
        if cls in (list, dict) and len(value) > WORTH:
            self._known[path, id(value)] = (value, made)
        return made

    def _mask(self, value: Any) -> Any:
        self.met(value)
        return self._keep(Masked(value), value)

    def _keep(self, made: Any, value: Any) -> Any:
        self.originals[id(made)] = (made, value)
        return made

    def _walked(self, path: str, value: Any, kind: str, depth: int) -> Any:
        if kind in PLAIN:
            return self._text(path, value, depth) if kind == "str" else value
        if kind == "table":
            return self._table(path, value)
        items = _parts(value, kind)
        if items is None:
            return self._mask(value)
        front = f"{path}." if path else ""
        new = [(key, self._value(f"{front}{key}", item, depth + 1)) for key, item in items]
        if all(made is item for (_, made), (_, item) in zip(new, items, strict=True)):
            return value
        made = _rebuilt(value, kind, new)
        return self._mask(value) if made is None else self._keep(made, value)

    def _table(self, path: str, value: Any) -> Any:
        names = value.columns if hasattr(value, "columns") else [value.name]
        hidden = any(self.hidden(f"{path}.{name}" if path else str(name)) for name in names)
        return self._mask(value) if hidden else value

    def _text(self, path: str, value: str, depth: int) -> Any:
        """Mask a text that is JSON with a masked part: providers keep the arguments of tool calls so."""
        if not value or value[0] not in JSON_STARTS:
            return value
        try:
            inside = json.loads(value)
        except (ValueError, RecursionError):
            return value
        return value if self._value(path, inside, depth + 1) is inside else self._mask(value)


def _nothing(value: Any) -> bool:
    """Whether there is nothing to hide: that a key is empty may be seen."""
    return value is None or (isinstance(value, (str, bytes, list, tuple, set, Mapping)) and not value)


def _parts(value: Any, kind: str) -> list[tuple[str | int, Any]] | None:
    """Return what a value is made of; None for what cannot be looked into."""
    if kind == "opaque":
        data = getattr(value, "data", None)
        return None if isinstance(data, (bytes, bytearray)) else [("data", data)]
    if kind == "object":
        # A Send, or an object of the user's that is shown by its repr.
        return [("arg", value.arg)] if _is_send(value) else list(vars_of(value).items())
    if kind == "message":
        return [(key, item) for key, item in vars(value).items() if item or item == 0]
    return items_of(value)


def _is_send(value: Any) -> bool:
    return type(value).__name__ == "Send" and hasattr(value, "node") and hasattr(value, "arg")


def _rebuilt(value: Any, kind: str, new: Sequence[tuple[str | int, Any]]) -> Any:
    """Return a value of the same class with new parts; None where it can only be masked whole."""
    parts = [part for _, part in new]
    if kind == "dict":
        return dict(zip(value, parts, strict=True))
    if kind == "list":
        return deque(parts, value.maxlen) if isinstance(value, deque) else parts
    if kind == "tuple":
        return tuple.__new__(type(value), parts)
    if kind in ("model", "message"):
        return value.model_copy(update={str(name): part for name, part in new})
    if kind in ("dataclass", "opaque"):
        made = object.__new__(type(value))
        for name, part in [*vars_of(value).items(), *new]:
            object.__setattr__(made, str(name), part)
        return made
    return type(value)(value.node, parts[0]) if _is_send(value) else None
