"""The sheet component: blocks of text, values, tables and cards, all drawn literally.

A block is a JSON object; the functions here make them, so that panels read like what they show.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pandas as pd

from debugger_ui.components.registry import Width, mount
from debugger_ui.components.rich import rich_block
from debugger_ui.session.views import Problem, ValueView, form_of

HTML = '<div class="sheet"></div>'

SENTENCE = 400
"""Characters of a problem that are shown; the whole of a longer one is among its details."""

Block = dict[str, Any]
Item = dict[str, Any]


def sheet(
    blocks: Sequence[Block],
    *,
    key: str,
    scope: str = "",
    stamp: str = "",
    fill: bool = False,
    on_pick: Callable[[], None] | None = None,
) -> Any:
    """Draw the blocks; what is clicked comes back as state `picked` with `act` and `value`.

    Args:
        blocks: from the functions of this module.
        key: key of the component in the session's state.
        scope: when it changes, the sheet scrolls back to the top.
        stamp: becomes the `data-stamp` attribute once it is on screen.
        fill: take the height of the container instead of the content's.
        on_pick: called when something clickable was clicked.
    """
    return mount(
        "sheet",
        HTML,
        key=key,
        height="stretch" if fill else "content",
        on_picked_change=on_pick or _nothing,
        data={
            "blocks": list(blocks),
            "layout": "column" if fill else "auto",
            "scope": scope,
            "stamp": stamp,
        },
    )


def line(
    block: Block, *, key: str, height: int, width: Width = "stretch", on_pick: Callable[[], None] | None = None
) -> None:
    """Draw a bar as one row of fixed height that never wraps; `on_pick` as for `sheet`."""
    mount(
        "sheet",
        HTML,
        key=key,
        height=height,
        width=width,
        on_picked_change=on_pick or _nothing,
        data={"blocks": [block], "layout": "line", "scope": "", "stamp": ""},
    )


def _nothing() -> None:
    """Nothing in this sheet is clickable."""


def bar(items: Iterable[Item | None], *, name: str = "", tone: str = "") -> Block:
    """A row of inline items."""
    return {"kind": "bar", "items": [item for item in items if item], "name": name, "tone": tone}


def word(text: str, style: str = "plain", **more: Any) -> Item:
    """An inline text; styles: plain, strong, brand, mono, muted, label, sep."""
    return {"t": style, "text": text, **more}


def chip(text: str, tone: str = "", icon: str = "", **more: Any) -> Item:
    """A pill; with `act` and `value` it is a button."""
    return {"t": "chip", "text": text, "tone": tone, "icon": icon, **more}


def gap() -> Item:
    """Takes the free width of a bar."""
    return {"t": "gap"}


def value_item(view: ValueView | None) -> Item:
    """A value on one line."""
    return {"t": "value", "value": node(view) if view else None}


def text(content: str, tone: str = "") -> Block:
    """A paragraph; tones: muted, small, asked."""
    return {"kind": "text", "text": content, "tone": tone}


def pre(content: str) -> Block:
    """Preformatted text."""
    return {"kind": "pre", "text": content}


def reveal(what: str) -> Block:
    """Bring the container around the sheet into view, once for each `what`: it was opened from elsewhere."""
    return {"kind": "reveal", "what": what}


def empty(title: str, content: str = "", *, icon: str = "info", code: str = "") -> Block:
    """A designed empty state: what there is not, and what to do about it."""
    return {"kind": "empty", "title": title, "text": content, "icon": icon, "code": code}


def note(content: str, tone: str = "info", *, details: str = "", name: str = "", dismiss: bool = False) -> Block:
    """A message; tones: info, ok, warn, error. `dismiss` gives it a cross that picks `dismiss`."""
    return {"kind": "note", "text": content, "tone": tone, "details": details, "name": name, "dismiss": dismiss}


def problem_note(problem: Problem, *, name: str = "problem", dismiss: bool = False) -> Block:
    """A problem as a message: the sentence, the place, and the details folded away."""
    where = ""
    if problem.line is not None:
        where = f"line {problem.line}" + (f", column {problem.column}" if problem.column is not None else "")
    content = problem.message
    if where and where not in content.lower():
        content = f"{content.removesuffix('.')} ({where})." if content.endswith(".") else f"{content} ({where})"
    if problem.field and named(problem.field) and not mentions(content, problem):
        content = f"{problem.field}: {content}"
    tone = "warn" if problem.kind in ("read-only", "unavailable", "busy", "moved-on", "condition") else "error"
    details = problem.details
    if len(content) > SENTENCE:
        details = f"{content}\n\n{details}".rstrip()
        content = f"{content[:SENTENCE]}…"
    return note(content, tone, details=details, name=name, dismiss=dismiss)


def mentions(content: str, problem: Problem) -> bool:
    """Whether a problem's sentence names its field: what is said about JSON speaks of texts and values anyway."""
    if repr(problem.field) in content:
        return True
    return problem.line is None and re.search(rf"(?<!\w){re.escape(problem.field)}(?!\w)", content) is not None


def named(field: str) -> bool:
    """Whether a problem's field is a name that a person knows: a key, not the id of a question."""
    return not re.fullmatch(r"[0-9a-f-]{16,}", field)


def section(
    title: str, blocks: Sequence[Block], *, count: int | None = None, hint: str = "", folded: bool = False
) -> Block:
    """A titled part that can be folded."""
    return {
        "kind": "section",
        "id": title,
        "title": title,
        "count": count,
        "hint": hint,
        "open": not folded,
        "blocks": list(blocks),
    }


def card(
    title: str,
    blocks: Sequence[Block],
    *,
    look: tuple[str, str] = ("", ""),
    items: Sequence[Item | None] = (),
    name: str = "",
    status: str = "",
) -> Block:
    """A framed part with a header; `look` is its tone and icon."""
    tone, icon = look
    return {
        "kind": "card",
        "id": name or title,
        "title": title,
        "tone": tone,
        "icon": icon,
        "items": [item for item in items if item],
        "name": name,
        "status": status,
        "blocks": list(blocks),
    }


def tree(rows: Sequence[dict[str, Any]], *, depth: int = 1, empty: str = "") -> Block:
    """Values by key; each row has `key`, `value` (see `node`), and may have `changed`, `by`, `version`."""
    return {"kind": "tree", "rows": list(rows), "depth": depth, "empty": empty}


def node(view: ValueView | None) -> dict[str, Any] | None:
    """A value in the short form that the browser draws, and in the form that fits it (`b`, of the forms `f`)."""
    if view is None:
        return None
    short: dict[str, Any] = {"k": view.kind, "t": view.type, "x": view.text, "n": view.size}
    if view.hidden:
        short["h"] = view.hidden
    if view.rich is not None:
        short["f"] = [form_of(view.rich), "tree"]
        short["b"] = rich_block(view.rich, node)
    if view.children:
        short["c"] = [[child.key, node(child.value)] for child in view.children]
    return short


def column(key: str, label: str, *, align: str = "", mono: bool = False, width: str = "", hint: str = "") -> Item:
    """A column of a table; `align` is left, `right` or `nowrap`. When all columns have a width, they keep it."""
    return {"key": key, "label": label, "align": align, "mono": mono, "width": width, "hint": hint}


def table(
    frame: pd.DataFrame,
    columns: Sequence[Item],
    *,
    label: str,
    rows: Sequence[dict[str, Any]] = (),
    empty: str = "",
) -> Block:
    """A table of a frame's columns; a cell is text or a list of inline items.

    Args:
        frame: one row per row; has every column that `columns` names.
        columns: which columns to show, in order.
        label: name for people who cannot see it.
        rows: per row of the frame its `key`, `tone`, `act` and `value`; `span` if its first cell goes across.
        empty: said when there are no rows.
    """
    cells = frame[[c["key"] for c in columns]].to_numpy().tolist() if len(frame) else []
    extras = list(rows) or [{} for _ in cells]
    return {
        "kind": "table",
        "label": label,
        "columns": list(columns),
        "empty": empty,
        "rows": [{"cells": row, **extra} for row, extra in zip(cells, extras, strict=True)],
    }
