"""Reads one engine for the views: histories, statuses, and where a cursor really stands.

Rule: records come as they may be shown, with masked values masked. Whoever has to write a value back
asks for it by `real`, and shows nothing of it.
"""

import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

from debugger_ui.engines import naming
from debugger_ui.engines.base import Engine, Outline, Place, Record
from debugger_ui.session.cursor import Cursor
from debugger_ui.session.history import History
from debugger_ui.session.masks import Masks
from debugger_ui.session.problems import refuse
from debugger_ui.session.view_values import ThreadStatus
from debugger_ui.session.walks import Walks
from runtime.checkpoint.errors import CheckpointStorageError

KEEP = 128
"""Histories kept in memory."""
RECORDS = 24
"""Checkpoints kept with their values, as long as the database says that nothing was written."""

ANSWERS = 32
"""Answers about the past that are kept: a page asks for them each time that it is drawn."""

T = TypeVar("T")


UNREADABLE = ("corrupt", "missing", "encrypted")
"""Why a single checkpoint cannot be read while others can."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a cursor stands: an existing checkpoint, and whether it follows its branch's head."""

    thread: str
    namespace: str
    branch: str
    id: str
    follows: bool

    @property
    def place(self) -> Place:
        """The same, as engines want it."""
        return Place(self.thread, self.id, self.namespace)


class Reading:
    """Reads through an engine, keeping the trees of the last threads."""

    def __init__(self, engine: Engine, masks: Masks | None = None) -> None:
        self.engine = engine
        self.masks = masks if masks is not None else Masks()
        self.walks = Walks(engine)
        self._lock = threading.RLock()
        self._histories: dict[tuple[str, str], tuple[Hashable, History]] = {}
        self._records: dict[Place, tuple[Hashable, Record | None, Record | None]] = {}
        """What the database said for which version and masks: the record itself, and as it may be shown."""
        self._answers: dict[Hashable, Any] = {}

    def history(self, thread: str, namespace: str = "") -> History:
        """Return the tree of a thread, built anew only when checkpoints were added."""
        headers = self.engine.headers(thread, namespace)
        state = (len(headers), headers[-1].id if headers else "")
        with self._lock:
            known = self._histories.pop((thread, namespace), None)
            history = known[1] if known is not None and known[0] == state else History(headers)
            self._histories[thread, namespace] = (state, history)
            while len(self._histories) > KEEP:
                self._histories.pop(next(iter(self._histories)))
            return history

    def remembered(self, key: Hashable, find: Callable[[], T]) -> T:
        """Return what was found before, or find it: an answer about what came before a checkpoint stays the same."""
        key = (key, self.masks.patterns)
        with self._lock:
            if key in self._answers:
                return cast(T, self._answers[key])
        found = find()
        with self._lock:
            self._answers[key] = found
            while len(self._answers) > ANSWERS:
                self._answers.pop(next(iter(self._answers)))
        return found

    def spot(self, cursor: Cursor) -> Spot | None:
        """Return where the cursor stands; None when its thread has no checkpoint."""
        if not cursor.thread:
            return None
        history = self.history(cursor.thread, cursor.namespace)
        if not len(history):
            return None
        if cursor.checkpoint in history.by_id:
            branch = cursor.branch if self._leads(history, cursor) else history.branch_of[cursor.checkpoint]
            return Spot(cursor.thread, cursor.namespace, branch, cursor.checkpoint, False)
        branch = cursor.branch if cursor.branch in history.branches else history.branch_of[history.newest]
        return Spot(cursor.thread, cursor.namespace, branch, history.branches[branch].head, True)

    def need_spot(self, cursor: Cursor) -> Spot:
        """Return where the cursor stands, or refuse."""
        spot = self.spot(cursor)
        if spot is None:
            raise refuse("No checkpoint is open. Choose a thread, or start a new run.", kind="input")
        return spot

    def record(self, spot: Spot, checkpoint: str = "") -> Record:
        """Return the checkpoint at a spot, or another one of its thread, as it may be shown."""
        return self._found(spot, checkpoint)[1]

    def readable(self, spot: Spot | None) -> Record | None:
        """Return the checkpoint at a spot; None without one, or when it cannot be read."""
        try:
            return self.record(spot) if spot is not None else None
        except CheckpointStorageError as error:
            if error.reason not in UNREADABLE:
                raise
            return None

    def real(self, spot: Spot, checkpoint: str = "") -> Record:
        """Return the same with the values themselves, masked ones too: to write them back, never to show them."""
        return self._found(spot, checkpoint)[0]

    def records(self, thread: str, ids: Sequence[str], namespace: str = "") -> Iterator[Record]:
        """Yield checkpoints in the order of the ids, as they may be shown; one at a time in memory."""
        return map(self.masks.record, self.engine.records(thread, ids, namespace))

    def values(self, spot: Spot, ids: Sequence[str], keys: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield what some state keys hold at checkpoints of a spot's thread, as it may be shown."""
        for id_, values in self.engine.values(spot.thread, ids, keys, spot.namespace):
            yield id_, {key: self.masks.apply((key,), value) for key, value in values.items()}

    def _found(self, spot: Spot, checkpoint: str) -> tuple[Record, Record]:
        real, shown = self._record(replace(spot.place, id=checkpoint or spot.id))
        if real is None or shown is None:
            raise refuse(f"There is no checkpoint {checkpoint or spot.id!r} in thread {spot.thread!r}.")
        return real, shown

    def parent_record(self, spot: Spot, record: Record) -> Record | None:
        """Return the checkpoint before a record, or None at a root."""
        parent = self.history(spot.thread, spot.namespace).parents.get(record.header.id, "")
        return self._record(replace(spot.place, id=parent))[1] if parent else None

    def _record(self, place: Place) -> tuple[Record | None, Record | None]:
        version = (self.engine.version(), self.masks.patterns)
        with self._lock:
            known = self._records.get(place)
        if known is not None and known[0] == version:
            return known[1:]
        real = self.engine.record(place)
        shown = self.masks.record(real) if real is not None else None
        with self._lock:
            self._records.pop(place, None)
            self._records[place] = (version, real, shown)
            while len(self._records) > RECORDS:
                self._records.pop(next(iter(self._records)))
        return real, shown

    def successor(self, spot: Spot, id_: str) -> str:
        """Return the checkpoint that the superstep at a checkpoint made, on the spot's branch if there; or ""."""
        history = self.history(spot.thread, spot.namespace)
        made = [child for child in history.children.get(id_, ()) if history.by_id[child].source == "loop"]
        ahead = history.forward(id_, spot.branch)
        return ahead if ahead in made else made[0] if made else ""

    def outline(self, spot: Spot, id_: str) -> Outline:
        """Return what happened around one checkpoint."""
        return self.engine.outlines(spot.thread, [id_], spot.namespace).get(id_, Outline())

    def status(self, outline: Outline, *, followed: bool) -> ThreadStatus:
        """Return the status that an outline tells; `followed` when a superstep went on from it."""
        if outline.damaged and not outline.encrypted:
            return "damaged"
        if followed:
            return "done"
        if outline.failed:
            return "failed"
        if outline.asking:
            return "waiting"
        return "ready" if [node for node in outline.due if node != naming.END] else "done"

    def _leads(self, history: History, cursor: Cursor) -> bool:
        """Whether the cursor's branch runs through its checkpoint."""
        branch = history.branches.get(cursor.branch)
        if branch is None:
            return False
        return cursor.checkpoint in branch.members or cursor.checkpoint in history.path(branch.head)
