"""What the paths of stored writes tell: of which task they are, who called it, as whom an edit was made."""

from collections.abc import Mapping, Sequence
from typing import Any

from debugger_ui.engines import naming

PULL = "__pregel_pull"


def path_of(text: str) -> tuple[str, str]:
    """Return kind and first part of a task path as it is stored: `~__pregel_pull, node`."""
    kind, _, rest = text.removeprefix("~").partition(", ")
    if kind == PULL:
        return kind, rest
    first = rest.partition(",")[0].strip()
    return kind, str(int(first)) if first.isdigit() else first


def caller_of(text: str) -> tuple[tuple[str, str], int]:
    """Return which task made a call and its number, from the call's path: `~__pregel_push, <caller>, number, True`."""
    inner = text.removeprefix(f"~{naming.PUSH}, ")
    path, _, rest = inner.rpartition(", ")[0].rpartition(", ")
    return (path_of(path), int(rest)) if inner != text and rest.isdigit() else (("", ""), 0)


def calls_of(
    rows: Sequence[Any], item: Any, tasks: Sequence[tuple[str, Sequence[Any]]]
) -> Mapping[str, tuple[Any, ...]]:
    """Return the saved results of what tasks called, by task id and in the order of the calls.

    Args:
        rows: the stored writes of a checkpoint, with their paths and without their values.
        item: the saver's tuple of that checkpoint, with the values.
        tasks: id and path of each task of its superstep.
    """
    callers = {(str(path[0]), str(path[1])): id_ for id_, path in tasks if len(path) > 1}
    values = {id_: value for id_, channel, value in item.pending_writes or () if channel == naming.RETURN}
    found: dict[str, dict[int, Any]] = {}
    for row in rows:
        caller, number = caller_of(row.task_path)
        if caller in callers and row.task_id in values:
            found.setdefault(callers[caller], {})[number] = values[row.task_id]
    return {id_: tuple(mine[number] for number in sorted(mine)) for id_, mine in found.items()}


def edited_as(writes: Sequence[Any]) -> tuple[str, ...]:
    """Return who made the edits on a checkpoint, from the paths of their writes: `~__interrupt__, 0000000000, node`.

    Nobody if an edit is among them that does not say: it could be any of them.
    """
    found: dict[tuple[str, str], str] = {}
    for write in writes:
        kind, number, name = (*write.task_path.removeprefix("~").split(", ", 2), "", "")[:3]
        if kind == naming.INTERRUPT and not name:
            return ()
        if kind == naming.INTERRUPT:
            found[number, name] = name
    return tuple(found.values())
