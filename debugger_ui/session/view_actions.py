"""Views of what a person does: runs, breakpoints, edits, new runs, exports."""

from dataclasses import dataclass, field
from typing import Any, Literal

from debugger_ui.session.view_values import EditMode, Problem, RunState, ValueView


@dataclass(frozen=True, slots=True)
class RunningTask:
    """A task at work, and for how many milliseconds."""

    id: str
    name: str
    elapsed: float


@dataclass(frozen=True, slots=True)
class RunProgress:
    """What a thread's worker is doing, or did last."""

    thread: str
    state: RunState
    verb: str = ""
    """step, continue, new run, answer."""
    steps: int = 0
    """Supersteps finished by this run."""
    superstep: int | None = None
    """Number of the superstep at work; None before the first is known."""
    running: tuple[str, ...] = ()
    tasks: tuple[RunningTask, ...] = ()
    """The tasks at work, the longest first."""
    finished: tuple[str, ...] = ()
    elapsed: float = 0.0
    """Milliseconds."""
    checkpoint: str = ""
    """Newest checkpoint that the run made; of the subgraph in which it halted, if `namespace` names one."""
    namespace: str = ""
    message: str = ""
    why: str = ""
    """The breakpoint that it stopped at, as a sentence; the rest of `message` says what comes next."""
    problem: Problem | None = None
    serial: int = 0
    """Grows with every change, so a poll can tell that something is new."""

    @property
    def busy(self) -> bool:
        """Whether a worker holds the thread."""
        return self.state in ("running", "pausing", "stopping")


When = Literal["before", "after", "change"]


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """Where runs stop: before or after a node, or when a key of the state changes."""

    id: str
    node: str
    """Name of the node, `door|inner` for one inside a subgraph; of the state key for `change`."""
    when: When
    enabled: bool = True
    hits: int = 0
    """How often it was hit since this program started, or since it was last changed."""
    condition: str = ""
    """Expression that has to hold for a hit; empty for always."""
    stop_at: int = 1
    """The run stops at this hit and at each later one."""

    @property
    def place(self) -> str:
        """Where it is, in words: `before check`, `when score changes`, `after door / inner`."""
        name = " / ".join(self.node.split("|"))
        return f"when {name} changes" if self.when == "change" else f"{self.when} {name}"


@dataclass(frozen=True, slots=True)
class FormField:
    """One field of a form made from a schema."""

    key: str
    kind: str
    """text, integer, number, boolean, choice, json."""
    type: str
    required: bool
    text: str
    """What the box starts with: JSON, or plain text for kind `text`."""
    options: tuple[str, ...] = ()
    description: str = ""


@dataclass(frozen=True, slots=True)
class RunForm:
    """A form for a new run, made from the input schema."""

    fields: tuple[FormField, ...]
    example: str
    """The whole example input as JSON; empty when the graph gives none."""
    thread: str
    """A fresh thread id to suggest."""


@dataclass(frozen=True, slots=True)
class EditField:
    """One state key in the editor."""

    key: str
    text: str
    """The present value as JSON that `Edit.text` accepts back."""
    type: str
    reducer: str
    """Empty when the last value wins: then there is no choice of mode."""
    editable: bool
    reason: str = ""
    """Why not, when not editable."""
    empty: bool = False
    """True when the key has no value yet."""
    masked: bool = False
    """The text is a mark that stands for the value; where it is left, the value stays as it is."""


@dataclass(frozen=True, slots=True)
class EditForm:
    """What the editor needs for one checkpoint."""

    fields: tuple[EditField, ...]
    authors: tuple[str, ...]
    """Nodes that the edit can be written as."""
    author: str
    """The one that the runtime would choose; empty when it is ambiguous."""
    base: str
    """Checkpoint that the edit starts from."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One key of an edit, as typed."""

    key: str
    text: str
    mode: EditMode = "overwrite"


@dataclass(frozen=True, slots=True)
class EditOutcome:
    """What one key becomes."""

    key: str
    mode: EditMode
    before: ValueView | None
    after: ValueView | None
    changed: bool = True
    """Whether the value becomes another one, also where it is masked and looks the same."""


@dataclass(frozen=True, slots=True)
class EditPreview:
    """What saving an edit would do; nothing has been written."""

    outcomes: tuple[EditOutcome, ...]
    next: tuple[str, ...]
    """Nodes that would run after saving; saving runs none."""
    asks_again: tuple[str, ...] = ()
    """Pending questions' nodes that would run again from their first line."""
    problems: tuple[Problem, ...] = ()
    computed: bool = True

    @property
    def saveable(self) -> bool:
        """Whether `save_edit` would go through as typed."""
        return not self.problems


@dataclass(frozen=True, slots=True)
class Saved:
    """What saving an edit made: a new checkpoint on its own branch, and the nodes due there."""

    checkpoint: str
    branch: str
    next: tuple[str, ...]
    message: str = ""


@dataclass(frozen=True, slots=True)
class Export:
    """A file to hand to the person."""

    filename: str
    media_type: str
    data: bytes
    notes: tuple[str, ...] = field(default=())


Plain = Any
"""A JSON value: None, bool, int, float, str, list, dict."""
