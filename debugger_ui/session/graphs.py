"""The graph at the cursor: marks, visits, and the edges that were taken, from the record alone.

An edge counts as taken when its source took part in a superstep whose successor ran its target. What
the code does not declare (a Send or Command to a node that no edge names) is drawn as undeclared.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence

from debugger_ui.engines import naming
from debugger_ui.engines.base import EdgeSpec, NodeSpec, Outline, Record, Topology
from debugger_ui.session.checkpoints import planned, task_status
from debugger_ui.session.reading import Reading, Spot
from debugger_ui.session.view_record import ClusterView, EdgeView, GraphView, NodeMark, NodeView

Taken = tuple[Counter[str], Counter[tuple[str, str]], set[tuple[str, str]]]


def graph_view(reading: Reading, spot: Spot | None, running: Sequence[str], thread: str = "") -> GraphView:
    """Return the graph; without a spot it has no marks. `running` are nodes at work right now."""
    topology = reading.engine.topology(spot.thread if spot else thread)
    if spot is None:
        return _assemble(topology, (Counter(), Counter(), set()), {}, Counter(), "No checkpoint is open.")
    record = reading.record(spot)
    history = reading.history(spot.thread, spot.namespace)
    path = history.path(spot.id)
    outlines = reading.engine.outlines(spot.thread, path, spot.namespace)
    sources = [history.by_id[id_].source for id_ in path]
    steps = [outlines.get(id_, Outline()) for id_ in path]
    taken = _walk(topology, steps, sources, planned(record, steps[-1]))
    followed = any(history.by_id[child].source == "loop" for child in history.children.get(spot.id, ()))
    marks = _marks(record, steps[-1], taken[0], running, followed=followed)
    tasks = Counter(task.name for task in record.tasks)
    return _assemble(topology, taken, marks, tasks, _words(record, marks, taken[0]))


def _walk(topology: Topology, steps: Sequence[Outline], sources: Sequence[str], due: Sequence[str]) -> Taken:
    visits: Counter[str] = Counter()
    edges: Counter[tuple[str, str]] = Counter()
    into: set[tuple[str, str]] = set()
    before: tuple[str, ...] = (naming.START,)
    for step, source in zip(steps, sources, strict=True):
        if source == "input":
            before = (naming.START,)
        if step.ran:
            into = _edges_between(topology, before, step.ran, visits)
            edges.update(into)
            before = step.ran
            if source == "loop":
                visits.update(step.ran)
    last = _edges_between(topology, before, due, visits) if due else set()
    finished = set() if due else _finishing(topology, before)
    edges.update(last | finished)
    return visits, edges, last | finished


def _edges_between(
    topology: Topology, before: Sequence[str], after: Sequence[str], visits: Mapping[str, int]
) -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for node in after:
        if node == naming.START:
            continue
        declared = [edge.source for edge in topology.edges if edge.target == node]
        sources = [source for source in declared if source in before]
        waited = _joined(topology, node)
        if sources and set(sources) <= waited:
            sources = [source for source in declared if source in waited and (visits.get(source) or source in before)]
        if not sources:
            sources = [source for source in before if source != naming.START or len(before) == 1]
        found.update((source, node) for source in sources)
    return found


def _joined(topology: Topology, node: str) -> set[str]:
    spec = next((spec for spec in topology.nodes if spec.id == node), None)
    triggers = spec.triggers if spec else ()
    return {source for channel in triggers for source in naming.sources_of(channel)}


def _finishing(topology: Topology, before: Sequence[str]) -> set[tuple[str, str]]:
    ends = {node.id for node in topology.nodes if node.kind == "end"}
    return {(e.source, e.target) for e in topology.edges if e.target in ends and e.source in before}


def _marks(
    record: Record, outline: Outline, visits: Mapping[str, int], running: Sequence[str], *, followed: bool
) -> dict[str, NodeMark]:
    """Return the nodes' marks. In the past (`followed`) what ran from here is what runs next."""
    marks: dict[str, NodeMark] = {node: "done" for node in visits}
    if not record.tasks or followed:
        marks.update({node: "next" for node in planned(record, outline)})
        return marks
    by_status: dict[str, set[str]] = {}
    for task in record.tasks:
        by_status.setdefault(task.name, set()).add(task_status(task))
    for name, found in by_status.items():
        if "failed" in found:
            marks[name] = "failed"
        elif "interrupted" in found:
            marks[name] = "waiting"
        else:
            marks[name] = "next" if "to run" in found else "done"
    marks.update({node: "running" for node in running})
    return marks


def _assemble(
    topology: Topology, taken: Taken, marks: Mapping[str, NodeMark], tasks: Mapping[str, int], text: str
) -> GraphView:
    visits, edges, last = taken
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
        nodes=tuple(
            NodeView(
                id=node.id,
                label=node.label,
                kind=node.kind,
                mark=_edge_mark(node, visits, marks, edges),
                visits=visits.get(node.id, 0),
                tasks=tasks.get(node.id, 0),
                cluster=node.cluster,
                known=node.id in known,
            )
            for node in nodes
        ),
        edges=tuple(
            EdgeView(
                source=edge.source,
                target=edge.target,
                conditional=edge.conditional,
                label=edge.label,
                taken=edges.get((edge.source, edge.target), 0),
                last=(edge.source, edge.target) in last,
                declared=edge.declared,
            )
            for edge in specs
        ),
        clusters=tuple(ClusterView(*cluster) for cluster in topology.clusters),
        topology=_fingerprint(nodes, specs, topology),
        text=text,
        inferred=topology.inferred,
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
