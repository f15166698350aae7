"""What leads where in a drawing: for pictures and for `lint`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from runtime.graph.spec import GraphSpec
from runtime.pregel.draw import Arrow


def arrows(spec: GraphSpec) -> Iterator[Arrow]:
    """Every declared way: edges, joins taken apart, mapped conditional edges, declared commands."""
    for start, end in spec.all_edges():
        yield Arrow(start, end)
    for source, branches in spec.branches.items():
        for branch in branches.values():
            for answer, end in (branch.ends or {}).items():
                yield Arrow(source, end, conditional=True, label=str(answer))
    for name, node in spec.nodes.items():
        labels = node.ends if isinstance(node.ends, Mapping) else dict.fromkeys(node.ends)
        for end, label in labels.items():
            yield Arrow(name, end, conditional=True, label=label)
