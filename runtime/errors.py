"""Every exception that the runtime raises on purpose.

Control flow (never a fault): `GraphBubbleUp` and its subclasses leave a node to be handled by a
graph further out. Faults of a graph: `InvalidUpdateError`, `GraphRecursionError`,
`NodeTimeoutError`, `NodeCancelledError`. Faults of a call: `EmptyInputError`,
`UnknownInterruptError`, `MisalignedResumeError`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal
from warnings import warn

from langgraph.checkpoint.base import EmptyChannelError

from runtime.types import Interrupt
from runtime.warnings import DeprecatedSince10

if TYPE_CHECKING:
    from runtime.types import Command

__all__ = (
    "CheckpointNotFoundError",
    "EmptyChannelError",
    "EmptyInputError",
    "ErrorCode",
    "GraphBubbleUp",
    "GraphDrained",
    "GraphInterrupt",
    "GraphRecursionError",
    "InvalidUpdateError",
    "MisalignedResumeError",
    "NodeCancelledError",
    "NodeError",
    "NodeInterrupt",
    "NodeTimeoutError",
    "ParentCommand",
    "TaskNotFound",
    "UnknownInterruptError",
    "create_error_message",
    "is_invalid_resume",
    "mark_invalid_resume",
)


class ErrorCode(Enum):
    """Stable names of common faults, appended to their messages."""

    GRAPH_RECURSION_LIMIT = "GRAPH_RECURSION_LIMIT"
    INVALID_CONCURRENT_GRAPH_UPDATE = "INVALID_CONCURRENT_GRAPH_UPDATE"
    INVALID_GRAPH_NODE_RETURN_VALUE = "INVALID_GRAPH_NODE_RETURN_VALUE"
    MULTIPLE_SUBGRAPHS = "MULTIPLE_SUBGRAPHS"
    INVALID_CHAT_HISTORY = "INVALID_CHAT_HISTORY"


def create_error_message(*, message: str, error_code: ErrorCode) -> str:
    """Return `message` followed by its code, by which the fault can be looked up."""
    return f"{message}\n[{error_code.value}]"


def _rebuild(kind: type[BaseException], args: tuple[Any, ...], state: dict[str, Any]) -> BaseException:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


class _Picklable:
    """An exception whose constructor takes other arguments than its message: pickled as it stands."""

    args: tuple[Any, ...]

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args, dict(self.__dict__))


class GraphBubbleUp(Exception):
    """Leaves a node to be handled further out: an interrupt, a command to a parent, a drain."""


class GraphDrained(_Picklable, GraphBubbleUp):
    """A run ended between two supersteps because `RunControl.request_drain()` was called.

    What was done is saved; invoking the thread again with None goes on from there.
    """

    def __init__(self, reason: str = "shutdown") -> None:
        super().__init__(f"the run was drained between two supersteps: {reason}")
        self.reason = reason


class GraphInterrupt(GraphBubbleUp):
    """A node asked for a value and stopped. `args[0]` holds its `Interrupt`s.

    The run that owns the node catches it; callers see the interrupts in the result, the stream
    and the state, never this exception.
    """

    def __init__(self, interrupts: Sequence[Interrupt[Any]] = ()) -> None:
        super().__init__(interrupts)


class NodeInterrupt(GraphInterrupt):
    """Raised by a node to stop the run. Deprecated: call `runtime.types.interrupt`."""

    def __init__(self, value: Any, id: str | None = None) -> None:
        warn(
            "NodeInterrupt is deprecated. Call `runtime.types.interrupt(value)` in the node "
            "instead; it returns the answer when the run is resumed.",
            DeprecatedSince10,
            stacklevel=2,
        )
        super().__init__([Interrupt(value) if id is None else Interrupt(value, id)])


class ParentCommand(GraphBubbleUp):
    """A node returned `Command(graph=...)` for a graph further out. `args[0]` is the command."""

    args: tuple[Command[Any]]

    def __init__(self, command: Command[Any]) -> None:
        super().__init__(command)


class GraphRecursionError(RecursionError):
    """A run used up its `recursion_limit` of supersteps and still had nodes to run.

    Either the graph loops without end, or the limit is too low for it:
    `graph.invoke(input, {"recursion_limit": 200})`.
    """


class InvalidUpdateError(Exception):
    """Writes that their channel, or a result that its graph, cannot take. Nothing was applied."""


class EmptyInputError(Exception):
    """A run was started with an input that writes to no channel of the graph."""


class CheckpointNotFoundError(ValueError):
    """A checkpoint was named that the thread does not have. Nothing was run or written."""


class TaskNotFound(Exception):
    """A task was asked for that the checkpoint does not have."""


class UnknownInterruptError(_Picklable, RuntimeError):
    """A resume does not fit the interrupts that wait for an answer. Nothing was written.

    `reason` is `"not_pending"` (keys in `interrupt_ids` name no waiting interrupt),
    `"empty_map"` (a map without keys) or `"ambiguous"` (one plain value, several waiting).
    `pending_ids` are the interrupts that can still be answered.
    """

    reason: Literal["not_pending", "empty_map", "ambiguous"]
    interrupt_ids: tuple[str, ...]
    pending_ids: tuple[str, ...]

    def __init__(
        self,
        message: str,
        *,
        reason: Literal["not_pending", "empty_map", "ambiguous"],
        interrupt_ids: Sequence[str] = (),
        pending_ids: Sequence[str] = (),
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.interrupt_ids = tuple(interrupt_ids)
        self.pending_ids = tuple(pending_ids)


class MisalignedResumeError(_Picklable, RuntimeError):
    """A node, run again, asks another question than the one that was answered.

    The answer was not delivered. `node` is the node, `index` counts its questions from 0,
    `answered` and `asked` are the two questions' values.
    """

    def __init__(self, node: str, index: int, answered: Any, asked: Any) -> None:
        super().__init__(
            f"node {node!r} asked {answered!r} as question {index + 1} and got an answer, but run "
            f"again it asks {asked!r} there, so the answer was not delivered; make the code before "
            "interrupt() give the same questions on every run (no random values, no clock), or "
            "start the node anew with update_state"
        )
        self.node = node
        self.index = index
        self.answered = answered
        self.asked = asked


@dataclass(frozen=True, slots=True)
class NodeError:
    """What a node's error handler is given: the failed `node` and the `error` it raised.

    A handler gets it by declaring a parameter of this type.
    """

    node: str
    error: BaseException


class NodeCancelledError(_Picklable, Exception):
    """A node's own code raised `asyncio.CancelledError`: a failure of the node, not of the run."""

    def __init__(self, node: str, message: str | None = None) -> None:
        super().__init__(message or f"node {node!r} raised asyncio.CancelledError although nobody cancelled the run")
        self.node = node


TimeoutKind = Literal["idle", "run", "step", "total"]

_TIMEOUT_TEXT: dict[str, tuple[str, str]] = {
    "idle": ("idle_timeout", "reported no progress for {limit:.3f}s (idle timeout)"),
    "run": ("run_timeout", "exceeded its run timeout of {limit:.3f}s for one attempt"),
    "step": ("limit", "exceeded {limit:.3f}s for all its attempts in one superstep"),
    "total": ("limit", "exceeded {limit:.3f}s over the whole run"),
}


class NodeTimeoutError(_Picklable, Exception):
    """A node ran longer than its `TimeoutPolicy` allows.

    `kind` tells which limit was hit: `"run"` (one attempt), `"idle"` (no progress), `"step"`
    (all attempts of a superstep) or `"total"` (the node's time over the run); `timeout` is that
    limit and `elapsed` what was used, in seconds. It is no `TimeoutError`, which is an OSError
    and would not be retried by default.
    """

    node: str
    timeout: float
    run_timeout: float | None
    idle_timeout: float | None
    elapsed: float
    kind: TimeoutKind

    def __init__(
        self,
        node: str,
        elapsed: float,
        *,
        kind: TimeoutKind,
        idle_timeout: float | None = None,
        run_timeout: float | None = None,
        limit: float | None = None,
    ) -> None:
        if kind not in _TIMEOUT_TEXT:
            raise ValueError(f"kind must be one of {sorted(_TIMEOUT_TEXT)}, not {kind!r}")
        argument, text = _TIMEOUT_TEXT[kind]
        timeout = {"idle_timeout": idle_timeout, "run_timeout": run_timeout, "limit": limit}[argument]
        if timeout is None:
            raise ValueError(f"{argument} is required when kind={kind!r}")
        super().__init__(f"node {node!r} {text.format(limit=timeout)}; {elapsed:.3f}s had passed")
        self.node = node
        self.elapsed = elapsed
        self.kind = kind
        self.timeout = timeout
        self.idle_timeout = idle_timeout
        self.run_timeout = run_timeout


def text_of(error: BaseException) -> str:
    """Return `str(error)`; of an exception that raises when it is asked for its text, that it does."""
    try:
        return str(error)
    except Exception as second:  # the user's code: whatever it raises is its answer
        return f"(asking for its text raised {type(second).__name__})"


def mark(error: BaseException, name: str, value: Any) -> None:
    """Set an attribute of an exception, also of one whose class lets nobody set any: a frozen dataclass."""
    object.__setattr__(error, name, value)


def add_note(error: BaseException, note: str) -> None:
    """Do what `error.add_note(note)` does, also for an exception whose class lets nobody set attributes."""
    known = vars(error).get("__notes__")
    mark(error, "__notes__", [*(known if isinstance(known, list) else ()), note])


_INVALID_RESUME = "_runtime_invalid_resume"


def mark_invalid_resume(error: BaseException) -> None:
    """Mark `error` as caused by an answer that its `response_schema` refuses."""
    mark(error, _INVALID_RESUME, True)


def is_invalid_resume(error: BaseException) -> bool:
    """Tell an answer that its interrupt's schema refused from every other error.

    Such a question is still open: the thread can be resumed with another answer.
    """
    return getattr(error, _INVALID_RESUME, False) is True
