"""Turns what a database reports into the session's own exception, for every public method of a class.

What leaves a session in the words of others (an exception, a traceback) has no masked value in it.
"""

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from debugger_ui.session.masks import Masks
from debugger_ui.session.problems import SessionError, storage_problem
from debugger_ui.session.reading import Spot
from debugger_ui.session.view_actions import RunProgress
from runtime.checkpoint.errors import CheckpointStorageError

Class = TypeVar("Class", bound=type)


def told(cls: Class) -> Class:
    """Wrap the public methods that a class defines itself, so that storage errors become sentences."""
    for name, method in list(vars(cls).items()):
        if not name.startswith("_") and callable(method):
            setattr(cls, name, _translated(method))
    return cls


def _translated(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def translated(session: Any, *args: Any, **kwargs: Any) -> Any:
        masks: Masks = session.workspace.masks
        try:
            return _clean(session, method(session, *args, **kwargs))
        except SessionError as error:
            raise SessionError(masks.problem_of(error.problem)) from error
        except CheckpointStorageError as error:
            raise SessionError(masks.problem_of(storage_problem(error))) from error

    return translated


def _clean(session: Any, given: Any) -> Any:
    if not isinstance(given, RunProgress) or given.problem is None or not session.workspace.masks.patterns:
        return given
    # The values that the failing node had are those of its thread's newest checkpoint.
    reading = session.desk.reading
    if newest := reading.history(given.thread).newest:
        reading.record(Spot(given.thread, "", "", newest, True))
    masks: Masks = session.workspace.masks
    return replace(given, message=masks.clean(given.message), problem=masks.problem_of(given.problem))
