"""Making do with savers that offer no more than LangGraph's protocol, or less: for both drivers."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple

from runtime.pregel import effects as fx


@lru_cache(maxsize=64)
def _takes_path(put_writes: Any) -> bool:
    parameters = inspect.signature(put_writes).parameters
    return "task_path" in parameters or any(p.kind is p.VAR_POSITIONAL for p in parameters.values())


def written_by(put_writes: Any, effect: fx.PutWrites) -> tuple[Any, ...]:
    """The arguments that a saver's method takes: older ones know no task path."""
    given = (effect.config, effect.writes, effect.task_id)
    return (*given, effect.task_path) if _takes_path(getattr(put_writes, "__func__", put_writes)) else given


def without_id(config: Any) -> Any:
    """The config of a thread and namespace, naming no checkpoint."""
    return {"configurable": {k: v for k, v in config["configurable"].items() if k != "checkpoint_id"}}


def any_child(saved: Any, newer: Iterator[Any]) -> bool:
    """Whether a checkpoint has a child, looking only at what is newer than it."""
    mine = saved.checkpoint["id"]
    for other in newer:
        if other.checkpoint["id"] == mine:
            return False
        parent = other.parent_config
        if parent is not None and parent["configurable"].get("checkpoint_id") == mine:
            return True
    return False


def id_of(saved: CheckpointTuple | None) -> str | None:
    """A checkpoint's id, if there is one."""
    return saved.checkpoint["id"] if saved is not None else None
