"""The one exception that the session raises for whatever a person can meet.

It carries a `Problem`: sentences to show as they are, with the technical part kept aside.
"""

import re
import traceback

from debugger_ui.session.text import literal
from debugger_ui.session.view_values import Problem
from runtime.checkpoint.errors import CheckpointStorageError
from runtime.errors import text_of

MAX_DETAILS = 8_000
LEFT_OUT = re.compile(r"(\s\.\.\. [\d,]+ characters left out \.\.\.\s)")
"""What `cut` puts in the place of the middle of a text."""
ADVICE = {
    "corrupt": " Copy the file before anything else is done with it.",
    "encrypted": " Start the debugger with the key in LANGGRAPH_AES_KEY to see the values; they are kept as they are.",
    "busy": " Try again in a moment; nothing was changed.",
}


class SessionError(Exception):
    """Something could not be done; `problem` says what and why, in the user's words."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def refuse(message: str, kind: str = "input", **parts: object) -> SessionError:
    """Return the exception for a refusal; `parts` are further fields of `Problem`."""
    return SessionError(Problem(message=literal(message, lines=True), kind=kind, **parts))  # type: ignore[arg-type]


def said(error: BaseException) -> str:
    """Return an exception as one line: its type and the first line of its own words, literally."""
    text = text_of(error).strip().splitlines()
    return literal(f"{type(error).__name__}: {cut(text[0], 600, ' ')}" if text else type(error).__name__)


def describe(error: BaseException) -> str:
    """Return type and message of an exception, and its notes, as one text."""
    lines = ["".join(traceback.format_exception_only(error)).strip()]
    return literal(cut("\n".join(lines)), lines=True)


def trace(error: BaseException) -> str:
    """Return the traceback of an exception as one text, its middle left out when it is long."""
    return literal(cut("".join(traceback.format_exception(error)).strip()), lines=True)


def cut(text: str, limit: int = MAX_DETAILS, around: str = "\n") -> str:
    """Return the text, with its middle left out when it is longer than `limit` characters.

    `around` stands before and after what says so: a line break, or a space to stay on one line.
    """
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}{around}... {len(text) - limit:,} characters left out ...{around}{text[-half:]}"


def storage_problem(error: CheckpointStorageError) -> Problem:
    """Return what a database reports as a sentence with advice."""
    text = literal(str(error), lines=True).rstrip(".")
    return Problem(
        message=f"{text[:1].upper()}{text[1:]}.{ADVICE.get(error.reason, '')}", kind="database", details=describe(error)
    )
