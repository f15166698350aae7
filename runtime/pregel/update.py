"""UPDATE: fold one superstep's writes into the next state.

Rule 1: pure. Frame and channels passed in are never changed; channels that change are copied first.
Rule 2: writes are folded in task order (`fold_order`), so the outcome does not depend on which task
        finished first.
Rule 3: the cost is that of what was written, not of how many channels the graph has.
Rule 4: all or nothing. A refused write raises before anything was handed out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from runtime._constants import ERROR, ERROR_SOURCE_NODE, INTERRUPT, NO_WRITES, PUSH, RESUME, RETURN, TASKS
from runtime._typing import EMPTY_SEQ
from runtime.channels.base import BaseChannel
from runtime.errors import InvalidUpdateError, add_note, mark, text_of
from runtime.pregel.frame import Changes, Frame, Version
from runtime.pregel.task import Task, fold_order
from runtime.types import Send

NextVersion = Callable[[Version | None], Version]

# What a task may write that is no channel's business.
CONTROL = frozenset({NO_WRITES, PUSH, RESUME, INTERRUPT, RETURN, ERROR, ERROR_SOURCE_NODE})


REFUSED_TASKS = "_forkpoint_refused_tasks"
"""Attribute of an error that refuses a superstep: ids of the tasks whose writes are of no use."""


def count_up(current: Version | None) -> Version:
    """The versions of a run that nobody saves: 1, 2, 3 …"""
    return 1 if current is None else current + 1


class Fold:
    """One superstep's update in the making: copies of what changes, over a frame left alone."""

    __slots__ = ("changes", "frame", "version")

    def __init__(self, frame: Frame, next_version: NextVersion) -> None:
        self.frame = frame
        self.changes = Changes()
        self.version = next_version(frame.newest)

    def channel(self, name: str) -> BaseChannel[Any, Any, Any]:
        """The copy to change; made on first use."""
        mine = self.changes.channels.get(name)
        return self.frame.channel(name).copy() if mine is None else mine

    def keep(self, name: str, channel: BaseChannel[Any, Any, Any]) -> None:
        """Take a changed channel into the result, under the superstep's version."""
        changes = self.changes
        changes.channels[name] = channel
        changes.versions[name] = changes.newest = self.version
        if channel.is_available():
            changes.updated.add(name)
        else:
            changes.updated.discard(name)


def update(frame: Frame, tasks: Sequence[Task], next_version: NextVersion) -> Changes:
    """What the finished tasks of a superstep change.

    Raises:
        InvalidUpdateError: a channel refuses its writes; names the channel and the tasks.
    """
    ordered = sorted(tasks, key=fold_order) if len(tasks) > 1 else tasks
    fold = Fold(frame, next_version)
    woken = False
    for task in ordered:
        _see(fold, task)
        woken = woken or bool(task.triggers)
    for name in _consumed(frame, ordered) if frame.topology.consuming else ():
        channel = fold.channel(name)
        if channel.consume():
            fold.keep(name, channel)
            fold.changes.updated.discard(name)
    writes = by_channel(frame, ordered)
    for name, entries in writes.items():
        channel = fold.channel(name)
        if _apply(channel, name, entries):
            fold.keep(name, channel)
    if woken:
        _settle(fold, writes)
        if fold.changes.updated.isdisjoint(frame.topology.listeners) and TASKS not in fold.changes.updated:
            _finish(fold)
    return fold.changes


def _see(fold: Fold, task: Task) -> None:
    versions = fold.frame.versions
    seen = fold.changes.seen.setdefault(task.name, {})
    for trigger in task.triggers:
        version = versions.get(trigger)
        if version is not None:
            seen[trigger] = version


def _consumed(frame: Frame, tasks: Iterable[Task]) -> Iterable[str]:
    consuming = frame.topology.consuming
    return dict.fromkeys(name for task in tasks for name in task.triggers if name in consuming)


def by_channel(frame: Frame, tasks: Iterable[Task]) -> dict[str, list[tuple[Task, Any]]]:
    """Writes grouped by channel, each group in fold order; control writes left out."""
    known = frame.topology.channels
    grouped: dict[str, list[tuple[Task, Any]]] = {}
    for task in tasks:
        for name, value in task.writes:
            if name in CONTROL or name not in known:
                continue
            if name == TASKS:
                _check_send(frame, task, value)
            entries = grouped.get(name)
            if entries is None:
                grouped[name] = [(task, value)]
            else:
                entries.append((task, value))
    return grouped


def _check_send(frame: Frame, task: Task, value: Any) -> None:
    if not isinstance(value, Send):
        said = f"node {task.name!r} put {value!r} among the Sends; expected a Send"
    elif value.node not in frame.topology.nodes:
        known = ", ".join(repr(n) for n in frame.topology.nodes if not n.startswith("__"))
        said = (
            f"node {task.name!r} addressed a Send to {value.node!r}, which graph "
            f"{frame.topology.name!r} does not have; its nodes are {known}"
        )
    else:
        return
    error = InvalidUpdateError(said)
    mark(error, REFUSED_TASKS, (task.id,))
    raise error


def _apply(channel: BaseChannel[Any, Any, Any], name: str, entries: list[tuple[Task, Any]]) -> bool:
    try:
        return channel.update([value for _, value in entries])
    except Exception as error:
        writers = ", ".join(dict.fromkeys(repr(task.name) for task, _ in entries))
        add_note(error, f"in channel {name!r}, folding writes of {writers}; nothing of this superstep was applied")
        # Whose results these are, for the record: they are of no use, so those tasks run again.
        mark(error, REFUSED_TASKS, tuple(dict.fromkeys(task.id for task, _ in entries)))
        raise


def _settle(fold: Fold, written: dict[str, Any]) -> None:
    """Tell the channels that live for one superstep that it is over."""
    for name in fold.frame.stale:  # what was to wake a node that the graph no longer has
        fold.changes.versions[name] = fold.changes.newest = fold.version
    for name in sorted(fold.frame.live):
        if name in written:
            continue
        channel = fold.channel(name)
        if channel.update(EMPTY_SEQ):
            fold.keep(name, channel)


def _finish(fold: Fold) -> None:
    """Nothing is woken, so this may be the end: let the channels that wait for it speak."""
    for name in fold.frame.topology.finishing:
        channel = fold.channel(name)
        if channel.finish():
            fold.keep(name, channel)


@dataclass(frozen=True, slots=True)
class FoldStep:
    """One write in a channel's fold: who wrote what, and the value after it.

    `refused` holds the channel's complaint where it would not take the writes so far.
    """

    task: Task
    value: Any
    after: Any
    refused: str | None = None


def fold_steps(frame: Frame, tasks: Sequence[Task], most: int) -> dict[str, tuple[list[FoldStep], int]]:
    """For each channel, its writes in fold order with the value after each: `update`, slowly.

    Of more than `most` writes, the first and the last are told, and how many there are between: each is folded from
    the beginning, since channels may take every write alone and not all of them together.
    """
    ordered = sorted(tasks, key=fold_order)
    shown: dict[str, tuple[list[FoldStep], int]] = {}
    for name, entries in by_channel(frame, ordered).items():
        counts = list(range(1, len(entries) + 1))
        told = counts if len(counts) <= most else [*counts[: most - 1], len(entries)]
        steps = []
        for count in told:
            after, refused = _after(frame, name, [v for _, v in entries[:count]])
            steps.append(FoldStep(*entries[count - 1], after, refused))
        shown[name] = steps, len(counts) - len(told)
    return shown


def _after(frame: Frame, name: str, values: list[Any]) -> tuple[Any, str | None]:
    channel = frame.channel(name).copy()
    try:
        channel.update(values)
        return (channel.get() if channel.is_available() else None), None
    except Exception as error:
        return None, text_of(error) or type(error).__name__
