"""One browser tab: its session, the message it shows, and its cursor in the URL.

Rule: the URL says where a person looks. Opening one runs and writes nothing.
"""

import logging
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlencode

import streamlit as st

from debugger_ui.server import shared
from debugger_ui.session.cursor import Cursor
from debugger_ui.session.problems import SessionError, trace
from debugger_ui.session.session import DebugSession
from debugger_ui.session.views import Nesting, News, Problem, RunProgress

logger = logging.getLogger(__name__)

STATE_KEY = "_tab"
CURSOR_PARAMS = ("graph", "thread", "branch", "checkpoint", "namespace", "task", "path")
TIMELINE_PAGE = 500
FRESH = 2.0
"""Seconds for which a list of threads counts as the present one."""
GRACE = 0.6
"""Seconds for which a URL that was replaced may still arrive with a request."""

T = TypeVar("T")


@dataclass
class Tab:
    """What is kept between two reruns of the page in one browser tab."""

    session: DebugSession
    params: dict[str, str] = field(default_factory=dict)
    """The cursor's part of the URL as it was last read or written."""
    problem: Problem | None = None
    notice: str = ""
    serial: int = -1
    """Serial of the run's progress as it was last seen."""
    shown_serial: int = -1
    """Serial of the run whose problem has been shown, so that dismissing it lasts."""
    rows: int = TIMELINE_PAGE
    """How many checkpoints the timeline shows."""
    node: str = ""
    """Node selected in the graph."""
    pulse: Hashable = None
    """What `Looking.pulse` said when the page was drawn."""
    news: News = field(default_factory=News)
    """What came from elsewhere and has not been looked at."""
    hidden: bool = False
    """The timeline shows hidden branches too."""
    nesting: Nesting | None = None
    """Where the cursor stands among subgraphs, as it is drawn now."""
    leading: bool = False
    """The cursor was moved here since the URL was read: it leads, the URL follows."""
    left: dict[str, float] = field(default_factory=dict)
    """Query strings that were replaced, and when."""
    remembered: dict[str, tuple[float, object, Any]] = field(default_factory=dict)
    """What `recall` keeps: when, for which cursor and run, and what."""
    forms: dict[str, str] = field(default_factory=dict)
    """By a value's path as text: the form that the person chose for it."""
    pages: dict[tuple[str, str], int] = field(default_factory=dict)
    """By thread and path: where the page of a long chat or table begins that the person turned to."""
    full: set[tuple[str, str]] = field(default_factory=set)
    """Checkpoint and path of values that are shown without a limit."""

    def act(self, action: Callable[..., T], *arguments: Any, **named: Any) -> T | None:
        """Do what a person asked for; a refusal becomes the tab's message. Returns None then."""
        self.problem, self.notice, self.leading = None, "", True
        self.remembered.clear()
        try:
            return action(*arguments, **named)
        except SessionError as error:
            self.problem = error.problem
        except Exception as error:
            self.problem = unexpected(error)
        return None

    def see(self, look: Callable[..., T], *arguments: Any, **named: Any) -> T | None:
        """Read something to draw; a refusal becomes the tab's message. Returns None then."""
        try:
            return look(*arguments, **named)
        except SessionError as error:
            self.problem = error.problem
            return None

    def recall(self, name: str, look: Callable[[], T]) -> T:
        """Return what `look` returned a moment ago, if nothing was done and the run has not moved since.

        The list of threads and the overview are drawn at every click, and cost a walk over all threads.
        """
        now, about = time.monotonic(), (self.session.cursor.graph, self.session.cursor.thread, self.serial)
        kept = self.remembered.get(name)
        if kept is None or now - kept[0] > FRESH or kept[1] != about:
            kept = self.remembered[name] = now, about, look()
        found: T = kept[2]
        return found

    def read_url(self) -> None:
        """Follow the URL when the person changed it: a link, a bookmark, the Back button.

        The browser sends its URL with every request, and a request can be on its way while a new URL is
        on its way to the browser. So a URL that was replaced a moment ago is late, not a wish.
        """
        given = {name: st.query_params[name] for name in CURSOR_PARAMS if name in st.query_params}
        late = time.monotonic() - self.left.get(urlencode(given), -GRACE) < GRACE
        before, self.params = self.params, given
        if self.leading or late or given == before:
            self.leading = False
            return
        try:
            dropped = self.session.load_params(given)
        except SessionError as error:
            self.problem = error.problem
            return
        if dropped:
            self.problem = Problem(message=" ".join(dropped), kind="moved-on")

    def write_url(self) -> None:
        """Say in the URL where the cursor is."""
        wanted = self.session.cursor.to_params()
        if wanted == self.params:
            return
        self.left[urlencode(self.params)] = time.monotonic()
        for name in CURSOR_PARAMS:
            if name in wanted:
                st.query_params[name] = wanted[name]
            elif name in st.query_params:
                del st.query_params[name]
        self.params = wanted

    def progress(self) -> RunProgress:
        """Return what the thread's worker does; a failure, or what Stop gave up, is taken over as the message, once."""
        now = self.session.progress()
        self.serial = now.serial
        if now.problem is not None and not now.busy and now.serial != self.shown_serial:
            self.problem, self.shown_serial = now.problem, now.serial
        elif now.state == "stopped" and not now.busy and now.serial != self.shown_serial:
            self.notice, self.shown_serial = now.message, now.serial
        return now


def current() -> Tab:
    """Return this browser tab's state, made at its first run.

    Raises:
        SessionError: nothing has been opened.
    """
    if STATE_KEY not in st.session_state:
        st.session_state[STATE_KEY] = Tab(DebugSession(shared.workspace(), Cursor()), problem=shared.lost())
    tab: Tab = st.session_state[STATE_KEY]
    return tab


def unexpected(error: Exception) -> Problem:
    """Return the message for a fault of the debugger itself, which is logged."""
    logger.error("unexpected error in the debugger", exc_info=error)
    return Problem(
        message="The debugger met an error of its own. Nothing was lost: the record is as it was saved.",
        kind="error",
        details=trace(error),
    )


def state(key: str) -> dict[str, Any]:
    """Return a component's state as a plain dictionary; empty before its first report."""
    value: Any = st.session_state.get(key)
    return dict(value) if value else {}
