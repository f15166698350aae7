"""What the drawn graph shows at the cursor: nodes with marks, edges, subgraphs."""

from dataclasses import dataclass
from typing import Literal

NodeMark = Literal["", "done", "edited", "next", "running", "waiting", "failed"]


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node with its mark at the cursor."""

    id: str
    label: str
    kind: str
    """start, end, node, subgraph."""
    mark: NodeMark
    visits: int
    """How often it ran on the path from the root to the cursor."""
    tasks: int = 0
    """Tasks of it in the superstep under the cursor (a fan-out has several)."""
    marked: int = 0
    """How many of them stand as the mark says: of several tasks one may have failed."""
    cluster: str = ""
    known: bool = True
    """False when the record names it but the graph in hand has no such node."""


@dataclass(frozen=True, slots=True)
class EdgeView:
    """An edge with how often it was taken."""

    source: str
    target: str
    conditional: bool
    label: str
    taken: int
    """How often it was taken on the path to the cursor."""
    last: bool
    """Taken into the superstep under the cursor."""
    declared: bool = True
    """False for an edge that only the record knows (a Send or Command to an undeclared target)."""


@dataclass(frozen=True, slots=True)
class ClusterView:
    """A subgraph drawn around its nodes."""

    id: str
    label: str
    parent: str = ""


@dataclass(frozen=True, slots=True)
class GraphView:
    """The graph at the cursor."""

    nodes: tuple[NodeView, ...]
    edges: tuple[EdgeView, ...]
    clusters: tuple[ClusterView, ...]
    topology: str
    """Changes only when nodes, edges or clusters do: a key for the layout."""
    text: str
    """The picture in words."""
    inferred: bool = False
    """Drawn from the record, not from a graph."""
