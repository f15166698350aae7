"""What the launcher opened, for the pages that run in the same process.

Streamlit runs the page's script anew at every click, in threads of one process. The workspace is
opened once, before the server starts, so that a wrong path is a sentence in the terminal.
"""

import time

from debugger_ui.session.problems import refuse
from debugger_ui.session.view_values import Problem
from debugger_ui.session.workspace import Workspace

_opened: list[tuple[Workspace, str]] = []
_lost: list[tuple[str, float]] = []

COMES_BACK = 60.0
"""Seconds after the start of a server in which the pages of the one before it come back."""


def use(workspace: Workspace, *, thread: str = "", lost: str = "") -> None:
    """Make the workspace the one that pages show.

    Args:
        workspace: what the launcher opened.
        thread: where a page without a cursor starts.
        lost: how the server before this one ended, if it was lost.
    """
    _opened[:] = [(workspace, thread)]
    _lost[:] = [(lost, time.monotonic() + COMES_BACK)] if lost else []


def lost() -> Problem | None:
    """Return what a page that comes back is to be told; None a while after the start, and if nothing was lost."""
    if not _lost or time.monotonic() > _lost[0][1]:
        return None
    return Problem(
        f"The server {_lost[0][0]}: a node may have ended it, or taken all memory. It was started anew. What was saved "
        "is here; what was running is given up.",
        kind="lost",
    )


def first_thread() -> str:
    """Return the thread at which a page without a cursor starts; empty for the newest."""
    return _opened[0][1] if _opened else ""


def workspace() -> Workspace:
    """Return the workspace that pages show.

    Raises:
        SessionError: nothing has been opened, as when the page is started without the launcher.
    """
    if not _opened:
        raise refuse(
            "Nothing is open. Start the debugger with: forkpoint demo, forkpoint package.module:graph "
            "--db FILE, or forkpoint --db FILE.",
            "unavailable",
        )
    return _opened[0][0]
