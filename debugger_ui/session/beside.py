"""A small JSON list in a file beside the database, shared by whoever has that open.

Rules:
- A change reads the file anew under a lock, and replaces it as a whole: nobody's rows are lost, and nobody reads half
  a file.
- A file that cannot be read is never written: whoever asks is told, and decides what then holds.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path as FilePath
from typing import Any

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

LOCK = ".lock"

Rows = list[Any]
Stamp = tuple[int, int, int]
"""Time, size and number of a file."""


class Beside:
    """One such file; it need not be there."""

    def __init__(self, file: FilePath) -> None:
        self.file = file
        self._seen: Stamp | None = None
        """Which state of the file was read last."""

    def news(self) -> Rows | None:
        """Return the rows if they are others than at the last look, else None.

        Raises:
            OSError: the file cannot be read.
            ValueError: what it holds is not a JSON list.
        """
        if self._stamp() == self._seen:
            return None
        # Windows does not replace a file that is being read; elsewhere a look leaves nothing behind, not even a lock.
        with locked(self.file) if sys.platform == "win32" else nullcontext():
            return self._rows()

    def change(self, change: Callable[[Rows], Rows]) -> Rows:
        """Change the rows that are there now, and return what became of them.

        Raises:
            OSError: the file cannot be read or written.
            ValueError: what it holds is not a JSON list; it is left as it is.
        """
        with locked(self.file):
            rows = change(self._rows())
            fresh = self.file.with_name(f"{self.file.name}.{os.getpid()}.new")
            fresh.write_text(json.dumps(rows, indent=1), encoding="utf-8")
            os.replace(fresh, self.file)
            self._seen = self._stamp()
            return rows

    def _rows(self) -> Rows:
        stamp = self._stamp()
        if stamp is None:
            self._seen = None
            return []
        try:
            rows = json.loads(self.file.read_text(encoding="utf-8"))
        except RecursionError as error:
            raise ValueError("it is nested too deep") from error
        if not isinstance(rows, list):
            raise ValueError("a list is wanted")
        self._seen = stamp
        return rows

    def _stamp(self) -> Stamp | None:
        try:
            found = self.file.stat()
        except FileNotFoundError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


@contextmanager
def locked(file: FilePath) -> Iterator[None]:
    """Hold the lock of a file, which is a file beside it; the system gives it back when a program dies."""
    with file.with_name(file.name + LOCK).open("a+b") as handle:
        if sys.platform == "win32":
            handle.seek(0)
            msvcrt.locking(handle.fileno(), msvcrt.LK_LOCK, 1)
        else:
            fcntl.flock(handle.fileno(), fcntl.LOCK_EX)
        try:
            yield
        finally:
            if sys.platform == "win32":
                handle.seek(0)
                msvcrt.locking(handle.fileno(), msvcrt.LK_UNLCK, 1)
