"""Where a run stands: the newest checkpoint of a namespace, as live channels and versions.

Rules:
1. Only `load` and `advance` change a frame; planning and updating read it and answer with values.
2. A channel that nobody touched is not built: `channels` holds what was stored or written, and the
   rest comes from the graph's specification when somebody reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple, DeltaChannelHistory, PendingWrite

from runtime._constants import INPUT, INTERRUPT
from runtime._typing import MISSING
from runtime.channels.base import BaseChannel
from runtime.channels.delta import DeltaChannel
from runtime.constants import START
from runtime.errors import EmptyChannelError
from runtime.managed.base import Clock
from runtime.pregel.isolate import isolate
from runtime.pregel.model import WAKES, Topology

Version = Any
"""A channel's version: whatever the saver's `get_next_version` gives; only compared and stored."""


@dataclass(slots=True)
class Changes:
    """What one superstep changes. Made by `update`, carried out by `Frame.advance`."""

    channels: dict[str, BaseChannel[Any, Any, Any]] = field(default_factory=dict)
    versions: dict[str, Version] = field(default_factory=dict)
    seen: dict[str, dict[str, Version]] = field(default_factory=dict)
    updated: set[str] = field(default_factory=set)
    newest: Version | None = None


class Frame:
    """The position of a run in one namespace of a thread."""

    __slots__ = (
        "_specs",
        "changed",
        "changed_nodes",
        "channels",
        "checkpoint_id",
        "config",
        "live",
        "metadata",
        "newest",
        "parent_config",
        "pending",
        "seen",
        "stale",
        "step",
        "topology",
        "updated",
        "versions",
    )

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self._specs = topology.channels
        self.channels: dict[str, BaseChannel[Any, Any, Any]] = {}
        self.versions: dict[str, Version] = {}
        self.seen: dict[str, dict[str, Version]] = {}
        self.updated: set[str] | None = None
        self.live: set[str] = set()
        self.stale: set[str] = set()
        self.changed: dict[str, Version] = {}
        self.changed_nodes: set[str] = set()
        self.newest: Version | None = None
        self.checkpoint_id = ""
        self.config: RunnableConfig | None = None
        self.parent_config: RunnableConfig | None = None
        self.metadata: dict[str, Any] = {}
        self.pending: list[PendingWrite] = []
        self.step = -1

    @classmethod
    def load(cls, topology: Topology, saved: CheckpointTuple | None) -> Frame:
        """A frame at a stored checkpoint, or before the first one."""
        frame = cls(topology)
        if saved is None:
            return frame
        checkpoint = saved.checkpoint
        values = checkpoint["channel_values"]
        specs = topology.channels
        for name, value in values.items():
            spec = specs.get(name)
            if spec is not None:
                channel = frame.channels[name] = spec.from_checkpoint(value)
                channel.key = name
            elif name.startswith(WAKES):
                frame.stale.add(name)
        frame.versions = dict(checkpoint["channel_versions"])
        frame.seen = {node: dict(seen) for node, seen in checkpoint["versions_seen"].items()}
        frame.newest = max(frame.versions.values(), default=None)
        updated = checkpoint.get("updated_channels")
        frame.updated = set(updated) if updated is not None else None
        frame.live = set(topology.settling.intersection(frame.channels))
        frame.checkpoint_id = checkpoint["id"]
        frame.config = saved.config
        frame.parent_config = saved.parent_config
        frame.metadata = dict(saved.metadata or {})
        frame.pending = [(str(task), channel, value) for task, channel, value in saved.pending_writes or ()]
        frame.step = frame.metadata.get("step", -2) + 1
        return frame

    def unfolded(self) -> list[str]:
        """The channels that LangGraph stored as what was written to them, and not as a value."""
        return [name for name in self.topology.deltas if name in self.versions and name not in self.channels]

    def replay(self, histories: Mapping[str, DeltaChannelHistory]) -> None:
        """Fold what was written to such channels. The next checkpoint stores their values."""
        for name, history in histories.items():
            spec = self._specs[name]
            channel = self.channels[name] = spec.from_checkpoint(history.get("seed", MISSING))
            channel.key = name
            if isinstance(channel, DeltaChannel):
                channel.replay_writes(history["writes"])
            self.changed[name] = self.versions[name]

    def twin(self) -> Frame:
        """A frame at the same position, whose own moves do not show in this one."""
        twin = Frame(self.topology)
        for slot in self.__slots__:
            value = getattr(self, slot)
            setattr(twin, slot, value.copy() if isinstance(value, dict | set | list) else value)
        twin.seen = {node: dict(seen) for node, seen in self.seen.items()}
        return twin

    def channel(self, name: str) -> BaseChannel[Any, Any, Any]:
        """The live channel, built from the specification when nothing was stored for it."""
        found = self.channels.get(name)
        if found is None:
            spec = self._specs[name]
            found = self.channels[name] = spec.from_checkpoint(MISSING)
            found.key = name
        return found

    def available(self, name: str) -> bool:
        """Whether the channel exists and has a value to read."""
        return name in self._specs and self.channel(name).is_available()

    def read(self, name: str) -> Any:
        """A channel's value, itself and not a copy. Raises EmptyChannelError if it has none."""
        return self.channel(name).get()

    def values(self, select: str | Iterable[str]) -> Any:
        """One channel's value (None if empty), or a mapping of those that have one. Isolated."""
        if isinstance(select, str):
            try:
                return isolate(self.read(select))
            except EmptyChannelError:
                return None
        found = {}
        for name in select:
            try:
                found[name] = isolate(self.read(name))
            except EmptyChannelError:
                continue
        return found

    def view(self, select: str | Iterable[str], writes: Iterable[tuple[str, Any]], clock: Clock | None) -> Any:
        """What `values` would give had `writes` been applied, and managed values from `clock`."""
        overlay: dict[str, list[Any]] = {}
        for name, value in writes:
            overlay.setdefault(name, []).append(value)
        if isinstance(select, str):
            return isolate(self._seen_through(overlay, select))
        found: dict[str, Any] = {}
        managed = self.topology.managed
        for name in select:
            if managed and name in managed:
                if clock is not None:
                    found[name] = managed[name].get(clock)
                continue
            value = self._seen_through(overlay, name)
            if value is not MISSING:
                found[name] = isolate(value)
        return found

    def _seen_through(self, overlay: Mapping[str, list[Any]], name: str) -> Any:
        channel = self.channels.get(name) or self.channel(name)
        if overlay and name in overlay:
            channel = channel.copy()
            channel.update(overlay[name])
        try:
            return channel.get()
        except EmptyChannelError:
            return MISSING

    def mark_input(self) -> None:
        """Note that what the frame holds now is what the input made of it. Saved with the checkpoint."""
        self.seen[INPUT] = {START: self.newest}

    def unchanged(self) -> frozenset[str]:
        """The channels that nobody, neither a node nor an edit, has written since the input was taken in."""
        mark = self.seen.get(INPUT, {}).get(START)
        if mark is None:
            return frozenset()
        return frozenset(k for k in self._specs if k not in self.versions or self.versions[k] <= mark)

    def pass_breakpoints(self) -> None:
        """Note that a caller has seen the state as it is: breakpoints stop again when something changes."""
        self.seen[INTERRUPT] = dict(self.versions)
        self.changed_nodes.add(INTERRUPT)

    def advance(self, changes: Changes) -> None:
        """Make a superstep's changes the frame's own. The only way the state moves.

        What changed since the last checkpoint gathers in `changed` and `changed_nodes`.
        """
        self.channels.update(changes.channels)
        self.versions.update(changes.versions)
        for node, seen in changes.seen.items():
            self.seen.setdefault(node, {}).update(seen)
        self.changed.update(changes.versions)
        self.changed_nodes.update(changes.seen)
        self.updated = changes.updated
        if self.stale:
            self.stale.difference_update(changes.versions)
        if changes.newest is not None:
            self.newest = changes.newest
        settling = self.topology.settling
        for name, channel in changes.channels.items():
            if name in settling:
                if channel.is_available():
                    self.live.add(name)
                else:
                    self.live.discard(name)
