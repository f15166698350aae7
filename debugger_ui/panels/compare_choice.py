"""What the Compare page compares: kept for the browser tab, and in its URL.

Rule: the URL says what is looked at. Opening one runs and writes nothing.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

import streamlit as st

from debugger_ui.components.text import markdown
from debugger_ui.panels.tab import GRACE, Tab
from debugger_ui.session.views import Side

COMPARE = "Compare"
STATE_KEY = "_compare"
PARTS = ("graph", "thread", "branch", "checkpoint", "namespace")
SIDES = ("left", "right")
AT = {"left": "left_at", "right": "right_at"}
PARAMS = (*(f"{side}_{part}" for side in SIDES for part in PARTS), *AT.values())
MAX_PARAM = 2_000
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

    def to_params(self) -> dict[str, str]:
        """Return the choice as URL parameters."""
        params: dict[str, str] = {}
        for name, side, at in zip(SIDES, (self.left, self.right), self.pair, strict=True):
            parts = {f"{name}_{part}": str(getattr(side, part)) for part in PARTS} | {AT[name]: at}
            params.update({key: value for key, value in parts.items() if value})
        return params

    @classmethod
    def from_params(cls, params: Mapping[str, str]) -> "Choice | None":
        """Read a choice from URL parameters; None unless both threads are named."""
        known = {name: value for name, value in params.items() if len(value) <= MAX_PARAM}
        left, right = (Side(**{part: known.get(f"{name}_{part}", "") for part in PARTS}) for name in SIDES)
        if not left.thread or not right.thread:
            return None
        return cls(left, right, (known.get(AT["left"], ""), known.get(AT["right"], "")))


@dataclass
class Chosen:
    """What one browser tab compares."""

    choice: Choice | None = None
    params: dict[str, str] = field(default_factory=dict)
    """The comparison's part of the URL as it was last read or written."""
    leading: bool = False
    """It was chosen here since the URL was read: it leads, the URL follows."""
    left: dict[str, float] = field(default_factory=dict)
    """Query strings that were replaced, and when."""
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
    given = {name: st.query_params[name] for name in PARAMS if name in st.query_params}
    late = time.monotonic() - state.left.get(urlencode(given), -GRACE) < GRACE
    before, state.params = state.params, given
    if not (state.leading or late or given == before) and (linked := Choice.from_params(given)) is not None:
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
    wanted = state.choice.to_params() if state.choice is not None else {}
    if wanted == state.params:
        return
    state.left[urlencode(state.params)] = time.monotonic()
    for name in PARAMS:
        if name in wanted:
            st.query_params[name] = wanted[name]
        elif name in st.query_params:
            del st.query_params[name]
    state.params = wanted


def leave() -> None:
    """Take the comparison out of the URL: another page is shown. The choice itself is kept."""
    state = chosen()
    state.away, state.params = True, {}
    for name in PARAMS:
        if name in st.query_params:
            del st.query_params[name]


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
