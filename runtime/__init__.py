"""Forkpoint's runtime: stateful graphs run in supersteps, with a history that can be gone back to.

Every public name is here and in the module where it lives; each is loaded when it is first asked for,
so that `import runtime` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for type checkers and editors; the same names as below
    from runtime.channels import AnyValue as AnyValue
    from runtime.channels import BaseChannel as BaseChannel
    from runtime.channels import BinaryOperatorAggregate as BinaryOperatorAggregate
    from runtime.channels import DeltaChannel as DeltaChannel
    from runtime.channels import EphemeralValue as EphemeralValue
    from runtime.channels import LastValue as LastValue
    from runtime.channels import LastValueAfterFinish as LastValueAfterFinish
    from runtime.channels import NamedBarrierValue as NamedBarrierValue
    from runtime.channels import NamedBarrierValueAfterFinish as NamedBarrierValueAfterFinish
    from runtime.channels import Topic as Topic
    from runtime.channels import UntrackedValue as UntrackedValue
    from runtime.checkpoint.memory import InMemorySaver as InMemorySaver
    from runtime.checkpoint.memory import MemorySaver as MemorySaver
    from runtime.checkpoint.sql import AsyncSqlSaver as AsyncSqlSaver
    from runtime.checkpoint.sql import SqlSaver as SqlSaver
    from runtime.config import get_config as get_config
    from runtime.config import get_store as get_store
    from runtime.config import get_stream_writer as get_stream_writer
    from runtime.constants import END as END
    from runtime.constants import START as START
    from runtime.constants import TAG_HIDDEN as TAG_HIDDEN
    from runtime.constants import TAG_NOSTREAM as TAG_NOSTREAM
    from runtime.errors import CheckpointNotFoundError as CheckpointNotFoundError
    from runtime.errors import EmptyChannelError as EmptyChannelError
    from runtime.errors import EmptyInputError as EmptyInputError
    from runtime.errors import ErrorCode as ErrorCode
    from runtime.errors import GraphBubbleUp as GraphBubbleUp
    from runtime.errors import GraphDrained as GraphDrained
    from runtime.errors import GraphInterrupt as GraphInterrupt
    from runtime.errors import GraphRecursionError as GraphRecursionError
    from runtime.errors import InvalidUpdateError as InvalidUpdateError
    from runtime.errors import MisalignedResumeError as MisalignedResumeError
    from runtime.errors import NodeCancelledError as NodeCancelledError
    from runtime.errors import NodeError as NodeError
    from runtime.errors import NodeInterrupt as NodeInterrupt
    from runtime.errors import NodeTimeoutError as NodeTimeoutError
    from runtime.errors import ParentCommand as ParentCommand
    from runtime.errors import TaskNotFound as TaskNotFound
    from runtime.errors import UnknownInterruptError as UnknownInterruptError
    from runtime.errors import is_invalid_resume as is_invalid_resume
    from runtime.func import entrypoint as entrypoint
    from runtime.func import task as task
    from runtime.graph.message import MessagesState as MessagesState
    from runtime.graph.message import add_messages as add_messages
    from runtime.graph.message import push_message as push_message
    from runtime.graph.state import CompiledStateGraph as CompiledStateGraph
    from runtime.graph.state import StateGraph as StateGraph
    from runtime.managed import IsLastStep as IsLastStep
    from runtime.managed import RemainingSteps as RemainingSteps
    from runtime.pregel import NodeBuilder as NodeBuilder
    from runtime.pregel import Pregel as Pregel
    from runtime.runtime import ExecutionInfo as ExecutionInfo
    from runtime.runtime import RunControl as RunControl
    from runtime.runtime import Runtime as Runtime
    from runtime.runtime import get_runtime as get_runtime
    from runtime.types import CachePolicy as CachePolicy
    from runtime.types import Command as Command
    from runtime.types import Durability as Durability
    from runtime.types import GraphOutput as GraphOutput
    from runtime.types import Interrupt as Interrupt
    from runtime.types import Overwrite as Overwrite
    from runtime.types import PregelTask as PregelTask
    from runtime.types import RetryPolicy as RetryPolicy
    from runtime.types import Send as Send
    from runtime.types import StateSnapshot as StateSnapshot
    from runtime.types import StateUpdate as StateUpdate
    from runtime.types import StreamMode as StreamMode
    from runtime.types import StreamPart as StreamPart
    from runtime.types import StreamWriter as StreamWriter
    from runtime.types import TimeoutPolicy as TimeoutPolicy
    from runtime.types import TracePolicy as TracePolicy
    from runtime.types import interrupt as interrupt
    from runtime.version import __version__ as __version__

_HOMES = {
    "channels": (
        "AnyValue",
        "BaseChannel",
        "BinaryOperatorAggregate",
        "DeltaChannel",
        "EphemeralValue",
        "LastValue",
        "LastValueAfterFinish",
        "NamedBarrierValue",
        "NamedBarrierValueAfterFinish",
        "Topic",
        "UntrackedValue",
    ),
    "checkpoint.memory": ("InMemorySaver", "MemorySaver"),
    "checkpoint.sql": ("AsyncSqlSaver", "SqlSaver"),
    "config": ("get_config", "get_store", "get_stream_writer"),
    "constants": ("END", "START", "TAG_HIDDEN", "TAG_NOSTREAM"),
    "errors": (
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
        "is_invalid_resume",
    ),
    "func": ("entrypoint", "task"),
    "graph.message": ("MessagesState", "add_messages", "push_message"),
    "graph.state": ("CompiledStateGraph", "StateGraph"),
    "managed": ("IsLastStep", "RemainingSteps"),
    "pregel": ("NodeBuilder", "Pregel"),
    "runtime": ("ExecutionInfo", "RunControl", "Runtime", "get_runtime"),
    "types": (
        "CachePolicy",
        "Command",
        "Durability",
        "GraphOutput",
        "Interrupt",
        "Overwrite",
        "PregelTask",
        "RetryPolicy",
        "Send",
        "StateSnapshot",
        "StateUpdate",
        "StreamMode",
        "StreamPart",
        "StreamWriter",
        "TimeoutPolicy",
        "TracePolicy",
        "interrupt",
    ),
    "version": ("__version__",),
}

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = tuple(sorted(_HOME_OF))


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'runtime' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"runtime.{home}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
