"""What a run begins from: the checkpoint that its config names, the newest, one inside a replayed task, or nothing."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple

from runtime.errors import CheckpointNotFoundError
from runtime.pregel.effects import Effect, HasChildren, History, Load
from runtime.pregel.frame import Frame
from runtime.pregel.loading import load_frame
from runtime.pregel.model import Write
from runtime.pregel.questions import read_record
from runtime.pregel.refusals import REFUSALS
from runtime.pregel.run import Base, Origin, Run
from runtime.types import Command


@dataclass(slots=True)
class Beginning:
    """What was found at the start of a run.

    `anew`: something is saved there, and the run does not go on from it. `forking` says that a `fork` checkpoint comes
    first; `carried` are writes for the new branch.
    """

    frame: Frame
    saved: CheckpointTuple | None
    command: Command[Any] | None
    addressed: bool
    has_children: bool
    anew: bool = False
    forking: bool = False
    carried: list[Write] = field(default_factory=list)


def find(run: Run) -> Generator[Effect, Any, Beginning]:
    """Load what the run begins from.

    Raises:
        CheckpointNotFoundError: the config names a checkpoint that the thread does not have.
    """
    command = run.input if isinstance(run.input, Command) else None
    saved: CheckpointTuple | None = None
    addressed = run.checkpoint_id is not None or run.origin is not None
    if run.saver is not None:
        saved = yield from _load(run)
    anew = saved is not None and _was_refused(run, saved)
    if anew:
        saved = None
    frame = yield from load_frame(run.topology, saved)
    if run.origin is not None and run.origin.ns != run.ns:
        frame.config = None  # it continues in this run's own namespace, where nothing was saved yet
    run.base = Base(frame.config, dict(frame.versions) if run.durability == "exit" else {})
    has_children = False
    if saved is not None and addressed and run.origin is None:
        has_children = yield HasChildren(saved)
    return Beginning(frame, saved, command, addressed, has_children, anew)


def _load(run: Run) -> Generator[Effect, Any, CheckpointTuple | None]:
    if run.origin is not None:
        found = yield from _load_origin(run, run.origin)
        return found
    if run.replay is not None and not run.root and run.replay.first_visit(run.ns):
        older: list[CheckpointTuple] = yield History(run.at(None), before=run.at(run.replay.bound), limit=1)
        run.resuming = False
        return older[0] if older else None
    saved: CheckpointTuple | None = yield Load(run.at(run.checkpoint_id))
    if saved is None and run.checkpoint_id is not None:
        raise CheckpointNotFoundError(
            f"thread {run.thread_id!r} has no checkpoint {run.checkpoint_id!r}"
            + (f" in namespace {run.ns!r}" if run.ns else "")
            + "; nothing was run. get_state_history() lists the checkpoints that it has"
        )
    return saved


def _load_origin(run: Run, origin: Origin) -> Generator[Effect, Any, CheckpointTuple | None]:
    """The checkpoint inside a replayed task that this run goes on from, if there is one."""
    if origin.checkpoint_id is not None:
        exact: CheckpointTuple | None = yield Load(run.at(origin.checkpoint_id, origin.ns))
        return exact
    candidates: list[CheckpointTuple] = yield History(run.at(None, origin.ns))
    for saved in candidates:
        for record in read_record(saved.pending_writes or ()).values():
            if any(interrupt.id in run.answers for interrupt in record.interrupts):
                return saved
    return None


def _was_refused(run: Run, saved: CheckpointTuple) -> bool:
    """Whether what a subgraph came to was refused with the result of its task: it runs again, in a tree of its own.

    A graph with a memory of its own goes on from it: what it remembers is not its task's.
    """
    if run.parent is None or run.persistent:
        return False
    about: Mapping[str, Any] = saved.metadata or {}
    return bool(about.get(REFUSALS, 0) < run.parent.task.refusals)
