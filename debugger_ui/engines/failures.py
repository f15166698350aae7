"""A task's exception as the record keeps it: some savers give it back whole, others as its `repr`."""

import ast
from collections.abc import Sequence
from typing import Any

from debugger_ui.engines import naming
from debugger_ui.engines.recorded import Failure, Task
from runtime.errors import text_of

LONGEST = 100_000
"""Characters of a text that are still read as what it was."""


def failure_of(error: Any) -> Failure:
    """Return a recorded exception: an exception, or its `repr` as savers keep it."""
    if isinstance(error, BaseException):
        return Failure(type(error).__name__, text_of(error))
    text = str(error)
    name, bracket, rest = text.partition("(")
    if bracket and name.isidentifier() and rest.endswith(")"):
        return Failure(name, _said(rest[:-1].rstrip(",")))
    return Failure("Error", text)


def _said(argument: str) -> str:
    """Return what stood between the brackets of a `repr`: a text as it was, with its lines; all else as written."""
    if argument[:1] not in ("'", '"'):
        return argument
    try:
        said = ast.literal_eval(argument) if len(argument) <= LONGEST else None
    except (ValueError, SyntaxError):  # a repr that its class wrote: it need not be Python
        said = None
    return said if isinstance(said, str) else argument


def refusals(writes: Sequence[tuple[str, str, Any]], tasks: Sequence[Task]) -> tuple[str, ...]:
    """Return the errors that belong to no task: why a superstep's update was refused."""
    known = {task.id for task in tasks}
    found = [failure_of(value) for id_, channel, value in writes if channel == naming.ERROR and id_ not in known]
    said = [f"{error.type}: {without_codes(error.message)}" for error in found]
    return tuple(f"The update of this superstep was refused. {words}" for words in said)


def without_codes(message: str) -> str:
    """Return a message in one line, without the lines below it that are for looking it up in a runtime's manual."""
    lines = [line.strip() for line in message.splitlines()]
    looked_up = [
        (line.startswith("[") and line.endswith("]")) or line.startswith("For troubleshooting") for line in lines
    ]
    return " ".join(line for line, code in zip(lines, looked_up, strict=True) if line and not code)
