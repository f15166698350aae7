"""What the record says of results that the barrier refused, and where it has the results that came after them.

Rules:
1. Nothing is replaced: many savers keep the first of two writes in one place. What a task does once its result was
   refused is therefore recorded under another id, a function of the task and of how often that has happened.
2. A task's result is what stands under the newest of its ids; what stands under the one before was refused.
3. Questions and answers stay with the task itself: they count for every attempt.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from langgraph.checkpoint.base import PendingWrite

from runtime._constants import INTERRUPT, NULL_TASK_ID, RESUME
from runtime.pregel.frame import Frame
from runtime.pregel.model import Write
from runtime.pregel.task import Task, uuid_shaped

REFUSED = "__refused__"
"""Channel of the record that the barrier refused results: `{task id: [n, id]}`.

The task has to run again: `n` of its results were refused so far, and the next one will stand under `id`.
"""

REFUSALS = "refusals"
"""Metadata of a checkpoint inside a task: how many results of the task had been refused when it was made, if any."""

LASTING = frozenset({INTERRUPT, RESUME})
"""What is recorded of a task that does not go with one of its results."""


def refusal(tasks: Iterable[Task]) -> Write:
    """The record that the results of these tasks were refused."""
    counted = [(task, task.refusals + 1) for task in tasks]
    return (REFUSED, {task.id: [count, result_id(task.id, count)] for task, count in counted})


def barrier_id(frame: Frame) -> str:
    """The task id under which the next refusal at a checkpoint is recorded."""
    before = sum(channel == REFUSED for _, channel, _ in frame.pending)
    return uuid_shaped("barrier", frame.checkpoint_id, *([str(before)] if before else []))


def result_id(task_id: str, refusals: int) -> str:
    """The task id under which a task's result is recorded, so many others having been refused."""
    return uuid_shaped("again", task_id, str(refusals)) if refusals else task_id


def placed(task: Task, writes: Iterable[Write]) -> Iterable[tuple[str, list[Write]]]:
    """A task's writes by the ids under which they are recorded."""
    if not task.refusals:
        return [(task.id, list(writes))]
    lasting: list[Write] = []
    result: list[Write] = []
    for write in writes:
        (lasting if write[0] in LASTING else result).append(write)
    places = (result_id(task.id, task.refusals), result), (task.id, lasting)
    return [(place, found) for place, found in places if found]


def refused_tasks(pending: Collection[PendingWrite]) -> Mapping[str, int]:
    """How many results of each task were refused; those of which none was are left out."""
    found: dict[str, int] = {}
    for _, channel, value in pending:
        if channel == REFUSED:
            # The first databases have a list of the tasks there: each was refused once, if not more often.
            counts = value if isinstance(value, Mapping) else dict.fromkeys(value, (1, ""))
            for task_id, (count, _) in counts.items():
                found[task_id] = max(count, found.get(task_id, 0))
    return found


def owners(refused: Mapping[str, int]) -> Mapping[str, tuple[str, int]]:
    """For each id under which results of these tasks are recorded, the task and which of its results it is."""
    return {result_id(task, n): (task, n) for task, count in refused.items() for n in range(count + 1)}


def folded_ids(tasks: Collection[Task]) -> list[str] | None:
    """The ids under which the writes stand that make a checkpoint; None where nothing was refused: all of them."""
    if not [task for task in tasks if task.refusals]:
        return None
    return [NULL_TASK_ID, *(result_id(task.id, task.refusals) for task in tasks)]
