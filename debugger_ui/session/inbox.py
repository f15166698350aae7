"""Pending questions of all threads."""

from dataclasses import replace

from debugger_ui.engines.base import Outline
from debugger_ui.session.history import History
from debugger_ui.session.labels import Labels
from debugger_ui.session.questions import question_view
from debugger_ui.session.reading import Spot
from debugger_ui.session.threads import DAMAGE, DAMAGED, heads_of
from debugger_ui.session.view_record import Page, QuestionView
from debugger_ui.session.workspace import GRAPH_LABEL, Desk, Workspace
from runtime.checkpoint.errors import CheckpointStorageError

SCAN = 1_000
"""Threads looked through for questions."""


def inbox_page(workspace: Workspace, desk: Desk, window: tuple[int, int]) -> Page[QuestionView]:
    """Return the pending questions at the heads of all branches, newest thread first."""
    offset, limit = window
    heads, total, damaged = heads_of(desk.engine, 0, SCAN)
    found: list[QuestionView] = []
    for head in heads:
        owner = workspace.desks.get(workspace.graph_of(head.metadata.get(GRAPH_LABEL)), desk)
        try:
            found += _of_thread(owner, head.id, workspace.labels)
        except CheckpointStorageError as error:
            if error.reason != DAMAGE:
                raise
            damaged = DAMAGED
        if len(found) > offset + limit:
            break
    cut = total is None or total > SCAN or len(found) > offset + limit
    shown = tuple(found[offset : offset + limit])
    return Page(shown, offset, limit, None if cut else len(found), len(found) > offset + limit, damaged)


def _of_thread(desk: Desk, thread: str, labels: Labels) -> list[QuestionView]:
    history = desk.reading.history(thread)
    heads = [branch.head for branch in reversed(history.branches.values()) if history.is_head(branch.head)]
    outlines = desk.engine.outlines(thread, heads)
    found: list[QuestionView] = []
    for id_ in heads:
        if not outlines.get(id_, Outline()).asking:
            continue
        spot = replace(Spot(thread, "", history.branch_of[id_], id_, True))
        record = desk.reading.record(spot)
        branch = _named(history, spot.branch, thread, labels)
        found += [
            replace(question_view(asked, task, record, spot), branch=branch)
            for task in record.tasks
            for asked in task.questions
        ]
    return found


def _named(history: History, branch: str, thread: str, labels: Labels) -> str:
    """Return the name of a branch where there is another one to tell it from."""
    if len(history.branches) == 1:
        return ""
    return labels.get("branch", thread, branch).name or history.branches[branch].name
