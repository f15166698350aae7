"""The list of threads, each with the status of its newest checkpoint."""

from debugger_ui.engines.base import Outline, ThreadHead
from debugger_ui.session.view_record import Page, ThreadRow
from debugger_ui.session.workspace import GRAPH_LABEL, Desk, Workspace

SCAN = 1_000
"""Threads looked at for a status before the list gives up and says that there may be more."""


def thread_page(
    workspace: Workspace, desk: Desk, *, status: str, text: str, window: tuple[int, int]
) -> Page[ThreadRow]:
    """Return one page of threads; with `status` the page is filled from those that have it."""
    offset, limit = window
    if not status:
        heads, total = desk.engine.threads(offset, limit, text=text)
        rows = tuple(thread_row(workspace, desk, head) for head in heads)
        more = offset + len(rows) < total if total is not None else len(rows) == limit
        return Page(rows, offset, limit, total, more)
    heads, total = desk.engine.threads(0, SCAN, text=text)
    found = [row for row in (thread_row(workspace, desk, head) for head in heads) if row.status == status]
    cut = total is None or total > SCAN
    shown = tuple(found[offset : offset + limit])
    return Page(shown, offset, limit, None if cut else len(found), offset + limit < len(found))


def thread_row(workspace: Workspace, desk: Desk, head: ThreadHead) -> ThreadRow:
    """Return a thread's row; the tree is read for the number of branches."""
    graph = workspace.graph_of(head.metadata.get(GRAPH_LABEL))
    reading = workspace.desks.get(graph, desk).reading
    newest = head.newest
    history = reading.history(head.id)
    outline = reading.engine.outlines(head.id, [newest]).get(newest, Outline())
    status = reading.status(outline, followed=False)
    source = history.by_id[newest].source if newest in history.by_id else ""
    return ThreadRow(
        id=head.id,
        status="running" if head.id in workspace.board.busy() else status,
        last_node=", ".join(outline.ran) or {"update": "edit", "input": "input"}.get(source, ""),
        next=outline.due,
        steps=head.step,
        checkpoints=len(history),
        branches=len(history.branches),
        updated=head.updated,
        waiting=len(outline.asking),
        error=f"{len(outline.failed)} failed" if outline.failed else "",
        bytes=head.bytes,
        title=workspace.labels.get("thread", head.id, "").name,
        graph=graph,
    )
