"""Which paths may be opened as a database: regular files that are SQLite, and nothing else.

Looking never creates a file, never follows the options of a `file:` URI, and never opens anything
that could block (a pipe) or never end (a device).
"""

import os
import stat
from pathlib import Path

from debugger_ui.engines.opening import shown_name
from debugger_ui.session.problems import SessionError, refuse

MAGIC = b"SQLite format 3\x00"
URLS = ("postgresql://", "postgresql+psycopg://", "postgres://")


def is_url(database: str) -> bool:
    """Whether a database is named by a PostgreSQL address rather than by a path."""
    return database.startswith(URLS)


def check_database(database: str, *, may_be_new: bool = False) -> Path:
    """Return the path of a database file, from the root: a node may change the process's folder.

    Args:
        database: what the person gave.
        may_be_new: also accept a path where there is nothing yet, in a folder that is there.

    Raises:
        SessionError: it is not a SQLite file, or cannot be read.
    """
    if not database.strip():
        raise _bad("The path of the database is empty. Give the path of a SQLite file.")
    if "\x00" in database:
        raise _bad("The path of the database has a NUL character in it, which no file name can have.")
    if database == ":memory:":
        raise _bad("A database in memory belongs to the program that made it. Give the path of a SQLite file.")
    if database.startswith("file:"):
        raise _bad(f"{database!r} is a URI. Give the plain path of the SQLite file, without 'file:' and options.")
    if "://" in database:
        raise _bad(
            f"{shown_name(database)} is an address that is not known here. Give the plain path of a SQLite file, or an "
            f"address that begins with {URLS[0]}."
        )
    path = Path(database)
    if database.startswith("~"):
        raise _bad(
            f"{database} begins with ~, which only a shell knows, and not in quotes or after '='. Give the path in "
            "full, or ./~... if the name is so."
        )
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return _new(path, may_be_new)
    except OSError as error:
        raise _bad(f"{database} cannot be looked at: {error.strerror or error}.") from None
    _regular(path, found.st_mode)
    _header(path, found.st_size, may_be_new)
    return path.absolute()


def _new(path: Path, may_be_new: bool) -> Path:
    if path.is_symlink():
        raise _bad(f"{path} is a link to something that is not there.")
    if not may_be_new:
        raise _bad(f"There is no file {path}. Give the path of a database that exists; nothing was created.")
    if not path.parent.is_dir():
        raise _bad(f"There is no folder {path.parent} to keep {path.name} in.")
    return path.absolute()


def _regular(path: Path, mode: int) -> None:
    kinds = (
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a named pipe"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
        (stat.S_ISSOCK, "a socket"),
    )
    for test, kind in kinds:
        if test(mode):
            raise _bad(f"{path} is {kind}, not a database. Give the path of a SQLite file.")


def _header(path: Path, size: int, may_be_new: bool) -> None:
    if size == 0:
        if may_be_new:
            return
        raise _bad(f"{path} is empty: there is no database in it.")
    try:
        with path.open("rb") as file:
            start = file.read(len(MAGIC))
    except OSError as error:
        raise _bad(f"{path} cannot be read: {error.strerror or error}.") from None
    if start != MAGIC:
        raise _bad(f"{path} is not a SQLite database. It was left as it is.")


def _bad(message: str) -> SessionError:
    return refuse(message, kind="database")
