"""Views of what is recorded: threads, branches, the timeline, one checkpoint, its channels and graph."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from debugger_ui.session.view_actions import FormField
from debugger_ui.session.view_values import Problem, QuestionShape, TaskStatus, ThreadStatus, ValueView

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """A cut out of a longer list. `total` is None when counting would cost too much."""

    rows: tuple[Row, ...]
    offset: int
    limit: int
    total: int | None
    more: bool
    damaged: str = ""
    """Why some may be missing, in a sentence, where the database is damaged."""


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """One thread in the list."""

    id: str
    status: ThreadStatus
    last_node: str
    """Node(s) that made the newest checkpoint; "input" or "edit" when no node did."""
    next: tuple[str, ...]
    steps: int
    """Step number of the newest checkpoint."""
    checkpoints: int
    branches: int
    updated: str
    waiting: int = 0
    """Pending questions."""
    error: str = ""
    bytes: int | None = None
    title: str = ""
    """Name given by the user, or empty."""
    graph: str = ""
    """Graph that made it, where the database holds threads of several."""
    match: str = ""
    """Where in its newest checkpoint the searched text stands, if it is not its name that matches."""


@dataclass(frozen=True, slots=True)
class BranchView:
    """A lane of the checkpoint tree: from the checkpoint that left its parent's lane to the head."""

    id: str
    """Id of the lane's first checkpoint: stable however the branch grows."""
    name: str
    note: str
    hidden: bool
    lane: int
    head: str
    forked_from: str
    """Checkpoint on the parent lane; empty for a root."""
    parent: str
    """Branch id of the parent lane; empty for a root."""
    checkpoints: int
    source: str
    """How it began: input, loop, update (an edit), fork (a replay)."""
    current: bool = False


@dataclass(frozen=True, slots=True)
class BranchSummary:
    """A branch in the list of branches: how it began, how it stands."""

    id: str
    name: str
    note: str
    hidden: bool
    current: bool
    origin: str
    """start (a root), edit, replay, answer, or input (a further one)."""
    by: tuple[str, ...]
    """Who made the edit that it began with; empty for anything else, and where the record does not tell."""
    forked_from: str
    fork_step: int | None
    head: str
    head_step: int
    status: ThreadStatus
    checkpoints: int
    created: str
    updated: str


@dataclass(frozen=True, slots=True)
class News:
    """Checkpoints that came meanwhile from elsewhere and have not been looked at."""

    count: int = 0
    branch: str = ""
    """Branch of the newest of them."""
    name: str = ""
    branches: int = 0
    """On how many branches they are."""
    ahead: bool = False
    """The newest is on the cursor's own branch."""


@dataclass(frozen=True, slots=True)
class WatchCell:
    """What a watch comes to at one checkpoint: `text` on one line, or in `error` why it has no value."""

    text: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """One checkpoint in the timeline."""

    checkpoint: str
    parent: str
    step: int
    source: str
    nodes: tuple[str, ...]
    """Who made this checkpoint: the tasks of the superstep, or the author of an edit."""
    changed: tuple[str, ...]
    """State keys whose version moved."""
    next: tuple[str, ...]
    status: ThreadStatus
    created: str
    milliseconds: float | None
    """Since the parent was saved; None for a root or when times run backwards."""
    branch: str
    lane: int
    parent_lane: int | None
    """Lane of the parent: equal to `lane` unless this is a fork's first checkpoint."""
    through: tuple[int, ...]
    """Other lanes with a line passing this row."""
    head: bool
    forks: int
    """How many branches leave here."""
    current: bool = False
    on_path: bool = False
    """Is an ancestor of the cursor, or the cursor."""
    note: str = ""
    inner: bool = False
    """A subgraph ran in the superstep that made it, or has begun in the one that starts here."""
    mark: str = ""
    """"cycle" or "orphan" for damaged parent links, "damaged" or "encrypted" for an unreadable record,
    else empty."""
    cells: tuple[WatchCell, ...] = ()
    """One per watch."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """Newest first."""

    rows: tuple[TimelineRow, ...]
    branches: tuple[BranchView, ...]
    lanes: int
    offset: int
    limit: int
    total: int
    more: bool
    hidden: int = 0
    """Hidden branches that are left out, or would be if they were not asked for."""
    watches: tuple[str, ...] = ()
    """Expressions that each row has a cell for."""


@dataclass(frozen=True, slots=True)
class StateEntry:
    """One state key at a checkpoint."""

    key: str
    value: ValueView
    changed: bool
    writers: tuple[str, ...] = ()
    """Who wrote it in this superstep."""
    version: str = ""


@dataclass(frozen=True, slots=True)
class ErrorView:
    """An exception of a task, as recorded."""

    type: str
    message: str
    traceback: str = ""


@dataclass(frozen=True, slots=True)
class WriteView:
    """One write of a task."""

    channel: str
    value: ValueView
    control: bool = False
    """Not a state key: a branch signal, a Send, an interrupt, an error."""


@dataclass(frozen=True, slots=True)
class QuestionView:
    """A pending interrupt, with what an answer form needs."""

    id: str
    thread: str
    checkpoint: str
    namespace: str
    task: str
    node: str
    payload: ValueView
    prompt: str
    """The question as one text: the payload itself, or its question / message field."""
    shape: QuestionShape
    options: tuple[str, ...] = ()
    """For `choice`: labels; `answer` takes the label's JSON from `option_values`."""
    option_values: tuple[str, ...] = ()
    fields: tuple["FormField", ...] = ()
    reruns: tuple[str, ...] = ()
    """Nodes that run from their first line when answered."""
    kept: tuple[str, ...] = ()
    """Nodes of the same superstep whose result is saved and does not run again."""
    created: str = ""
    answer: ValueView | None = None
    """What it was answered with; None while it is open, and where the record does not tell."""
    answered: bool = False
    inside: bool = False
    """Asked inside a subgraph that the task runs: answering goes on there."""
    branch: str = ""
    """Name of the branch at whose head it waits, in a list of questions of threads that have several."""


@dataclass(frozen=True, slots=True)
class TaskView:
    """One node's run in one superstep."""

    id: str
    name: str
    path: str
    status: TaskStatus
    triggers: tuple[str, ...]
    """Channels whose change woke it; none if it was sent."""
    input: ValueView | None
    """What it got; None when the record does not tell."""
    writes: tuple[WriteView, ...]
    error: ErrorView | None = None
    questions: tuple[QuestionView, ...] = ()
    answered: tuple[QuestionView, ...] = ()
    """Questions that it asked and that were answered."""
    calls: tuple[ValueView, ...] = ()
    """Saved results of what its function called (`@task`): those calls do not run again."""
    attempts: int = 0
    milliseconds: float | None = None
    namespace: str = ""
    """Checkpoint namespace of the subgraph that it runs, if it is one."""
    sent: bool = False
    """Whether a Send started it."""


@dataclass(frozen=True, slots=True)
class Missing:
    """What a failed superstep still lacks: node names, one for each task."""

    checkpoint: str
    saved: tuple[str, ...]
    again: tuple[str, ...]
    waiting: tuple[str, ...] = ()
    """Tasks that ask for an answer: a further step leaves them waiting."""
    refused: bool = False
    """The update would not take the results of tasks that run again."""
    keeps: bool = True
    """A further step runs only what is missing; False where a newer branch makes it run all tasks again."""


@dataclass(frozen=True, slots=True)
class CheckpointView:
    """Everything about one checkpoint."""

    id: str
    thread: str
    namespace: str
    parent: str
    branch: str
    branch_name: str
    step: int
    source: str
    created: str
    milliseconds: float | None
    status: ThreadStatus
    nodes: tuple[str, ...]
    next: tuple[str, ...]
    head: bool
    entries: tuple[StateEntry, ...]
    tasks: tuple[TaskView, ...]
    """Tasks of the superstep that starts here, finished or not."""
    made_by: tuple[TaskView, ...]
    """Tasks of the superstep that ended here (their writes made this checkpoint)."""
    questions: tuple[QuestionView, ...]
    metadata: ValueView
    children: tuple[str, ...]
    bytes: int | None = None
    problems: tuple[Problem, ...] = ()
    note: str = ""
    """What somebody wrote about it."""


@dataclass(frozen=True, slots=True)
class SeenBy:
    """What one node has seen of a channel."""

    node: str
    version: str
    """Version that the node saw when it last ran; empty when it never ran."""
    fresh: bool
    """True when the channel has moved on since: this wakes the node if it is a trigger."""
    trigger: bool


@dataclass(frozen=True, slots=True)
class ChannelView:
    """One channel at a checkpoint."""

    name: str
    kind: str
    reducer: str
    version: str
    previous: str
    changed: bool
    """Its version moved in the superstep that made this checkpoint."""
    seen_by: tuple[SeenBy, ...]
    value: ValueView | None
    """None when the channel is empty."""
    state_key: bool
    bytes: int | None = None
