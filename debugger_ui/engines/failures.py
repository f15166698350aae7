"""A task's exception as the record keeps it: some savers give it back whole, others as its `repr`."""

from typing import Any

from debugger_ui.engines.base import Failure


def failure_of(error: Any) -> Failure:
    """Return a recorded exception: an exception, or its `repr` as savers keep it."""
    if isinstance(error, BaseException):
        return Failure(type(error).__name__, str(error))
    text = str(error)
    name, bracket, rest = text.partition("(")
    if bracket and name.isidentifier() and rest.endswith(")"):
        return Failure(name, rest[:-1].rstrip(",").strip("'\""))
    return Failure("Error", text)
