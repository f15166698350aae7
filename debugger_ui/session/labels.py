"""Names and notes that people give to threads, branches and checkpoints.

They lie beside the database, in a small JSON file of our own, and never touch what a run saved.
Without a file (a graph in memory, a folder that cannot be written) they last as long as the process;
so do those given to a database that is open read-only, whose file is read and left as it is.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path as FilePath
from typing import Any

from debugger_ui.session.kept import Kept

MAX_TEXT = 2_000
SUFFIX = ".forkpoint.json"


@dataclass(slots=True)
class Label:
    """What was said about one thing."""

    name: str = ""
    note: str = ""
    hidden: bool = False


class Labels:
    """Labels by (kind, thread, id); kinds are thread, branch and checkpoint."""

    def __init__(self, file: FilePath | None = None, *, keep: bool = True) -> None:
        self._kept = Kept(file, what="names and notes", owner="thread", keep=keep)

    @property
    def problem(self) -> str:
        """Why labels are not kept on disk, in a sentence; empty when they are or need not be."""
        return self._kept.problem

    @property
    def on_disk(self) -> bool:
        """Whether what is said is written to a file."""
        return self._kept.on_disk

    def get(self, kind: str, thread: str, id_: str) -> Label:
        """Return the label, an empty one when nothing was said."""
        return _label(self._kept.row(kind, thread, id_))

    def set(
        self,
        kind: str,
        thread: str,
        id_: str,
        *,
        name: str | None = None,
        note: str | None = None,
        hidden: bool | None = None,
    ) -> None:
        """Change the parts that are given; a label without any part is dropped."""
        label = self.get(kind, thread, id_)
        changed = Label(
            label.name if name is None else name.strip()[:MAX_TEXT],
            label.note if note is None else note.strip()[:MAX_TEXT],
            label.hidden if hidden is None else hidden,
        )
        if changed == Label():
            self._kept.drop(kind, thread, id_)
        else:
            self._kept.put(kind, thread, id_, asdict(changed))


def _label(row: Mapping[str, Any] | None) -> Label:
    """Return a row of the file as a label; what is missing was not said."""
    found = row or {}
    return Label(str(found.get("name", "")), str(found.get("note", "")), bool(found.get("hidden", False)))
