"""Runnable helpers under their older path."""

from runtime._internal._runnable import RunnableCallable, RunnableLike

__all__ = ("RunnableCallable", "RunnableLike")
