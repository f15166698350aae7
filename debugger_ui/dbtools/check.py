"""`forkpoint db check`: every row is looked at, every frame rebuilt, every value decoded."""

import argparse
import sqlite3
from collections.abc import Iterator
from typing import Any

from debugger_ui.dbtools.progress import show
from debugger_ui.dbtools.words import count
from runtime.checkpoint.files import has_wal, uri

UNSOUND = 1


def run(saver: Any, arguments: argparse.Namespace) -> int:
    """Print what is wrong, and where; return the exit status."""
    looked, total, wrong = 0, 0, 0

    def progress(done: int, of: int) -> None:
        nonlocal looked, total
        looked, total = done, of
        show(done, of, "checkpoint")

    for what in _pages(arguments.file):
        print(f"{arguments.file}: {what}")
        wrong += 1
    for found in saver.audit(progress):
        wrong += 1
        place = f"thread {found.thread_id!r}"
        place += f", namespace {found.ns!r}" if found.ns else ""
        place += f", checkpoint {found.checkpoint_id}" if found.checkpoint_id else ""
        print(f"{place}: {found.what}")
    if wrong:
        print(f"{count(wrong, 'problem')} found; {looked:,} of {count(total, 'checkpoint')} looked at")
        return UNSOUND
    print(f"nothing wrong: {count(total, 'checkpoint')} looked at, every value decoded")
    return 0


def _pages(file: str) -> Iterator[str]:
    """Yield what SQLite itself finds wrong with its file."""
    if "://" in file:
        return
    # Where nobody is writing, SQLite is told so, and leaves no side files.
    mode = "?mode=ro" if has_wal(file) else "?mode=ro&immutable=1"
    connection = sqlite3.connect(uri(file) + mode, uri=True)
    try:
        for (line,) in connection.execute("PRAGMA integrity_check(20)"):
            if line != "ok":
                yield f"the file is damaged: {' '.join(line.split())}"
    except sqlite3.DatabaseError as error:
        yield f"the file is damaged: {error}"
    finally:
        connection.close()
