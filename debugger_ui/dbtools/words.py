"""Numbers and places in the words that the tools print."""

from collections.abc import Iterator
from typing import Any

from debugger_ui.components.text import size as size
from runtime.checkpoint.sql.records import ThreadRecord

PAGE = 500


def every_thread(saver: Any) -> Iterator[ThreadRecord]:
    """Yield the threads of a database, those with the newest checkpoints first."""
    offset = 0
    while page := saver.threads(limit=PAGE, offset=offset):
        yield from page
        offset += len(page)


def count(number: int, thing: str) -> str:
    """Return "1 thread", "2 threads"."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
