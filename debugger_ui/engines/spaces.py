"""What a namespace tells: which nodes and tasks lead to a subgraph's checkpoints. The only place that reads one.

`edit:1f2c|1|check:2d3e` is the graph that the task `2d3e` of node `check` runs, inside the second graph that the
task `1f2c` of node `edit` runs. A subgraph with a memory of its own has a namespace without task ids.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SEPARATOR = "|"


@dataclass(frozen=True, slots=True)
class Inner:
    """What a run of a subgraph has saved: its namespace, its newest checkpoint, and how many there are.

    `parents` are the checkpoints around the newest one, by namespace: where the runs that contain it stood.
    """

    namespace: str
    newest: str
    checkpoints: int
    parents: Mapping[str, str] = field(default_factory=dict)


def graph_path(namespace: str) -> str:
    """Return the node names that lead to a namespace: `outer:1f2c|inner:2d` is `outer|inner`."""
    parts = (part.partition(":")[0] for part in namespace.split(SEPARATOR))
    return SEPARATOR.join(part for part in parts if part and not part.isdigit())


def parts_of(namespace: str) -> tuple[str, str, str, int]:
    """Return the namespace around one, the node and the task id that it belongs to, and which call it was (from 1).

    The task id is empty where the namespace does not tell.
    """
    parts = namespace.split(SEPARATOR)
    call = 1
    while len(parts) > 1 and parts[-1].isdigit():
        call += int(parts.pop())
    node, _, task = parts.pop().partition(":")
    return SEPARATOR.join(parts), node, task, call


def parents_of(metadata: Mapping[str, Any] | None) -> Mapping[str, str]:
    """Return the checkpoints around one, by namespace, as its metadata tells."""
    parents = (metadata or {}).get("parents")
    return {str(key): str(value) for key, value in parents.items()} if isinstance(parents, Mapping) else {}


def around(namespace: str, parents: Mapping[str, str]) -> dict[str, str]:
    """Return those of the checkpoints around a run, by namespace, that contain it.

    Runtimes also note checkpoints that a run was started from; and a namespace without task ids may lie inside one
    that has them.
    """
    wanted = without_tasks(namespace)
    return {
        space: id_
        for space, id_ in parents.items()
        if not space or namespace.startswith(f"{space}{SEPARATOR}") or _holds(space, namespace, wanted)
    }


def without_tasks(namespace: str) -> str:
    """Return a namespace without its task ids: that of a subgraph with a memory of its own."""
    return SEPARATOR.join(part.partition(":")[0] for part in namespace.split(SEPARATOR))


def _holds(space: str, namespace: str, wanted: str) -> bool:
    return ":" not in namespace and wanted.startswith(f"{without_tasks(space)}{SEPARATOR}")
