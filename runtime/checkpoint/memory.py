"""Checkpoints in memory: the saver of `langgraph-checkpoint`, under both its names."""

from langgraph.checkpoint.memory import InMemorySaver, MemorySaver, PersistentDict

__all__ = ["InMemorySaver", "MemorySaver", "PersistentDict"]
