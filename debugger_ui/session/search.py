"""Finds a text in what the newest checkpoint of a thread holds: state, pending questions, errors.

Rules:
- A thread is read once for as long as its newest checkpoint is the newest.
- Memory is bounded, for one thread and for all: of a long list the newest items count first.
"""

import threading
from collections.abc import Iterator
from typing import Any

from debugger_ui.engines.base import Record
from debugger_ui.session.reading import Reading, Spot
from debugger_ui.session.shape import items_of, kind_of, safe_repr
from debugger_ui.session.text import literal, path_label

LETTERS = 200_000
"""Characters of one thread that are searched."""
ALL_LETTERS = 20_000_000
"""Characters kept in memory, of all threads."""
DEPTH = 40
AROUND = 40
"""Characters shown on either side of what was found."""

Line = tuple[str, str]
"""Where a text stands, and the text."""
Stamp = tuple[str, tuple[str, ...]]
"""The newest checkpoint when the texts were read, and what was masked then."""


class StateTexts:
    """The texts of threads' newest checkpoints, kept while they are the newest."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[Stamp, list[Line], int]] = {}
        self._letters = 0

    def find(self, reading: Reading, thread: str, newest: str, wanted: str) -> str:
        """Return where the text stands and what is around it; "" when it is not there.

        `wanted` is compared without regard to upper and lower case.
        """
        wanted = wanted.casefold()
        for label, text in self._lines(reading, thread, newest):
            if wanted in text.casefold() or wanted in label.casefold():
                return snippet(label, text, wanted)
        return ""

    def _lines(self, reading: Reading, thread: str, newest: str) -> list[Line]:
        stamp = newest, reading.masks.patterns
        with self._lock:
            kept = self._kept.get(thread)
        if kept is not None and kept[0] == stamp:
            return kept[1]
        record = reading.record(Spot(thread, "", "", newest, True))
        lines = list(_bounded(texts(record)))
        self._keep(thread, stamp, lines)
        return lines

    def _keep(self, thread: str, stamp: Stamp, lines: list[Line]) -> None:
        letters = sum(len(label) + len(text) for label, text in lines)
        with self._lock:
            self._letters += letters - self._kept.pop(thread, (("", ()), [], 0))[2]
            self._kept[thread] = (stamp, lines, letters)
            while self._letters > ALL_LETTERS and len(self._kept) > 1:
                self._letters -= self._kept.pop(next(iter(self._kept)))[2]


def texts(record: Record) -> Iterator[Line]:
    """Yield every text of a checkpoint with where it stands: what waits or failed first, then the state."""
    for task in record.tasks:
        for asked in task.questions:
            yield from _walk(f"question of {task.name}", asked.value, (), 0)
        if task.failure is not None:
            yield f"error of {task.name}", f"{task.failure.type}: {task.failure.message}"
    for key, value in record.state.items():
        yield from _walk("", value, (key,), 0)


def _walk(about: str, value: Any, path: tuple[str | int, ...], depth: int) -> Iterator[Line]:
    parts = items_of(value) if depth < DEPTH else []
    if not parts:
        yield " ".join(filter(None, (about, path_label(path)))), value if isinstance(value, str) else safe_repr(value)
        return
    # The end of a conversation is what people remember of it.
    for key, part in reversed(parts) if kind_of(value) == "list" else parts:
        yield from _walk(about, part, (*path, key), depth + 1)


def _bounded(lines: Iterator[Line]) -> Iterator[Line]:
    left = LETTERS
    for label, text in lines:
        if left <= 0:
            return
        yield label, text[:left]
        left -= len(label) + len(text)


def snippet(label: str, text: str, wanted: str) -> str:
    """Return `label: …what is around the text…` on one line."""
    at = max(0, text.casefold().find(wanted))
    begin, end = max(0, at - AROUND), at + len(wanted) + AROUND
    around = " ".join(text[begin:end].split())
    return literal(f"{label}: {'…' if begin else ''}{around}{'…' if end < len(text) else ''}")
