"""Watches of one graph: expressions that the timeline shows for every checkpoint, shared by every tab.

Rules:
- Only the rows that are asked for are evaluated, and only the keys that an expression names are read.
- A checkpoint that changed none of these keys has the cell of its parent: nothing is read for it.
- What a checkpoint holds never changes, so a cell is kept, by checkpoint and expression, up to `CELLS` of them.
- A cell is always there: where the expression has no value, the cell says why.
"""

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from debugger_ui.session.expression import Expression, parse
from debugger_ui.session.kept import Kept
from debugger_ui.session.plainly import ExpressionError, short
from debugger_ui.session.problems import refuse
from debugger_ui.session.reading import Reading, Spot
from debugger_ui.session.view_record import Timeline, TimelineRow, WatchCell
from runtime.checkpoint.errors import CheckpointStorageError

KIND = "watch"
MOST = 4
CELLS = 20_000
LENGTH = 120
"""Characters of a cell; the page cuts it to the width that there is."""
DAMAGE = ("corrupt", "missing")

Values = Mapping[str, Any] | CheckpointStorageError
CellKey = tuple[str, str, str, str, tuple[str, ...]]
"""Thread, namespace, checkpoint, expression, and what was masked."""


class Watches:
    """The watches of a graph, and their cells."""

    def __init__(self, reading: Reading, kept: Kept | None = None, graph: str = "") -> None:
        self.reading = reading
        self.kept = kept or Kept()
        self.graph = graph
        self._lock = threading.Lock()
        self._cells: dict[CellKey, WatchCell] = {}

    def all(self) -> tuple[str, ...]:
        """Return the expressions in the order in which they were added."""
        return tuple(self.kept.rows(KIND, self.graph))[:MOST]

    def add(self, text: str) -> str:
        """Add one that has been checked; the same again changes nothing."""
        there = self.all()
        if text not in there:
            if len(there) >= MOST:
                raise refuse(f"There are {MOST} watches already, as many as a row has room for. Remove one first.")
            self.kept.put(KIND, self.graph, text, {})
        return text

    def remove(self, text: str) -> None:
        """Remove one if it is there."""
        self.kept.drop(KIND, self.graph, text)

    def shown(self, found: Timeline, spot: Spot) -> Timeline:
        """Return the timeline with a cell per row and watch."""
        watches = self.all()
        if not watches:
            return found
        columns = self._columns(spot, found.rows, watches)
        rows = tuple(replace(row, cells=tuple(column[row.checkpoint] for column in columns)) for row in found.rows)
        return replace(found, rows=rows, watches=watches)

    def _columns(self, spot: Spot, rows: Sequence[TimelineRow], watches: Sequence[str]) -> list[dict[str, WatchCell]]:
        parsed = [_parsed(text) for text in watches]
        sources = {one: _sources(rows, one) for one in parsed if isinstance(one, Expression)}
        cells = self._known(spot, rows, sources)
        return [
            {
                row.checkpoint: one if isinstance(one, WatchCell) else cells[sources[one][row.checkpoint], one.text]
                for row in rows
            }
            for one in parsed
        ]

    def _known(
        self, spot: Spot, rows: Sequence[TimelineRow], sources: Mapping[Expression, Mapping[str, str]]
    ) -> dict[tuple[str, str], WatchCell]:
        """Return the cells of all sources by checkpoint and text; each checkpoint that is missing is read once."""
        found: dict[tuple[str, str], WatchCell] = {}
        missing: dict[str, list[Expression]] = {}
        masked = self.reading.masks.patterns
        with self._lock:
            for one, those in sources.items():
                for id_ in dict.fromkeys(those.values()):
                    cell = self._cells.get((spot.thread, spot.namespace, id_, one.text, masked))
                    if cell is None:
                        missing.setdefault(id_, []).append(one)
                    else:
                        found[id_, one.text] = cell
        parents = {row.checkpoint: row.parent for row in rows}
        for id_, text, cell in _Look(self.reading, spot, parents).cells(missing):
            found[id_, text] = cell
            with self._lock:
                self._cells[spot.thread, spot.namespace, id_, text, masked] = cell
                while len(self._cells) > CELLS:
                    del self._cells[next(iter(self._cells))]
        return found


class _Look:
    """One look along a history for the values that expressions need; values are let go once nobody needs them."""

    def __init__(self, reading: Reading, spot: Spot, parents: Mapping[str, str]) -> None:
        self.reading = reading
        self.spot = spot
        self.parents = parents
        self._held: dict[str, Values] = {}

    def cells(self, wanted: Mapping[str, Sequence[Expression]]) -> Iterator[tuple[str, str, WatchCell]]:
        """Yield checkpoint, text and cell of each expression that is wanted at a checkpoint, the oldest first."""
        waiting = Counter(self.parents[id_] for id_, those in wanted.items() if any(one.earlier for one in those))
        waiting.pop("", None)
        everything = [one for those in wanted.values() for one in those]
        keys = sorted({key for one in everything for key in one.keys | one.earlier})
        for id_, values in self._read(sorted({*wanted, *waiting}), keys):
            if waiting[id_]:
                self._held[id_] = values
            for one in wanted.get(id_, ()):
                yield id_, one.text, self._cell(one, id_, values)
            parent = self.parents.get(id_, "")
            if any(one.earlier for one in wanted.get(id_, ())) and parent in waiting:
                waiting[parent] -= 1
                if not waiting[parent]:
                    self._held.pop(parent, None)

    def _read(self, ids: Sequence[str], keys: Sequence[str]) -> Iterator[tuple[str, Values]]:
        """Yield the values at checkpoints; for one that is damaged, what is wrong with it."""
        left = list(ids)
        while left:
            try:
                for id_, values in self.reading.values(self.spot, left, keys):
                    left = left[left.index(id_) + 1 :]
                    yield id_, values
                return
            except CheckpointStorageError as error:
                if error.reason not in DAMAGE:
                    raise
                yield left.pop(0), error

    def _cell(self, expression: Expression, id_: str, now: Values) -> WatchCell:
        before = self._held.get(self.parents[id_], {}) if expression.earlier else {}
        if isinstance(now, CheckpointStorageError):
            return WatchCell("", f"This checkpoint is damaged: {now}.")
        if isinstance(before, CheckpointStorageError):
            return WatchCell("", f"The checkpoint before is damaged: {before}.")
        earlier = before
        try:
            return WatchCell(short(expression.value(now, lambda: earlier), LENGTH))
        except ExpressionError as error:
            return WatchCell("", str(error))


def _parsed(text: str) -> Expression | WatchCell:
    """Return a watch's expression, or the cell for one that is not of the language (the file was edited)."""
    try:
        return parse(text)
    except ExpressionError as error:
        return WatchCell("", str(error))


def _sources(rows: Sequence[TimelineRow], expression: Expression) -> dict[str, str]:
    """Return for each row the checkpoint whose cell it has: the last one that changed a key, among the rows."""
    sources: dict[str, str] = {}
    for row in reversed(rows):
        moved = row.mark or expression.earlier or expression.keys & set(row.changed)
        sources[row.checkpoint] = row.checkpoint if moved else sources.get(row.parent, row.checkpoint)
    return sources
