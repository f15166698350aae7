"""Configs, parsed once, where they come in."""

from langchain_core.runnables import RunnableConfig


def namespace_of(config: RunnableConfig) -> tuple[str, str]:
    """The thread id and checkpoint namespace of a config."""
    configurable = config.get("configurable") or {}
    thread_id = configurable.get("thread_id")
    if thread_id is None:
        raise ValueError("the config names no thread: a saver needs {'configurable': {'thread_id': ...}}")
    return str(thread_id), configurable.get("checkpoint_ns") or ""


def key_of(config: RunnableConfig) -> tuple[str, str, str]:
    """The thread id, namespace and checkpoint id of a config that must name all three."""
    checkpoint_id = (config.get("configurable") or {}).get("checkpoint_id")
    if checkpoint_id is None:
        raise ValueError("the config names no checkpoint_id, and this is about one checkpoint")
    return (*namespace_of(config), checkpoint_id)


def config_of(thread_id: str, ns: str, checkpoint_id: str) -> RunnableConfig:
    """The config that names a checkpoint."""
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ns, "checkpoint_id": checkpoint_id}}
