"""Masked values as texts, so that sentences which repeat one (an exception's words) can leave it out.

Short texts are no secrets: leaving every `1` or `yes` out of a traceback would hide the traceback.
"""

import json
import threading
from typing import Any

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
        """Return the text with every known one replaced."""
        with self._lock:
            known = sorted(self._known, key=len, reverse=True)
        for secret in known:
            if secret in text:
                text = text.replace(secret, MARK)
        return text


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
    """Return how a text may be written in a sentence: as it is, quoted, escaped."""
    ways = [text, repr(text)[1:-1], json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]]
    return ways + [literal(way, lines=True) for way in ways] + text.split("\n")[: 1 if "\n" in text else 0]
