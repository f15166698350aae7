"""A graph as its record shows it: the nodes that ran or were due, and the ways that were taken between them."""

from debugger_ui.engines import naming
from debugger_ui.engines.base import EdgeSpec, NodeSpec, Outline, Topology
from debugger_ui.engines.reader import SaverReader

MAX_PATH = 5_000
"""Checkpoints, the newest ones, that the graph is drawn from."""


def traced(reader: SaverReader, thread: str, namespace: str = "") -> Topology:
    """Return the nodes that the record of a thread, or of a subgraph in it, knows and the edges that were taken."""
    headers = reader.headers(thread, namespace)[-MAX_PATH:]
    outlines = reader.outlines(thread, [header.id for header in headers], namespace)
    edges: dict[tuple[str, str], None] = {}
    nodes: dict[str, None] = {}
    for header in headers:
        here = outlines.get(header.id, Outline())
        nodes.update(dict.fromkeys((*here.ran, *here.due)))
        before = here.ran or ((naming.START,) if header.source == "input" or not header.parent else ())
        edges.update({(one, other): None for one in before for other in here.due if other != naming.START})
        if header.step == 0 and not here.ran:
            edges.update({(naming.START, other): None for other in here.due})
    shown = [node for node in nodes if node != naming.START]
    start = NodeSpec(naming.START, naming.START, "start")
    return Topology(
        nodes=(start, *(NodeSpec(node, node) for node in shown)),
        edges=tuple(EdgeSpec(one, other) for one, other in edges),
        inferred=True,
    )
