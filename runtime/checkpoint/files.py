"""SQLite files: what is at a path before SQLite is let near it, and what SQLite's errors mean.

Rule: no SQLAlchemy here; the cache uses this too, and should cost a program nothing but sqlite3.
"""

import os
import sqlite3
import time
from collections.abc import Hashable
from pathlib import Path
from urllib.parse import quote

from runtime.checkpoint.errors import CheckpointStorageError, Reason

_SETTLED = 0.1
"""Seconds for which file times are too coarse to tell one write from the next."""
_MAGIC = b"SQLite format 3\x00"


def is_memory(path: str) -> bool:
    """Whether the path stands for a database in memory."""
    return path in ("", ":memory:")


def fixed(path: str) -> str:
    """The path from the root: a node may change the process's folder while a database is open."""
    return str(Path(path).absolute())


def uri(path: str) -> str:
    """A file as SQLite's URI, so that a mode can be asked for."""
    return "file:" + quote(fixed(path).replace("\\", "/"))


def has_wal(path: str) -> bool:
    """Whether somebody may be writing: there is a write-ahead log with something in it."""
    wal = Path(path + "-wal")
    return wal.exists() and wal.stat().st_size > 0


def stamp(path: str) -> Hashable:
    """Something that differs once the file or its log was written, told without opening it as a database."""
    parts: list[tuple[int, int, bytes]] = []
    newest = 0.0
    for name, begin, length in ((path, 24, 4), (path + "-wal", 12, 12)):
        try:
            with Path(name).open("rb") as opened:
                state = os.fstat(opened.fileno())
                opened.seek(begin)  # the counter of changes, and the log's own counter and salts
                parts.append((state.st_mtime_ns, state.st_size, opened.read(length)))
        except FileNotFoundError:
            continue
        except OSError as error:
            raise CheckpointStorageError(f"the checkpoint database {path!r} cannot be read: {error}") from error
        newest = max(newest, state.st_mtime)
    settled = abs(time.time() - newest) > _SETTLED
    return (*parts, None if settled else time.monotonic_ns())


def identity(path: str) -> tuple[int, int] | None:
    """Which file is at the path; None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def check(path: str, *, must_exist: bool) -> bool:
    """Whether a new file is to be made at the path. Raises if what is there is not an SQLite database."""
    file = Path(path)
    try:
        if file.is_dir():
            raise CheckpointStorageError(f"{path!r} is a folder, not a checkpoint database", "not_a_database")
        if not file.exists():
            if must_exist:
                raise CheckpointStorageError(f"there is no checkpoint database at {path!r}", "missing")
            return True
        with file.open("rb") as opened:
            head = opened.read(len(_MAGIC))
    except OSError as error:
        raise CheckpointStorageError(f"the checkpoint database {path!r} cannot be read: {error}") from error
    if head and head != _MAGIC:
        raise CheckpointStorageError(
            f"{path!r} is not an SQLite database (it begins with {head!r}); it was left as it is", "not_a_database"
        )
    return False


_ADVICE: dict[int, tuple[Reason, str]] = {
    sqlite3.SQLITE_BUSY: ("busy", "another process has kept it locked for longer than the busy timeout"),
    sqlite3.SQLITE_LOCKED: ("busy", "another connection of this process has it locked"),
    sqlite3.SQLITE_FULL: (
        "full",
        "the disk is full; make room and try again; nothing of this was saved, what was saved before is intact",
    ),
    sqlite3.SQLITE_IOERR: (
        "unavailable",
        "reading or writing the file failed; look at its disk (full, at a limit, or gone?) and try again; what was "
        "saved before is intact",
    ),
    sqlite3.SQLITE_READONLY: (
        "read_only",
        "the file or its folder cannot be written to; open it with read_only=True to look at it",
    ),
    sqlite3.SQLITE_PERM: ("read_only", "access to the file was refused; its permissions do not let it be written"),
    sqlite3.SQLITE_CORRUPT: ("corrupt", "the file is damaged; restore it from a copy"),
    sqlite3.SQLITE_NOTADB: ("not_a_database", "the file is not an SQLite database"),
    sqlite3.SQLITE_CANTOPEN: ("unavailable", "the file cannot be opened; does its folder exist, and is it writable?"),
}


def storage_error(what: str, error: sqlite3.Error) -> CheckpointStorageError:
    """Our error for one of SQLite's. `what` names the database to the reader."""
    code = getattr(error, "sqlite_errorcode", None) or 0
    if not code and str(error).startswith("Could not decode to UTF-8"):  # Python says so itself, without a code
        code = sqlite3.SQLITE_CORRUPT
    reason, advice = _ADVICE.get(code & 0xFF, ("unavailable", "SQLite could not do it"))
    said = " ".join(str(error).split()) or type(error).__name__
    return CheckpointStorageError(f"{what}: {advice} ({said})", reason)
