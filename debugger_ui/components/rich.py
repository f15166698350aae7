"""Chats, tables and images as blocks of a sheet. Only what the browser draws goes along, and no address of anything."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from debugger_ui.session.views import BlockView, ChatView, ImageView, MessageView, Rich, TableView, ValueView

Node = Callable[[ValueView | None], dict[str, Any] | None]


def rich_block(view: Rich, node: Node) -> dict[str, Any]:
    """Return the block for a value in its fitting form; `node` makes the cells of a table."""
    if isinstance(view, ChatView):
        return chat(view)
    return table(view, node) if isinstance(view, TableView) else image(view)


def chat(view: ChatView) -> dict[str, Any]:
    """Return the block for a page of a chat."""
    return {
        "kind": "chat",
        "offset": view.offset,
        "total": view.total,
        "part": view.part,
        "messages": [message(one) for one in view.messages],
    }


def message(view: MessageView) -> dict[str, Any]:
    """Return one message in the form that the browser draws."""
    return {
        **{name: value for name, value in asdict(view).items() if name not in ("blocks", "calls")},
        "blocks": [block(one) for one in view.blocks],
        "calls": [asdict(one) for one in view.calls],
    }


def block(view: BlockView) -> dict[str, Any]:
    """Return one block of a message."""
    short: dict[str, Any] = {"kind": view.kind, "text": view.text, "label": view.label, "hidden": view.hidden}
    if view.image is not None:
        short["image"] = image(view.image)
    return short


def table(view: TableView, node: Node) -> dict[str, Any]:
    """Return the block for a page of a table."""
    return {
        "kind": "grid",
        "columns": list(view.columns),
        "labels": list(view.labels),
        "rows": [[node(cell) for cell in row] for row in view.rows],
        "offset": view.offset,
        "total": view.total,
        "left": view.hidden_columns,
    }


def image(view: ImageView) -> dict[str, Any]:
    """Return the block for an image: its bytes, or why they are not drawn."""
    return {"kind": "image", **asdict(view)}
