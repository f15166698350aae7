"""The graph at the cursor with its subgraphs opened in place: a cluster around each, with the marks of its run.

Rules:
- The node that runs a subgraph stays in the picture, as the door of its cluster: it bears the task's mark and is what
  edges lead to. What leaves the cluster leaves from the nodes at which the subgraph ends.
- A node inside is called `door|node`. Marks inside are those of the last run on the way to the cursor; where the
  subgraph only runs next, nothing is marked yet.
- A picture is opened only as far as it stays readable.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from debugger_ui.engines import spaces
from debugger_ui.session.graphs import bare_view, graph_view
from debugger_ui.session.nested import Nested, Run
from debugger_ui.session.reading import Reading, Spot
from debugger_ui.session.view_graph import ClusterView, EdgeView, GraphView, NodeMark, NodeView

ROOM = 24
"""Nodes that may be drawn inside clusters, over all of them."""
WAYS = 6
"""Edges that may leave a cluster; with more, they leave from its door."""
OPEN = ("running", "failed", "waiting", "next")
STRONGEST: tuple[NodeMark, ...] = ("running", "failed", "waiting", "next", "done", "edited", "")


def opened(reading: Reading, spot: Spot, view: GraphView) -> GraphView:
    """Return the picture with those subgraphs opened that there is room for."""
    return _opened(reading, spot, view, Nested(reading, spot.thread), ROOM)


def _opened(reading: Reading, spot: Spot, view: GraphView, nested: Nested, room: int) -> GraphView:
    ran = {run.node for run in nested.runs if run.around == spot.namespace}
    for node in view.nodes:
        if node.kind != "subgraph" and node.id not in ran:
            continue
        inner = _inner(reading, spot, node, nested, room)
        size = sum(one.kind not in ("start", "end") for one in inner.nodes)
        if 0 < size <= room:
            view, room = _placed(view, node, inner), room - size
    return view


def _inner(reading: Reading, spot: Spot, door: NodeView, nested: Nested, room: int) -> GraphView:
    """Return the picture inside a node, with the marks of its runs if they are to be shown."""
    runs = _shown(reading, spot, door.id, nested)
    heads = [(run, _head(reading, run)) for run in runs]
    heads = [(run, head) for run, head in heads if not reading.outline(head, head.id).damaged]
    if not heads:
        known = [run.namespace for run in nested.runs if (run.around, run.node) == (spot.namespace, door.id)]
        pseudo = f"{spot.namespace}{spaces.SEPARATOR}{door.id}".removeprefix(spaces.SEPARATOR)
        return bare_view(reading.engine.topology(spot.thread, known[-1] if known else pseudo))
    views = [_opened(reading, head, _marked(reading, nested, run, head), nested, room) for run, head in heads]
    # Of several runs side by side, the finished ones say nothing about what is to come.
    return _merged([one for one in views if any(node.mark in OPEN for node in one.nodes)] or views)


def _marked(reading: Reading, nested: Nested, run: Run, head: Spot) -> GraphView:
    """Return the picture of a run; where its task has a result, nothing in it is still to come."""
    view = graph_view(reading, head, ())
    if not any(node.mark == "next" for node in view.nodes) or not nested.ended(run):
        return view
    return replace(
        view, nodes=tuple(replace(node, mark="done") if node.mark == "next" else node for node in view.nodes)
    )


def _head(reading: Reading, run: Run) -> Spot:
    history = reading.history(run.thread, run.namespace)
    return Spot(run.thread, run.namespace, history.branch_of[run.newest], run.newest, False)


def _shown(reading: Reading, spot: Spot, node: str, nested: Nested) -> list[Run]:
    """Return the runs of a node whose marks belong to the spot."""
    history = reading.history(spot.thread, spot.namespace)
    if not any(history.by_id[child].source == "loop" for child in history.children.get(spot.id, ())):
        here = [run for run in nested.at(spot.namespace, spot.id) if run.node == node]
        if here:
            return here
    elif node in reading.outline(spot, spot.id).due:
        return []
    for id_, child in reversed(list(pairwise(history.path(spot.id)))):
        if history.by_id[child].source != "loop":
            continue  # an edit took the place of the superstep: what ran in that is on another branch
        found = [run for run in nested.at(spot.namespace, id_) if run.node == node]
        if found:
            return found
    return []


def _merged(views: Sequence[GraphView]) -> GraphView:
    """Return one picture of several runs of the same graph: each node with its most urgent mark."""
    first = views[0]
    if len(views) == 1:
        return first
    marks: dict[str, list[NodeMark]] = {}
    for node in (node for view in views for node in view.nodes):
        marks.setdefault(node.id, []).append(node.mark)
    taken = {(edge.source, edge.target) for view in views for edge in view.edges if edge.taken}
    return replace(
        first,
        nodes=tuple(replace(node, mark=min(marks[node.id], key=STRONGEST.index), tasks=0) for node in first.nodes),
        edges=tuple(replace(edge, taken=int((edge.source, edge.target) in taken)) for edge in first.edges),
    )


def _placed(view: GraphView, door: NodeView, inner: GraphView) -> GraphView:
    """Return the picture with another one drawn inside a node's cluster."""
    terminal = {node.id: node.kind for node in inner.nodes if node.kind in ("start", "end")}

    def name(id_: str) -> str:
        return door.id if terminal.get(id_) == "start" else f"{door.id}{spaces.SEPARATOR}{id_}"

    cluster = ClusterView(door.id, f"inside {door.label}", door.cluster)
    nodes = [replace(one, cluster=door.id) if one.id == door.id else one for one in view.nodes]
    nodes += [
        replace(one, id=name(one.id), cluster=name(one.cluster) if one.cluster else door.id, visits=0)
        for one in inner.nodes
        if one.id not in terminal
    ]
    within = [
        replace(edge, source=name(edge.source), target=name(edge.target))
        for edge in inner.edges
        if terminal.get(edge.target) != "end"
    ]
    ends = {name(edge.source): edge.taken for edge in inner.edges if terminal.get(edge.target) == "end"}
    edges = [way for edge in view.edges for way in _leaving(edge, door.id, ends, view)]
    boxes = [
        ClusterView(name(box.id), box.label, name(box.parent) if box.parent else door.id) for box in inner.clusters
    ]
    return replace(
        view,
        nodes=tuple(nodes),
        edges=(*edges, *within),
        clusters=(*view.clusters, cluster, *boxes),
        topology=f"{view.topology}/{inner.topology}",
    )


def _leaving(edge: EdgeView, door: str, ends: dict[str, int], view: GraphView) -> list[EdgeView]:
    """Return an edge of the outer picture, from where the subgraph ends if it leaves the door."""
    ways = sum(one.source == door for one in view.edges) * len(ends)
    if edge.source != door or not 0 < ways <= WAYS:
        return [edge]
    # A Command to the graph around leaves from anywhere: then no way to the end was taken, and all stand for it.
    known = any(ends.values())
    return [replace(edge, source=end, taken=edge.taken if taken or not known else 0) for end, taken in ends.items()]
