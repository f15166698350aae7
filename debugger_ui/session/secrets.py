"""Masked values as texts, so that sentences which repeat one (an exception's words) can leave it out.

Short texts are no secrets: leaving every `1` or `yes` out of a traceback would hide the traceback.
"""

import json
import threading
from collections.abc import Callable, Sequence
from typing import Any

from debugger_ui.session.problems import LEFT_OUT
from debugger_ui.session.shape import items_of, kind_of, show_int
from debugger_ui.session.text import literal

SHORTEST = 4
LONGEST = 20_000
KEEP = 4_000
MAX_PARTS = 20_000
MARK = "•••"


class Secrets:
    """The last masked texts and numbers that were met."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, None] = {}

    def add(self, value: Any) -> None:
        """Take in the texts and numbers of a masked value."""
        found = dict.fromkeys(way for text in _texts(value) for way in _ways(text))
        with self._lock:
            for text in found:
                self._known.pop(text, None)
            self._known.update(found)
            while len(self._known) > KEEP:
                self._known.pop(next(iter(self._known)))

    def clean(self, text: str) -> str:
        """Return the text with every known one replaced, also what is left of one that the text was cut in."""
        with self._lock:
            known = sorted(self._known, key=len, reverse=True)
        for secret in known:
            if secret in text:
                text = text.replace(secret, MARK)
        pieces = LEFT_OUT.split(text)
        for place in range(0, len(pieces) - 2, 2):  # every other piece says what is left out
            pieces[place] = _without_start(pieces[place], known)
            pieces[place + 2] = _without_end(pieces[place + 2], known)
        return "".join(pieces)


def _without_start(piece: str, known: Sequence[str]) -> str:
    """Return a text without what it ends with, if that is how a known one begins."""
    begun = [
        at
        for secret in known
        if (at := _first(piece, secret[:SHORTEST], max(0, len(piece) - len(secret)), secret.startswith)) >= 0
    ]
    return piece[: min(begun)] + MARK if begun else piece


def _without_end(piece: str, known: Sequence[str]) -> str:
    """Return a text without what it begins with, if that is how a known one ends."""
    return _without_start(piece[::-1], [secret[::-1] for secret in known])[::-1]


def _first(piece: str, start: str, at: int, begins: Callable[[str], bool]) -> int:
    """Return the first place from which the piece is the beginning of something; -1 if there is none."""
    while (at := piece.find(start, at)) >= 0 and not begins(piece[at:]):
        at += 1
    return at


def _texts(value: Any) -> list[str]:
    """Return the leaves of a value as texts; works with a list, since values may nest without end."""
    todo, found, met = [value], [], 0
    while todo and met < MAX_PARTS:
        one = todo.pop()
        met += 1
        kind = kind_of(one)
        if kind in ("str", "float"):
            found.append(str(one))
        elif kind == "int":
            found.append(show_int(one))
        elif kind == "bytes":
            found.append(bytes(one).decode("utf-8", "backslashreplace"))
        else:
            todo += [item for _, item in items_of(one)]
    return [text for text in found if SHORTEST <= len(text) <= LONGEST]


def _ways(text: str) -> list[str]:
    """Return how a text may be written in a sentence: as it is, quoted, escaped; its first line, and all in one."""
    ways = [text, repr(text)[1:-1], json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]]
    lines = [line for line in map(str.strip, text.splitlines()) if line]
    ways += [lines[0], " ".join(lines)] if len(lines) > 1 else lines
    return [way for way in (*ways, *(literal(way, lines=True) for way in ways)) if len(way) >= SHORTEST]
