"""Who made an edit, as far as its record tells.

A session writes down the node that an edit was made as; `update_state` elsewhere does not. What it leaves:
- the nodes that the checkpoint names as having run and its parent does not;
- the control channels that it filled, which only nodes with an edge there fill;
- our runtime's name of the author beside the writes, on the checkpoint that was edited.

Rule: an author is told only when one alone fits; otherwise nobody is named.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from debugger_ui.engines import naming
from debugger_ui.engines.base import Topology


@dataclass(frozen=True, slots=True)
class Clues:
    """What the record of an edit leaves."""

    fresh: tuple[str, ...]
    """Nodes that are named for the first time."""
    filled: frozenset[str]
    """Control channels that it filled."""
    named: tuple[str, ...] = ()
    """Authors of the edits that were made on the same checkpoint, where the runtime writes them down."""
    alone: bool = False
    """It is the only edit that was made on its parent."""


def filled(
    versions: Mapping[str, Any], before: Mapping[str, Any], held: Sequence[str] | frozenset[str]
) -> frozenset[str]:
    """Return the control channels that moved and hold something: those that only moved were emptied."""
    return frozenset(
        channel
        for channel, version in versions.items()
        if channel in held and version != before.get(channel) and naming.target_of(channel) not in ("", naming.START)
    )


def fresh(seen: Mapping[str, Any], before: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the nodes that a checkpoint names as having run and its parent does not."""
    return tuple(node for node in seen if node not in before and not node.startswith("__"))


def authors(clues: Clues, topology: Topology) -> tuple[str, ...]:
    """Return who made the edit; empty when it cannot be told."""
    if clues.named and clues.alone:
        return clues.named
    if len(clues.fresh) == 1:
        return clues.fresh
    fitting = _fitting(clues.filled, topology)
    if clues.named:
        fitting = [node for node in fitting if node in clues.named] if fitting else list(dict.fromkeys(clues.named))
    return tuple(fitting) if len(fitting) == 1 else ()


def _fitting(channels: frozenset[str], topology: Topology) -> list[str]:
    """Return the nodes that fill just these channels when they have run."""
    targets = {naming.target_of(channel) for channel in channels}
    always: dict[str, set[str]] = {node.id: set() for node in topology.nodes if node.kind in ("node", "subgraph")}
    may: dict[str, set[str]] = {node: set() for node in always}
    for edge in topology.edges:
        if edge.source in always and edge.target != naming.END:
            (may if edge.conditional else always)[edge.source].add(edge.target)
    joins = [set(sources) for channel in channels if (sources := naming.sources_of(channel))]
    return [
        node
        for node in always
        if always[node] <= targets <= always[node] | may[node] and all(node in sources for sources in joins)
    ]
