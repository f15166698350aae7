"""The streams of a run as objects, by name."""

from runtime.stream._types import NotDriven


class GraphRunStream(NotDriven):
    """A run, as an object with a stream for each transformer."""


class AsyncGraphRunStream(NotDriven):
    """A run in a coroutine, as an object with a stream for each transformer."""


class SubgraphRunStream(GraphRunStream):
    """A subgraph's part of a run."""


class AsyncSubgraphRunStream(AsyncGraphRunStream):
    """A subgraph's part of a run in a coroutine."""
