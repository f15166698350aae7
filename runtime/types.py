"""The vocabulary of graphs: what nodes return, what callers send, what a state shows.

Rule: `Send`, `Command`, `Interrupt`, `Overwrite` and `TimeoutPolicy` are stored in checkpoints and
pending writes. Their fields are a data format.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeAlias
from warnings import warn

from langchain_core.messages.tool import ToolOutputMixin
from langgraph.checkpoint.base import BaseCheckpointSaver
from typing_extensions import TypeVar

from runtime._constants import INTERRUPT
from runtime._interrupt import Interrupt, interrupt, interrupt_id
from runtime._policies import (
    CachePolicy,
    RetryPolicy,
    TimeoutPolicy,
    TracePolicy,
    default_retry_on,
    omit_payload,
)
from runtime._snapshots import PregelTask, StateSnapshot
from runtime._stream_parts import (
    CheckpointPayload,
    CheckpointStreamPart,
    CheckpointTask,
    CustomStreamPart,
    DebugPayload,
    DebugStreamPart,
    MessagesStreamPart,
    StreamPart,
    TaskPayload,
    TaskResultPayload,
    TasksStreamPart,
    UpdatesStreamPart,
    ValuesStreamPart,
)
from runtime._typing import MISSING
from runtime._updates import update_pairs
from runtime.warnings import DeprecatedSince11

__all__ = (
    "All",
    "CacheKey",
    "CachePolicy",
    "CheckpointPayload",
    "CheckpointStreamPart",
    "CheckpointTask",
    "Checkpointer",
    "Command",
    "CustomStreamPart",
    "DebugPayload",
    "DebugStreamPart",
    "Durability",
    "GraphOutput",
    "Interrupt",
    "MessagesStreamPart",
    "Overwrite",
    "PregelTask",
    "RetryPolicy",
    "Send",
    "StateSnapshot",
    "StateUpdate",
    "StreamMode",
    "StreamPart",
    "StreamWriter",
    "TaskPayload",
    "TaskResultPayload",
    "TasksStreamPart",
    "TimeoutPolicy",
    "TracePolicy",
    "UpdatesStreamPart",
    "ValuesStreamPart",
    "default_retry_on",
    "ensure_valid_checkpointer",
    "interrupt",
    "interrupt_id",
    "omit_payload",
)

OutputT = TypeVar("OutputT")
N = TypeVar("N", bound=Hashable)

Durability: TypeAlias = Literal["sync", "async", "exit"]
"""When checkpoints are saved: before the next superstep, during it, or once at the run's end."""

All: TypeAlias = Literal["*"]
"""Every node, for `interrupt_before` and `interrupt_after`."""

Checkpointer: TypeAlias = bool | BaseCheckpointSaver[Any] | None
"""What `compile(checkpointer=)` takes: a saver; None: the parent graph's, if any; True: the parent
graph's, with a memory that outlives the parent's call; False: none at all."""

StreamMode: TypeAlias = Literal["values", "updates", "checkpoints", "tasks", "debug", "messages", "custom"]
"""What `stream` yields: the whole state after each superstep; each node's update; each checkpoint;
tasks' starts and ends; checkpoints and tasks with step and time; messages token by token; what
nodes hand to their stream writer."""

StreamWriter: TypeAlias = Callable[[Any], None]
"""Puts a value on the stream (`stream_mode="custom"`); does nothing when nobody listens."""


def ensure_valid_checkpointer(checkpointer: Checkpointer) -> Checkpointer:
    """Return `checkpointer` if it is a saver, True, False or None; raise TypeError otherwise."""
    if checkpointer is None or isinstance(checkpointer, bool | BaseCheckpointSaver):
        return checkpointer
    raise TypeError(
        f"Invalid checkpointer provided: {checkpointer!r} is a {type(checkpointer).__name__}; pass "
        "an instance of a BaseCheckpointSaver (a context manager must be entered first), True, "
        "False or None"
    )


class Send:
    """Run `node` in the next superstep with `arg` as its input.

    Returned by a conditional edge or in `Command(goto=...)`. The node gets `arg` as it is, not the
    state; the same node may be sent to any number of times. `timeout` (a number of seconds, a
    timedelta or a TimeoutPolicy) replaces the node's own for this task.
    """

    __slots__ = ("arg", "node", "timeout")

    node: str
    arg: Any
    timeout: TimeoutPolicy | None

    def __init__(
        self,
        /,
        node: str,
        arg: Any,
        *,
        timeout: float | timedelta | TimeoutPolicy | None = None,
    ) -> None:
        self.node = node
        self.arg = arg
        self.timeout = TimeoutPolicy.coerce(timeout)

    def __hash__(self) -> int:
        return hash((self.node, self.arg, self.timeout))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Send):
            return NotImplemented
        return (self.node, self.timeout) == (other.node, other.timeout) and bool(self.arg == other.arg)

    def __repr__(self) -> str:
        limit = "" if self.timeout is None else f", timeout={self.timeout!r}"
        return f"Send(node={self.node!r}, arg={self.arg!r}{limit})"


@dataclass(kw_only=True, slots=True, frozen=True)
class Command(ToolOutputMixin, Generic[N]):
    """What a node returns, or a caller sends, to update the state and to say what runs next.

    `update` is an update of the state, as a node would return it. `goto` is a node's name, a Send,
    or a sequence of both. `resume` answers interrupts: a plain value for the only one, or a map
    from interrupt ids to answers. `graph` is None for this graph, `Command.PARENT` for the nearest
    graph around it.
    """

    graph: str | None = None
    update: Any | None = None
    resume: dict[str, Any] | Any | None = None
    goto: Send | Sequence[Send | N] | N = ()

    PARENT: ClassVar[Literal["__parent__"]] = "__parent__"

    def update_pairs(self) -> list[tuple[str, Any]]:
        """Return `update` as (key, value) pairs; a value without keys is written to `__root__`."""
        return update_pairs(self.update)

    def __repr__(self) -> str:
        given = ((f.name, getattr(self, f.name)) for f in fields(self))
        shown = [f"{name}={value!r}" for name, value in given if value is not None and value != ()]
        return f"Command({', '.join(shown)})"


@dataclass(slots=True)
class Overwrite:
    """Replace a channel's value with `value`, past its reducer.

    It discards every other write to the channel in the same superstep; two of them are an error.
    `{"__overwrite__": value}` means the same, and so does this class's JSON form.
    """

    value: Any
    type: Literal["__overwrite__"] = "__overwrite__"


class StateUpdate(NamedTuple):
    """One edit for `bulk_update_state`: `values` written as if the node `as_node` had run."""

    values: dict[str, Any] | None
    as_node: str | None = None
    task_id: str | None = None


class CacheKey(NamedTuple):
    """Where a task's writes are cached: namespace, key, and seconds to live (None: for good)."""

    ns: tuple[str, ...]
    key: str
    ttl: int | None


@dataclass(frozen=True)
class GraphOutput(Generic[OutputT]):
    """What `invoke(version="v2")` returns: the graph's output, and the interrupts it ended in."""

    value: OutputT
    interrupts: tuple[Interrupt[Any], ...] = ()

    def __getitem__(self, key: str) -> Any:
        """Deprecated: read `value` or `interrupts`."""
        warn(
            "`result[key]` on a GraphOutput is deprecated, read `result.value` or `result.interrupts`",
            DeprecatedSince11,
            stacklevel=2,
        )
        found = self._find(key)
        if found is MISSING:
            raise KeyError(key)
        return found

    def __contains__(self, key: object) -> bool:
        """Deprecated: look into `value` or `interrupts`."""
        warn(
            "`key in result` on a GraphOutput is deprecated, use `result.value` or `result.interrupts`",
            DeprecatedSince11,
            stacklevel=2,
        )
        if key == INTERRUPT:
            return bool(self.interrupts)
        return self._find(key) is not MISSING

    def _find(self, key: object) -> Any:
        if key == INTERRUPT:
            return self.interrupts
        if isinstance(self.value, dict):
            return self.value.get(key, MISSING)
        return getattr(self.value, key, MISSING) if isinstance(key, str) else MISSING


for _public in (RetryPolicy, PregelTask, StateSnapshot):
    _public.__module__ = __name__  # where pickles and error messages should find them
