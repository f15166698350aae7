"""Literal text: what comes from data is shown as it is, and what would deceive the eye is escaped.

Control characters, bidirectional overrides, zero-width characters, lone surrogates and long piles
of combining marks are written as escapes; everything else stays.
"""

import re
import unicodedata
from collections.abc import Callable

PILE = 4
"""Combining marks in a row that still stay; natural text has fewer."""

# Of blocks with gaps or marks in them only what is neither.
_GREEK, _KANA = r"\u0370-\u0377\u0384-\u038a\u038c\u038e-\u03a1\u03a3-\u03ff", r"\u3041-\u3096\u309b-\u30ff"
_SUSPECTS = re.compile(rf"[^\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff{_GREEK}\u0400-\u0482{_KANA}\u4e00-\u9fff]+")
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def literal(text: str, *, lines: bool = False) -> str:
    """Return the text with deceiving characters escaped; `lines` keeps line breaks and tabs."""
    return _escaped(text, "\n\t" if lines else "", lambda char: _NAMED.get(char) or escape(char))


def _escaped(text: str, kept: str, write: Callable[[str], str]) -> str:
    # Only runs of suspects are looked at character by character: texts may be long, and mostly are plain.
    return _SUSPECTS.sub(lambda found: _run(found[0], kept, write), text)


def _run(run: str, kept: str, write: Callable[[str], str]) -> str:
    pieces: list[str] = []
    marks = 0
    for char in run:
        category = unicodedata.category(char)
        marks = marks + 1 if category.startswith("M") else 0
        deceives = category in _HIDDEN and char not in kept
        pieces.append(write(char) if deceives or marks > PILE else char)
    return "".join(pieces)


def escape(char: str) -> str:
    """Return a character as its escape: \\u202e or \\U000e0001."""
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def json_safe(text: str) -> str:
    """Return JSON text with deceiving characters inside its strings as JSON escapes.

    The text stays the same JSON value; line breaks and blanks between tokens are kept.
    """
    return _escaped(text, "\n\t", _json_escape)


def _json_escape(char: str) -> str:
    code = ord(char)
    if code <= 0xFFFF:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def clip(text: str, limit: int) -> tuple[str, int]:
    """Return the text cut to `limit` characters, and how many characters were left out."""
    return (text, 0) if len(text) <= limit else (text[:limit], len(text) - limit)


def path_label(path: tuple[str | int, ...]) -> str:
    """Return a path as text: `messages[3].content`, with odd keys quoted."""
    pieces: list[str] = []
    for part in path:
        if isinstance(part, int):
            pieces.append(f"[{part}]")
        elif re.fullmatch(r"[^\W\d]\w*", part):
            pieces.append(f".{part}" if pieces else part)
        elif re.fullmatch(r"\[.*\]", part):
            pieces.append(part)
        else:
            pieces.append(f"[{literal(repr(part))}]")
    return "".join(pieces)
