"""A store in memory, from `langgraph-checkpoint`."""

from langgraph.store.memory import InMemoryStore

__all__ = ["InMemoryStore"]
