"""A compiled graph as a drawing, which langchain-core turns into Mermaid, ASCII or PNG.

Rules:
1. An arrow is drawn for every way that was declared: edges and joins, the targets of conditional edges
   with a map or a `Literal`, and those that a node declares for its commands. Anything else that a
   node may decide while it runs cannot be known, and is not drawn.
2. Between two nodes there is one arrow; a certain one hides a conditional one.
3. A node from which no arrow leads leads to END.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_core.runnables import Runnable
from langchain_core.runnables.graph import Graph

from runtime.constants import END, START
from runtime.pregel.model import PregelNode, Topology, listed

if TYPE_CHECKING:
    from runtime.pregel.described import Described


class Arrow(NamedTuple):
    """A way from one node to another.

    `label` is what a router answers to take it; `failure` says that it is taken only on an error.
    """

    source: str
    target: str
    conditional: bool = False
    label: str | None = None
    failure: bool = False


def draw(graph: Described, xray: int | bool = False) -> Graph:
    """The drawing of a graph.

    Args:
        graph: A `Pregel`. If it has a method `arrows()`, that says what leads where.
        xray: Whether to draw subgraphs open; a number says how many levels deep.
    """
    topology = graph.topology
    deferred = frozenset(getattr(graph, "deferred", ()))
    declared = graph.arrows() if hasattr(graph, "arrows") else channel_arrows(topology)
    arrows = with_ends(list(topology.nodes), [*declared, *failure_arrows(topology)], deferred)
    drawing = Graph()
    if START not in topology.nodes:
        drawing.add_node(None, START)
    for name, node in topology.nodes.items():
        notes = _notes(graph, name, node, name in deferred)
        drawing.add_node(_drawable(node, name), name, metadata=notes or None)
    for arrow in arrows:
        _add(drawing, arrow)
    if xray:
        depth = xray if isinstance(xray, bool) or xray <= 0 else xray - 1
        for name, inner in graph.get_subgraphs():
            _open(drawing, name, inner.get_graph(xray=depth))
    return drawing


def channel_arrows(topology: Topology) -> Iterator[Arrow]:
    """What leads where in a graph made of channels: a node leads to those that its writes wake."""
    if START not in topology.nodes:
        for channel in listed(topology.input_channels):
            yield from (Arrow(START, name) for name in topology.listeners.get(channel, ()))
    for name, node in topology.nodes.items():
        for channel in getattr(node.outputs, "channels", ()):
            yield from (Arrow(name, woken) for woken in topology.listeners.get(channel, ()))


def failure_arrows(topology: Topology) -> Iterator[Arrow]:
    """From each node to the one that handles its errors."""
    for name, node in topology.nodes.items():
        if node.error_handler is not None:
            yield Arrow(name, node.error_handler, conditional=True, label="error", failure=True)


def with_ends(nodes: list[str], declared: Iterable[Arrow], deferred: frozenset[str]) -> list[Arrow]:
    """The declared arrows, one for each pair, and those that follow: dead ends lead to END.

    A node after which nothing else runs is followed by the nodes that were deferred until then. If
    no way leads out of a graph at all, the node that is farthest from its start may end it.
    """
    unique: dict[tuple[str, str], Arrow] = {}
    for arrow in sorted(declared, key=lambda a: (a.source, a.target, a.conditional, a.label or "")):
        unique.setdefault(arrow[:2], arrow)
    arrows = list(unique.values())
    sources = {arrow.source for arrow in arrows if not arrow.failure}
    targets = {arrow.target for arrow in arrows}
    waiting = sorted(deferred & targets)
    dead_ends = [name for name in sorted(targets - sources - {END}) if name not in deferred]
    if waiting:
        arrows += [Arrow(name, late, conditional=True) for name in dead_ends for late in waiting]
        dead_ends = [name for name in waiting if name not in sources]
    arrows += [Arrow(name, END) for name in dead_ends]
    arrows.sort(key=_last_to_end)
    if not any(arrow.target == END for arrow in arrows):
        arrows += [Arrow(name, END, conditional=True) for name in _farthest(nodes, arrows)]
    return arrows


def _last_to_end(arrow: Arrow) -> tuple[bool, str, str]:
    """Arrows by name, those that surely end the run after all others."""
    return arrow.target == END and not arrow.conditional, arrow.source, arrow.target


def _farthest(nodes: list[str], arrows: list[Arrow]) -> list[str]:
    """The node that takes the most steps to reach, if there is just one."""
    level, seen = [START], {START}
    while level:
        following = dict.fromkeys(a.target for a in arrows if a.source in level and a.target not in seen)
        if not following:
            break
        seen.update(following)
        level = list(following)
    return level if len(level) == 1 and (level[0] != START or len(nodes) == 1) else []


def _add(drawing: Graph, arrow: Arrow) -> None:
    if arrow.target == END and END not in drawing.nodes:
        drawing.add_node(None, END)
    if arrow.source not in drawing.nodes or arrow.target not in drawing.nodes:
        return  # it leads out of the graph, as a command to a node of the graph around it does
    label = arrow.label if arrow.label != arrow.target else None
    drawing.add_edge(drawing.nodes[arrow.source], drawing.nodes[arrow.target], label, arrow.conditional)


def _notes(graph: Described, name: str, node: PregelNode, deferred: bool) -> dict[str, Any]:
    """What a drawing says about a node beside its name."""
    notes = dict(node.metadata)
    if deferred:
        notes["defer"] = True
    before, after = (_stops(name, at) for at in (graph.interrupt_before_nodes, graph.interrupt_after_nodes))
    if before or after:
        notes["__interrupt"] = ",".join(word for word, stops in (("before", before), ("after", after)) if stops)
    tools = getattr(node.bound, "tools_by_name", None)
    if isinstance(tools, Mapping) and tools:
        notes["__tools"] = list(tools)
    return notes


def _stops(name: str, at: Any) -> bool:
    return name != START if at == "*" else name in listed(at or ())


def _drawable(node: PregelNode, name: str) -> Runnable[Any, Any]:
    """The node as langchain-core wants it: a Runnable."""
    from runtime._internal._runnable import RunnableCallable  # here: only a drawing needs it

    if isinstance(node.bound, Runnable):
        return node.bound
    body = node.bodies[0] if node.bodies else None
    if body is None or not (body.func or body.afunc):
        return RunnableCallable(_nothing, name=name, trace=False)
    return RunnableCallable(body.func, body.afunc, name=name, trace=False)


def _nothing(value: Any) -> Any:
    """Stand for the work of a node that only hands on what it reads."""
    return value


def _open(drawing: Graph, name: str, inner: Graph) -> None:
    """Put a subgraph's drawing in the place of its node."""
    if len(inner.nodes) < 2 or name not in drawing.nodes or not inner.first_node() or not inner.last_node():
        return
    inner.trim_first_node()
    inner.trim_last_node()
    del drawing.nodes[name]
    first, last = drawing.extend(inner, prefix=name)
    if first is None or last is None:
        raise RuntimeError(f"the drawing of subgraph {name!r} has no single first and last node")
    for index, edge in enumerate(drawing.edges):
        source = last.id if edge.source == name else edge.source
        target = first.id if edge.target == name else edge.target
        drawing.edges[index] = edge.copy(source=source, target=target)
