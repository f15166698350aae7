"""A thread's state as `get_state` and `get_state_history` show it."""

from typing import Any, NamedTuple, Union

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointMetadata

from runtime._interrupt import Interrupt


class PregelTask(NamedTuple):
    """A task of a checkpoint: one node's run in the superstep that starts there.

    `error`, `interrupts` and `result` tell what came of it so far; `state` is its subgraph's
    snapshot, or the config to get it with.
    """

    id: str
    name: str
    path: tuple[Any, ...]
    error: Exception | None = None
    interrupts: tuple[Interrupt[Any], ...] = ()
    state: Union[RunnableConfig, "StateSnapshot", None] = None
    result: Any | None = None


class StateSnapshot(NamedTuple):
    """A thread's state at one checkpoint, as `get_state` returns it.

    `next` and `tasks` are what runs from here; `interrupts` are the open questions (of an older
    checkpoint: those asked in its superstep). `config` and `parent_config` address this checkpoint
    and the one before.
    """

    values: dict[str, Any] | Any
    next: tuple[str, ...]
    config: RunnableConfig
    metadata: CheckpointMetadata | None
    created_at: str | None
    parent_config: RunnableConfig | None
    tasks: tuple[PregelTask, ...]
    interrupts: tuple[Interrupt[Any], ...]
