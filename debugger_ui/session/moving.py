"""Moves of the cursor: only to what exists; what depended on a changed part is cleared."""

from collections.abc import Mapping
from dataclasses import replace

from debugger_ui.session.cursor import Cursor, malformed
from debugger_ui.session.problems import SessionError, refuse
from debugger_ui.session.workspace import GRAPH_LABEL, Workspace

ORDER = ("graph", "thread", "namespace", "branch", "checkpoint", "task", "path")


def moved(workspace: Workspace, cursor: Cursor, changes: Mapping[str, object]) -> Cursor:
    """Return the cursor with the changes made, if what they name exists.

    Raises:
        SessionError: it does not.
    """
    if unknown := sorted(set(changes) - set(ORDER)):
        raise refuse(f"A cursor has no part {unknown[0]!r}.")
    wanted = replace(cursor, **_cleared(cursor, changes), **changes)  # type: ignore[arg-type]
    if wanted.graph and wanted.graph not in workspace.desks:
        raise refuse(f"There is no graph {wanted.graph!r}; there are {', '.join(workspace.desks)}.")
    if not wanted.thread:
        return wanted
    wanted = _on_its_graph(workspace, wanted) if "thread" in changes and "graph" not in changes else wanted
    history = workspace.desk(wanted.graph).reading.history(wanted.thread, wanted.namespace)
    if not len(history):
        where = f"part {wanted.namespace!r} of thread" if wanted.namespace else "thread"
        raise refuse(f"There is no {where} {wanted.thread!r} in {workspace.database}.")
    if wanted.branch and wanted.branch not in history.branches:
        raise refuse(f"There is no branch {wanted.branch!r} in thread {wanted.thread!r}.")
    if wanted.checkpoint and wanted.checkpoint not in history.by_id:
        raise refuse(f"There is no checkpoint {wanted.checkpoint!r} in thread {wanted.thread!r}.")
    if wanted.checkpoint and "branch" not in changes:
        on = wanted.branch and wanted.checkpoint in history.path(history.branches[wanted.branch].head)
        return wanted if on else replace(wanted, branch=history.branch_of[wanted.checkpoint])
    return wanted


def _cleared(cursor: Cursor, changes: Mapping[str, object]) -> dict[str, object]:
    given = [ORDER.index(name) for name in changes if getattr(cursor, name) != changes[name] or name != "thread"]
    if not given:
        return {}
    cleared = ORDER[min(given) + 1 :]
    blank: dict[str, object] = {name: () if name == "path" else "" for name in cleared if name not in changes}
    if "graph" in changes and changes["graph"] != cursor.graph:
        return blank
    return {name: value for name, value in blank.items() if name not in ("graph", "thread") or "thread" in changes}


def _on_its_graph(workspace: Workspace, wanted: Cursor) -> Cursor:
    """Return the cursor on the graph that made the thread, where its metadata tells."""
    history = workspace.desk(wanted.graph).reading.history(wanted.thread)
    if not len(history):
        return wanted
    label = history.by_id[history.newest].metadata.get(GRAPH_LABEL)
    return replace(wanted, graph=workspace.graph_of(label) or wanted.graph)


def from_params(workspace: Workspace, params: Mapping[str, str]) -> tuple[Cursor, list[str]]:
    """Return the cursor that a link means, and a sentence for each part of it that is not there."""
    wanted = Cursor.from_params(params)
    cursor = Cursor()
    dropped = [f"The {name} in the address is not one that can be opened." for name in malformed(params)]
    for name in ORDER:
        value = getattr(wanted, name)
        if not value:
            continue
        if name not in ("graph", "thread") and not cursor.thread:
            continue
        try:
            cursor = moved(workspace, cursor, {name: value})
        except SessionError as error:
            dropped.append(error.problem.message)
    return cursor, dropped
