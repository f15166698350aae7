"""What people set up for a graph, kept in a small JSON file beside the database: breakpoints and watches.

Rules:
- Several programs may have the file open. Each change reads it anew under a lock, changes one row, and
  replaces the file as a whole, so that nobody's rows are lost and nobody reads half a file.
- A file that cannot be read is left as it is; then, as without a file, rows last as long as the process.
"""

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import Any

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

SUFFIX = ".forkpoint-stops.json"
LOCK = ".lock"

Key = tuple[str, str, str]
Row = Mapping[str, Any]
Stamp = tuple[int, int, int]
"""Time, size and number of a file."""


class Kept:
    """Rows of plain values by (kind, graph, id)."""

    def __init__(self, file: FilePath | None = None) -> None:
        self.file = file
        self.problem = ""
        """Why rows are not kept on disk, in a sentence; empty when they are or need not be."""
        self._lock = threading.RLock()
        self._rows: dict[Key, Row] = {}
        self._read: Stamp | None = None
        """Which state of the file was read last."""

    def rows(self, kind: str, graph: str) -> dict[str, Row]:
        """Return the rows of a kind by id, in the order in which they were made."""
        with self._lock:
            if self.file is not None:
                self._look(self.file)
            return {id_: row for (k, g, id_), row in self._rows.items() if (k, g) == (kind, graph)}

    def _look(self, file: FilePath) -> None:
        """Read the file if it has changed; without its lock in a folder that only lets look."""
        try:
            if self._stamp() == self._read:
                return
            try:
                with _locked(file):
                    self._load()
            except PermissionError:
                self._load()
        except OSError as error:  # it may be there again at the next look
            self.problem = self._unreadable(error)

    def put(self, kind: str, graph: str, id_: str, row: Row) -> None:
        """Set a row; one that is there keeps its place."""
        self._change(lambda rows: rows.update({(kind, graph, id_): dict(row)}))

    def drop(self, kind: str, graph: str, id_: str) -> None:
        """Take a row away if it is there."""
        self._change(lambda rows: rows.pop((kind, graph, id_), None))

    def _change(self, change: Callable[[dict[Key, Row]], object]) -> None:
        with self._lock:
            try:
                if self.file is not None:
                    with _locked(self.file):
                        self._load()
                        change(self._rows)
                        self._save()
                    return
            except OSError as error:
                self._give_up(f"Breakpoints and watches last only as long as this program: {error}.")
            change(self._rows)

    def _stamp(self) -> Stamp | None:
        """Return which state of the file is there, None when there is no file."""
        if self.file is None:
            return None
        try:
            found = self.file.stat()
        except FileNotFoundError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _load(self) -> None:
        stamp = self._stamp()
        if self.file is None or stamp == self._read:
            return
        try:
            rows = json.loads(self.file.read_text(encoding="utf-8")) if stamp is not None else []
            self._rows = {
                (str(row["kind"]), str(row["graph"]), str(row["id"])): {
                    name: value for name, value in row.items() if name not in ("kind", "graph", "id")
                }
                for row in rows
            }
            self._read, self.problem = stamp, ""
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            self._give_up(self._unreadable(error))

    def _unreadable(self, error: Exception) -> str:
        name = self.file.name if self.file is not None else ""
        return f"The breakpoints and watches in {name} cannot be read ({error}); they are left as they are."

    def _give_up(self, problem: str) -> None:
        self.problem, self.file = problem, None

    def _save(self) -> None:
        if self.file is None:
            return
        rows = [{"kind": kind, "graph": graph, "id": id_, **row} for (kind, graph, id_), row in self._rows.items()]
        fresh = self.file.with_name(f"{self.file.name}.{os.getpid()}.new")
        fresh.write_text(json.dumps(rows, indent=1), encoding="utf-8")
        os.replace(fresh, self.file)
        self._read = self._stamp()


@contextmanager
def _locked(file: FilePath) -> Iterator[None]:
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
