"""Of very many tasks the ones that need somebody come first, and the others a page at a time."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from debugger_ui.components import sheet
from debugger_ui.session.views import TaskView

PAGE = 40
MORE, SHOWN = "more", "_tasks_shown"
ORDER = ("failed", "refused", "interrupted", "running", "to run", "supplied", "saved")


def page(found: Sequence[TaskView], scope: str) -> tuple[list[TaskView], list[sheet.Block]]:
    """Return the tasks to draw, and what leads to the others. Up to a page they stand in the order of the superstep.

    `scope` names the list: how much of it is shown is forgotten where another one is looked at.
    """
    order = list(found) if len(found) <= PAGE else sorted(found, key=lambda task: ORDER.index(task.status))
    most = shown(scope)
    left = len(order) - most
    if left <= 0:
        return order, []
    items = [
        sheet.word(f"{left:,} more", "muted"),
        sheet.word(f"Show {min(left, PAGE)} more", "button", act=MORE, value=scope),
    ]
    return order[:most], [sheet.bar(items, name="more-tasks")]


def shown(scope: str) -> int:
    """Return how many tasks of a list are drawn."""
    known: tuple[str, int] = st.session_state.get(SHOWN) or ("", PAGE)
    return known[1] if known[0] == scope else PAGE


def pick(picked: dict[str, Any]) -> None:
    """Show a further page, if that was clicked."""
    if picked.get("act") == MORE:
        scope = str(picked.get("value"))
        st.session_state[SHOWN] = (scope, shown(scope) + PAGE)
