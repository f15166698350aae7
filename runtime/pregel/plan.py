"""PLAN: which tasks run next, and why.

Rule 1: pure. The frame is read and never changed.
Rule 2: node n runs iff one of its triggers c has versions[c] > seen[n][c], or a Send addresses it.
Rule 3: only the nodes that listen to a channel changed by the last superstep are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from runtime._constants import PULL, PUSH, TASKS
from runtime.errors import InvalidUpdateError
from runtime.pregel.frame import Frame, Version
from runtime.pregel.model import WAKES, PregelNode, listed
from runtime.pregel.task import Place, Task
from runtime.types import Send

PUSHED = (PUSH,)


def plan(frame: Frame, ns: str) -> list[Task]:
    """The tasks of the next superstep: Sends in order first, then woken nodes by name."""
    tasks = list(_sends(frame, ns)) if TASKS in frame.channels else []  # none was ever sent, most often
    for name in _candidates(frame):
        task = _pull(frame, ns, name)
        if task is not None:
            tasks.append(task)
    return tasks


def _sends(frame: Frame, ns: str) -> Iterator[Task]:
    if not frame.available(TASKS):
        return
    for index, send in enumerate(frame.read(TASKS)):
        node = node_of(frame, send)
        place = Place(ns, frame.checkpoint_id, frame.step)
        task = Task(node, send.node, (PUSH, index, False), PUSHED, place, send.arg)
        task.timeout = send.timeout
        yield task


def node_of(frame: Frame, send: Send) -> PregelNode:
    """The node that a Send addresses. Raises InvalidUpdateError if the graph has no such node."""
    node = frame.topology.nodes.get(send.node)
    if node is None:
        known = ", ".join(repr(n) for n in frame.topology.nodes if not n.startswith("__"))
        raise InvalidUpdateError(
            f"a Send is addressed to node {send.node!r}, which graph {frame.topology.name!r} does not have; "
            f"its nodes are {known}"
        )
    return node


def refuse_missing(frame: Frame) -> None:
    """Refuse to go on from a checkpoint whose woken nodes the graph no longer has.

    Raises:
        InvalidUpdateError: names the nodes.
    """
    missing = []
    for channel in frame.stale:
        name = channel.removeprefix(WAKES)
        seen = frame.seen.get(name, {}).get(channel)
        if seen is None or frame.versions[channel] > seen:
            missing.append(name)
    if missing:
        names = ", ".join(map(repr, sorted(missing)))
        known = ", ".join(repr(name) for name in frame.topology.nodes if not name.startswith("__"))
        raise InvalidUpdateError(
            f"the thread waits to run {names}, which graph {frame.topology.name!r} does not have; its nodes are "
            f"{known}. Nothing was run: give the graph the node back, or edit the thread with "
            "update_state(..., as_node=...)"
        )


def _candidates(frame: Frame) -> list[str]:
    """Names of nodes that may have been woken, sorted."""
    if frame.updated is None:
        return sorted(frame.topology.nodes) if frame.versions else []
    listeners = frame.topology.listeners
    found: set[str] = set()
    for channel in frame.updated:
        found.update(listeners.get(channel, ()))
    return sorted(found)


def _pull(frame: Frame, ns: str, name: str) -> Task | None:
    node = frame.topology.nodes[name]
    trigger = woken_by(frame, name, node)
    if trigger is None or not readable(frame, node):
        return None
    return Task(
        node,
        name,
        (PULL, name),
        node.triggers,
        Place(ns, frame.checkpoint_id, frame.step),
    )


def woken_by(frame: Frame, name: str, node: PregelNode) -> str | None:
    """The first trigger of the node that changed since the node last ran, if any."""
    seen = frame.seen.get(name)
    for trigger in node.triggers:
        version = frame.versions.get(trigger)
        if version is None or not frame.available(trigger):
            continue
        known = seen.get(trigger) if seen is not None else None
        if known is None or version > known:
            return trigger
    return None


def readable(frame: Frame, node: PregelNode) -> bool:
    """Whether there is anything for the node to read: one named channel must not be empty."""
    return not isinstance(node.channels, str) or frame.available(node.channels)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a node runs in the next superstep, and why.

    Attributes:
        node: The node's name.
        runs: True if it has a task.
        reason: One sentence in words.
        trigger: The channel that decided, if one did.
        version: That channel's version now, None if it was never written.
        seen: The version that the node has seen, None if it never ran on it.
        waits_for: For a join, the nodes whose writes are still missing.
        sends: How many Sends address it.
    """

    node: str
    runs: bool
    reason: str
    trigger: str | None = None
    version: Version | None = None
    seen: Version | None = None
    waits_for: tuple[str, ...] = ()
    sends: int = 0


def explain(frame: Frame) -> list[Verdict]:
    """A verdict for every node, by the very conditions that `plan` decides by."""
    sends: dict[str, int] = {}
    if TASKS in frame.topology.channels and frame.available(TASKS):
        for send in frame.read(TASKS):
            sends[send.node] = sends.get(send.node, 0) + 1
    considered = set(_candidates(frame))
    return [
        _verdict(frame, name, node, sends.get(name, 0), name in considered)
        for name, node in frame.topology.nodes.items()
    ]


def _verdict(frame: Frame, name: str, node: PregelNode, sends: int, considered: bool) -> Verdict:
    trigger = woken_by(frame, name, node) if considered and readable(frame, node) else None
    if trigger is not None:
        version, seen = frame.versions[trigger], frame.seen.get(name, {}).get(trigger)
        known = "has never seen it" if seen is None else f"last saw version {seen}"
        reason = f"runs: {trigger} is at version {version} and {name} {known}"
        if sends:
            reason += f"; {sends} more by Send"
        return Verdict(name, True, reason, trigger, version, seen, sends=sends)
    if sends:
        times = "once" if sends == 1 else f"{sends} times"
        return Verdict(name, True, f"runs {times}: addressed by Send", sends=sends)
    return _idle(frame, name, node)


def _idle(frame: Frame, name: str, node: PregelNode) -> Verdict:
    waiting = _missing_sources(frame, node)
    if waiting:
        names = ", ".join(waiting)
        return Verdict(name, False, f"waits for {names}: the join needs all of its sources", waits_for=waiting)
    for trigger in node.triggers:
        version = frame.versions.get(trigger)
        if version is None:
            continue
        seen = frame.seen.get(name, {}).get(trigger)
        if not frame.available(trigger):
            reason = f"does not run: {trigger} was written before, and is empty now"
        else:
            reason = f"does not run: it has already seen version {seen} of {trigger}"
        return Verdict(name, False, reason, trigger, version, seen)
    woken = ", ".join(listed(node.triggers)) or "nothing"
    return Verdict(name, False, f"does not run: nothing was written yet to what wakes it ({woken})")


def _missing_sources(frame: Frame, node: PregelNode) -> tuple[str, ...]:
    """For a join that some sources have reached and others not: the ones it waits for."""
    for trigger in node.triggers:
        channel = frame.channels.get(trigger)
        names, arrived = getattr(channel, "names", None), getattr(channel, "seen", None)
        if names and arrived and set(arrived) != set(names):
            return tuple(sorted(set(names) - set(arrived)))
    return ()
