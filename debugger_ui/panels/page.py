"""The page: set up, one message, the header, and the view that the URL asks for.

Rule: nobody sees a traceback as the first thing. A refusal is a sentence; a fault of ours is a
sentence with its details folded.
"""

from pathlib import Path

import streamlit as st

from debugger_ui.components import sheet
from debugger_ui.panels import (
    compare,
    compare_choice,
    debug,
    dialogs,
    header,
    inbox,
    inspector,
    live,
    nested,
    tab,
    threads,
)
from debugger_ui.panels.tab import Tab
from debugger_ui.server import shared
from debugger_ui.session.problems import SessionError
from debugger_ui.session.session import DebugSession
from debugger_ui.session.views import Problem

PICKED = 20
"""Newest threads among which one is opened, if the newest cannot be."""

STYLE = Path(__file__).with_name("style.css")
ICON = Path(__file__).with_name("icon.svg")


def main() -> None:
    """Draw the page once: this runs at every click."""
    st.set_page_config(
        page_title="Forkpoint",
        page_icon=str(ICON),
        layout="wide",
        initial_sidebar_state="collapsed",
    )
    with st.container(key="layout_style"):
        st.html(f"<style>{STYLE.read_text('utf-8')}</style>")
    try:
        here = tab.current()
    except SessionError as error:
        blocks = [sheet.problem_note(error.problem)]
        sheet.sheet(blocks, key="nothing_open")
        return
    try:
        draw(here)
    except SessionError as error:
        stand_in(error.problem)
    except Exception as error:
        stand_in(tab.unexpected(error))


def draw(here: Tab) -> None:
    """Draw what the cursor points at."""
    here.read_url()
    land(here)
    dialogs.closed()
    inspector.settle()
    live.catch_up(here)
    progress = here.progress()
    view = here.see(here.session.checkpoint)
    here.nesting = nested.look(here)
    header.header(here, view)
    if header.page() != header.COMPARE:
        compare_choice.leave()
    if header.page() == header.THREADS:
        threads.page(here)
        live.watch(here)
    elif header.page() == header.INBOX:
        inbox.page(here)
        live.watch(here)
    elif header.page() == header.COMPARE:
        compare.page(here)
        live.watch(here)
    else:
        debug.page(here, progress, view)
    message(here)
    here.write_url()


def land(here: Tab) -> None:
    """Open a thread when the cursor names none: the launcher's choice, or the newest."""
    session = here.session
    if session.cursor.thread:
        return
    newest = here.see(session.threads, limit=PICKED)
    rows = [row.id for row in newest.rows if row.status != "damaged"] if newest is not None else []
    for thread in (shared.first_thread(), *rows):
        if thread:
            found = here.see(opened, session, thread)
            if found:
                return


def opened(session: DebugSession, thread: str) -> bool:
    """Open a thread if it is there, and return whether it is."""
    if not session.has_thread(thread):
        return False
    session.move(thread=thread)
    return True


def message(here: Tab) -> None:
    """Show the tab's message above the page, so that nothing moves when it comes and goes."""
    if here.problem is None and not here.notice:
        return
    if here.problem is not None:
        block = sheet.problem_note(here.problem, dismiss=True)
    else:
        block = sheet.note(here.notice, "ok", name="notice", dismiss=True)
    with st.container(key="message"):
        sheet.sheet([block], key="message_sheet", on_pick=lambda: dismiss(here))


def dismiss(here: Tab) -> None:
    """Take the message away."""
    here.problem, here.notice = None, ""


def stand_in(problem: Problem) -> None:
    """Say what went wrong in place of the part that could not be drawn."""
    with st.container(key="message"):
        sheet.sheet([sheet.problem_note(problem)], key="fault_sheet")
