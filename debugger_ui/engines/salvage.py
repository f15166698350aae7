"""Threads of a damaged database, as far as its saver can go around the damage."""

from collections.abc import Sequence

from debugger_ui.engines.base import ThreadHead
from debugger_ui.engines.reader import SaverReader
from debugger_ui.engines.rows import thread_head


def salvaged(reader: SaverReader, offset: int, limit: int, text: str = "") -> tuple[Sequence[ThreadHead], int | None]:
    """Return what `threads` does, without what cannot be reached; `newest` is "" for a thread that is damaged."""
    readable = getattr(reader.saver, "readable_threads", None)
    if readable is None:
        return reader.threads(offset, limit, text=text)
    heads = [thread_head(row) for row in readable()]
    found = [head for head in heads if text.casefold() in f"{head.id} {dict(head.metadata)}".casefold()]
    return found[offset : offset + limit], len(found)
