"""Views of values, problems and abilities: what every other view is made of."""

from dataclasses import dataclass
from typing import Literal

from debugger_ui.session.view_rich import Rich

Path = tuple[str | int, ...]
"""Where a value sits: state key first, then mapping keys and list positions."""

ThreadStatus = Literal["waiting", "failed", "running", "done", "ready", "empty", "damaged"]
"""`ready` means that nodes are due and nothing holds them (stopped, forked, or a breakpoint)."""

TaskStatus = Literal["saved", "supplied", "failed", "refused", "interrupted", "running", "to run"]
"""`saved`: its writes are on disk. `to run`: nothing is saved, it runs with the next step."""

RunState = Literal["idle", "running", "pausing", "stopping", "paused", "interrupted", "done", "failed", "stopped"]
Op = Literal["added", "removed", "changed", "moved"]
EditMode = Literal["append", "overwrite"]
"""`append` sends the value through the channel's reducer, `overwrite` replaces the whole value."""

QuestionShape = Literal["choice", "confirm", "text", "number", "form", "json"]


@dataclass(frozen=True, slots=True)
class ValueView:
    """A Python value as a tree of plain parts.

    kind: null, bool, int, float, str, bytes, list, tuple, set, dict, dataclass, model, message,
    enum, datetime, table, opaque (could not be decoded), masked (not shown), object, or cut (depth
    or size limit).
    """

    kind: str
    type: str
    """Python type for people: `int`, `tuple`, `HumanMessage`, `app.state.Finding`."""
    text: str
    """One line, escaped so that control and bidirectional characters show; exact for numbers."""
    path: Path = ()
    children: tuple["ChildView", ...] = ()
    size: int = 0
    """Items of a container, characters of a text, bytes of a bytes value."""
    hidden: int = 0
    """How many items or characters are left out here; ask `session.value(path, full=True)`."""
    editable: bool = True
    """False when an edit as JSON could not keep the type."""
    rich: Rich | None = None
    """The value as a chat, table or image, where it is one; its first or last page."""


@dataclass(frozen=True, slots=True)
class ChildView:
    """One item of a container: its key as text, and the item."""

    key: str
    value: ValueView


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that went wrong, in the user's words."""

    message: str
    """One or two plain sentences: what was wrong, where, what to do."""
    kind: str = "error"
    """input, database, graph, node, condition, busy, moved-on, read-only, unavailable, error."""
    field: str = ""
    """State key, form field or interrupt id that it concerns, if any."""
    line: int | None = None
    column: int | None = None
    """1-based place in the text that was typed, if the problem is in it."""
    details: str = ""
    """Folded away: exception type and message, or a node's traceback."""


@dataclass(frozen=True, slots=True)
class Ability:
    """Whether something can be done now; the reason when not."""

    allowed: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What buttons may be pressed for what is open and where the cursor is."""

    run: Ability
    step: Ability
    answer: Ability
    edit: Ability
    new_run: Ability
    phases: Ability
    plan: Ability
    update: Ability
    preview: Ability
    answer_again: Ability
    """Whether a question that was answered here can be answered otherwise."""
    inside: Ability
    """Whether runs can stop inside subgraphs."""


@dataclass(frozen=True, slots=True)
class MaskView:
    """A key, path or pattern whose values are not shown."""

    pattern: str
    fixed: bool = False
    """It was given when the program was started, and cannot be taken away here."""


@dataclass(frozen=True, slots=True)
class Drift:
    """How the graph in hand differs from the one that made a checkpoint."""

    missing_nodes: tuple[str, ...] = ()
    missing_channels: tuple[str, ...] = ()
    message: str = ""
    """Empty when nothing differs."""


@dataclass(frozen=True, slots=True)
class Overview:
    """What is open: the header of every page."""

    database: str
    """Shown name of the database (its path), or "in memory"."""
    graph: str
    """Shown name of the graph; empty for a database alone."""
    graphs: tuple[str, ...]
    engine: str
    """runtime, langgraph or record."""
    read_only: bool
    read_only_reason: str
    shows: str = ""
    """What the graph is good for showing (sample graphs), one sentence."""
    drift: Drift = Drift()
