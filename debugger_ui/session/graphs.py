"""The graph at the cursor: marks, visits, and the edges that were taken, from the record alone.

An edge counts as taken when its source took part in a superstep whose successor ran its target. What
the code does not declare (a Send or Command to a node that no edge names) is drawn as undeclared.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from debugger_ui.engines.base import EdgeSpec, NodeSpec, Outline, Record, Task, Topology
from debugger_ui.session.checkpoints import planned, task_status
from debugger_ui.session.reading import Reading, Spot
from debugger_ui.session.view_graph import ClusterView, EdgeView, GraphView, NodeMark, NodeView
from debugger_ui.session.walks import Edge, Walk, taken_into

LOUDEST: Sequence[NodeMark] = ("failed", "waiting", "next", "done")
"""Of several tasks of a node the one that is first here gives it its mark."""


def graph_view(reading: Reading, spot: Spot | None, running: Sequence[str], thread: str = "") -> GraphView:
    """Return the graph; without a spot it has no marks. `running` are nodes at work right now."""
    topology = reading.engine.topology(spot.thread, spot.namespace) if spot else reading.engine.topology(thread)
    if spot is None:
        return bare_view(topology)
    record = reading.record(spot)
    history = reading.history(spot.thread, spot.namespace)
    outline = reading.outline(spot, spot.id)
    path = history.path(spot.id)
    walk = reading.walks.along(spot.thread, spot.namespace, path, {id_: history.by_id[id_].source for id_ in path})
    last = taken_into(topology, walk, planned(record, outline))
    followed = any(history.by_id[child].source == "loop" for child in history.children.get(spot.id, ()))
    marks = _marks(record, outline, walk, running, followed=followed)
    edges = Counter(walk.edges)
    edges.update(last)
    marked = Counter(task.name for task in record.tasks if mark_of(task) == marks.get(task.name))
    shown = _Shown(walk.visits, edges, last, marks, Counter(task.name for task in record.tasks), marked)
    words = _words(record, marks, walk.visits)
    return _assemble(topology, shown, words if walk.complete else f"{words} Still counting: there are more visits.")


def bare_view(topology: Topology) -> GraphView:
    """Return a graph without any mark."""
    return _assemble(
        topology, _Shown(Counter(), Counter(), frozenset(), {}, Counter(), Counter()), "No checkpoint is open."
    )


@dataclass(frozen=True, slots=True)
class _Shown:
    visits: Mapping[str, int]
    edges: Mapping[Edge, int]
    last: frozenset[Edge]
    marks: Mapping[str, NodeMark]
    tasks: Mapping[str, int]
    marked: Mapping[str, int]
    """How many of its tasks give a node the mark that it has."""


def _marks(
    record: Record, outline: Outline, walk: Walk, running: Sequence[str], *, followed: bool
) -> dict[str, NodeMark]:
    """Return the nodes' marks. In the past (`followed`) what ran from here is what runs next."""
    marks: dict[str, NodeMark] = {**dict.fromkeys(walk.edits, "edited"), **dict.fromkeys(walk.visits, "done")}
    if not record.tasks or followed:
        marks.update({node: "next" for node in planned(record, outline)})
        return marks
    found: dict[str, set[NodeMark]] = {}
    for task in record.tasks:
        found.setdefault(task.name, set()).add(mark_of(task))
    marks.update({name: next(mark for mark in LOUDEST if mark in mine) for name, mine in found.items()})
    marks.update({node: "running" for node in running})
    return marks


def mark_of(task: Task) -> NodeMark:
    """Return the mark that a task of the superstep at hand gives its node."""
    status = task_status(task)
    if status in ("failed", "refused"):
        return "failed"
    if status == "interrupted":
        return "waiting"
    return "next" if status == "to run" else "done"


def _assemble(topology: Topology, shown: _Shown, text: str) -> GraphView:
    visits, edges, marks = shown.visits, shown.edges, shown.marks
    known = {node.id for node in topology.nodes}
    met = [node for node in dict.fromkeys([*visits, *marks]) if node not in known and not node.startswith("__")]
    nodes = [*topology.nodes, *(NodeSpec(node, node) for node in met)]
    specs = list(topology.edges)
    named = {(edge.source, edge.target) for edge in specs}
    drawn = known | set(met)
    specs += [
        EdgeSpec(source, target, conditional=True, declared=False)
        for source, target in sorted(edges)
        if (source, target) not in named and source in drawn and target in drawn
    ]
    return GraphView(
        nodes=tuple(_node(node, shown, known=node.id in known) for node in nodes),
        edges=tuple(_edge(edge, shown) for edge in specs),
        clusters=tuple(ClusterView(*cluster) for cluster in topology.clusters),
        topology=_fingerprint(nodes, specs, topology),
        text=text,
        inferred=topology.inferred,
    )


def _node(node: NodeSpec, shown: _Shown, *, known: bool) -> NodeView:
    return NodeView(
        id=node.id,
        label=node.label,
        kind=node.kind,
        mark=_edge_mark(node, shown.visits, shown.marks, shown.edges),
        visits=shown.visits.get(node.id, 0),
        tasks=shown.tasks.get(node.id, 0),
        marked=shown.marked.get(node.id, 0),
        cluster=node.cluster,
        known=known,
    )


def _edge(edge: EdgeSpec, shown: _Shown) -> EdgeView:
    return EdgeView(
        source=edge.source,
        target=edge.target,
        conditional=edge.conditional,
        label=edge.label,
        taken=shown.edges.get((edge.source, edge.target), 0),
        last=(edge.source, edge.target) in shown.last,
        declared=edge.declared,
    )


def _edge_mark(
    node: NodeSpec, visits: Mapping[str, int], marks: Mapping[str, NodeMark], edges: Mapping[tuple[str, str], int]
) -> NodeMark:
    if node.kind == "start":
        return "done" if visits or marks else ""
    if node.kind == "end":
        return "done" if any(target == node.id for _, target in edges) else ""
    return marks.get(node.id, "")


def _fingerprint(nodes: Sequence[NodeSpec], edges: Sequence[EdgeSpec], topology: Topology) -> str:
    parts = (
        sorted((node.id, node.label, node.kind, node.cluster) for node in nodes),
        sorted((edge.source, edge.target, edge.conditional, edge.label) for edge in edges),
        topology.clusters,
    )
    return hashlib.sha256(repr(parts).encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _words(record: Record, marks: Mapping[str, NodeMark], visits: Mapping[str, int]) -> str:
    names = {"running": "running", "failed": "failed", "waiting": "waiting for an answer", "next": "runs next"}
    said = [
        f"{word}: {', '.join(sorted(node for node, found in marks.items() if found == mark))}"
        for mark, word in names.items()
        if mark in marks.values()
    ]
    if not said:
        said = ["finished: nothing runs next"]
    if visits:
        said.append("ran so far: " + ", ".join(f"{node} {count}x" for node, count in visits.items()))
    return f"Superstep {record.header.step + 1}. " + "; ".join(said) + "."
