"""The interface of every cache, as `langgraph-checkpoint` defines it."""

from langgraph.cache.base import BaseCache, FullKey, Namespace, ValueT

__all__ = ["BaseCache", "FullKey", "Namespace", "ValueT"]
