"""Reads JSON that a person typed, and says in plain sentences where it goes wrong.

Stricter than `json.loads` where that loses data silently: a key twice in one object, a number too
large for a float, half a surrogate pair. As lenient where Python state needs it: NaN and Infinity.
"""

import json
import math
import re
import sys
from typing import Any

from debugger_ui.session.problems import refuse
from debugger_ui.session.text import escape

MAX_CHARS = 5_000_000
MAX_DEPTH = 200
_HALF = re.compile("[\ud800-\udfff]")


def parse_json(text: str, field: str = "") -> Any:
    """Return the value of the JSON text.

    Raises:
        SessionError: with line and column, and what is wrong there.
    """
    if not text.strip():
        raise refuse(
            'The box is empty. Write a JSON value, for example null, 0, "text", [] or {}.',
            field=field,
            line=1,
            column=1,
        )
    if len(text) > MAX_CHARS:
        raise refuse(
            f"This is {len(text):,} characters long; the editor takes up to {MAX_CHARS:,}. "
            "Set large values from Python with update_state.",
            field=field,
        )
    if nesting(text) > MAX_DEPTH:
        raise refuse(f"This is nested deeper than {MAX_DEPTH} levels, which the editor does not take.", field=field)
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_float=_finite, parse_int=_whole)
        if "\\u" in text or _HALF.search(text):
            _refuse_halves(value)
        return value
    except json.JSONDecodeError as error:
        raise refuse(
            f"Line {error.lineno}, column {error.colno}: {_sentence(error)}",
            field=field,
            line=error.lineno,
            column=error.colno,
            details=error.msg,
        ) from None
    except ValueError as error:
        raise refuse(f"{error}", field=field) from None


def nesting(text: str) -> int:
    """Return how deep the brackets of a JSON text go, without parsing it."""
    depth = deepest = 0
    quoted = escaped = False
    for char in text:
        if quoted:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                quoted = False
        elif char == '"':
            quoted = True
        elif char in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "]}":
            depth -= 1
    return deepest


def _refuse_halves(value: Any) -> None:
    """Raise when a text of the value holds half a surrogate pair: that cannot be stored as UTF-8."""
    half = _HALF.search(json.dumps(value, ensure_ascii=False))
    if half is not None:
        raise ValueError(
            f"{escape(half[0])} is half a surrogate pair and stands alone here. That is no character and cannot be "
            "stored; write the whole pair, or take it away."
        )


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"The key {twice!r} is there twice in one object; only one could be kept.")
    return found


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"The number {text[:40]} is too large for a float; write Infinity if that is meant.")
    return number


def _whole(text: str) -> int:
    most = sys.get_int_max_str_digits()
    if most and len(text.lstrip("-")) > most:
        raise ValueError(f"The number {text[:20]}... has {len(text):,} digits; up to {most:,} can be typed.")
    return int(text)


def _sentence(error: json.JSONDecodeError) -> str:
    rest = error.doc[error.pos :]
    before = error.doc[: error.pos].rstrip()
    seen = rest[:1]
    if seen == "'" or (error.msg.startswith("Expecting property name") and seen == "'"):
        return "JSON texts and keys stand in double quotes, not single ones."
    if error.msg.startswith("Unterminated string"):
        return "the text that begins here is not closed with a double quote."
    if error.msg.startswith("Invalid control character"):
        return "a text cannot contain a line break or control character as it is; write \\n, \\t or \\u00XX."
    if error.msg.startswith("Invalid \\"):
        return "this backslash does not begin an escape; write \\\\ for a backslash."
    if error.msg.startswith("Extra data"):
        return "the value ends before this; there is something left over."
    return _sentence_by_context(error, before, seen)


def _sentence_by_context(error: json.JSONDecodeError, before: str, seen: str) -> str:
    if not seen:
        return "the text ends here, but a bracket or value is still open."
    if seen in "]}" and before.endswith(","):
        return f"there is a comma before the closing {seen}; take it away."
    if error.msg.startswith("Illegal trailing comma"):
        return "there is a comma before the closing bracket; take it away."
    if error.msg.startswith("Expecting property name"):
        return "a key in double quotes is expected here."
    if error.msg.startswith("Expecting ':'"):
        return "a colon is expected between the key and its value."
    if error.msg.startswith("Expecting ','"):
        return "a comma is expected between this and what stands before it."
    word = _word(error.doc[error.pos :])
    hints = {"True": "true", "False": "false", "None": "null"}
    if word in hints:
        return f"JSON writes {hints[word]} for Python's {word}."
    return "a JSON value is expected here: a number, a text in double quotes, true, false, null, [...] or {...}."


def _word(text: str) -> str:
    end = 0
    while end < len(text) and text[end].isalpha():
        end += 1
    return text[:end]
