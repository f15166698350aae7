"""Counts along a path: how often each node ran and each edge was taken, from the root to a checkpoint.

Rules:
- What happened on the way to a checkpoint never changes, so counts are kept at every `EVERY`-th one.
- One look walks at most `BUDGET` checkpoints. On a longer path it tells what it has so far, and the
  next look goes on from there.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from debugger_ui.engines import naming
from debugger_ui.engines.base import Engine, Outline, Topology

EVERY = 250
BUDGET = 1_000
TAIL = 50
Edge = tuple[str, str]
Key = tuple[str, str, str]


@dataclass(slots=True)
class Walk:
    """Counts at the end of a path; `before` are the nodes that made its last step, `into` their edges.

    `edits` counts the edits that were made in a node's name.
    """

    visits: Counter[str] = field(default_factory=Counter)
    edits: Counter[str] = field(default_factory=Counter)
    edges: Counter[Edge] = field(default_factory=Counter)
    before: tuple[str, ...] = (naming.START,)
    into: frozenset[Edge] = frozenset()
    complete: bool = True

    def copy(self) -> "Walk":
        """Return counts that can be carried on without changing these."""
        return Walk(Counter(self.visits), Counter(self.edits), Counter(self.edges), self.before, self.into)


class Walks:
    """Counts of one engine's threads, kept at intervals."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._kept: dict[Key, Walk] = {}

    def along(self, thread: str, namespace: str, path: Sequence[str], sources: Mapping[str, str]) -> Walk:
        """Return the counts at the end of a path from a root; `sources` by checkpoint id."""
        edges = _Edges(self.engine.topology(thread, namespace))
        start = len(path)
        while start and (thread, namespace, path[start - 1]) not in self._kept:
            start -= 1
        walk = self._kept[thread, namespace, path[start - 1]].copy() if start else Walk()
        left = path[start:]
        here = _Steps(self.engine, thread, namespace, sources, edges, self._kept)
        if len(left) <= BUDGET:
            here.go(walk, left, start)
            return walk
        here.go(walk, left[:BUDGET], start)
        tail = Walk()
        here.go(tail, path[-TAIL:], -TAIL)
        counts = walk.visits + tail.visits, walk.edits + tail.edits, walk.edges + tail.edges
        return Walk(*counts, tail.before, tail.into, complete=False)


@dataclass(slots=True)
class _Steps:
    engine: Engine
    thread: str
    namespace: str
    sources: Mapping[str, str]
    edges: "_Edges"
    kept: dict[Key, Walk]

    def go(self, walk: Walk, ids: Sequence[str], start: int) -> None:
        """Carry a walk on over checkpoints; `start` is the place of the first on its path, below 0 to keep none."""
        outlines = self.engine.outlines(self.thread, ids, self.namespace)
        for place, id_ in enumerate(ids, start):
            self._step(walk, outlines.get(id_, Outline()), self.sources.get(id_, ""))
            if start >= 0 and place % EVERY == EVERY - 1:
                self.kept[self.thread, self.namespace, id_] = walk.copy()

    def _step(self, walk: Walk, outline: Outline, source: str) -> None:
        if source == "input":
            walk.before = (naming.START,)
        if not outline.ran:
            return
        walk.into = self.edges.between(walk.before, outline.ran, walk.visits)
        if source == "update":
            walk.into &= self.edges.declared  # an edit can be written as any node: that is no way the graph took
        walk.edges.update(walk.into)
        walk.before = outline.ran
        if source == "loop":
            walk.visits.update(outline.ran)
        elif source == "update":
            walk.edits.update(outline.ran)


class _Edges:
    """Which edges lead from the nodes of one superstep to those of the next."""

    def __init__(self, topology: Topology) -> None:
        self.into: dict[str, list[str]] = {}
        self.declared = frozenset((edge.source, edge.target) for edge in topology.edges)
        for edge in topology.edges:
            self.into.setdefault(edge.target, []).append(edge.source)
        self.joined = {
            node.id: {source for channel in node.triggers for source in naming.sources_of(channel)}
            for node in topology.nodes
        }
        self._found: dict[tuple[tuple[str, ...], tuple[str, ...]], frozenset[Edge]] = {}

    def between(self, before: Sequence[str], after: Sequence[str], visits: Mapping[str, int]) -> frozenset[Edge]:
        """Return the edges taken; those of a join also from sources that came earlier."""
        key = (tuple(before), tuple(after))
        waiting = any(self.joined.get(node) for node in after)
        if not waiting and key in self._found:
            return self._found[key]
        found = {
            (source, node) for node in after if node != naming.START for source in self._sources(node, before, visits)
        }
        self._found[key] = frozenset(found)
        return self._found[key]

    def _sources(self, node: str, before: Sequence[str], visits: Mapping[str, int]) -> list[str]:
        declared = self.into.get(node, [])
        sources = [source for source in declared if source in before]
        waited = self.joined.get(node, set())
        if sources and set(sources) <= waited:
            return [source for source in declared if source in waited and (visits.get(source) or source in before)]
        return sources or [source for source in before if source != naming.START or len(before) == 1]


def taken_into(topology: Topology, walk: Walk, due: Sequence[str]) -> frozenset[Edge]:
    """Return the edges into the nodes that are due, or to the end when none are."""
    if due:
        return _Edges(topology).between(walk.before, due, walk.visits)
    ends = {node.id for node in topology.nodes if node.kind == "end"}
    return frozenset((e.source, e.target) for e in topology.edges if e.target in ends and e.source in walk.before)
