"""`interrupt()` within a task: which question it is, and its answer or a pause.

Rules:
1. A task has one open question at a time. Its answers are a list; the open question is the one after the last answer.
2. A question is known by its content, and keeps the place that it was recorded in. So code that runs side by side in a
   task, as tools do, may ask in another order each time, and each still gets its own answer.
3. What is asked beside an open question pauses on that one too. It is recorded without a place, as something that may
   be asked out of turn, and gets the next place once it is the one that is open.
"""

from __future__ import annotations

import threading
from itertools import count
from typing import TYPE_CHECKING, Any

from runtime._constants import RESUME
from runtime.errors import GraphInterrupt
from runtime.pregel.questions import BESIDE, Question

if TYPE_CHECKING:
    from runtime.pregel.context import TaskContext
    from runtime.types import Interrupt

_TURN = threading.RLock()
"""Questions are rare: one lock for all tasks. Reentrant, since what checks an answer may ask again."""


def ask(context: TaskContext, value: Any, schema: Any) -> Any:
    """Give the answer to a question of a task, or pause the task.

    Raises:
        GraphInterrupt: there is no answer yet, or another question of the task is open.
        MisalignedResumeError: the answer at hand was given to another question.
        pydantic.ValidationError: the answer does not fit the schema.
    """
    question = Question(context, value, schema)
    with _TURN:
        question.index = _place(context, question)
        context.asked.add(question.index)
        if question.index < len(context.answers):
            _check(question)
            return _delivered(question, question.validate(context.answers[question.index]))
        if question.index == len(context.answers):
            if question.id in context.run.answers:
                return _taken(question, context.run.answers[question.id])
            if context.run.loose and _is_addressed(context):
                answer = _taken(question, context.run.loose[0])
                context.run.loose.pop(0)
                return answer
        raise _pause(question)


def _place(context: TaskContext, question: Question) -> int:
    """Return the place of a question: where it is recorded, or the next one."""
    placed = _placed(context)
    for index, (_, known) in enumerate(placed):
        if known == question.digest and index not in context.asked:
            return index
    if context.paused is not None or (BESIDE, question.digest) in context.questions:
        return max(len(placed), len(context.answers))
    return next(index for index in count() if index not in context.asked)


def _placed(context: TaskContext) -> list[tuple[str, str]]:
    """Return the recorded questions that have a place, in its order."""
    return [known for known in context.questions if known[0] != BESIDE]


def _check(question: Question) -> None:
    """Refuse an answer that was given to another question, unless the caller changed the question's state.

    A question that was not recorded yet, because a branch brought its answer along, is recorded now.
    """
    context, placed = question.context, _placed(question.context)
    if not context.run.edited:
        question.check(placed)
    if context.run.edited or question.index >= len(placed):
        _record(question)


def _taken(question: Question, given: Any) -> Any:
    """Deliver an answer that is given now."""
    _check(question)
    answer = question.validate(given)
    question.context.answers.append(given)
    return _delivered(question, answer)


def _delivered(question: Question, answer: Any) -> Any:
    """Have what was answered so far saved with whatever comes of the task."""
    context = question.context
    context.answered = max(context.answered, question.index + 1)
    context.control = [(RESUME, context.answers[: context.answered])]
    return answer


def _pause(question: Question) -> GraphInterrupt:
    """Return what pauses the task: on this question, or on the one that is open already."""
    context = question.context
    if context.paused is None:
        context.paused = GraphInterrupt((_open_before(question) or question.interrupt(),))
    shown = context.paused.args[0]
    if question.id in [interrupt.id for interrupt in shown]:
        _record(question)
        return context.paused
    if (BESIDE, question.digest) not in context.questions:
        context.questions = [*context.questions, (BESIDE, question.digest)]
    return GraphInterrupt(shown)


def _open_before(question: Question) -> Interrupt[Any] | None:
    """Return a question that was asked earlier and is still without an answer, if it is not this one."""
    context = question.context
    given = context.run.answers
    ids = [id for id, _ in _placed(context)[len(context.answers) : question.index] if id not in given]
    return next((saved for saved in context.pending_interrupts() if saved.id in ids), None)


def _record(question: Question) -> None:
    """Record a question in its place, and no longer as one beside others."""
    context, entry = question.context, (question.id, question.digest)
    rest = [known for known in context.questions if known[0] == BESIDE and known[1] != question.digest]
    placed = _placed(context)
    context.questions = [*placed[: question.index], entry, *placed[question.index + 1 :], *rest]


def _is_addressed(context: TaskContext) -> bool:
    """Whether a plain answer is for this run: the caller's config named none inside, or one of this very run."""
    run = context.run
    if not run.targets:
        return True
    if run.origin is None or run.origin.checkpoint_id is None:
        return False
    return not any(ns.startswith(f"{run.origin.ns}|") for ns in run.targets)
