"""Where a value changed: the last change before the cursor, the next one after it, and its writers.

Versions are compared first, so values are read only where the key was written at all.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

from debugger_ui.engines import naming
from debugger_ui.engines.base import MISSING, Outline, Record
from debugger_ui.session.diff import equal
from debugger_ui.session.reading import Reading, Spot
from debugger_ui.session.render import BRIEF, view
from debugger_ui.session.shape import at_path, items_of, kind_of
from debugger_ui.session.view_analysis import ChangePoint, ProvenanceHop
from debugger_ui.session.view_values import Path, ValueView

MAX_HOPS = 60
MAX_DEPTH = 12
MOST_OUTLINES = 512
MOST_VALUES = 128
"""Checkpoints of which one value is held at a time."""


class Changes:
    """Walks one branch path of a thread."""

    def __init__(self, reading: Reading, spot: Spot) -> None:
        self.reading = reading
        self.spot = spot
        self.history = reading.history(spot.thread, spot.namespace)
        self._outlines: dict[str, Outline] = {}
        self._found: dict[Path, list[tuple[int, int, ChangePoint | None]]] = {}

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {id_: place for place, id_ in enumerate(self.history.path(self.spot.id))}

    def last(self, path: Path, at: str = "") -> ChangePoint | None:
        """Return where the value at the path became what it is at the cursor, or at a checkpoint before it.

        What was found is kept: from any checkpoint between a start and its change the answer is the same.
        """
        at = at or self.spot.id
        start = self._places[at]
        found = self._found.setdefault(path, [])
        for first, last, point in found:
            if first <= start <= last:
                return point
        point = self._first(path, self._back(at))
        found.append((self._places[point.checkpoint] if point is not None else 0, start, point))
        return point

    def next(self, path: Path) -> ChangePoint | None:
        """Return where on the cursor's branch the value changes next."""
        branch = self.history.branches[self.spot.branch]
        line = self.history.path(branch.head)
        return self._first(path, line[line.index(self.spot.id) + 1 :] if self.spot.id in line else [])

    def _back(self, id_: str) -> Iterator[str]:
        """Yield a checkpoint and what came before it, back to the root."""
        while id_:
            yield id_
            id_ = self.history.parents.get(id_, "")

    def _first(self, path: Path, ids: Iterable[str]) -> ChangePoint | None:
        """Return the first of the checkpoints at which the value is not what it was before it."""
        for these in growing(self._written(path, ids), 1, MOST_VALUES):
            for id_ in self._differing(path, these):
                point = self._point(path, self.history.parents.get(id_, ""), id_)
                if point is not None:
                    return point
        return None

    def _written(self, path: Path, ids: Iterable[str]) -> Iterator[str]:
        """Yield those of the checkpoints that wrote the path's key, and the root."""
        for page in growing(ids, 8, MOST_OUTLINES):
            new = [id_ for id_ in page if id_ not in self._outlines]
            self._outlines.update(self.reading.engine.outlines(self.spot.thread, new, self.spot.namespace))
            for id_ in page:
                if self._may_change(self._outlines.get(id_), path) or not self.history.parents.get(id_):
                    yield id_

    def _differing(self, path: Path, ids: Sequence[str]) -> Sequence[str]:
        """Return those of the checkpoints at which the stored value may be another one than before.

        A key is also written when a node gives a reducer nothing to add: then it has a new version, and no new value.
        """
        if len(ids) == 1 or not path:
            return ids
        parents = {id_: self.history.parents.get(id_, "") for id_ in ids}
        wanted = sorted({*ids, *parents.values()} - {""})
        held = {id_: look_in(values, path) for id_, values in self.reading.values(self.spot, wanted, [str(path[0])])}
        return [
            id_
            for id_, parent in parents.items()
            if not parent or not same(held.get(parent, MISSING), held.get(id_, MISSING))
        ]

    def _may_change(self, outline: Outline | None, path: Path) -> bool:
        return outline is None or not path or str(path[0]) in outline.changed

    def _point(self, path: Path, parent: str, id_: str) -> ChangePoint | None:
        """Return the change between two neighbours, or None when the value is the same in both."""
        after = self.reading.record(self.spot, id_)
        before = self.reading.record(self.spot, parent) if parent else None
        if before is None and path and naming.channel_of(str(path[0]), after.versions) not in after.versions:
            return None  # what a channel starts with was written by nobody
        old = look(before, path) if before is not None else MISSING
        new = look(after, path)
        if same(old, new):
            return None
        return ChangePoint(
            path=path,
            checkpoint=id_,
            step=after.header.step,
            branch=self.history.branch_of[id_],
            writers=self.writers(before, after, path),
            before=shown(old, path),
            after=shown(new, path),
        )

    def writers(self, before: Record | None, after: Record, path: Path) -> tuple[str, ...]:
        """Return who wrote the path's key between two neighbours: nodes, "input" or "edit"."""
        if after.header.source == "update":
            return ("edit",)
        if before is None or after.header.source in ("input", "fork"):
            return ("input",) if after.header.source == "input" else ()
        key = str(path[0]) if path else ""
        found = [task.name for task in before.tasks if any(c == key for c, _ in task.writes)]
        return tuple("input" if name == naming.START else name for name in dict.fromkeys(found))

    def why(self, path: Path) -> tuple[ProvenanceHop, ...]:
        """Return who wrote the value, what they had read, who wrote that, back to input or edit."""
        hops: list[ProvenanceHop] = []
        met: set[tuple[str, Path]] = set()
        todo: list[tuple[Path, str, int]] = [(path, self.spot.id, 0)]
        while todo and len(hops) < MAX_HOPS:
            wanted, at, depth = todo.pop(0)
            point = self.last(wanted, at)
            if point is None or (point.checkpoint, wanted) in met:
                continue
            met.add((point.checkpoint, wanted))
            made = self._hops(point, wanted, depth)
            hops += made
            parent = self.history.parents.get(point.checkpoint, "")
            if parent and depth < MAX_DEPTH:
                reads = dict.fromkeys(key for hop in made for key in hop.reads)
                todo += [((key,), parent, depth + 1) for key in reads]
        return tuple(hops)

    def _hops(self, point: ChangePoint, path: Path, depth: int) -> list[ProvenanceHop]:
        parent = self.history.parents.get(point.checkpoint, "")
        before = self.reading.record(self.spot, parent) if parent else None
        value = point.after or view(None)
        if point.writers in (("input",), ("edit",)) or before is None:
            kind = point.writers[0] if point.writers else "input"
            place = self.spot.namespace
            return [ProvenanceHop(point.checkpoint, point.step, kind, "", kind, path, value, (), depth, place)]
        key = str(path[0])
        return [
            ProvenanceHop(
                checkpoint=point.checkpoint,
                step=point.step,
                node=task.name,
                task=task.id,
                kind="supplied" if task.supplied else "task",
                path=path,
                value=value,
                reads=reads_of(task.input),
                depth=depth,
                namespace=self.spot.namespace,
            )
            for task in before.tasks
            if any(channel == key for channel, _ in task.writes)
        ]


def reads_of(given: Any) -> tuple[str, ...]:
    """Return the keys that a task was given with a value."""
    if given is MISSING or kind_of(given) not in ("dict", "dataclass", "model"):
        return ()
    return tuple(str(key) for key, value in items_of(given) if value is not None)


def look(record: Record, path: Path) -> Any:
    """Return what sits at a path of a record's state, or MISSING."""
    return look_in(record.state, path) if path else dict(record.state)


def look_in(state: Mapping[str, Any], path: Path) -> Any:
    """Return what sits at a path in some of a state's keys, or MISSING."""
    if path[0] not in state:
        return MISSING
    try:
        return at_path(state[str(path[0])], tuple(path[1:]))
    except LookupError:
        return MISSING


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal, or both missing."""
    if one is MISSING or other is MISSING:
        return one is other
    return equal(one, other)


def growing(ids: Iterable[str], first: int, most: int) -> Iterator[list[str]]:
    """Yield the ids in pages, each twice as long as the one before: what is looked for is mostly near."""
    left, size = iter(ids), first
    while page := list(islice(left, size)):
        yield page
        size = min(2 * size, most)


def shown(value: Any, path: Sequence[str | int]) -> ValueView | None:
    """Return a brief view, or None for nothing."""
    return None if value is MISSING else view(value, BRIEF, tuple(path))
