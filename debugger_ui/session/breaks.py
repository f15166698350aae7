"""Breakpoints of one graph: before or after a node, or when a key of the state changes; shared by every tab.

Rules:
- A node or key inside a subgraph is named by its way there, `door|inner`; its condition reads the state inside.
- A hit is a checkpoint that a run has just made, where the breakpoint applies and its condition holds. Every
  breakpoint that is hit there is counted; the run stops if one of them has reached the hit it waits for.
- A condition that cannot be evaluated stops the run and says so. It is not counted.
- Hits count since this program started, and anew when the condition or the wanted hit changes.
"""

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from debugger_ui.engines import naming, spaces
from debugger_ui.engines.base import Record
from debugger_ui.session.diff import equal
from debugger_ui.session.expression import parse
from debugger_ui.session.kept import Kept, Row
from debugger_ui.session.plainly import ExpressionError
from debugger_ui.session.problems import refuse
from debugger_ui.session.view_actions import Breakpoint, When
from debugger_ui.session.view_values import Problem

KIND = "breakpoint"
SIDES: Mapping[str, When] = {"before": "before", "after": "after", "change": "change"}
MOST_HITS = 1_000_000


@dataclass(frozen=True, slots=True)
class Reached:
    """A checkpoint that a run has just made: the nodes due there, those that made it, and the keys they wrote.

    `before` gives the state of its parent, {} at a root. `path` names the subgraph, empty for the outermost graph.
    """

    due: Collection[str]
    ran: Collection[str]
    changed: Collection[str]
    state: Callable[[], Mapping[str, Any]]
    before: Callable[[], Mapping[str, Any]]
    path: str = ""


@dataclass(frozen=True, slots=True)
class Hold:
    """Why a run stops at a checkpoint; `problem` when that is a condition without a value."""

    why: str
    problem: Problem | None = None


class Breakpoints:
    """The breakpoints of a graph, with hit counts."""

    def __init__(self, kept: Kept | None = None, graph: str = "") -> None:
        self.kept = kept or Kept()
        self.graph = graph
        self._lock = threading.Lock()
        self._hits: dict[tuple[str, str, int], int] = {}

    def all(self) -> tuple[Breakpoint, ...]:
        """Return them by node, those at keys of the state last."""
        rows = self.kept.rows(KIND, self.graph)
        found = [point for id_, row in rows.items() if (point := self._point(id_, row)) is not None]
        return tuple(sorted(found, key=lambda point: (point.when == "change", point.node, point.when)))

    def put(self, node: str, when: str, *, enabled: bool, condition: str = "", stop_at: int = 1) -> Breakpoint:
        """Add one, or change the one that is there."""
        if when not in SIDES:
            raise refuse(f"A breakpoint is before or after a node, or at the change of a key, not {when!r}.")
        if not 1 <= stop_at <= MOST_HITS:
            raise refuse(f"The hit to stop at is a number from 1 to {MOST_HITS:,}, not {stop_at}.", field="hit")
        id_ = f"{when}:{node}"
        row = {"enabled": enabled, "condition": condition.strip(), "stop_at": stop_at}
        self.kept.put(KIND, self.graph, id_, row)
        return Breakpoint(id_, node, SIDES[when], enabled, self._count(id_, row), condition.strip(), stop_at)

    def switch(self, id_: str, *, enabled: bool) -> None:
        """Switch one on or off if it is there; whether the graph still has its node does not matter."""
        for point in self.all():
            if point.id == id_:
                self.put(point.node, point.when, enabled=enabled, condition=point.condition, stop_at=point.stop_at)

    def remove(self, id_: str) -> None:
        """Remove one if it is there, and forget its hits."""
        self.kept.drop(KIND, self.graph, id_)
        with self._lock:
            for key in [key for key in self._hits if key[0] == id_]:
                del self._hits[key]

    def hit(self, reached: Reached) -> Hold | None:
        """Return why to hold at a checkpoint, and count the hits; None to go on."""
        stopping: list[Breakpoint] = []
        unknown: list[tuple[Breakpoint, str]] = []
        for point in self.all():
            if not point.enabled or not _applies(point, reached):
                continue
            try:
                if point.condition and not _holds(point.condition, reached):
                    continue
            except ExpressionError as error:
                unknown.append((point, str(error)))
                continue
            counted = self._counted(point)
            if counted.hits >= counted.stop_at:
                stopping.append(counted)
        places = [f"{point.place}, hit {point.hits}" if point.stop_at > 1 else point.place for point in stopping]
        places += [point.place for point, _ in unknown]
        why = f"Breakpoint {' and '.join(places)}."
        return Hold(why, _unevaluated(unknown) if unknown else None) if places else None

    def _counted(self, point: Breakpoint) -> Breakpoint:
        key = (point.id, point.condition, point.stop_at)
        with self._lock:
            self._hits[key] = self._hits.get(key, 0) + 1
            return replace(point, hits=self._hits[key])

    def _count(self, id_: str, row: Row) -> int:
        return self._hits.get((id_, row["condition"], row["stop_at"]), 0)

    def _point(self, id_: str, row: Row) -> Breakpoint | None:
        """Return a row as a breakpoint; None for one of a kind that is not known here."""
        when, _, node = id_.partition(":")
        condition, stop_at = row.get("condition"), row.get("stop_at")
        if when not in SIDES or not isinstance(condition, str) or not isinstance(stop_at, int):
            return None
        hits = self._count(id_, row)
        return Breakpoint(id_, node, SIDES[when], bool(row.get("enabled")), hits, condition, stop_at)


def _applies(point: Breakpoint, reached: Reached) -> bool:
    path, _, name = point.node.rpartition(spaces.SEPARATOR)
    if path != reached.path:
        return False
    if point.when == "before":
        return name in reached.due
    if point.when == "after":
        return name in reached.ran
    return name in reached.changed and differs(name, reached.state(), reached.before())


def _holds(condition: str, reached: Reached) -> bool:
    return bool(parse(condition).value(reached.state(), reached.before))


def state_of(record: Record) -> Mapping[str, Any]:
    """Return the state with the keys that the graph keeps to itself."""
    return {**{key: value for key, value in record.channels.items() if naming.is_state_key(key)}, **record.state}


def differs(key: str, now: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Whether a key has another value than before: a write of the same value is no change."""
    if key not in now or key not in before:
        return (key in now) != (key in before)
    return not equal(now[key], before[key])


def _unevaluated(unknown: list[tuple[Breakpoint, str]]) -> Problem:
    said = [
        f"The run stopped at the breakpoint {point.place}, because its condition could not be evaluated: "
        f"{point.condition}. {error}"
        for point, error in unknown
    ]
    return Problem("\n".join(said), kind="condition", field="")
