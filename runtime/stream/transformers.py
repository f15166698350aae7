"""Transformers that others derive from, by name."""

from typing import Literal, TypeAlias

from runtime.stream._types import StreamTransformer

SubgraphStatus: TypeAlias = Literal["started", "running", "completed", "failed", "interrupted"]


class _TasksLifecycleBase(StreamTransformer):
    """Base of transformers that follow subgraphs through their tasks."""
