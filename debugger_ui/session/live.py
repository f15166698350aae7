"""What came into the thread meanwhile, from another process or another tab: follow it, or say so.

Rules:
- Who stands at the head of a branch is taken along with it; nobody is moved to another branch.
- Whatever else came is news until the person goes there: counted, never jumped to.
"""

from collections.abc import Hashable
from dataclasses import dataclass, replace

from debugger_ui.session.branches import hidden_branches
from debugger_ui.session.cursor import Cursor
from debugger_ui.session.history import History
from debugger_ui.session.labels import Labels
from debugger_ui.session.reading import Spot
from debugger_ui.session.view_record import News


@dataclass(frozen=True, slots=True)
class _Stood:
    """Where the person stood at the last look."""

    cursor: Cursor
    spot: Spot
    head: bool


class Live:
    """What one tab has seen of the thread that it shows."""

    def __init__(self) -> None:
        self._about: Hashable = None
        self._known: set[str] = set()
        self._stood: _Stood | None = None

    def followed(self, cursor: Cursor, spot: Spot, history: History, *, hold: bool) -> Cursor:
        """Return where the cursor is after whatever came; with `hold` it stays at its checkpoint."""
        stood = self._stood
        if stood is None or stood.cursor != cursor or not stood.head or stood.spot.id not in history.by_id:
            return cursor
        if history.is_head(stood.spot.id):
            return replace(cursor, branch=stood.spot.branch) if spot.id != stood.spot.id else cursor
        to = stood.spot.id if hold else ""
        return replace(cursor, branch=stood.spot.branch, checkpoint=to, task="", path=() if to == "" else cursor.path)

    def led(self) -> None:
        """Forget where the person stood: a run or edit of their own leads the cursor, which is nobody else's news."""
        self._stood = None

    def saw(self, cursor: Cursor, spot: Spot, history: History) -> None:
        """Note where the person stands, and what they have seen."""
        about = (cursor.graph, spot.thread, spot.namespace)
        if about != self._about:
            self._about, self._known = about, set(history.order)
        self._known.update(history.path(spot.id))
        self._stood = _Stood(cursor, spot, history.is_head(spot.id))

    def news(self, spot: Spot, history: History, labels: Labels) -> News:
        """Return what has come and has not been looked at; not what is on a hidden branch."""
        if len(self._known) >= len(history):
            return News()
        hidden = hidden_branches(history, labels, spot.thread)
        fresh = [id_ for id_ in history.order if id_ not in self._known and history.branch_of[id_] not in hidden]
        if not fresh:
            return News()
        branches = {history.branch_of[id_] for id_ in fresh}
        newest = history.branches[history.branch_of[fresh[-1]]]
        name = labels.get("branch", spot.thread, newest.id).name or newest.name
        return News(len(fresh), newest.id, name, len(branches), newest.id == spot.branch)

    def read(self, history: History) -> None:
        """Take all that has come as seen."""
        self._known = set(history.order)
