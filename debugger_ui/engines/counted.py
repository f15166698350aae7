"""Which pending writes of a checkpoint count, and whose they are.

A task whose result the barrier refused runs again, and what comes of that is recorded under another id: nothing in a
record is replaced. Here it is the task's own again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from debugger_ui.engines import naming
from debugger_ui.engines.failures import failure_of
from debugger_ui.engines.recorded import Failure

LASTING = (naming.INTERRUPT, naming.RESUME)
"""What is recorded of a task whatever became of its result."""

Write = tuple[str, str, Any]
"""Task, channel, value."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The writes that count, by the tasks that they are of. The `refused` tasks have no result but a refused one.

    `barriers` are the ids under which refusals are recorded: no tasks.
    """

    writes: Sequence[Write]
    refused: frozenset[str] = frozenset()
    barriers: frozenset[str] = frozenset()

    @property
    def failed(self) -> tuple[Failure, ...]:
        """The errors of tasks, and of the barrier, that are the last that is known of them."""
        settled = {task for task, channel, _ in self.writes if naming.settles(channel)} - self.refused
        found = {task: error for task, channel, error in self.writes if channel == naming.ERROR}
        return tuple(failure_of(error) for task, error in found.items() if task not in settled)


def counted(pending: Sequence[Write]) -> Counted:
    """Return the writes that count: questions that were passed, refused results and past refusals left out."""
    writes = naming.asked_still(pending)
    refusals = [
        (place, note) for place, channel, note in writes if channel == naming.REFUSED and isinstance(note, Mapping)
    ]
    if not refusals:
        return Counted(writes)
    places = _places([note for _, note in refusals])
    owner = {place: task for task, ids in places.items() for place in ids}
    settled = {place for place, channel, _ in writes if naming.settles(channel)}
    refused = frozenset(task for task, ids in places.items() if ids[-1] not in settled)
    # A refusal of nobody's result in particular is past when the superstep is.
    past = {
        barrier
        for barrier, note in refusals
        if note and all(_is_past(places, refused, task, note[task]) for task in note)
    }
    shown = {task: ids[-2] if task in refused else ids[-1] for task, ids in places.items()}
    found: list[Write] = []
    for place, channel, value in writes:
        task = owner.get(place, place)
        if channel == naming.REFUSED or (place in past and channel == naming.ERROR):
            continue
        if task in places and channel not in LASTING:
            newest = places[task][-1]
            if place != (shown[task] if naming.settles(channel) else newest):
                continue
        found.append((task, channel, value))
    return Counted(found, refused, frozenset(barrier for barrier, _ in refusals))


def _places(notes: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return for each task the ids under which its results stand, the first refused one first."""
    found: dict[str, dict[int, str]] = {}
    for note in notes:
        for task, (number, place) in note.items():
            found.setdefault(task, {0: task})[int(number)] = str(place)
    return {task: [ids[number] for number in sorted(ids)] for task, ids in found.items()}


def _is_past(places: Mapping[str, list[str]], refused: frozenset[str], task: str, said: Sequence[Any]) -> bool:
    """Whether a task has a result, or a refusal, that is newer than the refusal in which it was named."""
    return task not in refused or said[1] != places[task][-1]
