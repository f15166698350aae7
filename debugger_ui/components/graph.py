"""The graph component: the drawing of a graph view, with marks by icon, border and colour."""

import hashlib
from collections.abc import Callable
from typing import Any

from debugger_ui.components.dot import drawing
from debugger_ui.components.registry import mount
from debugger_ui.session.views import GraphView

HTML = """<div class="graph">
<svg class="canvas" role="group" aria-label="Graph"></svg>
<div class="twin" hidden><p></p><table aria-label="Graph as a table"></table></div>
<div class="tools">
<button type="button" data-act="fit" title="Show the whole graph">Fit</button>
<button type="button" data-act="active" title="Centre on what runs, waits or comes next">Active</button>
<button type="button" data-act="text" aria-pressed="false" title="The same graph as a table">Table</button>
</div>
<div class="legend" role="status"></div>
</div>"""

MARKS = ("done", "edited", "next", "running", "waiting", "failed")


def graph(view: GraphView, *, key: str, selected: str, stamp: str, on_select: Callable[[], None]) -> Any:
    """Draw the graph; a clicked node comes back as state `selected.node`.

    Args:
        view: nodes and edges with their marks at the cursor.
        key: key of the component in the session's state.
        selected: node that is drawn as selected, or empty.
        stamp: names what is drawn; it becomes the `data-ready` attribute once it is on screen.
        on_select: called when a node was clicked.
    """
    return mount(
        "graph",
        HTML,
        key=key,
        height="stretch",
        on_selected_change=on_select,
        data=payload(view, selected=selected, stamp=stamp),
    )


def payload(view: GraphView, *, selected: str, stamp: str) -> dict[str, Any]:
    """Return what the component's script gets: topology, then states."""
    parts = drawing(view)
    taken = {(edge.source, edge.target) for edge in view.edges if edge.taken}
    marks = {mark: [node.id for node in view.nodes if node.mark == mark] for mark in MARKS}
    return {
        "layout_key": hashlib.sha256(parts.source.encode() + repr(parts.nodes).encode()).hexdigest(),
        "dot": parts.source,
        "nodes": parts.nodes,
        "edges": parts.edges,
        "clusters": parts.clusters,
        "taken": [edge["id"] for edge in parts.edges if (edge["tail"], edge["head"]) in taken],
        "visits": {node.id: node.visits for node in view.nodes if node.visits},
        "counts": {node.id: node.tasks for node in view.nodes if node.tasks},
        "marked": {node.id: node.marked for node in view.nodes if 0 < node.marked < node.tasks},
        "selected": selected,
        "stamp": stamp,
        **marks,
    }
