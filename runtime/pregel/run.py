"""One invocation of a graph: what the caller asked for, and the services that the run may use.

A config dict is parsed here, once; nothing further in reads one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore

from runtime._constants import (
    CONF,
    CONFIG_KEY_CHECKPOINT_ID,
    CONFIG_KEY_CHECKPOINT_MAP,
    CONFIG_KEY_CHECKPOINT_NS,
    CONFIG_KEY_THREAD_ID,
    NS_SEP,
    PREVIOUS,
)
from runtime.pregel.update import count_up

if TYPE_CHECKING:
    from langgraph.cache.base import BaseCache

    from runtime.pregel.context import TaskContext
    from runtime.pregel.frame import Frame
    from runtime.pregel.halting import Halting
    from runtime.pregel.model import Topology
    from runtime.types import CachePolicy, RetryPolicy

DEFAULT_RECURSION_LIMIT = 10007

_PLACE = frozenset({CONFIG_KEY_CHECKPOINT_ID, CONFIG_KEY_CHECKPOINT_MAP})

Emit = Callable[[tuple[tuple[str, ...], str, Any]], None]


class NodeResult(dict[str, Any]):
    """What a run gives to the node whose work it is, with the names of the channels that it left as they were."""

    __slots__ = ("unchanged",)

    def __init__(self, values: Mapping[str, Any], unchanged: frozenset[str]) -> None:
        super().__init__(values)
        self.unchanged = unchanged


class ClockReading(NamedTuple):
    """Where a run is, for managed values: this superstep, and the last one that the limit allows."""

    step: int
    stop: int


class Origin(NamedTuple):
    """The older checkpoint that a run inside a replayed task goes on from.

    `checkpoint_id` None means: the one on which a question was asked that now has an answer.
    """

    ns: str
    checkpoint_id: str | None


class Base(NamedTuple):
    """The saved checkpoint that a run began on, and its versions: what durability "exit" builds on."""

    config: RunnableConfig | None
    versions: Mapping[str, Any]


_NOWHERE = Base(None, {})


class Replay:
    """A replay in progress: runs inside begin on what existed before `bound`.

    Each namespace looks back once; after that, what this very run has saved there is the newest.
    """

    __slots__ = ("_visited", "bound")

    def __init__(self, bound: str) -> None:
        self.bound = bound
        self._visited: set[str] = set()

    def first_visit(self, ns: str) -> bool:
        """Whether a run begins in the namespace for the first time; it counts as visited from now on."""
        first = ns not in self._visited
        self._visited.add(ns)
        return first


@dataclass(slots=True, eq=False)
class Run:
    """A run of one graph. Fields are set once, before the first superstep, unless said otherwise.

    Attributes:
        saver_keys: The part of the caller's `configurable` that goes with every checkpoint.
        saver: Where checkpoints go; None if nothing is saved.
        saves: Whether anything is saved while the run goes on (False for durability "exit").
        saves_at_once: Whether a superstep's last writes may wait for its checkpoint, to be saved in one
            transaction with it; with durability "async" only where nobody hears of them before.
        modes: Stream modes that anybody listens to. Empty means that no event needs to be made.
        emit: Takes events; called from any thread.
        emit_here: Takes events that a run around this one hears of by itself.
        answers: Answers by interrupt id, shared by all runs inside one another.
        replaying: While true, saved results are not reused (changes after the first superstep).
        resuming: For runs inside this one: whether to go on where they stopped (changes likewise).
        base: Where the run began.
        shown: Whether the run has anything to give back: its output channels were written, or it went on
            from a state that had them.
        replay: When replaying: what runs inside begin on.
        loose: A plain answer to no open question: for the first that is asked, where the caller named a
            checkpoint inside a subgraph the first one there.
        edited: Whether the caller changed the state along with the answers, so that questions that are asked
            again may read differently.
        origin: For a run inside a replayed task: the checkpoint, in the namespace of the task's former
            self, that it goes on from.
        origins: By id of a task on this branch, the namespace of its former self.
        targets: Checkpoints inside runs, by namespace, that the caller asked to go on from.
        is_node: For a run inside: whether the graph is the task's node itself, and not called by a function.
        halting: What somebody who looks at the run from outside asks of it, and of all runs inside it.
        unchanged: For such a run, at its end: the channels that hold what the input made of them.
    """

    topology: Topology
    input: Any
    config: RunnableConfig
    saver: BaseCheckpointSaver[Any] | None = None
    store: BaseStore | None = None
    cache: BaseCache[Any] | None = None
    durability: str = "async"
    parent: TaskContext | None = None

    # What the config says; read in `__post_init__`.
    name: str = ""
    configurable: Mapping[str, Any] = field(default_factory=dict)
    saver_keys: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    own_metadata: Mapping[str, Any] = field(default_factory=dict)
    recursion_limit: int = DEFAULT_RECURSION_LIMIT
    max_concurrency: int | None = None
    run_id: str | None = None
    thread_id: str | None = None
    ns: str = ""
    ns_path: tuple[str, ...] = ()
    checkpoint_id: str | None = None
    checkpoint_map: Mapping[str, str] = field(default_factory=dict)
    next_version: Callable[[Any], Any] = count_up
    saves: bool = False
    saves_at_once: bool = False
    output_channels: str | tuple[str, ...] = ()
    output_set: frozenset[str] = frozenset()

    # How the caller wants it run, and told of it.
    modes: frozenset[str] = frozenset()
    emit: Emit | None = None
    emit_here: Emit | None = None
    live: bool = False
    subgraph_events: bool = False
    interrupt_before: Sequence[str] | str = ()
    interrupt_after: Sequence[str] | str = ()
    retry_policy: tuple[RetryPolicy, ...] = ()
    cache_policy: CachePolicy[Any] | None = None
    step_timeout: float | None = None
    context: Any = None
    control: Any = None
    server_info: Any = None
    executor: Any = None
    driver: Any = None
    inner: Mapping[str, Any] | None = None
    messages: Any = None
    trace: Any = None
    manager_for: Any = None

    # Where it goes on from, and with which answers.
    answers: dict[str, Any] = field(default_factory=dict)
    loose: list[Any] = field(default_factory=list)
    edited: bool = False
    replaying: bool = False
    resuming: bool = False
    replay: Replay | None = None
    base: Base = _NOWHERE
    origin: Origin | None = None
    origins: dict[str, str] = field(default_factory=dict)
    targets: dict[str, str] = field(default_factory=dict)
    persistent: bool = True
    is_node: bool = False
    strict: bool = False
    halting: Halting | None = None

    # What has become of it.
    stop: int = 0
    status: str = "running"
    output: Any = None
    shown: bool = False
    unchanged: frozenset[str] = frozenset()
    interrupts: list[Any] = field(default_factory=list)
    exit_writes: list[Any] = field(default_factory=list)
    spent: dict[str, float] = field(default_factory=dict)
    cancelled: bool = False

    def __post_init__(self) -> None:
        self._read_config()
        self.name = self.topology.name
        if self.saver is not None:
            get_next = self.saver.get_next_version
            self.next_version = lambda current: get_next(current, None)
        self.saves = self.saver is not None and self.durability != "exit"
        self.saves_at_once = self.saves and hasattr(self.saver, "put_step")
        self.show(self.topology.output_channels)
        if self.parent is not None:
            self._inherit(self.parent.run)

    def _read_config(self) -> None:
        config = self.config
        conf = self.configurable = config.get(CONF, {})
        self.saver_keys = {key: value for key, value in conf.items() if not key.startswith("__") and key not in _PLACE}
        self.metadata = self.own_metadata = config.get("metadata") or {}
        self.recursion_limit = config.get("recursion_limit", DEFAULT_RECURSION_LIMIT)
        self.max_concurrency = config.get("max_concurrency")
        self.run_id = str(config["run_id"]) if config.get("run_id") else None
        self.thread_id = conf.get(CONFIG_KEY_THREAD_ID)
        self.ns = conf.get(CONFIG_KEY_CHECKPOINT_NS, "") or ""
        self.ns_path = tuple(self.ns.split(NS_SEP)) if self.ns else ()
        self.checkpoint_id = conf.get(CONFIG_KEY_CHECKPOINT_ID)
        self.checkpoint_map = conf.get(CONFIG_KEY_CHECKPOINT_MAP) or {}

    def _inherit(self, outer: Run) -> None:
        self.answers = outer.answers
        self.targets = outer.targets
        self.replay = outer.replay
        self.loose = outer.loose
        self.edited = outer.edited
        self.control = outer.control
        self.server_info = outer.server_info
        self.strict = outer.strict
        self.halting = outer.halting
        if outer.subgraph_events:
            self.messages = outer.messages

    def show(self, channels: str | tuple[str, ...]) -> None:
        """Choose what the run gives back, and what its `values` and `updates` events show."""
        topology = self.topology
        self.output_channels = channels
        if channels is topology.output_channels:
            self.output_set = topology.output_set
        elif channels is topology.stream_channels:
            self.output_set = topology.stream_set
        else:
            self.output_set = frozenset((channels,) if isinstance(channels, str) else channels)

    @property
    def root(self) -> bool:
        """Whether the run was started from outside any graph."""
        return self.parent is None

    def clock(self, frame: Frame) -> ClockReading | None:
        """What managed values are computed from; None where the graph has none."""
        return ClockReading(frame.step, self.stop - 1) if frame.topology.managed else None

    def spend(self, node: str, seconds: float) -> None:
        """Book the time that an attempt of a node took."""
        self.spent[node] = self.spent.get(node, 0.0) + seconds

    def previous(self, frame: Frame) -> Any:
        """What the last run on the thread kept for this one (functional API)."""
        if PREVIOUS in self.topology.channels and frame.available(PREVIOUS):
            return frame.read(PREVIOUS)
        return None

    def at(self, checkpoint_id: str | None, ns: str | None = None) -> RunnableConfig:
        """A config that names a checkpoint of this run's thread."""
        conf: dict[str, Any] = dict(self.saver_keys)
        conf[CONFIG_KEY_CHECKPOINT_NS] = self.ns if ns is None else ns
        if checkpoint_id:
            conf[CONFIG_KEY_CHECKPOINT_ID] = checkpoint_id
        return {CONF: conf, "metadata": dict(self.own_metadata)}
