"""Copies of the containers in a value, so that nobody's in-place change reaches anybody else.

A task's input, a Send's payload and everything handed to the caller go through `isolate`. It copies
what Python code habitually changes in place (lists, dicts, sets, deques, dataclass and Pydantic
instances), at any depth, and hands on everything else as it is: messages, arrays and clients are
dear to copy, and the strict check reports whoever changes those.

A list of a thousand messages costs one scan of its elements' types and one flat copy.
"""

from __future__ import annotations

import copy
import dataclasses
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

Copier = Callable[[Any], Any]

_DEPTH_LIMIT = 64  # deeper nesting is handed on as it is, rather than risking the recursion limit


def isolate(value: Any) -> Any:
    """The value with its containers copied; the very same object if it holds none."""
    copier = _COPIERS.get(type(value), MISSING_COPIER)
    if copier is MISSING_COPIER:
        copier = _register(type(value))
    return value if copier is None else copier(value, 0)


def _inner(value: Any, depth: int) -> Any:
    copier = _COPIERS.get(type(value), MISSING_COPIER)
    if copier is MISSING_COPIER:
        copier = _register(type(value))
    return value if copier is None or depth > _DEPTH_LIMIT else copier(value, depth)


def _holds_containers(types: set[type]) -> bool:
    for kind in types:
        copier = _COPIERS.get(kind, MISSING_COPIER)
        if copier is MISSING_COPIER:
            copier = _register(kind)
        if copier is not None:
            return True
    return False


def _list(value: list[Any], depth: int) -> list[Any]:
    if _holds_containers(set(map(type, value))):
        return [_inner(item, depth + 1) for item in value]
    return value.copy()


def _dict(value: dict[Any, Any], depth: int) -> dict[Any, Any]:
    if _holds_containers(set(map(type, value.values()))):
        return {key: _inner(item, depth + 1) for key, item in value.items()}
    return value.copy()


def _tuple(value: tuple[Any, ...], depth: int) -> tuple[Any, ...]:
    if _holds_containers(set(map(type, value))):
        return tuple([_inner(item, depth + 1) for item in value])
    return value


def _set(value: set[Any], _depth: int) -> set[Any]:
    return value.copy()


def _deque(value: deque[Any], depth: int) -> deque[Any]:
    return deque([_inner(item, depth + 1) for item in value], value.maxlen)


def _ordered(value: OrderedDict[Any, Any], depth: int) -> OrderedDict[Any, Any]:
    return OrderedDict((key, _inner(item, depth + 1)) for key, item in value.items())


def _default(value: defaultdict[Any, Any], depth: int) -> defaultdict[Any, Any]:
    items = {key: _inner(item, depth + 1) for key, item in value.items()}
    return defaultdict(value.default_factory, items)


def _record(value: Any, depth: int) -> Any:
    """A dataclass or Pydantic instance: the object, and the containers in its fields."""
    twin = copy.copy(value)
    for key, item in vars(twin).items():
        kept = _inner(item, depth + 1)
        if kept is not item:
            # Past frozen dataclasses and validating models: this is a copy, not a change.
            twin.__dict__[key] = kept
    return twin


MISSING_COPIER: Any = object()
_COPIERS: dict[type, Any] = {
    list: _list,
    dict: _dict,
    tuple: _tuple,
    set: _set,
    bytearray: lambda value, _depth: bytearray(value),
    deque: _deque,
    OrderedDict: _ordered,
    defaultdict: _default,
    **dict.fromkeys((str, int, float, bool, bytes, complex, frozenset, type(None)), None),
}


def _register(kind: type) -> Any:
    """Decide once per class how its instances are isolated."""
    copier: Any = None
    record = dataclasses.is_dataclass(kind) or hasattr(kind, "__pydantic_fields__")
    if record and kind.__dictoffset__ and not _is_shared(kind):
        copier = _record
    _COPIERS[kind] = copier
    return copier


def _is_shared(kind: type) -> bool:
    """Messages and other library objects, and the runtime's own values, are never changed in place."""
    return any(base.__module__.partition(".")[0] in _SHARED for base in kind.__mro__)


_SHARED = frozenset({"langchain_core", "runtime", "langgraph"})
