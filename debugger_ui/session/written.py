"""What two sides wrote at steps side by side: the same or not, by fingerprint and then by content."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from debugger_ui.engines import naming
from debugger_ui.engines.base import Outline
from debugger_ui.engines.contents import Write
from debugger_ui.session.align import alike
from debugger_ui.session.diff import equal
from debugger_ui.session.view_compare import StepView
from debugger_ui.session.workspace import Desk

Source = tuple[Desk, str, str]
"""Desk, thread and namespace of a side."""


class Written:
    """Reads both sides."""

    def __init__(self, left: Source, right: Source) -> None:
        self.sources = left, right

    def alike(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        """Return whether the checkpoints of each pair were made by the same writes, by their fingerprints."""
        if not pairs:
            return []
        left, right = (self._prints(side, [pair[side] for pair in pairs]) for side in (0, 1))
        return [left[one] == right[other] for one, other in pairs]

    def same(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        """Return the same as far as the first pair that is not the same by content, sources and nodes either."""
        found = self.alike(pairs)
        for place, (one, other) in enumerate(pairs):
            if not found[place]:
                found[place] = alike(self.step(0, one), self.step(1, other)) and same_writes(
                    self.of(0, one), self.of(1, other)
                )
            if not found[place]:
                return found[: place + 1]
        return found

    def of(self, side: int, id_: str) -> Sequence[Write]:
        """Return the writes that made a checkpoint of the left (0) or the right (1) side."""
        desk, thread, namespace = self.sources[side]
        return desk.engine.written(thread, id_, namespace)

    def step(self, side: int, id_: str) -> StepView:
        """Return the step that made a checkpoint."""
        return self.steps(side, [id_])[0]

    def steps(self, side: int, ids: Sequence[str]) -> list[StepView]:
        """Return the steps that made checkpoints, without their values."""
        desk, thread, namespace = self.sources[side]
        outlines = desk.engine.outlines(thread, ids, namespace)
        headers, nothing = desk.reading.history(thread, namespace).by_id, Outline()
        found = []
        for id_ in ids:
            header, outline = headers[id_], outlines.get(id_, nothing)
            found.append(StepView(id_, header.step, header.source, outline.ran, outline.changed))
        return found

    def _prints(self, side: int, ids: Sequence[str]) -> dict[str, tuple[str, str]]:
        desk, thread, namespace = self.sources[side]
        headers = desk.reading.history(thread, namespace).by_id
        prints = desk.engine.fingerprints(thread, ids, namespace)
        return {id_: (headers[id_].source, prints[id_]) for id_ in ids}


def same_writes(left: Sequence[Write], right: Sequence[Write]) -> bool:
    """Whether as many tasks wrote the same, in whatever order they came."""
    return matched(by_tasks(left), by_tasks(right))


def by_tasks(writes: Sequence[Write]) -> list[Any]:
    """Return for each task its writes as plain values."""
    ordered = sorted(writes, key=lambda write: write.task)
    return [
        [(write.node, write.channel, write.value) for write in mine]
        for _, mine in groupby(ordered, key=lambda write: write.task)
    ]


def matched(left: Sequence[Any], right: Sequence[Any]) -> bool:
    """Whether two collections hold the same values, each as often."""
    if len(left) != len(right):
        return False
    rest = list(right)
    for value in left:
        place = next((at for at, other in enumerate(rest) if equal(value, other)), None)
        if place is None:
            return False
        del rest[place]
    return True


def written_differently(left: Sequence[Write], right: Sequence[Write]) -> tuple[str, ...]:
    """Return the state keys, or fields of an input, to which the sides wrote different values, sorted."""
    one, other = values_by_key(left), values_by_key(right)
    return tuple(sorted(key for key in {*one, *other} if not matched(one.get(key, []), other.get(key, []))))


def values_by_key(writes: Sequence[Write]) -> dict[str, list[Any]]:
    """Return the values written to each state key."""
    found: dict[str, list[Any]] = {}
    for write in writes:
        if naming.is_state_key(write.channel):
            found.setdefault(write.channel, []).append(write.value)
    return found


def routes(writes: Sequence[Write]) -> tuple[str, ...]:
    """Return the nodes that writes wake or are sent to, each as often as that is the case."""
    found: Counter[str] = Counter()
    for write in writes:
        if write.channel == naming.TASKS and hasattr(write.value, "node"):
            found[str(write.value.node)] += 1
        elif target := naming.target_of(write.channel):
            found[target] += 1
    return tuple(sorted(found.elements()))
