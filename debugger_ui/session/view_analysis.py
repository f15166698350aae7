"""Views that explain: differences, plan, update, changes of a value and where it came from."""

from dataclasses import dataclass

from debugger_ui.session.view_values import Op, Path, ValueView


@dataclass(frozen=True, slots=True)
class DiffEntry:
    """One difference between two checkpoints."""

    path: Path
    label: str
    """The path as text: `messages[id=m3].content`."""
    op: Op
    before: ValueView | None
    after: ValueView | None
    writers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DiffView:
    """All differences between two checkpoints."""

    before: str
    after: str
    """Checkpoint ids; `before` is empty when there is nothing earlier."""
    entries: tuple[DiffEntry, ...]
    unchanged: tuple[str, ...]
    """State keys with equal values."""
    truncated: int = 0


@dataclass(frozen=True, slots=True)
class TriggerView:
    """A channel that can wake a node: its version now against the one seen."""

    channel: str
    version: str
    seen: str
    fires: bool


@dataclass(frozen=True, slots=True)
class PlanVerdict:
    """Whether a node runs in the next superstep, and why, in words."""

    node: str
    runs: bool
    reason: str
    triggers: tuple[TriggerView, ...] = ()
    waits_for: tuple[str, ...] = ()
    sends: int = 0


@dataclass(frozen=True, slots=True)
class PlanView:
    """A verdict for every node."""

    verdicts: tuple[PlanVerdict, ...]
    computed: bool
    """True when the runtime itself said so; False when worked out from versions."""


@dataclass(frozen=True, slots=True)
class FoldStep:
    """One write folded into a channel."""

    task: str
    node: str
    value: ValueView
    after: ValueView | None
    """Value of the channel once this write is folded in."""


@dataclass(frozen=True, slots=True)
class UpdateFold:
    """How a channel came to its value: before, each write in fold order, after."""

    channel: str
    reducer: str
    before: ValueView | None
    steps: tuple[FoldStep, ...]
    after: ValueView | None
    version_before: str
    version_after: str
    state_key: bool
    refused: str = ""
    """Why the channel refuses the writes, when it does."""
    left_out: int = 0
    """How many writes came before the last step that are not told one by one."""


@dataclass(frozen=True, slots=True)
class UpdateView:
    """The update phase of one superstep."""

    folds: tuple[UpdateFold, ...]
    tasks_in: int
    tasks: int
    """The barrier: `tasks_in` of `tasks` have their writes saved."""
    computed: bool


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """Where the value at a path changes."""

    path: Path
    checkpoint: str
    step: int
    branch: str
    writers: tuple[str, ...]
    before: ValueView | None
    after: ValueView | None


@dataclass(frozen=True, slots=True)
class ProvenanceHop:
    """One writer in the chain that led to a value."""

    checkpoint: str
    step: int
    node: str
    task: str
    kind: str
    """task, input, edit, supplied."""
    path: Path
    value: ValueView
    reads: tuple[str, ...]
    """State keys that the writer was given and that had a value."""
    depth: int = 0
    """Hops from the value that was asked about."""
    namespace: str = ""
    """Of the subgraph in which it was written; a chain leads out of a subgraph."""
