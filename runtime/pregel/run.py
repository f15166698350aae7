"""One invocation of a graph: what the caller asked for, and the services that the run may use.

A config dict is parsed here, once; nothing further in reads one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
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

    from runtime._context import TaskContext
    from runtime.pregel.frame import Frame
    from runtime.pregel.model import Topology
    from runtime.types import CachePolicy, RetryPolicy

Emit = Callable[[tuple[tuple[str, ...], str, Any]], None]


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


class Base(NamedTuple):
    """The saved checkpoint that a run began on, and its versions: what durability "exit" builds on."""

    config: RunnableConfig | None
    versions: Mapping[str, Any]


class Run:
    """A run of one graph. Fields are set once, before the first superstep, unless said otherwise.

    Attributes:
        saver: Where checkpoints go; None if nothing is saved.
        saves: Whether anything is saved while the run goes on (False for durability "exit").
        saves_at_once: Whether a superstep's last writes may wait for its checkpoint, to be saved in one
            transaction with it.
        modes: Stream modes that anybody listens to. Empty means that no event needs to be made.
        emit: Takes events; called from any thread.
        answers: Answers by interrupt id, shared by all runs inside one another.
        replaying: While true, saved results are not reused (changes after the first superstep).
        resuming: For runs inside this one: whether to go on where they stopped (changes likewise).
        base: Where the run began.
        shown: Whether the run has anything to give back: its output channels were written, or it went on
            from a state that had them.
        replay: When replaying: what runs inside begin on.
        loose: A plain answer given to a checkpoint inside a subgraph: for the first question asked there.
        origin: For a run inside a replayed task: the checkpoint, in the namespace of the task's former
            self, that it goes on from.
        origins: By id of a task on this branch, the namespace of its former self.
        targets: Checkpoints inside runs, by namespace, that the caller asked to go on from.
    """

    __slots__ = (
        "answers",
        "base",
        "cache",
        "cache_policy",
        "cancelled",
        "checkpoint_id",
        "checkpoint_map",
        "config",
        "configurable",
        "context",
        "control",
        "driver",
        "durability",
        "emit",
        "executor",
        "exit_writes",
        "inner",
        "input",
        "interrupt_after",
        "interrupt_before",
        "interrupts",
        "live",
        "loose",
        "manager_for",
        "max_concurrency",
        "messages",
        "metadata",
        "modes",
        "name",
        "next_version",
        "ns",
        "ns_path",
        "origin",
        "origins",
        "output",
        "output_channels",
        "output_set",
        "own_metadata",
        "parent",
        "persistent",
        "recursion_limit",
        "replay",
        "replaying",
        "resuming",
        "retry_policy",
        "run_id",
        "saver",
        "saves",
        "saves_at_once",
        "server_info",
        "shown",
        "spent",
        "status",
        "step_timeout",
        "stop",
        "store",
        "strict",
        "subgraph_events",
        "targets",
        "thread_id",
        "topology",
        "trace",
    )

    def __init__(
        self,
        topology: Topology,
        input: Any,
        config: RunnableConfig,
        *,
        saver: BaseCheckpointSaver[Any] | None = None,
        store: BaseStore | None = None,
        cache: BaseCache[Any] | None = None,
        durability: str = "async",
        parent: TaskContext | None = None,
    ) -> None:
        conf = config.get(CONF, {})
        self.topology = topology
        self.name = topology.name
        self.input = input
        self.config = config
        self.configurable: Mapping[str, Any] = conf
        self.metadata: Mapping[str, Any] = config.get("metadata") or {}
        self.own_metadata = self.metadata
        self.recursion_limit: int = config.get("recursion_limit", 10007)
        self.max_concurrency: int | None = config.get("max_concurrency")
        self.run_id = str(config["run_id"]) if config.get("run_id") else None
        self.thread_id: str | None = conf.get(CONFIG_KEY_THREAD_ID)
        self.ns: str = conf.get(CONFIG_KEY_CHECKPOINT_NS, "") or ""
        self.ns_path = tuple(self.ns.split(NS_SEP)) if self.ns else ()
        self.checkpoint_id: str | None = conf.get(CONFIG_KEY_CHECKPOINT_ID)
        self.checkpoint_map: Mapping[str, str] = conf.get(CONFIG_KEY_CHECKPOINT_MAP) or {}
        self.saver = saver
        self.store = store
        self.cache = cache
        self.durability = durability
        self.parent = parent
        self.next_version: Any = count_up
        if saver is not None:
            get_next = saver.get_next_version
            self.next_version = lambda current: get_next(current, None)
        self.saves = saver is not None and durability != "exit"
        self.saves_at_once = durability == "sync" and hasattr(saver, "put_step")
        self.show(topology.output_channels)
        self._set_defaults()
        if parent is not None:
            self._inherit(parent.run)

    def _set_defaults(self) -> None:
        self.modes: frozenset[str] = frozenset()
        self.emit: Emit | None = None
        self.live = False
        self.subgraph_events = False
        self.interrupt_before: Sequence[str] | str = ()
        self.interrupt_after: Sequence[str] | str = ()
        self.retry_policy: tuple[RetryPolicy, ...] = ()
        self.cache_policy: CachePolicy[Any] | None = None
        self.step_timeout: float | None = None
        self.context: Any = None
        self.control: Any = None
        self.server_info: Any = None
        self.executor: Any = None
        self.driver: Any = None
        self.answers: dict[str, Any] = {}
        self.replaying = False
        self.resuming = False
        self.replay: Replay | None = None
        self.loose: list[Any] = []
        self.base: Base = Base(None, {})
        self.origin: Origin | None = None
        self.origins: dict[str, str] = {}
        self.targets: dict[str, str] = {}
        self.persistent = True
        self.strict = False
        self.stop = 0
        self.status = "running"
        self.output: Any = None
        self.shown = False
        self.interrupts: list[Any] = []
        self.exit_writes: list[Any] = []
        self.spent: dict[str, float] = {}
        self.inner: Mapping[str, Any] | None = None
        self.messages: Any = None
        self.trace: Any = None
        self.manager_for: Any = None
        self.cancelled = threading.Event()

    def _inherit(self, outer: Run) -> None:
        self.answers = outer.answers
        self.targets = outer.targets
        self.replay = outer.replay
        self.loose = outer.loose
        self.control = outer.control
        self.server_info = outer.server_info
        self.strict = outer.strict
        if outer.subgraph_events:
            self.messages = outer.messages

    def show(self, channels: str | tuple[str, ...]) -> None:
        """Choose what the run gives back, and what its `values` and `updates` events show."""
        self.output_channels = channels
        self.output_set = frozenset((channels,) if isinstance(channels, str) else channels)

    @property
    def root(self) -> bool:
        """Whether the run was started from outside any graph."""
        return self.parent is None

    def clock(self, frame: Frame) -> ClockReading:
        """What managed values are computed from."""
        return ClockReading(frame.step, self.stop - 1)

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
        conf: dict[str, Any] = dict(self.saver_keys())
        conf[CONFIG_KEY_CHECKPOINT_NS] = self.ns if ns is None else ns
        if checkpoint_id:
            conf[CONFIG_KEY_CHECKPOINT_ID] = checkpoint_id
        return {CONF: conf, "metadata": dict(self.own_metadata)}

    def saver_keys(self) -> Mapping[str, Any]:
        """The part of the caller's `configurable` that goes with every checkpoint."""
        return {
            key: value
            for key, value in self.configurable.items()
            if not key.startswith("__") and key not in (CONFIG_KEY_CHECKPOINT_ID, CONFIG_KEY_CHECKPOINT_MAP)
        }
