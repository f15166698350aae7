"""A cache in memory, from `langgraph-checkpoint`."""

from langgraph.cache.memory import InMemoryCache

__all__ = ["InMemoryCache"]
