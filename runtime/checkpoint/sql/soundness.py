"""What single rows must be like: pure functions of what was read, each giving what is wrong in words.

Rule: what is checked here follows from how rows are made, whoever made them; a value that could have been stored as it
      is counts as sound.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from runtime.checkpoint.base import WRITES_IDX_MAP


class WriteKey(NamedTuple):
    """A write without its value."""

    number: int
    task_id: str
    attempt: int
    idx: int
    channel: str


def of_header(step: Any, source: Any, created_at: Any, metadata: Mapping[str, Any]) -> Iterator[str]:
    """What a checkpoint's row says twice is the same, and its time is one."""
    for name, column in (("step", step), ("source", source)):
        if metadata.get(name) != column:
            yield f"its {name} is {column!r}, and its metadata say {metadata.get(name)!r}"
    if created_at is not None and not _is_time(created_at):
        yield f"the time it was made is given as {created_at!r}, which is none"


def of_log(writes: Sequence[WriteKey]) -> Iterator[str]:
    """Of the writes on one checkpoint none is missing, attempts go up from 0 by one, and no index is there twice."""
    missing = sorted(set(range(writes[-1].number + 1)) - {write.number for write in writes}) if writes else []
    if missing:
        yield f"writes are numbered from 0 without a gap, and {few(missing)} is not there"
    attempts: dict[str, int] = {}
    indexes: dict[tuple[str, int, int], int] = {}
    for write in writes:
        number, task = write.number, write.task_id
        before = attempts.get(task, -1)
        if write.attempt < before:
            yield f"write {number} of task {task!r} goes back to attempt {write.attempt}"
        elif write.attempt > before + 1 and not missing:
            yield f"write {number} of task {task!r} is of attempt {write.attempt}, and there is none before it"
        attempts[task] = write.attempt
        other = indexes.setdefault((task, write.attempt, write.idx), number)
        if other != number and write.idx >= 0:  # one call may bring several answers, which share their index
            yield f"writes {other} and {number} of task {task!r} have the same index {write.idx} in one attempt"
        expected = WRITES_IDX_MAP.get(write.channel)
        if (write.idx < 0) if expected is None else (write.idx != expected):
            yield f"write {number} to {write.channel!r} has the index {write.idx}, which such a write never has"


def of_values(numbers: Sequence[int]) -> Iterator[str]:
    """The values of one checkpoint that no write holds are numbered down from -1."""
    missing = sorted(set(range(min(numbers), 0)) - set(numbers), reverse=True) if numbers else []
    if missing:
        yield f"values are numbered from -1 down without a gap, and {few(missing)} is not there"


def of_type(kind: str, length: int) -> str:
    """What is wrong with a value's type tag, "" if nothing: None has no bytes, and other values some."""
    return f"it is tagged {kind!r}, and has {length} bytes" if kind == "null" and length else ""


def few(found: Sequence[int]) -> str:
    """Some numbers, and how many more there are."""
    return ", ".join(map(str, found[:5])) + (f" and {len(found) - 5} more" if len(found) > 5 else "")


def _is_time(text: Any) -> bool:
    try:
        datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return bool(text == "")
    return True
