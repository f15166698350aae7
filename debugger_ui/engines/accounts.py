"""What a runtime says of itself: why a node runs or does not, and how writes become a channel's value."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

MOST_STEPS = 50
"""Writes of one channel that are told one by one: the first ones, and the last."""


@dataclass(frozen=True, slots=True)
class NodeVerdict:
    """Whether a node runs in the superstep at a place, and why, as the runtime says."""

    node: str
    runs: bool
    reason: str
    trigger: str = ""
    version: Any = None
    seen: Any = None
    waits_for: tuple[str, ...] = ()
    sends: int = 0


@dataclass(frozen=True, slots=True)
class FoldedWrite:
    """One write in fold order, and the channel's value after it."""

    task: str
    node: str
    value: Any
    after: Any


@dataclass(frozen=True, slots=True)
class Folding:
    """A channel's value after some of its writes, by their places; `refused` says why it did not take them all."""

    after: Mapping[int, Any] = field(default_factory=dict)
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Fold:
    """How the saved writes of a superstep change one channel, as the runtime says."""

    channel: str
    reducer: str
    before: Any
    steps: tuple[FoldedWrite, ...]
    after: Any
    version_before: Any
    version_after: Any
    refused: str = ""
    left_out: int = 0
    """How many writes came before the last step that are not told one by one."""
