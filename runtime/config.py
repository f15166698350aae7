"""What code inside a node can ask for without having it passed in.

Each function works in a node, a task, a tool, and whatever these call in the same context; outside
a running graph it raises RuntimeError.
"""

from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.store.base import BaseStore

from runtime._context import RunningTask, TaskConfig, current
from runtime.types import StreamWriter

__all__ = ("get_config", "get_store", "get_stream_writer")


def _task(asking: str) -> RunningTask:
    context: RunningTask | None = current()
    if context is None:
        raise RuntimeError(
            f"{asking} was called outside a running node; call it in a node, or hand what you need to the code "
            "that runs elsewhere (a thread that does not copy the context, for example)"
        )
    return context


def get_config() -> RunnableConfig:
    """Return the RunnableConfig that the calling node or runnable runs under."""
    config: Any = var_child_runnable_config.get()
    if not config:
        raise RuntimeError(
            "get_config() was called outside a runnable; call it in a node, or give the function a "
            "parameter `config: RunnableConfig`"
        )
    found: RunnableConfig = config.made if isinstance(config, TaskConfig) else config
    return found


def get_store() -> BaseStore:
    """Return the store that the graph was compiled with.

    Raises RuntimeError if it has none.
    """
    store: BaseStore | None = _task("get_store()").runtime.store
    if store is None:
        raise RuntimeError("this graph has no store; give it one: graph.compile(store=InMemoryStore())")
    return store


def get_stream_writer() -> StreamWriter:
    """Return the function that puts a value on the `custom` stream.

    It does nothing when nobody streams in that mode.
    """
    return _task("get_stream_writer()").writer
