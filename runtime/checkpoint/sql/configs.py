"""Configs and metadata, parsed once, where they come in."""

import json
from collections.abc import Mapping
from json.encoder import encode_basestring_ascii as quoted
from typing import Any

from langchain_core.runnables import RunnableConfig

from runtime.checkpoint.errors import SerializationError

_JSON = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


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


def write_json(metadata: Mapping[str, Any]) -> str:
    """Metadata as JSON.

    Raises:
        SerializationError: a value that JSON has no form for.
    """
    parts = []
    for key, value in metadata.items():
        kind = type(value)
        if kind is str:
            text = quoted(value)
        elif kind is int:
            text = repr(value)
        elif kind is dict and not value:
            text = "{}"
        else:  # seldom: the encoder takes longer to set up than most metadata to write
            try:
                text = _JSON.encode(value)
            except (TypeError, ValueError) as error:
                raise SerializationError(
                    f"metadata is stored as JSON, and {key!r} cannot be: {value!r}: {error}"
                ) from error
        parts.append(f"{quoted(key)}:{text}")
    return "{" + ",".join(parts) + "}"
