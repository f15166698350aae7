"""An engine over a database alone: everything is drawn from what was recorded, nothing can run.

The graph is the nodes that ran and the edges that were taken; which task wrote what comes from the
stored writes and their paths.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from debugger_ui.engines import naming
from debugger_ui.engines.base import (
    MISSING,
    ChannelSpec,
    Fold,
    Folding,
    NodeVerdict,
    Place,
    Question,
    Record,
    Task,
    Topology,
)
from debugger_ui.engines.counted import Counted, counted
from debugger_ui.engines.deltas import values_of
from debugger_ui.engines.failures import failure_of, refusals
from debugger_ui.engines.paths import PULL
from debugger_ui.engines.reader import SaverReader, answers_of, header_of, writes_of
from debugger_ui.engines.saved import SavedHistory
from debugger_ui.engines.traced import traced

NO_GRAPH = "Only the database is open. To run, edit or answer, start with the graph: forkpoint module:graph --db FILE."

ENTRYPOINT = "entrypoint"


class RecordEngine(SavedHistory):
    """A database without its graph."""

    kind = "record"
    name = "record"
    spec = ""
    shows = ""

    def __init__(self, saver: Any, reader: SaverReader, database: str) -> None:
        super().__init__()
        self.saver = saver
        self.reader = reader
        self.database = database
        lacks = ("run", "step", "answer", "edit", "new_run", "phases", "preview")
        self.limits: Mapping[str, str] = dict.fromkeys(lacks, NO_GRAPH)
        self.runner = None
        self.editor = None

    def channels(self, namespace: str = "") -> Mapping[str, ChannelSpec]:
        """Return nothing: kinds and reducers are in the graph's code."""
        return {}

    def topology(self, thread: str = "", namespace: str = "") -> Topology:
        """Return the nodes that a thread's record knows and the edges that were taken."""
        if not thread:
            return Topology((), (), inferred=True)
        return traced(self.reader, thread, namespace)

    def verdicts(self, place: Place) -> Sequence[NodeVerdict] | None:
        """Return None: only a graph explains itself."""
        return None

    def folds(self, place: Place) -> Sequence[Fold] | None:
        """Return None: only a graph explains itself."""
        return None

    def fold(self, channel: str, before: Any, writes: Sequence[Any], namespace: str = "") -> Folding:
        """Return nothing: how writes fold is in the graph's code."""
        return Folding()

    def input_schema(self) -> Mapping[str, Any]:
        """Return nothing: the schema is in the graph's code."""
        return {}

    def example(self) -> Any:
        """Return nothing."""
        return MISSING

    def close(self) -> None:
        """Close the database."""
        self.saver.close()

    def _record(self, item: Any, place: Place) -> Record:
        header = header_of(item)
        values = values_of(self.saver, item)
        versions = dict(item.checkpoint.get("channel_versions") or {})
        seen = item.checkpoint.get("versions_seen") or {}
        here = Place(place.thread, header.id, place.namespace)
        written = counted(item.pending_writes or ())
        tasks = _tasks(written, self.reader.names(here))
        calls = self.reader.calls(here, item, [(task.id, (PULL, task.name)) for task in tasks])
        tasks = [replace(task, calls=calls.get(task.id, ())) for task in tasks]
        met = {task.name for task in tasks}
        # An input starts either the nodes of a graph or one function, and that had begun when it left writes.
        due = [node for node in naming.due_nodes(values, versions, seen) if node != naming.START or not met]
        waiting = [Task(f"{node} (not started)", node, input=MISSING) for node in due if node not in met]
        return Record(
            header=header,
            state={key: value for name, value in values.items() if naming.is_state_key(key := naming.key_of(name))},
            channels=values,
            versions=versions,
            seen=seen,
            tasks=(*tasks, *waiting),
            problems=refusals(written.writes, [*tasks, *waiting]),
        )


def _tasks(written: Counted, names: Mapping[str, str]) -> list[Task]:
    found: dict[str, list[tuple[str, Any]]] = {}
    for task, channel, value in written.writes:
        found.setdefault(task, []).append((channel, value))
    return [
        _task(id_, _name(id_, mine, names), mine, refused=id_ in written.refused)
        for id_, mine in found.items()
        if id_ not in written.barriers and _is_task(id_, mine, names)
    ]


def _name(id_: str, mine: Sequence[tuple[str, Any]], names: Mapping[str, str]) -> str:
    """Return the name of a task's node; a function with @entrypoint, which alone stops at an input, has none here."""
    name = names.get(id_, id_[:8])
    begun = (naming.END, naming.PREVIOUS, naming.INTERRUPT, naming.RESUME, naming.ERROR)
    return ENTRYPOINT if name == naming.START and any(channel in begun for channel, _ in mine) else name


def _is_task(id_: str, mine: Sequence[tuple[str, Any]], names: Mapping[str, str]) -> bool:
    """Whether writes are a task's, and not a note about the superstep as a whole."""
    if (names and id_ not in names) or all(channel == naming.RETURN for channel, _ in mine):
        return False
    return any(naming.settles(channel) or channel in (naming.INTERRUPT, naming.ERROR) for channel, _ in mine)


def _task(id_: str, name: str, mine: Sequence[tuple[str, Any]], *, refused: bool) -> Task:
    done = any(naming.settles(channel) for channel, _ in mine) and not refused
    asked = [value for channel, value in mine if channel == naming.INTERRUPT]
    questions = [one for value in asked for one in (value if isinstance(value, (list, tuple)) else [value])]
    asked_for = tuple(Question(str(getattr(one, "id", "")), getattr(one, "value", one)) for one in questions)
    error = next((value for channel, value in mine if channel == naming.ERROR), None) if not done else None
    return Task(
        id=id_,
        name=name,
        writes=writes_of(mine),
        done=done,
        refused=refused,
        failure=failure_of(error) if error is not None else None,
        questions=() if done else asked_for,
        asked=asked_for if done else (),
        answers=answers_of([(id_, *write) for write in mine]).get(id_, ()),
        attempts=1,
    )
