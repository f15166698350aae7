"""The page by itself: redraws when something was written from elsewhere, or a run moved on; and not otherwise.

Rules:
- A look from the timer asks for a stamp of the database and draws nothing; only a new stamp redraws the page.
- Nothing is redrawn under an open dialog: what is typed there would be gone.
"""

from collections.abc import Callable, Hashable

import streamlit as st

from debugger_ui.components.text import count
from debugger_ui.panels import dialogs, header, inspector
from debugger_ui.panels.tab import Tab
from debugger_ui.session.problems import SessionError
from debugger_ui.session.views import News, RunProgress

BUSY_POLL = 0.5
IDLE_POLL = 1.0


def pulse(here: Tab) -> Hashable:
    """Return something that differs once the page has something new to show; an error is told once."""
    try:
        return here.session.pulse(), here.session.progress().serial
    except SessionError as error:
        return error.problem.message


def catch_up(here: Tab) -> None:
    """Take in what came from elsewhere, before the page is drawn. An edit in hand stays at its checkpoint."""
    here.pulse = pulse(here)
    editing = inspector.open_tab() == inspector.EDIT and header.page() == header.DEBUG
    here.news = here.see(here.session.catch_up, hold=editing) or News()


def watch(here: Tab, draw: Callable[[RunProgress], None] | None = None) -> None:
    """Look for news from a fragment, often while a run is going on; `draw` is drawn anew at each look."""
    seen = here.pulse, inspector.open_tab(), header.page()
    busy = bool(here.session.workspace.board.busy())

    def look() -> None:
        if draw is not None:
            draw(here.session.progress())
        if dialogs.is_open():
            return
        if (pulse(here), inspector.open_tab(), header.page()) != seen:
            inspector.keep(seen[1])
            here.leading = True
            here.remembered.clear()
            st.rerun()

    st.fragment(look, run_every=BUSY_POLL if busy else IDLE_POLL)()


def words(news: News) -> str:
    """Return what the timeline says about what came; "" when there is nothing."""
    if not news.count:
        return ""
    where = "" if news.ahead else f" on {news.name}" if news.branches == 1 else f" on {news.branches} branches"
    return f"{count(news.count, 'new checkpoint')}{where} · show"
