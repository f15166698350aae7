"""A task's exception as the record keeps it: some savers give it back whole, others as its `repr`."""

from collections.abc import Sequence
from typing import Any

from debugger_ui.engines import naming
from debugger_ui.engines.base import Failure, Task
from runtime.errors import text_of


def failure_of(error: Any) -> Failure:
    """Return a recorded exception: an exception, or its `repr` as savers keep it."""
    if isinstance(error, BaseException):
        return Failure(type(error).__name__, text_of(error))
    text = str(error)
    name, bracket, rest = text.partition("(")
    if bracket and name.isidentifier() and rest.endswith(")"):
        return Failure(name, rest[:-1].rstrip(",").strip("'\""))
    return Failure("Error", text)


def refusals(writes: Sequence[tuple[str, str, Any]], tasks: Sequence[Task]) -> tuple[str, ...]:
    """Return the errors that belong to no task: why a superstep's update was refused."""
    known = {task.id for task in tasks}
    found = [failure_of(value) for id_, channel, value in writes if channel == naming.ERROR and id_ not in known]
    said = [f"{error.type}: {' '.join(error.message.split())}" for error in found]
    return tuple(f"The update of this superstep was refused. {words}" for words in said)
