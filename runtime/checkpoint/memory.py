"""Checkpoints in memory: the saver of `langgraph-checkpoint`, with the serializer that all our savers use."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver as _InMemorySaver
from langgraph.checkpoint.memory import PersistentDict
from langgraph.checkpoint.serde.base import SerializerProtocol

from runtime.checkpoint.serde.serializer import Serializer

__all__ = ["InMemorySaver", "MemorySaver", "PersistentDict"]


class InMemorySaver(_InMemorySaver):
    """Keeps checkpoints for as long as the process lives.

    Values go through the same serializer as in a database, so that a graph behaves the same on both.
    """

    def __init__(
        self, *, serde: SerializerProtocol | None = None, factory: type[defaultdict[Any, Any]] = defaultdict
    ) -> None:
        super().__init__(serde=serde if serde is not None else Serializer(), factory=factory)


MemorySaver = InMemorySaver
