"""A task: one node's run in one superstep, small enough to be sent anywhere.

Its id and path are functions of the position alone (checkpoint, namespace, step, node, index), so
that the same task has the same id after a crash and its saved writes find their way back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from xxhash import xxh3_128_hexdigest

from runtime._constants import NS_END, NS_SEP, PULL, PUSH
from runtime._typing import MISSING
from runtime.constants import TAG_HIDDEN

if TYPE_CHECKING:
    from runtime.pregel.model import PregelNode, Write
    from runtime.types import TimeoutPolicy

Path = tuple[Any, ...]
"""`(PULL, node)`, `(PUSH, index, False)`, or `(PUSH, parent path, index, True)` for a call inside a task."""


class Place(NamedTuple):
    """Where a superstep stands: its namespace, the checkpoint it starts from, and its number."""

    ns: str
    checkpoint_id: str
    step: int


class Task:
    """One node's run in one superstep.

    Attributes:
        name: The node's name.
        path: Where the task stands in the superstep's fixed order.
        triggers: The channels that woke it; `(PUSH,)` for one that a Send addressed.
        given: The input that came with it (a Send's argument), or MISSING to read the state.
        writes: What it put on channels; empty until it has finished.
        error: What it failed with, in this or an earlier attempt to finish the superstep.
        refusals: How many of its results the barrier has refused: as long, it runs again.
    """

    __slots__ = (
        "_id",
        "call",
        "checkpoint_id",
        "error",
        "given",
        "interrupts",
        "name",
        "node",
        "ns",
        "path",
        "refusals",
        "source",
        "step",
        "timeout",
        "triggers",
        "writes",
    )

    def __init__(
        self,
        node: PregelNode,
        name: str,
        path: Path,
        triggers: Sequence[str],
        place: Place,
        given: Any = MISSING,
    ) -> None:
        self.node = node
        self.name = name
        self.path = path
        self.triggers = triggers
        self.ns, self.checkpoint_id, self.step = place
        self.given = given
        self.timeout: TimeoutPolicy | None = None
        self.writes: list[Write] = []
        self.interrupts: tuple[Any, ...] = ()
        self.error: BaseException | None = None
        self.source: Task | None = None
        self.refusals = 0
        self.call: Any = None
        self._id = ""

    @property
    def id(self) -> str:
        """A UUID-shaped digest of the task's position; made when somebody asks."""
        if not self._id:
            path = self.path
            known = path if path[0] == PULL and len(path) == 2 else _identity(path)
            parts = (self.checkpoint_id, self.ns, str(self.step), self.name, *known)
            if self.source is not None:
                parts += (self.source.id,)
            if path[0] == PULL:
                parts += tuple(self.triggers)
            self._id = uuid_shaped(*parts)
        return self._id

    def take_id(self, task_id: str) -> None:
        """Stand for a task whose id is known: an edit takes the place of the task it is made for."""
        self._id = task_id

    @property
    def checkpoint_ns(self) -> str:
        """The namespace of what runs inside the task: `parent|node:task_id`."""
        inner = f"{self.name}{NS_END}{self.id}"
        return f"{self.ns}{NS_SEP}{inner}" if self.ns else inner

    @property
    def hidden(self) -> bool:
        """Whether the task is the graph's own business, like the one that takes the input in."""
        return TAG_HIDDEN in self.node.tags

    @property
    def is_call(self) -> bool:
        """Whether a running task called it, as `@task` functions are."""
        return self.path[0] == PUSH and self.path[-1] is True

    def __repr__(self) -> str:
        return f"Task({self.name!r}, step={self.step}, path={self.path!r})"


def _identity(path: Path) -> tuple[str, ...]:
    return tuple(path_text(part) if isinstance(part, tuple) else str(part) for part in path[:3])


def uuid_shaped(*parts: str) -> str:
    """A digest of the parts in the form of a UUID."""
    digest = xxh3_128_hexdigest("\x1f".join(parts).encode())
    return f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:]}"


def path_text(path: Any) -> str:
    """A path as text whose alphabetical order is the order of application: savers sort by it."""
    if type(path) is str:
        return path
    if isinstance(path, tuple | list):
        return "~" + ", ".join(path_text(part) for part in path)
    if isinstance(path, int) and not isinstance(path, bool):
        return f"{path:010d}"
    return str(path)


def fold_order(task: Task) -> tuple[Any, ...]:
    """The order in which writes are folded: pulled nodes by name, then Sends by index.

    A task called by another follows its caller; an error handler stands in its node's place.
    """
    return _order(task.path)


def _order(path: Path) -> tuple[Any, ...]:
    kind = path[0]
    if not kind:
        return (-1, "", 0)
    if kind == PULL:
        return (0, path[1], 0)
    if isinstance(path[1], tuple):
        return (*_order(path[1]), path[2])
    return (1, "", path[1])
