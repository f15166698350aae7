"""What a compiled graph is: nodes, channels, and the tables that planning reads.

Everything here is fixed at compile time. A run never changes it, so one compiled graph serves any
number of runs, threads and event loops at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from runtime._constants import TASKS
from runtime.channels.base import BaseChannel
from runtime.channels.delta import DeltaChannel
from runtime.constants import START

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from runtime.pregel.body import Body
    from runtime.types import CachePolicy, RetryPolicy, TimeoutPolicy, TracePolicy

WAKES = "branch:to:"
"""How the channel begins that wakes one node."""

Write = tuple[str, Any]
"""A channel's name and the value that a task puts on it."""

Outputs = Callable[[Any], list[Write]]
"""Turns what a node's function returned into writes. Pure."""


@dataclass(slots=True, kw_only=True)
class Branch:
    """A conditional edge: asks `router` where to go, on the node's view of the state.

    `reads` and `mapper` say what the router sees (the state plus its own node's writes); with
    `passes_on` also what its node returned under keys that the state does not have. `route` turns
    its answer into writes.
    """

    name: str
    router: Body
    reads: str | tuple[str, ...]
    mapper: Callable[[Any], Any] | None
    route: Callable[[Any], list[Write]]
    passes_on: bool = False


@dataclass(slots=True, kw_only=True)
class PregelNode:
    """A node as the runtime sees it: what wakes it, what it reads, runs and writes.

    Attributes:
        triggers: Channels whose change wakes the node.
        channels: What it reads: one channel's bare value, or a mapping of several.
        mapper: Turns what was read into the function's argument (a schema's constructor).
        bodies: The callables to run, each on the result of the one before.
        outputs: Turns the last result into writes.
        branches: Conditional edges, asked in order after `outputs`.
        error_handler: Name of the node that runs, in the same superstep, when this one fails.
        trace_policy: What its run shows to tracers.
        spawns: Whether it calls tasks of its own, and so must leave the loop's thread free.
    """

    triggers: tuple[str, ...]
    channels: str | tuple[str, ...]
    bodies: tuple[Body, ...] = ()
    outputs: Outputs | None = None
    branches: tuple[Branch, ...] = ()
    mapper: Callable[[Any], Any] | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    retry_policy: tuple[RetryPolicy, ...] = ()
    cache_policy: CachePolicy[Any] | None = None
    timeout: TimeoutPolicy | None = None
    subgraphs: tuple[Any, ...] = ()
    error_handler: str | None = None
    handles_errors: bool = False
    trace_policy: TracePolicy | None = None
    spawns: bool = False

    def copy(self, update: Mapping[str, Any] | None = None) -> PregelNode:
        """A node like this one, with some fields changed."""
        return replace(self, **(update or {}))

    @property
    def bound(self) -> Any:
        """The user's own function or Runnable (the first body's)."""
        return self.bodies[0].target if self.bodies else None

    def invoke(self, input: Any, config: RunnableConfig | None = None) -> Any:
        """Call the node alone, outside any run, and return what it returns: for tests of a node.

        Nothing is read from channels or written to them, and no policy applies.
        """
        for body in self.bodies:
            input = body.alone().invoke(input, config)
        return input

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None) -> Any:
        """Await the node alone, outside any run, as `invoke` does."""
        for body in self.bodies:
            input = await body.alone().ainvoke(input, config)
        return input


class Topology:
    """A compiled graph's nodes and channels, with the look-ups that planning and updating need.

    The tables exist so that a superstep walks only what changed: `listeners` finds the nodes that
    a channel may wake; `settling`, `finishing` and `consuming` name the channels that have to be
    told of a step, a possible end, or a read, although nothing was written to them.
    """

    __slots__ = (
        "channels",
        "completing",
        "consuming",
        "deltas",
        "finishing",
        "input_channels",
        "listeners",
        "managed",
        "name",
        "nodes",
        "order",
        "output_channels",
        "output_set",
        "settling",
        "stream_channels",
        "stream_set",
    )

    def __init__(
        self,
        *,
        name: str,
        nodes: Mapping[str, PregelNode],
        channels: Mapping[str, Any],
        input_channels: str | Sequence[str],
        output_channels: str | Sequence[str],
        stream_channels: str | Sequence[str] | None = None,
    ) -> None:
        self.name = name
        self.nodes = dict(nodes)
        self.channels: dict[str, BaseChannel[Any, Any, Any]] = {}
        self.managed: dict[str, Any] = {}
        for key, channel in channels.items():
            if isinstance(channel, BaseChannel):
                self.channels[key] = channel
            else:
                self.managed[key] = channel
        self.input_channels = _names(input_channels)
        self.output_channels = _names(output_channels)
        self.output_set = frozenset(_listed(self.output_channels))
        self.stream_channels = self._streamed(stream_channels)
        self.stream_set = frozenset(_listed(self.stream_channels))
        self.listeners = _listeners(self.nodes)
        self.order = {node: index for index, node in enumerate(self.nodes)}
        self.settling = frozenset(k for k, c in self.channels.items() if c.wants_empty_update)
        self.finishing = tuple(k for k, c in self.channels.items() if c.wants_finish)
        self.completing = dict(_completions(self.channels))
        self.consuming = frozenset(k for k, c in self.channels.items() if c.wants_consume)
        self.deltas = tuple(k for k, c in self.channels.items() if isinstance(c, DeltaChannel))

    def _streamed(self, chosen: str | Sequence[str] | None) -> str | tuple[str, ...]:
        """What `get_state` and the `values` of a checkpoint show: all channels if none are named."""
        if chosen is not None:
            return _names(chosen)
        return tuple(k for k in self.channels if k != TASKS)

    def complete(self, writes: Sequence[Write]) -> None:
        """Let reducers complete a task's writes before they are saved, so that folding them again says the same."""
        if self.completing:
            for channel, value in writes:
                if channel in self.completing:
                    self.completing[channel](value)

    def takes_input_in_step(self, updated: set[str] | None) -> bool:
        """Whether the next superstep only hands the input on: such a one counts against no limit."""
        hidden = self.nodes.get(START)
        return hidden is not None and updated is not None and not updated.isdisjoint(hidden.triggers)


def _completions(channels: Mapping[str, BaseChannel[Any, Any, Any]]) -> Iterator[tuple[str, Callable[[Any], None]]]:
    """By channel, what its reducer does to a write, in place, before it is saved (see `add_messages`)."""
    for name, channel in channels.items():
        reducer = getattr(channel, "operator", None)
        complete = getattr(getattr(reducer, "func", reducer), "__completes__", None)
        if complete is not None:
            yield name, complete


def _names(channels: str | Sequence[str]) -> str | tuple[str, ...]:
    return channels if isinstance(channels, str) else tuple(channels)


def _listed(channels: str | tuple[str, ...]) -> tuple[str, ...]:
    return (channels,) if isinstance(channels, str) else channels


def _listeners(nodes: Mapping[str, PregelNode]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for name, node in nodes.items():
        for trigger in node.triggers:
            found.setdefault(trigger, []).append(name)
    return {trigger: tuple(names) for trigger, names in found.items()}


def listed(channels: str | Iterable[str]) -> tuple[str, ...]:
    """One or several channel names, always as a tuple."""
    return (channels,) if isinstance(channels, str) else tuple(channels)
