"""From a graph view to DOT for the layout engine in the browser.

Rules:
- Node ids are ours (`n0`, `n1`, ...) and labels stay out: DOT has escapes of its own, and names are
  drawn from the data as text.
- The source depends on the topology alone, never on states, so that one layout serves every step.
- Nodes are declared in reading order and back edges do not constrain ranks: otherwise a cycle can
  put the entry in the middle of the picture.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import graphviz
import networkx as nx

from debugger_ui.components.text import visible
from debugger_ui.session.views import EdgeView, GraphView, NodeView

POINTS = 72
CHARACTER = 7.4
PADDING = 52
NARROWEST = 88
WIDEST = 340
HEIGHT = 36
MAX_LABEL = 40


@dataclass(frozen=True, slots=True)
class Drawing:
    """What the graph component needs to lay a topology out, and to name its parts."""

    source: str
    nodes: tuple[dict[str, object], ...]
    edges: tuple[dict[str, object], ...]
    clusters: tuple[dict[str, str], ...]


def drawing(view: GraphView) -> Drawing:
    """Return the DOT source and the parts of the graph, in the order of the source."""
    nodes = reading_order(view.nodes, view.edges)
    ids = {node.id: f"n{i}" for i, node in enumerate(nodes)}
    edges = [edge for edge in view.edges if edge.source in ids and edge.target in ids]
    back = back_edges([node.id for node in nodes], edges)
    dot = graphviz.Digraph(
        graph_attr={"rankdir": "TB", "nodesep": "0.35", "ranksep": "0.42", "compound": "true"},
        node_attr={"shape": "box", "fixedsize": "true", "label": ""},
        edge_attr={"fontsize": "11"},
    )
    for node in nodes:
        width, height = _size(node)
        dot.node(ids[node.id], width=f"{width / POINTS:.3f}", height=f"{height / POINTS:.3f}")
    clusters = _clusters(dot, view, nodes, ids)
    for i, edge in enumerate(edges):
        attributes = {"id": f"e{i}"}
        if edge.label:
            attributes["label"] = "x" * min(len(edge.label), MAX_LABEL)
        if (edge.source, edge.target) in back:
            attributes["constraint"] = "false"
        dot.edge(ids[edge.source], ids[edge.target], **attributes)
    return Drawing(
        source=dot.source,
        nodes=tuple(_node(node, ids[node.id]) for node in nodes),
        edges=tuple(_edge(edge, f"e{i}") for i, edge in enumerate(edges)),
        clusters=clusters,
    )


def reading_order(nodes: Sequence[NodeView], edges: Sequence[EdgeView]) -> list[NodeView]:
    """Return the entry first, then breadth first along the edges, then whatever is unreachable."""
    graph = nx.DiGraph()
    graph.add_nodes_from(node.id for node in nodes)
    graph.add_edges_from((edge.source, edge.target) for edge in edges)
    entries = [node.id for node in nodes if node.kind == "start"] or [node.id for node in nodes[:1]]
    order: dict[str, int] = {}
    for entry in entries:
        for name in [entry, *(head for _, head in nx.bfs_edges(graph, entry))]:
            order.setdefault(name, len(order))
    return sorted(nodes, key=lambda node: order.get(node.id, len(order)))


def back_edges(order: Sequence[str], edges: Sequence[EdgeView]) -> set[tuple[str, str]]:
    """Return the edges that close a cycle, walking depth first from the entry."""
    graph = nx.DiGraph()
    graph.add_nodes_from(order)
    graph.add_edges_from((edge.source, edge.target) for edge in edges)
    back: set[tuple[str, str]] = set()
    walked: set[str] = set()
    for root in order:
        if root in walked:
            continue
        open_nodes: list[str] = []
        for tail, head, kind in nx.dfs_labeled_edges(graph, root):
            if kind == "forward":
                open_nodes.append(head)
                walked.add(head)
            elif kind == "reverse":
                open_nodes.pop()
            elif head in open_nodes:
                back.add((tail, head))
    return back


def _size(node: NodeView) -> tuple[float, float]:
    if node.kind in ("start", "end"):
        return 64, 26
    return min(WIDEST, max(NARROWEST, CHARACTER * len(_label(node)) + PADDING)), HEIGHT


def _label(node: NodeView) -> str:
    if node.kind in ("start", "end"):
        return node.kind.upper()
    return visible(node.label, MAX_LABEL)


def _node(node: NodeView, identity: str) -> dict[str, object]:
    return {
        "id": identity,
        "name": node.id,
        "label": _label(node),
        "terminal": node.kind in ("start", "end"),
        "known": node.known,
    }


def _edge(edge: EdgeView, identity: str) -> dict[str, object]:
    return {
        "id": identity,
        "tail": edge.source,
        "head": edge.target,
        "conditional": edge.conditional,
        "label": visible(edge.label, MAX_LABEL) if edge.label else "",
    }


def _clusters(
    dot: graphviz.Digraph, view: GraphView, nodes: Sequence[NodeView], ids: dict[str, str]
) -> tuple[dict[str, str], ...]:
    """Declare the subgraphs, nested as the view nests them; return their ids and names."""
    names = {cluster.id: f"cluster_{i}" for i, cluster in enumerate(view.clusters)}

    def declare(parent: graphviz.Digraph, inside: str) -> None:
        for cluster in view.clusters:
            if cluster.parent != inside or cluster.id == inside:
                continue
            with parent.subgraph(name=names[cluster.id]) as box:
                box.attr(margin="14", label="x" * min(len(cluster.label), MAX_LABEL), fontsize="12")
                for node in nodes:
                    if node.cluster == cluster.id:
                        box.node(ids[node.id])
                declare(box, cluster.id)

    declare(dot, "")
    return tuple({"id": names[c.id], "name": visible(c.label, MAX_LABEL)} for c in view.clusters)
