"""Views of a comparison: its two sides, the aligned steps, and where and why they part."""

from dataclasses import dataclass
from typing import Literal

from debugger_ui.session.view_values import ThreadStatus

RowKind = Literal["shared", "equal", "differs", "left", "right", "replay"]
PartKind = Literal["input", "tasks", "writes", "routes", "edit", "ends"]


@dataclass(frozen=True, slots=True)
class Side:
    """What is compared: a branch of a thread up to its head, or up to a checkpoint of it.

    An empty branch means that of the checkpoint, or the newest one; an empty graph that of the thread.
    """

    thread: str
    branch: str = ""
    checkpoint: str = ""
    namespace: str = ""
    graph: str = ""


@dataclass(frozen=True, slots=True)
class SideView:
    """One side as it was found: every part of `side` is filled in but the graph, which may stay empty."""

    side: Side
    name: str
    """What the sentence calls it: unlike the other side's name."""
    branch_name: str
    step: int
    status: ThreadStatus
    checkpoints: int
    """How many lead to it, itself included."""
    head: bool


@dataclass(frozen=True, slots=True)
class StepView:
    """The checkpoint that a step made."""

    checkpoint: str
    step: int
    source: str
    nodes: tuple[str, ...]
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CompareRow:
    """Steps side by side.

    `shared`: checkpoints of both; `equal`: the same nodes wrote the same; `differs`: they did not;
    `left` and `right`: nothing on the other side; `replay`: a copy of its parent, from which a run went on.
    """

    kind: RowKind
    left: StepView | None
    right: StepView | None
    """Of folded steps the last ones. Of a shared row both are the same checkpoint."""
    count: int = 1
    """How many steps are folded here."""
    begins: tuple[int | None, int | None] = (None, None)
    """Supersteps of the first of them, left and right."""
    parts: bool = False
    """Here the two sides part."""


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first step at which the two sides are not the same; None on a side that has no further step."""

    kind: PartKind
    left: StepView | None
    right: StepView | None
    keys: tuple[str, ...] = ()
    """State keys, or fields of the input, that were written differently."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two sides, aligned."""

    left: SideView
    right: SideView
    shared: int
    """Checkpoints that are ancestors of both sides (or the sides themselves)."""
    equal: int
    """Equal steps after those and before the sides part."""
    rows: tuple[CompareRow, ...]
    divergence: Divergence | None
    """None when every step is the same."""
    sentence: str
    """The first divergence and its cause."""
    more: int = 0
    """Steps that follow the rows, on the side that has more of them."""
    same: bool = False
    """Both sides are one and the same checkpoint."""
