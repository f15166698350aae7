"""Dialogs: one at a time, and the page knows while one is open.

Rule: redrawing the page closes a dialog, so nothing may redraw it by itself meanwhile.
"""

from collections.abc import Callable
from typing import Any

import streamlit as st

OPEN = "_dialog_open"


def show(title: str, draw: Callable[..., None], *arguments: Any, **options: Any) -> None:
    """Open a dialog whose content `draw` draws; `options` are Streamlit's: width, position."""
    st.session_state[OPEN] = True
    st.dialog(title, on_dismiss=closed, **options)(draw)(*arguments)


def closed() -> None:
    """Note that no dialog is open: it was dismissed, or the page is drawn anew."""
    st.session_state[OPEN] = False


def is_open() -> bool:
    """Whether a dialog is open in this browser tab."""
    return bool(st.session_state.get(OPEN))
