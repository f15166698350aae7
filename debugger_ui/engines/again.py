"""Asking a question again that was answered, in a runtime whose checkpoint keeps its first answer.

The checkpoint is copied, and the copy runs up to its questions; the new answers are then for those. Tasks
are told apart by their paths, which do not depend on the checkpoint.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from debugger_ui.engines.base import Advance, Place

COPY = "__copy__"


def copied(step: Advance, made: Mapping[str, Any]) -> Advance:
    """Return the step at the copy: it runs up to the questions."""
    id_ = str(made["configurable"]["checkpoint_id"])
    return replace(step, place=Place(step.place.thread, id_, step.place.namespace), answers={}, again=False)


def answered(step: Advance, at_copy: Advance, before: Any, after: Any) -> Advance:
    """Return the step that answers the copy's questions, given the states of the checkpoint and of its copy."""
    asked = {_position(task, n): question.id for task in before.tasks for n, question in enumerate(task.interrupts)}
    again = {_position(task, n): question.id for task in after.tasks for n, question in enumerate(task.interrupts)}
    wanted = {position: step.answers[id_] for position, id_ in asked.items() if id_ in step.answers}
    return replace(at_copy, answers={again[position]: value for position, value in wanted.items() if position in again})


def _position(task: Any, number: int) -> tuple[str, int]:
    return repr(tuple(task.path)), number
