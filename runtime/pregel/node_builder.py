"""NodeBuilder: a node for `Pregel`, straight from channels, without a state.

A node is woken by the channels that it subscribes to, is given what it reads, and puts its result on
the channels that it writes to.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final, NamedTuple, Self

from runtime.pregel.body import Body
from runtime.pregel.embedded import graphs_in
from runtime.pregel.model import PregelNode, Write
from runtime.types import CachePolicy, RetryPolicy, TimeoutPolicy

__all__ = ("PASSTHROUGH", "ChannelWriteEntry", "ChannelWrites", "NodeBuilder")


class _Passthrough:
    """Stands for the node's own result."""

    def __repr__(self) -> str:
        return "PASSTHROUGH"


PASSTHROUGH: Final[Any] = _Passthrough()
"""In a `ChannelWriteEntry`: write what the node returned."""


class ChannelWriteEntry(NamedTuple):
    """One write of a node.

    `value` goes to `channel`, or the node's result if it is `PASSTHROUGH`; `mapper` is applied to it
    first, and with `skip_none` a None is not written.
    """

    channel: str
    value: Any = PASSTHROUGH
    skip_none: bool = False
    mapper: Callable[[Any], Any] | None = None


class ChannelWrites:
    """Turns a node's result into writes. `channels` are the ones that it may write, for drawings."""

    __slots__ = ("entries",)

    def __init__(self, entries: tuple[ChannelWriteEntry, ...]) -> None:
        self.entries = entries

    @property
    def channels(self) -> tuple[str, ...]:
        """The channels that are written to, each once."""
        return tuple(dict.fromkeys(entry.channel for entry in self.entries))

    def __call__(self, result: Any) -> list[Write]:
        """The writes of a result."""
        writes: list[Write] = []
        for channel, given, skip_none, mapper in self.entries:
            value = result if given is PASSTHROUGH else given
            if mapper is not None:
                value = mapper(value)
            if value is not None or not skip_none:
                writes.append((channel, value))
        return writes


class NodeBuilder:
    """Builds a node of a `Pregel`; every method but `build` returns the builder.

    Example:
        NodeBuilder().subscribe_only("a").do(len).write_to("b")
    """

    __slots__ = (
        "_bodies",
        "_cache_policy",
        "_channels",
        "_metadata",
        "_retry_policies",
        "_tags",
        "_timeout",
        "_triggers",
        "_writes",
    )

    def __init__(self) -> None:
        self._channels: str | list[str] = []
        self._triggers: list[str] = []
        self._bodies: list[Body] = []
        self._writes: list[ChannelWriteEntry] = []
        self._tags: list[str] = []
        self._metadata: dict[str, Any] = {}
        self._retry_policies: list[RetryPolicy] = []
        self._cache_policy: CachePolicy[Any] | None = None
        self._timeout: TimeoutPolicy | None = None

    def subscribe_only(self, channel: str) -> Self:
        """Be woken by one channel, and be given its bare value.

        Raises ValueError if the node reads other channels already.
        """
        if self._channels:
            raise ValueError(f"a node that reads {self._channels!r} cannot subscribe to {channel!r} only")
        self._channels = channel
        self._triggers.append(channel)
        return self

    def subscribe_to(self, *channels: str, read: bool = True) -> Self:
        """Be woken by any of these channels, and (with `read`) be given a dict of their values.

        Raises ValueError after `subscribe_only`.
        """
        if read:
            self._readable().extend(channels)
        elif isinstance(self._channels, str):
            self._readable()
        self._triggers.extend(channels)
        return self

    def read_from(self, *channels: str) -> Self:
        """Be given these channels' values as well, without being woken by them.

        Raises ValueError after `subscribe_only`.
        """
        self._readable().extend(channels)
        return self

    def _readable(self) -> list[str]:
        if isinstance(self._channels, str):
            raise ValueError(
                f"a node that subscribes to {self._channels!r} only is given its bare value, so it cannot read other "
                "channels; use subscribe_to for a dict of several"
            )
        return self._channels

    def do(self, node: Any) -> Self:
        """Run a function or Runnable on what was read; a second one on the result of the first."""
        self._bodies.append(Body(node))
        return self

    def write_to(self, *channels: str | ChannelWriteEntry, **writes: Any) -> Self:
        """Write the result to `channels`, and for each `channel=value` that value.

        A value that can be called is given the result, and what it returns is written.
        """
        self._writes.extend(
            channel if isinstance(channel, ChannelWriteEntry) else ChannelWriteEntry(channel) for channel in channels
        )
        self._writes.extend(
            ChannelWriteEntry(channel, mapper=value) if callable(value) else ChannelWriteEntry(channel, value)
            for channel, value in writes.items()
        )
        return self

    def meta(self, *tags: str, **metadata: Any) -> Self:
        """Add tags and metadata, for tracers."""
        self._tags.extend(tags)
        self._metadata.update(metadata)
        return self

    def add_retry_policies(self, *policies: RetryPolicy) -> Self:
        """Try again on failure; of several policies the first that fits counts."""
        self._retry_policies.extend(policies)
        return self

    def add_cache_policy(self, policy: CachePolicy[Any]) -> Self:
        """Keep the writes for inputs that the node has seen."""
        self._cache_policy = policy
        return self

    def set_timeout(self, timeout: float | timedelta | TimeoutPolicy | None) -> Self:
        """Limit the node's time: seconds or a timedelta for each attempt, or a policy."""
        self._timeout = TimeoutPolicy.coerce(timeout)
        return self

    def build(self) -> PregelNode:
        """The node as it was described so far."""
        return PregelNode(
            triggers=tuple(dict.fromkeys(self._triggers)),
            channels=self._channels if isinstance(self._channels, str) else tuple(dict.fromkeys(self._channels)),
            bodies=tuple(self._bodies),
            outputs=ChannelWrites(tuple(self._writes)),
            tags=tuple(self._tags),
            metadata=dict(self._metadata),
            retry_policy=tuple(self._retry_policies),
            cache_policy=self._cache_policy,
            timeout=self._timeout,
            subgraphs=tuple(graph for body in self._bodies for graph in graphs_in(body.target)),
        )
