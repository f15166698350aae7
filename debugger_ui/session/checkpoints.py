"""One checkpoint as a view: its state, who made it, the superstep that starts at it, its channels."""

from collections.abc import Mapping
from typing import Any

from debugger_ui.engines import naming
from debugger_ui.engines.base import MISSING, ChannelSpec, Failure, Outline, Record, Task
from debugger_ui.session.labels import Labels
from debugger_ui.session.problems import cut
from debugger_ui.session.questions import answered_views, question_view
from debugger_ui.session.reading import Reading, Spot
from debugger_ui.session.render import BRIEF, USUAL, view
from debugger_ui.session.shape import blank
from debugger_ui.session.text import literal
from debugger_ui.session.timeline import since_parent
from debugger_ui.session.views import (
    ChannelView,
    CheckpointView,
    ErrorView,
    Problem,
    SeenBy,
    StateEntry,
    TaskStatus,
    TaskView,
    WriteView,
)


def checkpoint_view(
    reading: Reading, labels: Labels, spot: Spot, checkpoint: str, running: tuple[str, ...]
) -> CheckpointView:
    """Return the view of a checkpoint of the spot's thread; `running` are ids of tasks at work."""
    record = reading.record(spot, checkpoint)
    header = record.header
    history = reading.history(spot.thread, spot.namespace)
    before = reading.parent_record(spot, record)
    outline = reading.outline(spot, header.id)
    branch = history.branches[spot.branch if header.id == spot.id else history.branch_of[header.id]]
    parent = history.parents.get(header.id, "")
    tasks = task_views(record, spot, running)
    made_by = task_views(before, spot, ()) if before is not None and header.source == "loop" else ()
    children = history.children.get(header.id, [])
    followed = any(history.by_id[child].source == "loop" for child in children)
    return CheckpointView(
        id=header.id,
        thread=spot.thread,
        namespace=spot.namespace,
        parent=parent,
        branch=branch.id,
        branch_name=labels.get("branch", spot.thread, branch.id).name or branch.name,
        step=header.step,
        source=header.source,
        created=header.created,
        milliseconds=since_parent(history, header),
        status="running" if running else reading.status(outline, followed=followed),
        nodes=outline.ran,
        next=planned(record, outline) if followed else due(record, outline),
        head=not children,
        entries=state_entries(record, before, made_by),
        tasks=tasks,
        made_by=made_by,
        questions=tuple(question for task in tasks for question in task.questions),
        metadata=view(dict(header.metadata), USUAL),
        children=tuple(children),
        problems=tuple(Problem(literal(message, lines=True), kind="graph") for message in record.problems),
        note=labels.get("checkpoint", spot.thread, header.id).note,
    )


def due(record: Record, outline: Outline | None = None) -> tuple[str, ...]:
    """Return the nodes that the superstep at a record still has to run, each once."""
    if not record.tasks and outline is not None:
        return outline.due
    return tuple(dict.fromkeys(task.name for task in record.tasks if not task.done))


def planned(record: Record, outline: Outline) -> tuple[str, ...]:
    """Return the nodes of the superstep that starts at a record, run already or not."""
    return tuple(dict.fromkeys(task.name for task in record.tasks)) or outline.due


def state_entries(record: Record, before: Record | None, made_by: tuple[TaskView, ...]) -> tuple[StateEntry, ...]:
    """Return the state keys with their values, and which of them this checkpoint changed."""
    old = before.versions if before is not None else {}
    return tuple(
        StateEntry(
            key=key,
            value=view(value, USUAL, (key,)),
            changed=record.versions.get(channel) != old.get(channel),
            writers=writers_of(key, made_by),
            version=naming.show_version(record.versions.get(channel)),
        )
        for key, value in record.state.items()
        if (channel := naming.channel_of(key, record.versions)) in record.versions
        or key in record.channels
        or not blank(value)
    )


def writers_of(key: str, made_by: tuple[TaskView, ...]) -> tuple[str, ...]:
    """Return the nodes whose tasks wrote a key."""
    found = dict.fromkeys(t.name for t in made_by if any(w.channel == key for w in t.writes))
    return tuple("input" if name == naming.START else name for name in found)


def task_views(record: Record, spot: Spot, running: tuple[str, ...]) -> tuple[TaskView, ...]:
    """Return the tasks of the superstep that starts at a record."""
    return tuple(_task_view(task, record, spot, task.id in running) for task in record.tasks)


def _task_view(task: Task, record: Record, spot: Spot, running: bool) -> TaskView:
    sent = task.path[:1] == (naming.PUSH,)
    return TaskView(
        id=task.id,
        name=task.name,
        path=literal(", ".join(str(part) for part in task.path)),
        status="running" if running else task_status(task),
        triggers=() if sent else task.triggers,
        sent=sent,
        input=None if task.input is MISSING else view(task.input, USUAL),
        writes=tuple(
            WriteView(channel, view(value, BRIEF), control=not naming.is_state_key(channel))
            for channel, value in task.writes
            if channel != naming.NO_WRITES
        ),
        error=_error_view(task.failure) if task.failure else None,
        questions=tuple(question_view(question, task, record, spot) for question in task.questions),
        answered=answered_views(task, record, spot),
        calls=tuple(view(value, BRIEF) for value in task.calls),
        attempts=task.attempts,
        milliseconds=task.milliseconds,
        namespace=task.namespace,
    )


def _error_view(failure: Failure) -> ErrorView:
    return ErrorView(
        literal(failure.type), literal(cut(failure.message), lines=True), literal(cut(failure.traceback), lines=True)
    )


def task_status(task: Task) -> TaskStatus:
    """Return where a task of a recorded superstep stands."""
    if task.supplied:
        return "supplied"
    if task.failure is not None:
        return "failed"
    if task.questions:
        return "interrupted"
    if task.refused:
        return "refused"
    return "saved" if task.done else "to run"


def channel_views(
    record: Record, before: Record | None, specs: Mapping[str, ChannelSpec], *, everything: bool
) -> tuple[ChannelView, ...]:
    """Return the channels with versions and who has seen them; only state keys unless `everything`."""
    names = dict.fromkeys([*specs, *record.versions])
    shown = [name for name in names if everything or _is_state(name, specs)]
    return tuple(_channel_view(name, record, before, specs.get(name)) for name in shown)


def _is_state(name: str, specs: Mapping[str, ChannelSpec]) -> bool:
    return specs[name].state_key if name in specs else naming.is_state_key(name)


def _channel_view(name: str, record: Record, before: Record | None, spec: ChannelSpec | None) -> ChannelView:
    version = record.versions.get(name)
    previous = before.versions.get(name) if before is not None else None
    value: Any = record.channels.get(name, record.state.get(name, MISSING) if version is not None else MISSING)
    return ChannelView(
        name=name,
        kind=spec.kind if spec else "",
        reducer=spec.reducer if spec else "",
        version=naming.show_version(version),
        previous=naming.show_version(previous),
        changed=version != previous,
        seen_by=tuple(
            SeenBy(
                node=node,
                version=naming.show_version(seen[name]),
                fresh=naming.newer(version, seen[name]),
                trigger=not node.startswith("__"),
            )
            for node, seen in record.seen.items()
            if name in seen
        ),
        value=None if value is MISSING else view(value, BRIEF, (name,)),
        state_key=spec.state_key if spec else naming.is_state_key(name),
    )
