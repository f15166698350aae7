"""RemoteGraph: a graph that runs on a server. This runtime runs graphs in its own process only.

The class exists so that code which asks `isinstance(graph, RemoteGraph)` works.
"""

from typing import Any

__all__ = ("RemoteException", "RemoteGraph", "RemoteGraphUnavailable")


class RemoteException(Exception):
    """A graph on a server failed."""


class RemoteGraphUnavailable(NotImplementedError):
    """A graph on a server was asked for."""


class RemoteGraph:
    """A graph on a server. Making one raises RemoteGraphUnavailable."""

    def __init__(self, assistant_id: str, /, **options: Any) -> None:
        raise RemoteGraphUnavailable(
            f"RemoteGraph({assistant_id!r}) would call a graph server, which this runtime cannot: it runs graphs in "
            "this process. Compile the graph here and add it as a node, or call the server in a node of "
            "yours, for example with the package langgraph-sdk"
        )
