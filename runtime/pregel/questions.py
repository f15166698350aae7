"""Questions that tasks ask, and the answers that come back for them.

Rules:
1. Every question has an id of its own: a function of the task's namespace and of how many answers the
   task had when it asked.
2. An answer goes to the question that it was given to, and to no other: delivery is by id and content. A
   re-run that asks something else where a question was answered is refused.
3. Questions are recorded as digests under a task id of their own, so that the record of the task
   itself stays what every reader of checkpoints knows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from langgraph.checkpoint.base import PendingWrite
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import TypeAdapter
from xxhash import xxh3_128_hexdigest

from runtime._constants import ERROR, ERROR_SOURCE_NODE, INTERRUPT, NULL_TASK_ID, RESUME
from runtime.errors import MisalignedResumeError, UnknownInterruptError, mark_invalid_resume
from runtime.pregel.refusals import LASTING, REFUSED, owners, refused_tasks
from runtime.pregel.task import uuid_shaped
from runtime.types import Interrupt, interrupt_id

if TYPE_CHECKING:
    from runtime.pregel.context import TaskContext

# A saver's own serializer may encrypt, and then give other bytes for the same value each time.
_plain = JsonPlusSerializer()

ASKED = "__asked__"
"""Channel of the record of what a task has asked: for each question its id, and a digest of its content."""

PASSED = "__passed__"
"""Channel of the record that a task has stopped without a question: `[task id, n, question ids]`.

The questions are those it had asked and that were answered; the record with the highest `n` counts.
"""

CONTROL_WRITES = frozenset({INTERRUPT, RESUME, ERROR, ERROR_SOURCE_NODE, ASKED, REFUSED, PASSED, "__scheduled__"})
"""Writes that say something about a task without being its result."""


def passed_id(task_id: str, number: int) -> str:
    """The task id under which it is recorded, for the n-th time, which of a task's questions were answered.

    One of its own each time: many savers keep the first of two writes.
    """
    return uuid_shaped("passed", task_id, str(number))


def questions_id(task_id: str, answers: int) -> str:
    """The task id under which the questions of a task are recorded once it has had so many answers.

    Each time another one: some savers keep the first of what is written in one place.
    """
    return uuid_shaped("asked", task_id, *([str(answers)] if answers else []))


BESIDE = ""
"""In place of an id, in the record of what a task has asked: it was asked while another question was open."""


class Question:
    """One call of `interrupt()`. `index` is its place among the questions of its task."""

    __slots__ = ("adapter", "context", "digest", "index", "schema", "value")

    def __init__(self, context: TaskContext, value: Any, schema: Any) -> None:
        self.context = context
        self.value = value
        self.index = 0
        self.schema = schema
        self.digest = digest(value)
        self.adapter: TypeAdapter[Any] | None = None
        if schema is not None and not isinstance(schema, Mapping):
            self.adapter = TypeAdapter(schema)

    @property
    def id(self) -> str:
        """The id of its place."""
        return interrupt_id(self.context.task.checkpoint_ns, self.index)

    def interrupt(self) -> Interrupt[Any]:
        """What the caller is shown."""
        schema = self.adapter.json_schema() if self.adapter is not None else self.schema
        return Interrupt(value=self.value, id=self.id, response_schema=schema)

    def check(self, recorded: Sequence[tuple[str, str]]) -> None:
        """Refuse an answer that was given to another question than this one."""
        if self.index < len(recorded) and recorded[self.index][1] != self.digest:
            raise MisalignedResumeError(self.context.task.name, self.index, self._answered(), self.value)

    def _answered(self) -> Any:
        for interrupt in self.context.pending_interrupts():
            if interrupt.id == self.id:
                return interrupt.value
        return "another question"

    def validate(self, answer: Any) -> Any:
        """The answer in the form that the question asked for."""
        if self.adapter is None:
            return answer
        try:
            return self.adapter.validate_python(answer)
        except Exception as error:
            mark_invalid_resume(error)
            raise


def digest(value: Any) -> str:
    """Return what stands for a question's content, by value and not by identity."""
    try:
        kind, data = _plain.dumps_typed(value)
    except Exception:  # what cannot be serialised cannot be saved either, and the saver will say so
        return xxh3_128_hexdigest(type(value).__qualname__.encode())
    return xxh3_128_hexdigest(kind.encode() + data)


class TaskRecord:
    """What the saved writes of a checkpoint say about one task.

    Attributes:
        writes: Its result; empty while it has none that counts.
        refusals: How many of its results the barrier has refused.
        refused: The last of them.
    """

    __slots__ = ("answers", "error", "interrupts", "passed", "refusals", "refused", "source_node", "writes")

    def __init__(self) -> None:
        self.writes: list[tuple[str, Any]] = []
        self.refusals = 0
        self.refused: list[tuple[str, Any]] = []
        self.interrupts: tuple[Interrupt[Any], ...] = ()
        self.answers: list[Any] = []
        self.passed: set[str] = set()
        self.error: Any = None
        self.source_node: str | None = None

    def note(self, channel: str, value: Any) -> None:
        """Take in one of the task's writes."""
        if channel == INTERRUPT:
            found = tuple(value) if isinstance(value, list | tuple) else (value,)
            self.interrupts = (*self.interrupts, *found)
        elif channel == RESUME:
            self.answers = list(value) if isinstance(value, list) else [value]
        elif channel == ERROR:
            self.error = value
        elif channel == ERROR_SOURCE_NODE:
            self.source_node = value
        elif channel not in CONTROL_WRITES:
            self.writes.append((channel, value))

    @property
    def finished(self) -> bool:
        """Whether the task has a result."""
        return bool(self.writes)

    def open(self, ns: str) -> tuple[Interrupt[Any], ...]:
        """The questions still without an answer, `ns` being the task's own namespace."""
        if self.finished:
            return ()
        answered = self.passed.union(interrupt_id(ns, index) for index in range(len(self.answers)))
        return tuple(i for i in self.interrupts if i.id not in answered)


_NOTES = frozenset({ASKED, PASSED, REFUSED})
"""Channels of what is recorded about tasks, beside what they wrote."""


def read_record(pending: Collection[PendingWrite]) -> dict[str, TaskRecord]:
    """Saved writes by task id; input to the superstep itself (the null task) left out."""
    records: dict[str, TaskRecord] = {}
    refused = refused_tasks(pending)
    owner = owners(refused)
    for place, channel, value in pending:
        if place == NULL_TASK_ID or channel in _NOTES:
            continue
        task_id, number = owner.get(place, (place, 0))
        record = records.get(task_id)
        if record is None:
            record = records[task_id] = TaskRecord()
            record.refusals = refused.get(task_id, 0)
        if number == record.refusals or channel in LASTING:
            record.note(channel, value)
        elif number == record.refusals - 1 and channel not in CONTROL_WRITES:
            record.refused.append((channel, value))
    for task_id, (_, ids) in passed_questions(pending).items():
        if task_id in records:
            records[task_id].passed = set(ids)
    return records


def passed_questions(pending: Iterable[PendingWrite]) -> dict[str, tuple[int, list[str]]]:
    """By task, how often it was recorded which of its questions were answered before it stopped, and which last."""
    found: dict[str, tuple[int, list[str]]] = {}
    for _, channel, value in pending:
        if channel == PASSED:
            task_id, number, ids = value
            if number > found.get(task_id, (0, []))[0]:
                found[task_id] = (number, list(ids))
    return found


def looks_like_id(key: Any) -> bool:
    """Whether a key has the form of an interrupt id: 32 hexadecimal digits."""
    return isinstance(key, str) and len(key) == 32 and all(c in "0123456789abcdef" for c in key)


def match_answers(resume: Any, pending: Sequence[str], issued: Iterable[str]) -> dict[str, Any]:
    """Which question each answer is for.

    A dict is a map from question to answer only if all its keys are pending; a key that this thread
    issued earlier is refused by name; any other value, dicts included, is one plain answer.

    Args:
        resume: What the caller passed to `Command(resume=...)`.
        pending: Ids of the questions that wait for an answer.
        issued: Ids of questions asked on this thread before; read only if a key looks like one.

    Raises:
        UnknownInterruptError: an old id, or one plain answer for several questions.
    """
    if isinstance(resume, dict) and resume:
        if all(key in pending for key in resume):
            return dict(resume)
        suspects = [key for key in resume if looks_like_id(key) and key not in pending]
        stale = sorted(set(suspects).intersection(issued)) if suspects else []
        if stale or any(key in pending for key in resume):
            unknown = stale or [str(key) for key in resume if key not in pending]
            raise UnknownInterruptError(
                f"no open question has the id {unknown[0]}: it was answered, or belongs to another run; "
                f"open questions: {', '.join(pending) or 'none'}",
                reason="not_pending",
                interrupt_ids=unknown,
                pending_ids=sorted(pending),
            )
    if len(pending) > 1:
        raise UnknownInterruptError(
            f"When there are multiple pending interrupts, you must specify the interrupt id when resuming: "
            f"{len(pending)} questions are open, so pass a dict from id to answer, with ids from "
            f"{', '.join(sorted(pending))}",
            reason="ambiguous",
            pending_ids=sorted(pending),
        )
    return {pending[0]: resume} if pending else {}
