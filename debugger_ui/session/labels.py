"""Names and notes that people give to threads, branches and checkpoints.

They lie beside the database, in a small JSON file of our own, and never touch what a run saved.
Without a file (a graph in memory, a folder that cannot be written) they last as long as the process;
so do those given to a database that is open read-only, whose file is read and left as it is.
"""

import json
import os
import threading
from dataclasses import asdict, dataclass
from pathlib import Path as FilePath

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
        self.file = file
        self.problem = ""
        """Why labels are not kept on disk, in a sentence; empty when they are or need not be."""
        self._lock = threading.Lock()
        self._labels: dict[tuple[str, str, str], Label] = {}
        self._load()
        if not keep:
            self.file = None

    def get(self, kind: str, thread: str, id_: str) -> Label:
        """Return the label, an empty one when nothing was said."""
        return self._labels.get((kind, thread, id_), Label())

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
        with self._lock:
            label = self.get(kind, thread, id_)
            changed = Label(
                label.name if name is None else name.strip()[:MAX_TEXT],
                label.note if note is None else note.strip()[:MAX_TEXT],
                label.hidden if hidden is None else hidden,
            )
            if changed == Label():
                self._labels.pop((kind, thread, id_), None)
            else:
                self._labels[kind, thread, id_] = changed
            self._save()

    def _load(self) -> None:
        if self.file is None or not self.file.is_file():
            return
        try:
            rows = json.loads(self.file.read_text(encoding="utf-8"))
            self._labels = {
                (str(row["kind"]), str(row["thread"]), str(row["id"])): Label(
                    str(row["name"]), str(row["note"]), bool(row["hidden"])
                )
                for row in rows
            }
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            self.problem = (
                f"The names and notes in {self.file.name} cannot be read ({error}); they are left as they are."
            )
            self.file = None

    def _save(self) -> None:
        if self.file is None:
            return
        rows = [
            {"kind": kind, "thread": thread, "id": id_, **asdict(label)}
            for (kind, thread, id_), label in sorted(self._labels.items())
        ]
        fresh = self.file.with_name(f"{self.file.name}.{os.getpid()}.new")
        try:
            fresh.write_text(json.dumps(rows, indent=1), encoding="utf-8")
            os.replace(fresh, self.file)
        except OSError as error:
            self.problem = f"Names and notes last only as long as this program: {error}."
