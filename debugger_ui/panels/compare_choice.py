"""What the Compare page compares: kept for the browser tab, and in its URL.

Rule: the URL says what is looked at. Opening one runs and writes nothing.
"""

import json
import time
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from debugger_ui.components.text import markdown
from debugger_ui.panels.tab import GRACE, Tab
from debugger_ui.session.views import Side

COMPARE = "Compare"
STATE_KEY = "_compare"
PARTS = ("graph", "thread", "branch", "checkpoint", "namespace")
SIDES = ("left", "right")
PARAM = "compare"
"""One parameter, so that the URL is never seen half changed, and one step back undoes one choice."""
MAX_PARAM = 10_000
ONE_BRANCH = "This thread has one branch. Step, answer or edit at an older checkpoint to start another."


@dataclass(frozen=True, slots=True)
class Choice:
    """Two sides, and the pair of checkpoints whose states are compared; an empty pair means the ends of the sides."""

    left: Side
    right: Side
    pair: tuple[str, str] = ("", "")

    def swapped(self) -> "Choice":
        """Return the same with the sides swapped."""
        return Choice(self.right, self.left, (self.pair[1], self.pair[0]))

    def with_side(self, name: str, side: Side) -> "Choice":
        """Return the choice with another side; the pair was of the old ones."""
        return Choice(side, self.right) if name == "left" else Choice(self.left, side)

    def to_param(self) -> str:
        """Return the choice as text for the URL."""
        said: dict[str, Any] = {
            name: {part: getattr(side, part) for part in PARTS if getattr(side, part)}
            for name, side in zip(SIDES, (self.left, self.right), strict=True)
        }
        if any(self.pair):
            said["at"] = list(self.pair)
        return json.dumps(said, separators=(",", ":"))

    @classmethod
    def from_param(cls, text: str) -> "Choice | None":
        """Read a choice from the URL's text; None unless it names both threads."""
        try:
            said = json.loads(text) if len(text) <= MAX_PARAM else None
        except (ValueError, RecursionError):
            return None
        if not isinstance(said, dict):
            return None
        left, right = (_side(said.get(name)) for name in SIDES)
        if not left.thread or not right.thread:
            return None
        at = said.get("at")
        pair = [str(id_) for id_ in at] if isinstance(at, list) else []
        return cls(left, right, (pair[0], pair[1]) if len(pair) == 2 else ("", ""))


def _side(said: object) -> Side:
    parts = said if isinstance(said, dict) else {}
    return Side(**{part: str(parts.get(part) or "") for part in PARTS})


@dataclass
class Chosen:
    """What one browser tab compares."""

    choice: Choice | None = None
    param: str = ""
    """The comparison's part of the URL as it was last read or written."""
    leading: bool = False
    """It was chosen here since the URL was read: it leads, the URL follows."""
    left: dict[str, float] = field(default_factory=dict)
    """Such parts that were replaced, and when."""
    away: bool = True
    """Another page was shown before."""
    rows: int = 0
    """How many rows beyond the first ones are shown."""

    def choose(self, choice: Choice | None) -> None:
        """Compare something else."""
        self.choice, self.leading, self.rows = choice, True, 0


def chosen() -> Chosen:
    """Return this browser tab's state."""
    state: Chosen = st.session_state.setdefault(STATE_KEY, Chosen())
    return state


def current(here: Tab) -> Choice | None:
    """Return what is compared: what the URL says, what was chosen, or the cursor's branch; None without a thread."""
    state = chosen()
    arrived, state.away = state.away, False
    given = str(st.query_params.get(PARAM, ""))
    late = time.monotonic() - state.left.get(given, -GRACE) < GRACE
    before, state.param = state.param, given
    if not (state.leading or late or given == before) and (linked := Choice.from_param(given)) is not None:
        state.choice = linked
    elif arrived and not state.leading and state.choice is not None and not about(state.choice, here):
        state.choice = None
    state.leading = False
    if state.choice is None:
        state.choice = first(here)
    return state.choice


def about(choice: Choice, here: Tab) -> bool:
    """Whether the cursor's thread is compared."""
    return here.session.cursor.thread in (choice.left.thread, choice.right.thread)


def first(here: Tab) -> Choice | None:
    """Return the cursor's branch against the one that it left; against itself while it has no other."""
    if (sides := here.see(here.session.sides)) is not None:
        return Choice(*sides)
    cursor = here.session.cursor
    alone = Side(cursor.thread, namespace=cursor.namespace, graph=cursor.graph)
    return Choice(alone, alone) if cursor.thread else None


def write_url() -> None:
    """Say in the URL what is compared."""
    state = chosen()
    wanted = state.choice.to_param() if state.choice is not None else ""
    if wanted == state.param:
        return
    state.left[state.param] = time.monotonic()
    if wanted:
        st.query_params[PARAM] = wanted
    elif PARAM in st.query_params:
        del st.query_params[PARAM]
    state.param = wanted


def leave() -> None:
    """Take the comparison out of the URL: another page is shown. The choice itself is kept."""
    state = chosen()
    state.away, state.param = True, ""
    if PARAM in st.query_params:
        del st.query_params[PARAM]


def entry(here: Tab) -> None:
    """Draw the way to Compare with the cursor's branch and the one that it left."""
    several = bool(here.session.cursor.thread) and len(here.see(here.session.branches) or ()) > 1
    st.button(
        "Compare this branch",
        key="compare_branch",
        icon=":material/compare_arrows:",
        disabled=not several,
        help="Compare this branch with the one that it left" if several else markdown(ONE_BRANCH),
        on_click=open_here,
        args=(here,),
    )


def open_here(here: Tab) -> None:
    """Open Compare with the cursor's branch."""
    chosen().choose(first(here))
    st.session_state["page"] = COMPARE


def whole(side: Side) -> Side:
    """Return the side up to the head of its branch."""
    return replace(side, checkpoint="")
