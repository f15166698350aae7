"""What the core asks of whoever drives it, and what comes back.

The core decides and performs nothing: it yields one of these values and is sent the answer. A driver
carries each out in its own way (blocking or awaiting) and knows no policy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import Checkpoint, CheckpointTuple

if TYPE_CHECKING:
    from runtime.callbacks import GraphLifecycleEvent
    from runtime.pregel.context import TaskContext
    from runtime.pregel.model import Write


@dataclass(slots=True)
class Load:
    """Answer with the checkpoint that a config names (the newest if it names none), or None."""

    config: RunnableConfig


@dataclass(slots=True)
class Newest:
    """Answer with the id of the newest checkpoint in a config's namespace, or None."""

    config: RunnableConfig


@dataclass(slots=True)
class History:
    """Answer with a list of checkpoints, newest first."""

    config: RunnableConfig
    filter: Mapping[str, Any] | None = None
    before: RunnableConfig | None = None
    limit: int | None = None


@dataclass(slots=True)
class Replay:
    """Answer with what was written to these channels on the way to a checkpoint, and with what value they began."""

    saved: CheckpointTuple
    channels: Sequence[str]


@dataclass(slots=True)
class HasChildren:
    """Answer whether any checkpoint was made from this one."""

    saved: CheckpointTuple


@dataclass(slots=True)
class Put:
    """Save a checkpoint, and with it the given writes on the one before it.

    `new_versions` are those of the channels that changed since; `nodes`, if known, the nodes whose entries
    in `versions_seen` changed; `folded` the task ids of the writes that made it, None for all that are saved.
    """

    config: RunnableConfig
    checkpoint: Checkpoint
    metadata: dict[str, Any]
    new_versions: dict[str, Any]
    writes: Sequence[tuple[str, str, Sequence[Write]]] = ()
    nodes: Sequence[str] | None = None
    folded: Sequence[str] | None = None

    @property
    def of_step(self) -> dict[str, Any]:
        """What only a saver that takes whole steps wants to know."""
        return {"nodes": self.nodes, "folded": self.folded}


@dataclass(slots=True)
class PutWrites:
    """Save what one task wrote, on the checkpoint that it started from."""

    config: RunnableConfig
    writes: Sequence[Write]
    task_id: str
    task_path: str


@dataclass(slots=True)
class Flush:
    """Wait until everything that was to be saved is saved; raise what went wrong."""


@dataclass(slots=True)
class Start:
    """Begin to run these tasks. Each will be answered by exactly one `Result`.

    Answer with the results that are there at once (of a task that ran in place), or with nothing.
    """

    contexts: Sequence[TaskContext]


@dataclass(slots=True)
class Receive:
    """Answer with at least one `Result` or `Spawned`, in order of arrival."""


@dataclass(slots=True)
class Halt:
    """Start nothing more, and cancel what can be cancelled. The results still arrive."""


@dataclass(slots=True)
class Settle:
    """Answer with the writes that a task would make had its node returned `value`: nothing of it runs
    but its conditional edges."""

    context: TaskContext
    value: Any


@dataclass(slots=True)
class CacheGet:
    """Answer with what the cache holds, as a mapping of (namespace, key) to writes."""

    keys: Sequence[tuple[tuple[str, ...], str]]


@dataclass(slots=True)
class CacheSet:
    """Put writes into the cache, with a time to live in seconds or None."""

    entries: Mapping[tuple[tuple[str, ...], str], tuple[Any, int | None]]


@dataclass(slots=True)
class Tell:
    """Tell the caller's GraphCallbackHandlers of an event in the run's life."""

    event: GraphLifecycleEvent


Effect = (
    Load
    | Newest
    | Replay
    | History
    | HasChildren
    | Put
    | PutWrites
    | Flush
    | Start
    | Receive
    | Halt
    | Settle
    | CacheGet
    | CacheSet
    | Tell
)


FINISHED, PAUSED, FAILED, ESCAPED, CANCELLED = range(5)


class Result:
    """What came of a task. Exactly one of them arrives for each task that was started.

    `kind` is FINISHED (`value` is its writes), PAUSED (its interrupts), FAILED (the exception),
    ESCAPED (a `Command` for a graph further out) or CANCELLED (None).
    """

    __slots__ = ("context", "kind", "value")

    def __init__(self, context: TaskContext, kind: int, value: Any) -> None:
        self.context = context
        self.kind = kind
        self.value = value


class Spawned:
    """A running task called another; its `Result` will follow."""

    __slots__ = ("context",)

    def __init__(self, context: TaskContext) -> None:
        self.context = context
