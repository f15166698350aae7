"""Which form fits a value: a chat, a table, an image, or only the tree that any value can be shown as.

The form is decided by the value alone, so it does not change while the cursor moves over equal values.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from debugger_ui.session.chat import chat_of, is_chat
from debugger_ui.session.images import image_of
from debugger_ui.session.shape import Masked, fields_of, kind_of
from debugger_ui.session.text import literal
from debugger_ui.session.view_rich import PAGE, Rich, TableView
from debugger_ui.session.view_values import ValueView

COLUMNS = 24
LOOKED_AT = 400
"""Records whose keys decide whether a list is a table."""
ALIKE = 0.6
"""Part of all cells that must be there for records to have mostly the same keys."""


Cell = Callable[[Any], ValueView]
"""Shows one cell of a table."""


def rich_of(value: Any, cell: Cell, offset: int | None = None, *, part: bool = False) -> Rich | None:
    """Return a page of the value in the form that fits it; None when that is the tree.

    Without an offset that is the end of a chat and the beginning of a table. `part`: messages are not a whole chat.
    """
    kind = kind_of(value)
    if kind in ("list", "tuple"):
        items = value if isinstance(value, (list, tuple)) else list(value)
        if not items:
            return None
        if is_chat(items):
            return chat_of(items, offset, part=part)
        return _records(items, cell, offset or 0)
    if kind == "message":
        return chat_of([value], part=True)
    if kind == "table":
        return _frame(value, cell, offset or 0)
    return image_of(value) if kind in ("bytes", "str") else None


def _records(items: Sequence[Any], cell: Cell, offset: int) -> TableView | None:
    columns = _columns(items[:LOOKED_AT])
    if not columns or not all(isinstance(item, dict) or _is_record(item) for item in items):
        return None
    shown, start = columns[:COLUMNS], _start(offset, len(items))
    page = items[start : start + PAGE]
    parts = [_fields(item) for item in page]
    rows = tuple(tuple(cell(fields[name]) if name in fields else None for name in shown) for fields in parts)
    return TableView(
        columns=tuple(literal(name)[:120] for name in shown),
        labels=tuple(str(start + at) for at in range(len(page))),
        rows=rows,
        offset=start,
        total=len(items),
        hidden_columns=len(columns) - len(shown),
    )


def _columns(items: Sequence[Any]) -> list[str]:
    """Return the keys of records that have mostly the same ones; [] for anything else."""
    known: dict[str, int] = {}
    count = 0
    for item in items:
        if isinstance(item, Masked):
            continue
        if not _is_record(item):
            return []
        count += 1
        for name in _fields(item):
            known[name] = known.get(name, 0) + 1
    cells = sum(known.values())
    return list(known) if known and cells >= ALIKE * count * len(known) else []


def _is_record(item: Any) -> bool:
    if isinstance(item, Mapping):
        return bool(item) and all(isinstance(key, str) for key in item)
    return isinstance(item, Masked) or kind_of(item) in ("dataclass", "model")


def _fields(item: Any) -> Mapping[str, Any]:
    return {} if isinstance(item, Masked) else item if isinstance(item, Mapping) else fields_of(item)


def _start(offset: int, total: int) -> int:
    return max(0, min(offset, total - 1))


def _frame(value: Any, cell: Cell, offset: int) -> TableView | None:
    """Return a page of a DataFrame or Series."""
    frame = value if hasattr(value, "columns") else value.to_frame()
    start = _start(offset, len(frame))
    page = frame.iloc[start : start + PAGE, :COLUMNS]
    rows = tuple(tuple(cell(_python(one)) for one in row) for row in page.itertuples(index=False, name=None))
    return TableView(
        columns=tuple(literal(str(name))[:120] for name in page.columns),
        labels=tuple(literal(str(label))[:80] for label in page.index),
        rows=rows,
        offset=start,
        total=len(frame),
        hidden_columns=len(frame.columns) - len(page.columns),
    )


def _python(value: Any) -> Any:
    """Return a number of numpy as Python's own."""
    return value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value
