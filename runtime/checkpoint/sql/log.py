"""The writes on top of one checkpoint: which are stored, as which attempt, and which count.

Rule 1: nothing is replaced. A task that asks, fails or is answered again gets rows with the next attempt; readers
        take the newest row of a task and index.
Rule 2: an ordinary write that is already stored stays the one that counts, as savers of `langgraph-checkpoint`
        have it: a finished task's second result is ignored.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from runtime.checkpoint.base import WRITES_IDX_MAP, SerializerProtocol
from runtime.checkpoint.errors import SerializationError
from runtime.checkpoint.serde.types import ERROR, INTERRUPT

_ENDS = {WRITES_IDX_MAP[ERROR], WRITES_IDX_MAP[INTERRUPT]}


class Written(NamedTuple):
    """A write as it was stored, and the object it was made of. `fresh`: encoded in this very call."""

    number: int
    value: Any
    type: str
    data: bytes
    fresh: bool


class _Task:
    __slots__ = ("attempt", "ended", "in_attempt", "stored")

    def __init__(self) -> None:
        self.attempt = 0
        self.ended = False
        self.in_attempt: set[int] = set()
        self.stored: set[int] = set()

    def note(self, attempt: int, idx: int) -> None:
        if attempt != self.attempt:
            self.attempt, self.ended = attempt, False
            self.in_attempt = set()
        self.in_attempt.add(idx)
        self.stored.add(idx)
        self.ended = self.ended or idx >= 0 or idx in _ENDS


WriteRow = tuple[int, str, str, int, int, str, str, bytes]  # number to value, as in the table


class Carried(NamedTuple):
    """A write as another database has it, or as it is stored here."""

    task_id: str
    task_path: str
    idx: int
    channel: str
    type: str
    data: bytes


class WriteLog:
    """What is stored on top of a checkpoint. `objects` is None if some of it came from elsewhere.

    `stale`: another process may have appended rows that are not in here.
    """

    __slots__ = ("_newest", "_tasks", "count", "objects", "stale")

    def __init__(self) -> None:
        self.count = 0
        self.stale = False
        self.objects: dict[str, list[Written]] | None = {}
        self._tasks: dict[str, _Task] = {}
        self._newest: dict[tuple[str, int], int] = {}

    @classmethod
    def of(cls, keys: Iterable[tuple[Any, ...]]) -> "WriteLog":
        """The log of stored rows, given as number, task id, attempt, idx and channel, in order."""
        log = cls()
        for number, task_id, attempt, idx, _ in keys:
            log._note(number, task_id, attempt, idx)
            log.objects = None
        return log

    def add(
        self, task_id: str, task_path: str, writes: Sequence[tuple[str, Any]], serde: SerializerProtocol
    ) -> list[WriteRow]:
        """Append what a task wrote, and return the rows to store."""
        task = self._tasks.get(task_id)
        wanted = [(WRITES_IDX_MAP.get(channel, at), channel, value) for at, (channel, value) in enumerate(writes)]
        attempt = 0
        if task is not None:
            wanted = [write for write in wanted if write[0] < 0 or write[0] not in task.stored]
            repeated = any(write[0] in task.in_attempt for write in wanted)
            attempt = task.attempt + 1 if task.ended or repeated else task.attempt
        rows = []
        for idx, channel, value in wanted:
            kind, data = encoded(serde, channel, value)
            number = self.count
            rows.append((number, task_id, task_path, attempt, idx, channel, kind, data))
            self._note(number, task_id, attempt, idx)
            # Errors and questions become no channel's value, and an error holds all that its node had in hand.
            if self.objects is not None and idx >= 0:
                self.objects.setdefault(channel, []).append(Written(number, value, kind, data, fresh=True))
        return rows

    def carry(self, write: Carried, value: Any, encoded: tuple[str, bytes], attempt: int | None = None) -> WriteRow:
        """Append a write with its own index and bytes, and return the row to store.

        `encoded` are the bytes of its value, to compare others with. Without an `attempt`, it is the next one if the
        task has such a write already.
        """
        if attempt is None:
            task = self._tasks.get(write.task_id)
            attempt = 0 if task is None else task.attempt + (write.idx in task.in_attempt)
        number = self.count
        self._note(number, write.task_id, attempt, write.idx)
        if self.objects is not None:
            self.objects.setdefault(write.channel, []).append(Written(number, value, *encoded, fresh=False))
        return (number, write.task_id, write.task_path, attempt, *write[2:])

    def last(
        self, tasks: Sequence[tuple[str, str, Sequence[tuple[str, Any]]]], serde: SerializerProtocol
    ) -> tuple[list[WriteRow], str] | None:
        """Rows for the first and last writes of a checkpoint, and which of them count.

        The short way for most supersteps: nothing is stored yet, nothing will be asked of this log afterwards, so
        no accounts are kept. None where the long way is needed.
        """
        if self.count or self.objects is None or len({task[0] for task in tasks}) < len(tasks):
            return None
        rows: list[WriteRow] = []
        for task_id, task_path, writes in tasks:
            for idx, (channel, value) in enumerate(writes):
                if channel in WRITES_IDX_MAP:
                    self.objects.clear()
                    return None
                kind, data = encoded(serde, channel, value)
                number = len(rows)
                rows.append((number, task_id, task_path, 0, idx, channel, kind, data))
                self.objects.setdefault(channel, []).append(Written(number, value, kind, data, fresh=True))
        return rows, ranges(range(len(rows)))

    def settle(self) -> None:
        """From here on the stored writes are from an earlier call: their objects may have been changed since."""
        if self.objects:
            self.objects = {
                channel: [Written(*write[:4], fresh=False) for write in writes]
                for channel, writes in self.objects.items()
            }

    def folded(self, tasks: Iterable[str] | None = None) -> str:
        """The numbers of the rows that count (of these tasks), as ranges: "0-3,7"."""
        if tasks is None and len(self._newest) == self.count:
            return ranges(range(self.count))
        chosen = None if tasks is None else set(tasks)
        return ranges(sorted(number for (task, _), number in self._newest.items() if chosen is None or task in chosen))

    def _note(self, number: int, task_id: str, attempt: int, idx: int) -> None:
        self.count = max(self.count, number + 1)
        self._tasks.setdefault(task_id, _Task()).note(attempt, idx)
        self._newest[task_id, idx] = number


def ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers in short: 0, 1, 2, 7 is "0-2,7"."""
    if isinstance(numbers, range) and numbers:
        return f"{numbers[0]}-{numbers[-1]}" if len(numbers) > 1 else f"{numbers[0]}"
    parts: list[str] = []
    start = previous = None
    for number in [*numbers, None]:
        if previous is not None and number == previous + 1:
            previous = number
            continue
        if start is not None:
            parts.append(f"{start}-{previous}" if previous != start else f"{start}")
        start = previous = number
    return ",".join(parts)


def numbers(text: str) -> list[int]:
    """The numbers that `ranges` wrote."""
    found: list[int] = []
    for part in text.split(",") if text else ():
        first, _, last = part.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    return found


def encoded(serde: SerializerProtocol, channel: str, value: Any) -> tuple[str, bytes]:
    """A value's type tag and bytes.

    Raises:
        SerializationError: it cannot be stored; the message names the channel too.
    """
    try:
        return serde.dumps_typed(value)
    except SerializationError as error:
        raise SerializationError(f"key {channel!r}: {error}") from None
