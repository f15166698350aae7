"""Small graphs, and what tests read from them."""

import operator
from typing import Annotated, Any

from typing_extensions import TypedDict

from runtime.graph import START, StateGraph


class Log(TypedDict, total=False):
    """A log that grows, a value that is replaced, and a total that is summed."""

    log: Annotated[list[Any], operator.add]
    value: Any
    total: Annotated[int, operator.add]


def thread(name: str = "t", **more: Any) -> dict[str, Any]:
    """A config that names a thread."""
    return {"configurable": {"thread_id": name, **more}}


def writes(name: str):
    """A node that logs its own name."""

    def node(state: Any) -> dict[str, Any]:
        return {"log": [name]}

    node.__name__ = name
    return node


def builder(*edges: tuple[Any, Any], schema: Any = Log, **nodes: Any) -> StateGraph:
    """A graph of the nodes; each named in an edge and not given logs its own name."""
    made = StateGraph(schema)
    named = [end for edge in edges for side in edge for end in (side if isinstance(side, list) else [side])]
    for name in dict.fromkeys([*nodes, *named]):
        if not name.startswith("__"):
            made.add_node(name, nodes.get(name, writes(name)))
    for source, target in edges:
        made.add_edge(source, target)
    return made


def chain(*names: str, schema: Any = Log, **nodes: Any) -> StateGraph:
    """A graph that runs its nodes one after the other."""
    return builder(*zip([START, *names], names, strict=False), schema=schema, **nodes)


def questions(result: Any) -> list[Any]:
    """What a paused run asks, in order."""
    return [interrupt.value for interrupt in result.get("__interrupt__", ())]


def ids(result: Any) -> dict[Any, str]:
    """The id of each question by its text."""
    return {interrupt.value: interrupt.id for interrupt in result["__interrupt__"]}


def checkpoint(history: list[Any], *next_nodes: str) -> Any:
    """The newest snapshot before exactly these nodes."""
    return next(snapshot for snapshot in history if snapshot.next == next_nodes)
