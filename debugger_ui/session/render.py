"""Turns any Python value into a `ValueView`: exact where it is small, cut where it is large.

Depth, the number of items and the length of texts are limited; what is left out is counted, and
asking again with `FULL` limits at the place shows it.
"""

import base64
from dataclasses import dataclass, replace
from typing import Any

from debugger_ui.session.rendering import rich_of
from debugger_ui.session.shape import fields_of, items_of, kind_of, safe_repr, show_int, type_name
from debugger_ui.session.text import clip, literal
from debugger_ui.session.view_rich import Rich
from debugger_ui.session.view_values import ChildView, Path, ValueView


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a value is shown."""

    depth: int = 6
    items: int = 50
    chars: int = 600
    lines: bool = False
    """Keep line breaks in texts (for showing one text whole)."""
    rich: int = 3
    """Down to which depth a value is also given as the chat, table or image that it is."""


CELL = Limits(depth=1, items=6, chars=120, rich=0)
BRIEF = Limits(depth=2, items=12, chars=200)
USUAL = Limits()
FULL = Limits(depth=24, items=5_000, chars=2_000_000, lines=True)


def view(value: Any, limits: Limits = USUAL, path: Path = ()) -> ValueView:
    """Return the value as a tree of plain parts."""
    return _view(value, limits, path, limits.depth, limits.rich)


def page_of(value: Any, offset: int | None = None) -> Rich | None:
    """Return a page of the chat, table or image that a value is; None when it is none."""
    return rich_of(value, _cell, offset)


def _cell(value: Any) -> ValueView:
    return view(value, CELL)


def _view(value: Any, limits: Limits, path: Path, depth: int, rich: int) -> ValueView:
    kind = kind_of(value)
    # Only what has a place in the state is a whole chat; what is written is a part of one.
    fitting = rich_of(value, _cell, part=not path) if rich > 0 else None
    # What is in a chat or table is shown by it.
    inner = 0 if fitting is not None else rich - 1
    if kind in ("list", "tuple", "set", "dict", "dataclass", "model", "message", "opaque"):
        return replace(_container(value, kind, limits, path, (depth, inner)), rich=fitting)
    text, size, hidden = _scalar(value, kind, limits)
    return ValueView(
        kind=kind,
        type=type_name(value),
        text=text,
        path=path,
        size=size,
        hidden=hidden,
        editable=kind not in ("object", "table"),
        rich=fitting,
    )


def _container(value: Any, kind: str, limits: Limits, path: Path, left: tuple[int, int]) -> ValueView:
    items = items_of(value)
    depth, rich = left
    if depth <= 0:
        shown, hidden = [], len(items)
    else:
        shown, hidden = items[: limits.items], max(0, len(items) - limits.items)
    children = tuple(
        ChildView(literal(str(key)), _view(item, limits, (*path, key), depth - 1, rich)) for key, item in shown
    )
    return ValueView(
        kind=kind,
        type=type_name(value),
        text=_summary(value, kind, len(items), limits),
        path=path,
        children=children,
        size=len(items),
        hidden=hidden,
        editable=kind != "opaque",
    )


def _summary(value: Any, kind: str, size: int, limits: Limits) -> str:
    if kind == "message":
        content = fields_of(value).get("content")
        text = content if isinstance(content, str) else _parts_of(content)
        return f"{literal(str(value.type))}: {literal(clip(text, 120)[0])}"
    if kind == "dict":
        return f"{{{size} {'key' if size == 1 else 'keys'}}}"
    if kind in ("dataclass", "model"):
        return f"{type(value).__qualname__}({size} {'field' if size == 1 else 'fields'})"
    if kind == "opaque":
        return f"{literal(type_name(value))}: not decoded, kept as stored"
    return f"{size} {'item' if size == 1 else 'items'}"


def _parts_of(content: Any) -> str:
    return f"{len(content)} parts" if isinstance(content, list) else safe_repr(content)


def _scalar(value: Any, kind: str, limits: Limits) -> tuple[str, int, int]:
    if kind == "str":
        text, hidden = clip(str(value), limits.chars)
        return literal(text, lines=limits.lines), len(value), hidden
    if kind == "bytes":
        raw = bytes(value)
        text, hidden = clip(base64.b64encode(raw[: limits.chars]).decode(), limits.chars)
        return text, len(raw), max(0, len(raw) - limits.chars)
    if kind == "int":
        return show_int(value), 0, 0
    if kind == "null":
        return "null", 0, 0
    if kind == "bool":
        return ("true" if value else "false"), 0, 0
    if kind == "float":
        return repr(float(value)), 0, 0
    if kind == "datetime":
        return value.isoformat() if hasattr(value, "isoformat") else str(value), 0, 0
    if kind == "table":
        return f"{' x '.join(map(str, value.shape))} {type(value).__name__}", len(value), 0
    text, hidden = clip(safe_repr(value), limits.chars)
    return literal(text), 0, hidden
