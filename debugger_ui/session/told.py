"""Turns what a database reports into the session's own exception, for every public method of a class."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from debugger_ui.session.problems import SessionError, describe
from debugger_ui.session.text import literal
from debugger_ui.session.view_values import Problem
from runtime.checkpoint.errors import CheckpointStorageError

ADVICE = {
    "corrupt": " Copy the file before anything else is done with it.",
    "busy": " Try again in a moment; nothing was changed.",
}

Class = TypeVar("Class", bound=type)


def told(cls: Class) -> Class:
    """Wrap the public methods that a class defines itself, so that storage errors become sentences."""
    for name, method in list(vars(cls).items()):
        if not name.startswith("_") and callable(method):
            setattr(cls, name, _translated(method))
    return cls


def _translated(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def translated(*args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        except CheckpointStorageError as error:
            raise SessionError(storage_problem(error)) from error

    return translated


def storage_problem(error: CheckpointStorageError) -> Problem:
    """Return what a database reports as a sentence with advice."""
    text = literal(str(error), lines=True).rstrip(".")
    return Problem(
        message=f"{text[:1].upper()}{text[1:]}.{ADVICE.get(error.reason, '')}", kind="database", details=describe(error)
    )
