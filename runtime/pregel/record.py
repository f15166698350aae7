"""Frames into checkpoints: what is saved, and when.

With a saver that offers `put_step`, only what a superstep changed is handed over; any other saver is
given the whole state, which is what its protocol asks for.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from datetime import UTC, datetime
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import Checkpoint
from langgraph.checkpoint.serde.types import _DeltaSnapshot

from runtime._constants import CONF, CONFIG_KEY_CHECKPOINT_ID, CONFIG_KEY_CHECKPOINT_NS, TASKS
from runtime._typing import MISSING
from runtime.channels.untracked_value import UntrackedValue
from runtime.checkpoint.ids import next_checkpoint_id
from runtime.pregel.effects import Effect, Put, PutWrites
from runtime.pregel.frame import Frame
from runtime.pregel.refusals import REFUSALS, placed
from runtime.pregel.run import Run
from runtime.pregel.task import Task, path_text
from runtime.types import Send

CHECKPOINT_VERSION = 4


def checkpoint_of(frame: Frame, only: Sequence[str] | None = None, *, live: bool = False) -> Checkpoint:
    """The frame's state as a checkpoint; with `only`, the values of those channels alone.

    `live` hands over the frame's own versions: only for a saver that has read them before the run goes on.
    """
    values = {}
    whole = only is None
    for name in tuple(frame.channels) if only is None else only:
        channel = frame.channels.get(name)
        if channel is None or name not in frame.versions:
            continue
        value = channel.stored()
        if not whole and isinstance(value, _DeltaSnapshot):
            value = value.value  # a saver of ours finds out for itself what a value adds to the last
        if value is not MISSING:
            values[name] = value
    if TASKS in values:
        values[TASKS] = [without_untracked(frame, send) for send in values[TASKS]]
    return {
        "v": CHECKPOINT_VERSION,
        "id": frame.checkpoint_id,
        "ts": datetime.now(UTC).isoformat(),
        "channel_values": values,
        "channel_versions": frame.versions if live else dict(frame.versions),
        "versions_seen": frame.seen if live else {n: dict(s) for n, s in frame.seen.items()},
        "updated_channels": sorted(frame.updated) if frame.updated is not None else None,
    }


def savable(frame: Frame, writes: Sequence[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Writes without those to untracked channels, and without what Sends hold for them: that is never saved."""
    channels = frame.topology.channels
    return [
        (name, without_untracked(frame, value) if name == TASKS else value)
        for name, value in writes
        if not isinstance(channels.get(name), UntrackedValue)
    ]


def without_untracked(frame: Frame, value: Any) -> Any:
    """A Send without what its argument holds for untracked channels, which are never saved."""
    if isinstance(value, Send) and isinstance(value.arg, dict):
        channels = frame.topology.channels
        kept = {k: v for k, v in value.arg.items() if not isinstance(channels.get(k), UntrackedValue)}
        if len(kept) != len(value.arg):
            return Send(value.node, kept, timeout=value.timeout)
    return value


def advance_id(run: Run, frame: Frame, newest: str | None = None) -> None:
    """Move the frame to a checkpoint id of its own, after everything that came before it."""
    if run.saver is None and frame.checkpoint_id:
        # Nobody stores it: it only has to differ from step to step, for the ids of tasks.
        frame.checkpoint_id = f"{frame.checkpoint_id[:24]}{frame.step & 0xFFFFFFFFFFFF:012x}"
        return
    before = [known for known in (frame.checkpoint_id, newest) if known]
    if run.parent is not None and run.parent.frame.checkpoint_id:
        before.append(run.parent.frame.checkpoint_id)
    frame.checkpoint_id = next_checkpoint_id(max(before, default=None), frame.step)


def commit(
    run: Run,
    frame: Frame,
    source: str,
    unsaved: Sequence[Task] = (),
    newest: str | None = None,
    folded: Sequence[str] | None = None,
) -> Generator[Effect, Any, None]:
    """Make the frame's position a checkpoint of the thread, and go on to the next step.

    Args:
        run: The run.
        frame: The frame, already advanced.
        source: What made the checkpoint: `input`, `loop`, `update` or `fork`.
        unsaved: Tasks whose writes are to be saved along with the checkpoint.
        newest: An id on the thread that the new one has to come after.
        folded: Under which task ids the writes stand that made it; None for all that stand on its parent.
    """
    came_from = frame.config
    advance_id(run, frame, newest)
    frame.metadata = {"source": source, "step": frame.step, "parents": dict(run.checkpoint_map)}
    if run.parent is not None and run.parent.task.refusals:
        frame.metadata[REFUSALS] = run.parent.task.refusals
    if run.saver is None:
        frame.step += 1
        return
    if run.saves:
        yield _put(run, frame, came_from, unsaved, folded)
        frame.parent_config = came_from
    frame.changed, frame.changed_nodes = {}, set()
    frame.config = run.at(frame.checkpoint_id)
    frame.step += 1


def _put(
    run: Run,
    frame: Frame,
    parent: RunnableConfig | None,
    unsaved: Sequence[Task],
    folded: Sequence[str] | None,
) -> Put:
    """The effect that saves the frame: what changed since its parent, if the saver takes that, or all of it."""
    partial = parent is not None and hasattr(run.saver, "put_step")
    writes = [
        (place, path_text(task.path), savable(frame, part))
        for task in unsaved
        for place, part in placed(task, task.writes)
    ]
    return Put(
        addressed(run, parent if parent is not None else run.at(None)),
        checkpoint_of(frame, tuple(frame.changed) if partial else None, live=partial and run.durability == "sync"),
        {**frame.metadata},
        dict(frame.changed if parent is not None else frame.versions),
        writes,
        tuple(frame.changed_nodes) if partial else None,
        folded,
    )


def addressed(run: Run, config: RunnableConfig) -> RunnableConfig:
    """The caller's config with a checkpoint's place in it, as savers take it."""
    conf = config.get(CONF, {})
    kept = {**run.saver_keys, CONFIG_KEY_CHECKPOINT_NS: run.ns}
    if conf.get(CONFIG_KEY_CHECKPOINT_ID):
        kept[CONFIG_KEY_CHECKPOINT_ID] = conf[CONFIG_KEY_CHECKPOINT_ID]
    return {CONF: kept, "metadata": dict(run.own_metadata)}


def save_tasks(frame: Frame, tasks: Sequence[Task]) -> Generator[Effect, Any, None]:
    """Save writes that were waiting for a checkpoint that will not be made."""
    for task in tasks:
        if frame.config is not None:
            for place, writes in placed(task, task.writes):
                yield PutWrites(frame.config, savable(frame, writes), place, path_text(task.path))
