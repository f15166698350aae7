"""Text from data in places that Streamlit reads as Markdown: labels of buttons, tabs, options.

Rule: a value never goes into such a place unescaped; where it can, it goes to a component as text.
"""

import hashlib
import re

from debugger_ui.session.text import literal

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
"""CommonMark lets every ASCII punctuation character be escaped."""

_AUTOLINK = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?=@)|(?<=-)(?=[->])|(?<=<)(?=-)|(?<=\.)(?=\.)", re.IGNORECASE)
"""Places where links and typographic replacements begin whatever is escaped around them."""

MAX_PLAIN = 60
WORD_JOINER = "\N{WORD JOINER}"


def visible(text: object, limit: int = 200) -> str:
    """Return one line of the text, characters that deceive or break the layout shown as escapes."""
    line = " ".join(str(text).split())
    if len(line) > limit:
        line = line[: limit - 1] + "…"
    return literal(line)


def markdown(text: object, limit: int = 200) -> str:
    """Return Markdown that shows the text literally, on one line."""
    return _PUNCTUATION.sub(r"\\\1", _AUTOLINK.sub(WORD_JOINER, visible(text, limit)))


def count(number: int, noun: str, plural: str = "") -> str:
    """Return `1 task`, `3 tasks`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def size(number: int) -> str:
    """Return a number of bytes as a reader takes it in."""
    amount = float(number)
    for unit in ("bytes", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def slug(text: str) -> str:
    """Return the text as part of a widget's key: itself when it is a plain name, else a digest of it.

    Streamlit refuses two underscores in a row in a component's key, so such names are not plain.
    """
    if len(text) <= MAX_PLAIN and re.fullmatch(r"[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*", text):
        return text
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
