"""What the launcher opened, for the pages that run in the same process.

Streamlit runs the page's script anew at every click, in threads of one process. The workspace is
opened once, before the server starts, so that a wrong path is a sentence in the terminal.
"""

from debugger_ui.session.problems import refuse
from debugger_ui.session.workspace import Workspace

_opened: list[tuple[Workspace, str]] = []


def use(workspace: Workspace, *, thread: str = "") -> None:
    """Make the workspace the one that pages show; `thread` is where a page without a cursor starts."""
    _opened[:] = [(workspace, thread)]


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
