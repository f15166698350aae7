"""Where a run begins: which checkpoint it goes on from, whose answers it brings, what its input is.

Rules:
1. A checkpoint that the caller names must exist on the thread; a wrong id is refused, never a blank state.
2. Going on from a checkpoint that already has a child, or replaying one, starts a branch of its own with a
   `fork` checkpoint, so that nothing recorded is ever changed or mixed.
3. A replay reuses no saved result and no saved answer; a plain resume reuses all of them.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from runtime._constants import CONF, INPUT, INTERRUPT, NULL_TASK_ID, TASKS
from runtime.errors import EmptyInputError, InvalidUpdateError
from runtime.pregel import events
from runtime.pregel.beginning import Beginning, find
from runtime.pregel.effects import Effect, History, Newest, PutWrites
from runtime.pregel.frame import Frame
from runtime.pregel.handover import hand_over, past_edits
from runtime.pregel.model import WAKES, PregelNode, Write
from runtime.pregel.plan import plan, refuse_missing
from runtime.pregel.questions import ASKED, BESIDE, TaskRecord, match_answers, read_record
from runtime.pregel.record import commit
from runtime.pregel.run import Replay, Run
from runtime.pregel.task import Place, Task
from runtime.pregel.update import update
from runtime.types import Command, Send

if TYPE_CHECKING:
    from runtime.pregel.context import TaskContext

_NOBODY = PregelNode(triggers=(), channels=())

FRESH = -2
"""The step of a thread without a checkpoint."""


def begin(run: Run) -> Generator[Effect, Any, Frame]:
    """Load, take in the input or the command, and leave the frame ready to plan from.

    Raises:
        CheckpointNotFoundError: the config names a checkpoint that the thread does not have.
        UnknownInterruptError: an answer fits no open question, or more than one.
        EmptyInputError: there is nothing to go on from, and no input.
    """
    found = yield from find(run)
    frame = found.frame
    if _continues(run, found):
        yield from _continue(run, found)
    else:
        yield from _take_input(run, found)
    run.stop = frame.step + run.recursion_limit
    if run.topology.takes_input_in_step(frame.updated):
        run.stop += 1
    return frame


def _continues(run: Run, found: Beginning) -> bool:
    """Whether the run goes on from what is there, instead of starting on an input."""
    if not found.frame.versions:
        return False
    if run.origin is not None:
        return True
    if run.parent is not None:
        return run.resuming and not _ended_before(run, found.frame, run.parent)
    if run.input is None or found.command is not None:
        return True
    run_id = run.metadata.get("run_id")
    return run_id is not None and run_id == found.frame.metadata.get("run_id")


def _ended_before(run: Run, frame: Frame, outer: TaskContext) -> bool:
    """Whether a graph with a memory of its own came to its end for another task: it starts on what this one gives."""
    if not run.persistent or plan(frame, run.ns):
        return False
    parents: Mapping[str, str] = frame.metadata.get("parents") or {}
    return parents.get(outer.run.ns) != outer.frame.checkpoint_id


# --- going on -----------------------------------------------------------------------------------


def _continue(run: Run, found: Beginning) -> Generator[Effect, Any, None]:
    frame, command = found.frame, found.command
    answering = yield from _match(run, found)
    replay = run.root and found.addressed and not answering
    replay = replay or (run.origin is not None and run.origin.checkpoint_id is not None)
    source = frame.metadata.get("source")
    if run.origin is not None:
        found.forking = True
    elif replay:
        found.forking = source not in ("update", "fork") or found.has_children
    else:
        found.forking = answering and (found.has_children or (yield from _goes_back_inside(run)))
    if replay and run.root:
        run.replaying = True
        run.replay = Replay(_bound(found))
    writes = command_writes(run, command) if command is not None else []
    if not writes:
        refuse_missing(frame)
    asked = read_record(frame.pending) if found.forking else {}
    former = plan(frame, _origin_ns(run)) if found.forking else []
    null_writes = [(channel, value) for task, channel, value in frame.pending if task == NULL_TASK_ID]
    if found.forking or replay:
        frame.pending = []
    elif writes:
        yield from _save_for_nobody(run, frame, writes)
    _apply(run, frame, [*null_writes, *writes])
    frame.pass_breakpoints()
    yield from _take_over(run, found, former, asked)
    run.resuming = not replay or run.origin is not None
    events.values(run, frame)


def _goes_back_inside(run: Run) -> Generator[Effect, Any, bool]:
    """Whether the caller named a checkpoint inside that plainly going on would not come to: a newer one is there."""
    for ns, named in run.targets.items():
        newest = yield Newest(run.at(None, ns))
        if newest is not None and newest != named:
            return True
    return False


def _save_for_nobody(run: Run, frame: Frame, writes: list[Write]) -> Generator[Effect, Any, None]:
    """Save what a Command writes, which belongs to no task, on the checkpoint that it is about."""
    if run.saver is not None and frame.config is not None:
        yield PutWrites(frame.config, writes, NULL_TASK_ID, "")
        frame.pending.extend((NULL_TASK_ID, channel, value) for channel, value in writes)


def _take_over(
    run: Run, found: Beginning, former: Sequence[Task], asked: dict[str, TaskRecord]
) -> Generator[Effect, Any, None]:
    """Give tasks that stand for others, on a new branch or after an edit inside, what those were given."""
    if found.forking:
        yield from _fork(run, found, former, asked)
    elif run.answers and not run.root and found.frame.metadata.get("source") in ("update", "fork"):
        yield from past_edits(run, found.frame)


def _origin_ns(run: Run) -> str:
    return run.origin.ns if run.origin is not None else run.ns


def _bound(found: Beginning) -> str:
    """The checkpoint that runs inside may look back from: an edit's or a fork's is its parent."""
    frame = found.frame
    if frame.metadata.get("source") in ("update", "fork") and frame.parent_config is not None:
        return str(frame.parent_config[CONF]["checkpoint_id"])
    return frame.checkpoint_id


def _fork(
    run: Run, found: Beginning, former: Sequence[Task], asked: dict[str, TaskRecord]
) -> Generator[Effect, Any, None]:
    """Start a branch: the same state under a new checkpoint, with the answers that belong to it."""
    frame = found.frame
    newest = yield from _newest(run)
    yield from commit(run, frame, "fork", (), newest)
    frame.pending = []
    old = {task.path: task for task in former}
    for task in plan(frame, run.ns):
        before = old.get(task.path)
        if before is None:
            continue
        yield from hand_over(run, frame, before, task, asked.get(before.id))


def _newest(run: Run) -> Generator[Effect, Any, str | None]:
    """The newest id in the namespace: a fork's own must come after it, or it would not be the head."""
    if run.saver is None:
        return None
    newest: str | None = yield Newest(run.at(None))
    return newest


# --- answers ------------------------------------------------------------------------------------


def _match(run: Run, found: Beginning) -> Generator[Effect, Any, bool]:
    """Find the question of each answer. Answers whether the run brings any."""
    command = found.command
    if not run.root or command is None:
        return bool(run.answers or run.loose) and run.origin is not None
    run.edited = bool(command.update or command.goto)
    pending = open_questions(found.frame, run.ns, again=found.has_children)
    resume = command.resume
    if resume is None and not (pending and not command.update and not command.goto):
        return False
    if run.saver is None:
        raise RuntimeError(
            "Command(resume=...) needs a checkpointer: without one there is no paused run to answer; "
            "compile the graph with checkpointer=..."
        )
    if run.targets and not isinstance(resume, dict):
        run.loose.append(resume)
        return True
    issued: set[str] = set()
    if isinstance(resume, dict) and resume and not all(key in pending for key in resume):
        issued = yield from _issued(run)
    run.answers.update(match_answers(resume, pending, issued))
    if not run.answers and resume is not None:
        run.loose.append(resume)  # an edit has taken the question away: what it leads to may ask again
    return bool(run.answers or run.loose)


def open_questions(frame: Frame, ns: str, *, again: bool = False) -> list[str]:
    """Ids of the questions that wait for an answer; with `again`, also those that were answered."""
    records = read_record(frame.pending)
    found: list[str] = []
    if not records:
        return found
    for task in plan(frame, ns):
        record = records.get(task.id)
        if record is not None:
            shown = record.interrupts if again else record.open(task.checkpoint_ns)
            found.extend(interrupt.id for interrupt in shown)
    return list(dict.fromkeys(found))


def _issued(run: Run) -> Generator[Effect, Any, set[str]]:
    """Ids of every question that was ever asked on the thread, in any namespace."""
    config = run.at(None)
    conf = {k: v for k, v in config[CONF].items() if k != "checkpoint_ns"}
    found: set[str] = set()
    for saved in (yield History({CONF: conf})):
        for _, channel, value in saved.pending_writes or ():
            if channel == INTERRUPT:
                found.update(i.id for i in (value if isinstance(value, list | tuple) else (value,)))
            elif channel == ASKED:
                found.update(id for id, _ in value if id != BESIDE)
    return found


# --- input --------------------------------------------------------------------------------------


def _take_input(run: Run, found: Beginning) -> Generator[Effect, Any, None]:
    """Start on an input: unfinished tasks are dropped, and the input becomes a checkpoint."""
    frame, command = found.frame, found.command
    if command is not None:
        if command.resume is not None and run.saver is None:
            raise RuntimeError("Command(resume=...) needs a checkpointer; compile the graph with one")
        writes = command_writes(run, command)
        if not writes:
            raise EmptyInputError(
                f"graph {run.name!r} has nothing to resume on this thread, and the Command brings no update and no goto"
            )
    else:
        writes = input_writes(run, run.input)
        if not writes and run.root:
            raise EmptyInputError(_no_input(run))
    dropped = plan(frame, run.ns) if frame.versions else []
    changes = update(frame, [*dropped, bearer(writes)], run.next_version)
    frame.advance(changes)
    if run.is_node:
        frame.mark_input()
    frame.pending = []
    newest = None
    if found.addressed or found.anew:
        newest = yield from _newest(run)
    yield from commit(run, frame, "input", (), newest)


def _no_input(run: Run) -> str:
    wanted = run.topology.input_channels
    keys = wanted if isinstance(wanted, str) else ", ".join(wanted)
    if run.input is None:
        return (
            f"graph {run.name!r} was given no input, and thread {run.thread_id!r} has nothing to go on from; "
            "pass an input to start it"
        )
    return f"the input of graph {run.name!r} has none of its input channels ({keys}): {run.input!r}"


def bearer(writes: list[Write]) -> Task:
    """A task that never ran, to carry writes from outside through the same update as any other."""
    task = Task(_NOBODY, INPUT, ("",), (), Place("", "", 0))
    task.writes = writes
    return task


def _apply(run: Run, frame: Frame, writes: list[Write]) -> None:
    """Fold writes from outside into the frame; what was to run still runs."""
    if not writes:
        return
    before = frame.updated
    changes = update(frame, [bearer(writes)], run.next_version)
    frame.advance(changes)
    frame.updated = None if before is None else before | changes.updated


def input_writes(run: Run, value: Any) -> list[Write]:
    """The writes that an input stands for."""
    if value is None:
        return []
    channels = run.topology.input_channels
    if isinstance(channels, str):
        return [(channels, value)]
    if not isinstance(value, dict):
        raise TypeError(
            f"graph {run.name!r} takes a dict with keys from {', '.join(channels)}; "
            f"got a {type(value).__name__}: {value!r}"
        )
    return [(key, value[key]) for key in value if key in channels]


def command_writes(run: Run, command: Command[Any]) -> list[Write]:
    """The writes that a Command from outside stands for, its answers left out."""
    if command.graph == Command.PARENT and run.root:
        raise InvalidUpdateError(f"Command(graph=Command.PARENT) was sent to {run.name!r}, which no graph contains")
    targets = command.goto if isinstance(command.goto, list | tuple) else [command.goto]
    writes: list[Write] = []
    for target in targets:
        if isinstance(target, Send):
            writes.append((TASKS, target))
        elif isinstance(target, str):
            channel = f"{WAKES}{target}"
            if channel not in run.topology.channels:
                known = ", ".join(repr(n) for n in run.topology.nodes if not n.startswith("__"))
                raise InvalidUpdateError(f"Command(goto={target!r}) names no node of {run.name!r}; it has {known}")
            writes.append((channel, None))
        else:
            raise TypeError(f"Command(goto=...) takes node names and Sends; got {target!r}")
    if command.update:
        writes.extend(command.update_pairs())
    return writes


__all__ = ("begin", "command_writes", "input_writes", "open_questions")
