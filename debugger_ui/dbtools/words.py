"""Numbers and places in the words that the tools print."""

from collections.abc import Iterator
from typing import Any

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


def size(number: int) -> str:
    """Return a number of bytes as a reader takes it in."""
    amount = float(number)
    for unit in ("bytes", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"
