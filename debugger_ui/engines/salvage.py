"""Threads of a damaged database, as far as its saver can go around the damage."""

from collections.abc import Sequence

from debugger_ui.engines.base import ThreadHead
from debugger_ui.engines.reader import SaverReader
from debugger_ui.engines.rows import thread_head


def salvaged(reader: SaverReader) -> Sequence[ThreadHead] | None:
    """Return the threads that can be reached, newest first, `newest` being "" for one that is damaged itself.

    None where the saver cannot go around damage.
    """
    readable = getattr(reader.saver, "readable_threads", None)
    return None if readable is None else [thread_head(row) for row in readable()]
