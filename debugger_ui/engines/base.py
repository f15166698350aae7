"""The engine protocol: the few things that the session needs from a graph and its database.

Records below carry live Python values; the session turns them into views. Rules:
- Everything except `Runner.advance` and `Editor.save` reads only.
- A `Place` names one checkpoint; an empty id means the newest one of the thread.
- An engine that cannot do something has no such part (`runner` or `editor` is None) and says why
  in `limits`.
"""

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from debugger_ui.engines.accounts import Fold as Fold
from debugger_ui.engines.accounts import FoldedWrite as FoldedWrite
from debugger_ui.engines.accounts import Folding as Folding
from debugger_ui.engines.accounts import NodeVerdict as NodeVerdict
from debugger_ui.engines.contents import Contents
from debugger_ui.engines.halting import Halting as Halting
from debugger_ui.engines.halting import Made as Made
from debugger_ui.engines.recorded import MISSING as MISSING
from debugger_ui.engines.recorded import Failure as Failure
from debugger_ui.engines.recorded import Header as Header
from debugger_ui.engines.recorded import Outline as Outline
from debugger_ui.engines.recorded import Place as Place
from debugger_ui.engines.recorded import Question as Question
from debugger_ui.engines.recorded import Record as Record
from debugger_ui.engines.recorded import Task as Task
from debugger_ui.engines.recorded import ThreadHead as ThreadHead
from debugger_ui.engines.spaces import Inner

EMPTY: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class ChannelSpec:
    """What is known of a channel besides its value."""

    name: str
    kind: str
    reducer: str = ""
    annotation: Any = MISSING
    state_key: bool = True


@dataclass(frozen=True, slots=True)
class NodeSpec:
    """A node of the drawn graph. kind: start, end, node, subgraph."""

    id: str
    label: str
    kind: str = "node"
    cluster: str = ""
    triggers: tuple[str, ...] = ()
    calls: bool = False
    """Whether it is a function that calls a subgraph: going on inside runs it again from its first line."""
    saves: bool = True
    """Whether its subgraph saves checkpoints of its own; only between those it can stop."""


@dataclass(frozen=True, slots=True)
class EdgeSpec:
    """An edge of the drawn graph."""

    source: str
    target: str
    conditional: bool = False
    label: str = ""
    declared: bool = True


@dataclass(frozen=True, slots=True)
class Topology:
    """The drawn graph. `inferred` when it was read from the record rather than from code."""

    nodes: tuple[NodeSpec, ...]
    edges: tuple[EdgeSpec, ...]
    clusters: tuple[tuple[str, str, str], ...] = ()
    """id, label, parent id."""
    inferred: bool = False


@dataclass(frozen=True, slots=True)
class Advance:
    """What to run from a place: one superstep, with input or answers if given."""

    place: Place
    input: Any = None
    """None to go on; a mapping for a new input."""
    answers: Mapping[str, Any] = field(default_factory=dict)
    """Answers by question id; excludes `input`."""
    only_input: bool = False
    """Stop before the first node: just make the input's checkpoints."""
    phase: str = "superstep"
    """superstep; or only execute (writes become pending) or only update (they are folded)."""
    tasks: tuple[str, ...] = ()
    """Ids of the tasks to execute; all that have no result yet when empty."""
    supply: Mapping[str, Any] = field(default_factory=dict)
    """Results by task id that are taken instead of running the tasks."""
    again: bool = False
    """The answers are other ones to questions that were answered at the place: a branch starts."""
    replay: bool = False
    """The place is not the newest of its thread, so the run has to be told its id."""
    around: Mapping[str, str] = field(default_factory=dict)
    """For a place inside a subgraph: the checkpoints of the runs around it, by namespace; `""` is the outermost."""
    halting: Halting | None = None
    """Where runs inside halt; nothing to engines that say in `limits` that they cannot do it (`inside`)."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a running superstep reports.

    kind: started, finished, failed, asked (`text` is the node), saved (`text` is a checkpoint id).
    """

    kind: str
    text: str
    task: str = ""


class Stopped(Exception):
    """A run was told to give up and has done so; what was saved before stays."""


@dataclass(frozen=True, slots=True)
class Change:
    """One key of an edit. `append` sends the value through the reducer, otherwise it replaces."""

    key: str
    value: Any
    append: bool


@dataclass(frozen=True, slots=True)
class Preview:
    """What an edit would make: the state after it, and the nodes due. `computed` by the runtime?"""

    state: Mapping[str, Any]
    due: tuple[str, ...]
    computed: bool = True


class Runner(Protocol):
    """Runs nodes."""

    def advance(self, step: Advance, report: Callable[[Event], None], stop: Callable[[], bool]) -> str:
        """Run one superstep; return the id of the newest checkpoint of the run, or "".

        Called on a worker thread. `stop` is polled; when it turns true the call ends within
        about a second by raising `Stopped`. A node's exception is raised as it is.
        """
        ...

    def compiled_stop(self, due: Collection[str], ran: Collection[str]) -> str:
        """Return where the graph was compiled to stop, "before send" say, of nodes due and run; "" for nowhere."""
        ...


class Editor(Protocol):
    """Writes edits as new checkpoints; runs nothing."""

    def author(self, place: Place) -> str:
        """Return the node that an edit would be written as, or "" when that is ambiguous."""
        ...

    def preview(self, place: Place, changes: Sequence[Change], author: str) -> Preview:
        """Return what `save` would make, writing nothing; raise what it would raise."""
        ...

    def save(self, place: Place, changes: Sequence[Change], author: str) -> str:
        """Write the changes as a child of the place; return the id of the new checkpoint."""
        ...


class Engine(Contents, Protocol):
    """A graph on its database, or a database alone."""

    @property
    def kind(self) -> str:
        """runtime, langgraph or record."""
        ...

    @property
    def name(self) -> str:
        """Shown name of the graph."""
        ...

    @property
    def spec(self) -> str:
        """Address of the graph (`pkg.module:attr`); threads carry it where a database holds several."""
        ...

    @property
    def shows(self) -> str:
        """What a sample graph is good for, one sentence."""
        ...

    @property
    def database(self) -> str:
        """Shown name of the database."""
        ...

    @property
    def limits(self) -> Mapping[str, str]:
        """Ability name to the reason why this engine lacks it."""
        ...

    @property
    def runner(self) -> Runner | None:
        """What runs nodes, if anything can."""
        ...

    @property
    def editor(self) -> Editor | None:
        """What writes edits, if anything can."""
        ...

    def version(self) -> Hashable:
        """Return something that differs whenever the database may have changed; cheap."""
        ...

    def tells(self) -> bool:
        """Whether two versions that differ mean that something was written: some savers do not tell."""
        ...

    def threads(
        self, offset: int, limit: int, *, text: str = "", salvage: bool = False
    ) -> tuple[Sequence[ThreadHead], int | None]:
        """Return threads, newest first, and how many there are (None when that is unknown).

        `salvage`: leave out those that cannot be reached for damage; `newest` is "" for one that itself is damaged.
        """
        ...

    def sizes(self, threads: Sequence[str]) -> Mapping[str, int]:
        """Return how many bytes threads take in the database; empty where it does not tell."""
        ...

    def headers(self, thread: str, namespace: str = "") -> Sequence[Header]:
        """Return all checkpoints of a thread, oldest first, without values; cached and extended."""
        ...

    def outlines(self, thread: str, ids: Sequence[str], namespace: str = "") -> Mapping[str, Outline]:
        """Return what happened around the given checkpoints."""
        ...

    def inner(self, thread: str) -> Sequence[Inner]:
        """Return what subgraphs have saved inside a thread, at any depth, the newest last."""
        ...

    def record(self, place: Place) -> Record | None:
        """Return one checkpoint with its values and tasks; None when there is none."""
        ...

    def records(self, thread: str, ids: Sequence[str], namespace: str = "") -> Iterator[Record]:
        """Yield checkpoints in the order of the ids; one at a time in memory."""
        ...

    def values(
        self, thread: str, ids: Sequence[str], keys: Sequence[str], namespace: str = ""
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the values of some state keys at checkpoints, in the order of the ids, which is best oldest first.

        No other values are read where the saver can do that. Keys without a value are left out. What is yielded
        is to be looked at only.
        """
        ...

    def channels(self, namespace: str = "") -> Mapping[str, ChannelSpec]:
        """Return the known channels, of a subgraph if named; empty when only the record knows them."""
        ...

    def topology(self, thread: str = "", namespace: str = "") -> Topology:
        """Return the drawn graph, or a subgraph; a database alone draws what the thread's record shows."""
        ...

    def verdicts(self, place: Place) -> Sequence[NodeVerdict] | None:
        """Return the runtime's own verdict for every node; None when it does not explain itself."""
        ...

    def folds(self, place: Place) -> Sequence[Fold] | None:
        """Return the runtime's own account of an update; None when it does not explain itself."""
        ...

    def fold(self, channel: str, before: Any, writes: Sequence[Any], namespace: str = "") -> Folding:
        """Return the channel's value after each write; nothing when only a graph could tell."""
        ...

    def input_schema(self) -> Mapping[str, Any]:
        """Return the JSON schema of the graph's input; empty when there is none."""
        ...

    def example(self) -> Any:
        """Return an example input, or MISSING."""
        ...

    def close(self) -> None:
        """Give the database back."""
        ...
