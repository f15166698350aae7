"""What is wrong with a drawing, all of it at once.

Rule: a complaint says what was found, where, and what there is instead. What is allowed but looks
like a mistake (a node that nothing leads to) is `lint`'s business, since `Command(goto=...)` needs no
declaration.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runtime._constants import NS_END, NS_SEP, RESERVED
from runtime.constants import END, START
from runtime.graph.spec import DEFAULT_HANDLER, BranchSpec, GraphSpec
from runtime.types import All


def validate(spec: GraphSpec, interrupts: Sequence[str] = ()) -> None:
    """Check a drawing as a whole.

    Args:
        spec: The drawing.
        interrupts: Nodes named in `interrupt_before` or `interrupt_after`.

    Raises:
        ValueError: with every complaint.
    """
    complaints = list(dict.fromkeys(complaints_about(spec, interrupts)))
    if len(complaints) == 1:
        raise ValueError(complaints[0])
    if complaints:
        lines = "\n".join(f"- {complaint}" for complaint in complaints)
        raise ValueError(f"the graph cannot be compiled, for {len(complaints)} reasons:\n{lines}")


def complaints_about(spec: GraphSpec, interrupts: Sequence[str] = ()) -> Iterator[str]:
    """Every complaint about a drawing, in the order in which it was drawn."""
    yield from spec.schemas.clashes
    for key in (*spec.schemas.channels, *spec.schemas.managed):
        if key in RESERVED or key == START:
            yield f"the state has a key {key!r}, which is a reserved name; rename it"
    if spec.defaults.error_handler is not None and DEFAULT_HANDLER in spec.nodes:
        yield f"the node {DEFAULT_HANDLER!r} has the name of the node for the graph's own error handler; rename it"
    yield from _sources(spec)
    yield from _targets(spec)
    for name in interrupts:
        if name not in spec.nodes:
            yield f"Interrupt node `{name}` not found; {_known(spec)}"


def name_complaint(name: str) -> str | None:
    """What is wrong with a node's name, if anything."""
    if name in (START, END):
        return f"Node `{name}` is reserved."
    for mark in (NS_SEP, NS_END):
        if mark in name:
            return f"{mark!r} is a reserved character and is not allowed in the node name {name!r}"
    if name in RESERVED:
        return f"Node name {name!r} is reserved."
    return None if name else "a node's name cannot be empty"


def _known(spec: GraphSpec) -> str:
    names = ", ".join(repr(name) for name in spec.nodes)
    return f"the nodes are {names}" if names else "there are no nodes yet"


def _sources(spec: GraphSpec) -> Iterator[str]:
    sources = [start for start, _ in spec.all_edges()]
    sources += [source for source, branches in spec.branches.items() if branches]
    for source in dict.fromkeys(sources):
        if source == END:
            yield "END cannot be a start node"
        elif source != START and source not in spec.nodes:
            yield f"Found edge starting at unknown node '{source}'; {_known(spec)}"
    if START not in sources:
        yield "Graph must have an entrypoint: add at least one edge from START to another node"


def _targets(spec: GraphSpec) -> Iterator[str]:
    for start, end in spec.all_edges():
        if end == START:
            yield f"START cannot be an end node, as in the edge from '{start}'"
        elif end != END and end not in spec.nodes:
            yield f"Found edge ending at unknown node `{end}`, from '{start}'; {_known(spec)}"
    for source, branches in spec.branches.items():
        for branch in branches.values():
            yield from _branch_targets(spec, source, branch)
    for name, node in spec.nodes.items():
        for end in node.ends:
            if end != END and end not in spec.nodes:
                yield f"Found edge ending at unknown node `{end}`, declared by node '{name}'; {_known(spec)}"


def _branch_targets(spec: GraphSpec, source: str, branch: BranchSpec) -> Iterator[str]:
    for end in dict.fromkeys((branch.ends or {}).values()):
        if end != END and end not in spec.nodes:
            yield f"At '{source}' node, '{branch.name}' branch found unknown target '{end}'; {_known(spec)}"


def stops(nodes: All | Sequence[str] | None) -> All | Sequence[str]:
    """Where to stop: `"*"`, or names; a lone string is one name."""
    if isinstance(nodes, str) and nodes != "*":
        return (nodes,)
    return nodes or ()


def named_stops(stops: All | Sequence[str]) -> Sequence[str]:
    """The nodes that are named one by one."""
    return () if stops == "*" else stops
