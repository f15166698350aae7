"""What people set up for a graph or said about a thread: breakpoints and watches, names and notes.

Rows lie in a file beside the database (`beside.py`), if there is one. One that cannot be read is left as it is;
then, as without a file, rows last as long as the process.
"""

import threading
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from debugger_ui.session.beside import Beside, Rows

SUFFIX = ".forkpoint-stops.json"

Key = tuple[str, str, str]
Row = Mapping[str, Any]


class Kept:
    """Rows of plain values by kind, owner (a graph or a thread) and id.

    `what` says in messages what the rows are, `owner` is their name for it in the file. Without `keep` a file is read
    and never written.
    """

    def __init__(
        self,
        file: FilePath | None = None,
        *,
        what: str = "breakpoints and watches",
        owner: str = "graph",
        keep: bool = True,
    ) -> None:
        self.problem = ""
        """Why rows are not kept on disk, in a sentence; empty when they are or need not be."""
        self._what = what
        self._fields = ("kind", owner, "id")
        self._keep = keep
        self._lock = threading.RLock()
        self._rows: dict[Key, Row] = {}
        self._beside = Beside(file) if file is not None else None
        self._own: dict[Key, Row | None] = {}
        """Changes of this process that no file takes; None: the row is gone."""
        self._look()

    @property
    def on_disk(self) -> bool:
        """Whether what is changed is written to a file."""
        return self._keep and self._beside is not None

    def row(self, kind: str, owner: str, id_: str) -> Row | None:
        """Return one row, if it is there."""
        with self._lock:
            self._look()
            return self._rows.get((kind, owner, id_))

    def rows(self, kind: str, owner: str) -> dict[str, Row]:
        """Return the rows of a kind by id, in the order in which they were made."""
        with self._lock:
            self._look()
            return {id_: row for (k, o, id_), row in self._rows.items() if (k, o) == (kind, owner)}

    def put(self, kind: str, owner: str, id_: str, row: Row) -> None:
        """Set a row; one that is there keeps its place."""
        self._change((kind, owner, id_), dict(row))

    def drop(self, kind: str, owner: str, id_: str) -> None:
        """Take a row away if it is there."""
        self._change((kind, owner, id_), None)

    def _change(self, key: Key, row: Row | None) -> None:
        def change(rows: Rows) -> Rows:
            known = self._parsed(rows)
            _apply(known, key, row)
            return [dict(zip(self._fields, at, strict=True)) | dict(values) for at, values in known.items()]

        with self._lock:
            if self.on_disk and self._beside is not None:
                try:
                    self._rows = self._parsed(self._beside.change(change))
                    return
                except OSError as error:
                    self._give_up(f"{self._title()} last only as long as this program: {error}.")
                except ValueError as error:
                    self._give_up(self._unreadable(error))
            self._own[key] = row
            _apply(self._rows, key, row)

    def _look(self) -> None:
        """Read the file if it has changed."""
        if self._beside is None:
            return
        try:
            rows = self._beside.news()
            if rows is None:
                return
            self._rows, self.problem = self._parsed(rows), ""
        except OSError as error:  # it may be there again at the next look
            self.problem = self._unreadable(error)
        except ValueError as error:
            self._give_up(self._unreadable(error))
        for key, row in self._own.items():
            _apply(self._rows, key, row)

    def _parsed(self, rows: Rows) -> dict[Key, Row]:
        kind, owner, id_ = self._fields
        try:
            return {
                (str(row[kind]), str(row[owner]), str(row[id_])): {
                    name: value for name, value in row.items() if name not in self._fields
                }
                for row in rows
            }
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"a row is not as it should be: {error!r}") from error

    def _title(self) -> str:
        return f"{self._what[:1].upper()}{self._what[1:]}"

    def _unreadable(self, error: Exception) -> str:
        name = self._beside.file.name if self._beside is not None else ""
        return f"The {self._what} in {name} cannot be read ({error}); they are left as they are."

    def _give_up(self, problem: str) -> None:
        self.problem, self._beside = problem, None


def _apply(rows: dict[Key, Row], key: Key, row: Row | None) -> None:
    if row is None:
        rows.pop(key, None)
    else:
        rows[key] = row
