"""Halts inside a run, for whoever looks at it from outside: a superstep of a subgraph, or a breakpoint in one.

Rules:
1. A halt is what a graph's own `interrupt_after` is: the run ends between two supersteps, its task in the graph around
   it stays unfinished and asks nothing, and whoever goes on with the thread takes it up there. Nothing is recorded.
2. The wish travels in the config of the outermost call, and is taken out of it before anything else sees it. A run on
   a thread of its own has its own config, and none of this.
3. The outermost run never asks: its caller halts it. A run that saves nothing goes on, or its work would be lost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import RunnableConfig

from runtime._constants import CONF
from runtime.pregel.handover import leads_to, strip_ids
from runtime.pregel.plan import plan
from runtime.pregel.questions import read_record

if TYPE_CHECKING:
    from runtime.pregel.frame import Frame
    from runtime.pregel.run import Run
    from runtime.pregel.task import Task

CONFIG_KEY_HALTING = "__halting"


class Made:
    """A checkpoint that a run inside another has just made, as it is before anything more runs.

    Attributes:
        ns: The namespace of the run.
        checkpoint_id: The checkpoint.
        ran: Names of the nodes that made it; none if it is the run's input.
        changed: Names of the channels that were written.
    """

    __slots__ = ("_before", "_frame", "changed", "checkpoint_id", "ns", "ran")

    def __init__(self, run: Run, frame: Frame, ran: Sequence[Task], before: Frame | None) -> None:
        self.ns = run.ns
        self.checkpoint_id = frame.checkpoint_id
        self.ran = tuple(dict.fromkeys(task.name for task in ran if not task.hidden))
        self.changed = frozenset(frame.updated or ())
        self._frame = frame
        self._before = before

    @property
    def due(self) -> tuple[str, ...]:
        """Names of the nodes that run next; none at the end."""
        return tuple(dict.fromkeys(task.name for task in plan(self._frame, self.ns) if not task.hidden))

    def values(self) -> Mapping[str, Any]:
        """What the channels hold that have a value: copies."""
        return _values(self._frame)

    def before(self) -> Mapping[str, Any]:
        """The same of the checkpoint before; nothing before the input."""
        return _values(self._before) if self._before is not None else {}


def _values(frame: Frame) -> Mapping[str, Any]:
    found: Mapping[str, Any] = frame.values(tuple(frame.topology.channels))
    return found


@dataclass(slots=True)
class Halting:
    """Where runs inside one another halt.

    Attributes:
        reached: Asked at every checkpoint that a run inside makes, from any thread: whether it halts there.
        toward: The namespace of a run. In the runs around it only the tasks that lead to it run, and they halt with
            the superstep unfolded once those have a result.
        moved: Filled in: for runs that go on from an older checkpoint, their former namespace to their own.
    """

    reached: Callable[[Made], bool]
    toward: str = ""
    moved: dict[str, str] = field(default_factory=dict)

    def leads(self, ns: str) -> bool:
        """Whether a namespace is on the way to the run that is wanted."""
        return leads_to(ns, self.toward) or leads_to(strip_ids(ns), self.toward)


def on_the_way(run: Run, tasks: list[Task]) -> list[Task]:
    """Those of a superstep's tasks that lead to the run that is wanted; the list itself where that is no matter."""
    halting = run.halting
    if halting is None or not halting.toward:
        return tasks
    return [task for task in tasks if halting.leads(run.origins.get(task.id, task.checkpoint_ns))] or tasks


def waiting(frame: Frame, tasks: Sequence[Task], chosen: Sequence[Task]) -> list[Any]:
    """The questions of tasks that were not on the way: they still wait for their answers."""
    if chosen is tasks:
        return []
    records = read_record(frame.pending)
    left = [task for task in tasks if task not in chosen and task.id in records]
    return [interrupt for task in left for interrupt in records[task.id].open(task.checkpoint_ns)]


def carried(config: RunnableConfig, halting: Halting) -> RunnableConfig:
    """The config of a call that is asked to halt inside."""
    return {**config, CONF: {**config.get(CONF, {}), CONFIG_KEY_HALTING: halting}}


def took_input(run: Run, frame: Frame) -> bool:
    """Whether the run has begun on an input, whose checkpoint it has just made."""
    return frame.metadata.get("source") == "input" and frame.config is not run.base.config


def halts(run: Run, frame: Frame, ran: Sequence[Task], before: Frame | None) -> bool:
    """Whether a run inside another ends at the checkpoint that it has just made; sets `run.status` if so."""
    halting = run.halting
    if halting is None or run.root or run.saver is None or not halting.reached(Made(run, frame, ran, before)):
        return False
    run.status = "interrupt_after"
    return True


__all__ = ("CONFIG_KEY_HALTING", "Halting", "Made", "carried", "halts", "on_the_way", "took_input", "waiting")
