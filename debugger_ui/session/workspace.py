"""What is open in this process and shared by every browser tab.

Engines (a graph on its database, or a database alone), the board of running jobs, breakpoints,
and the names and notes that people gave to threads and branches.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from debugger_ui.engines.base import Engine
from debugger_ui.session.breaks import Breakpoints
from debugger_ui.session.jobs import JobBoard
from debugger_ui.session.kept import SUFFIX as STOPS
from debugger_ui.session.kept import Kept
from debugger_ui.session.labels import SUFFIX, Labels
from debugger_ui.session.masks import Masks, beside
from debugger_ui.session.problems import refuse
from debugger_ui.session.reading import Reading
from debugger_ui.session.search import StateTexts
from debugger_ui.session.watches import Watches

GRAPH_LABEL = "graph"
"""Metadata key by which a thread names its graph, where a database holds those of several."""


@dataclass(slots=True)
class Desk:
    """One engine with what belongs to its graph."""

    engine: Engine
    reading: Reading
    breakpoints: Breakpoints
    watches: Watches


def desk_of(engine: Engine, kept: Kept, masks: Masks) -> Desk:
    """Return the desk of an engine, with the breakpoints and watches that are kept for its graph."""
    reading = Reading(engine, masks)
    return Desk(engine, reading, Breakpoints(kept, engine.name), Watches(reading, kept, engine.name))


class Workspace:
    """Everything that outlives one tab: `Workspace.open("app.graph:graph", database="x.sqlite")`.

    Engines given together share one database, so threads and jobs are one list.
    """

    def __init__(
        self,
        engines: Sequence[Engine],
        *,
        read_only: bool = False,
        reason: str = "",
        file: FilePath | None = None,
        masks: Masks | None = None,
    ) -> None:
        if not engines:
            raise refuse("There is nothing to open.")
        self.masks = masks if masks is not None else Masks((), beside(file), keep=not read_only)
        self.kept = Kept(file.with_name(file.name + STOPS) if file is not None else None, keep=not read_only)
        self.desks = {engine.name: desk_of(engine, self.kept, self.masks) for engine in engines}
        self.read_only = read_only
        self.read_only_reason = reason or ("It was opened with --read-only." if read_only else "")
        self.board = JobBoard()
        self.texts = StateTexts()
        self.labels = Labels(file.with_name(file.name + SUFFIX) if file is not None else None, keep=not read_only)

    def labels_kept(self) -> str:
        """Return why names and notes are not kept on disk, as a sentence; "" when they are."""
        if self.labels.problem:
            return self.labels.problem
        if self.labels.on_disk:
            return ""
        why = "The database is open read-only" if self.read_only else "There is no file beside which to keep them"
        return f"{why}, so names and notes last only as long as this program."

    @classmethod
    def open(
        cls,
        target: str | None = None,
        *,
        database: str | None = None,
        read_only: bool = False,
        mask: Iterable[str] = (),
        context: Mapping[str, Any] | None = None,
    ) -> "Workspace":
        """Open a graph spec (`pkg.module:attr`), a folder or langgraph.json, `demo`, or a database alone.

        `mask` are keys, paths or patterns whose values are not shown, besides those kept with the database;
        `context` is what nodes find in their runtime's context and in `config["configurable"]`.

        Raises:
            SessionError: what was given cannot be opened; the sentence says why and what can be.
        """
        from debugger_ui.session.loader import load

        loaded = load(target, database=database, read_only=read_only, context=context)
        masks = Masks(mask, beside(loaded.file), keep=not loaded.read_only)
        return cls(loaded.engines, read_only=loaded.read_only, reason=loaded.reason, file=loaded.file, masks=masks)

    @property
    def database(self) -> str:
        """Shown name of the database."""
        return self.desk("").engine.database

    def desk(self, graph: str) -> Desk:
        """Return a graph's desk; an empty or unknown name gives the first."""
        return self.desks.get(graph) or next(iter(self.desks.values()))

    def graph_of(self, label: object) -> str:
        """Return the name of the graph that a thread's label means, or ""."""
        return next((name for name, desk in self.desks.items() if label and label in (name, desk.engine.spec)), "")

    def close(self) -> None:
        """Stop what runs and give the databases back."""
        for thread in self.board.busy():
            job = self.board.get(thread)
            if job is not None:
                job.ask_stop()
                job.wait(2.0)
        for desk in self.desks.values():
            desk.engine.close()
