"""Plan and update of a superstep in words: why each node runs or not, how each channel got its value.

What the runtime itself explains is taken from it; for anything else the same is worked out from
triggers, versions and versions seen.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from debugger_ui.engines import naming
from debugger_ui.engines.accounts import MOST_STEPS
from debugger_ui.engines.base import (
    MISSING,
    ChannelSpec,
    Engine,
    Fold,
    FoldedWrite,
    NodeSpec,
    NodeVerdict,
    Place,
    Record,
    Task,
)
from debugger_ui.session.reading import Reading
from debugger_ui.session.render import BRIEF, view
from debugger_ui.session.view_analysis import FoldStep, PlanVerdict, PlanView, TriggerView, UpdateFold, UpdateView
from debugger_ui.session.view_values import ValueView


def plan_view(engine: Engine, record: Record, place: Place) -> PlanView:
    """Return a verdict for every node of the graph."""
    said = engine.verdicts(place)
    nodes = [node for node in engine.topology(place.thread, place.namespace).nodes if node.kind not in ("start", "end")]
    if said is not None:
        triggers = {node.id: node for node in nodes}
        return PlanView(tuple(_told(one, triggers.get(one.node), record) for one in said), computed=True)
    sends = Counter(str(send.node) for send in naming.sends_of(record.channels))
    tasks = {task.name for task in record.tasks}
    verdicts = tuple(_verdict(node, record, sends.get(node.id, 0), node.id in tasks) for node in nodes)
    return PlanView(verdicts, computed=False)


def _told(said: NodeVerdict, node: NodeSpec | None, record: Record) -> PlanVerdict:
    triggers = _triggers(node, record) if node is not None else ()
    return PlanVerdict(said.node, said.runs, said.reason, triggers, said.waits_for, said.sends)


def _triggers(node: NodeSpec, record: Record) -> tuple[TriggerView, ...]:
    seen = record.seen.get(node.id, {})
    return tuple(
        TriggerView(
            channel=channel,
            version=naming.show_version(record.versions.get(channel)),
            seen=naming.show_version(seen.get(channel)),
            fires=naming.ready(channel, record.channels)
            and naming.newer(record.versions.get(channel), seen.get(channel)),
        )
        for channel in node.triggers
    )


def _verdict(node: NodeSpec, record: Record, sends: int, runs: bool) -> PlanVerdict:
    triggers = _triggers(node, record)
    waits = tuple(dict.fromkeys(name for channel in node.triggers for name in _missing(channel, record)))
    runs = runs or sends > 0 or any(trigger.fires for trigger in triggers)
    return PlanVerdict(node.id, runs, _reason(triggers, waits, sends, runs), triggers, waits, sends)


def _missing(channel: str, record: Record) -> Sequence[str]:
    names = naming.sources_of(channel)
    value = record.channels.get(channel, ())
    came = set(value) if isinstance(value, (set, frozenset, list)) else set()
    return [name for name in names if name not in came] if came else ()


def _reason(triggers: Sequence[TriggerView], waits: Sequence[str], sends: int, runs: bool) -> str:
    reasons = []
    if sends:
        reasons.append(f"{sends} {'Send is' if sends == 1 else 'Sends are'} addressed to it")
    fired = [trigger for trigger in triggers if trigger.fires]
    reasons += [
        f"{_cause(trigger.channel)} (version {trigger.version}, seen {trigger.seen or 'none'})" for trigger in fired
    ]
    if runs:
        return f"runs: {'; '.join(reasons) or 'the runtime planned it'}"
    if waits:
        return f"waits for {', '.join(waits)}: the join needs all of its sources"
    if not any(trigger.version for trigger in triggers):
        return "does not run: nothing has triggered it yet"
    return "does not run: it has already seen every version of its triggers"


def _cause(channel: str) -> str:
    if sources := naming.sources_of(channel):
        return f"all of {', '.join(sources)} have finished"
    return f"{channel} has moved on"


def update_view(reading: Reading, record: Record, child: Record | None, place: Place) -> UpdateView:
    """Return how the writes of the superstep that starts at a record fold, channel by channel.

    The records are the real ones, since reducers run on values; what they make is masked before it is shown.
    """
    engine, masks = reading.engine, reading.masks
    specs = engine.channels(place.namespace)
    said = engine.folds(place)
    tasks = sorted(record.tasks, key=_order)
    if said is not None:
        folds = [_stored(fold, child) for fold in said if not naming.is_control(fold.channel)]
    else:
        written: dict[str, list[tuple[Task, Any]]] = {}
        for task in tasks:
            for channel, value in task.writes:
                if not naming.is_control(channel):
                    written.setdefault(channel, []).append((task, value))
        folds = [_fold(engine, name, writes, (record, child), place.namespace) for name, writes in written.items()]
    return UpdateView(
        folds=tuple(_fold_view(masks.fold(fold), specs) for fold in folds),
        tasks_in=sum(task.done for task in tasks),
        tasks=len(tasks),
        computed=said is not None,
    )


def _stored(fold: Fold, child: Record | None) -> Fold:
    """Return a fold with what the next checkpoint has, once there is one."""
    if child is None:
        return fold
    after, version = child.channels.get(fold.channel, fold.after), child.versions.get(fold.channel)
    return replace(fold, after=after, version_after=version)


def _fold_view(fold: Fold, specs: Mapping[str, ChannelSpec]) -> UpdateFold:
    return UpdateFold(
        channel=naming.key_of(fold.channel),
        reducer=fold.reducer,
        before=_shown(fold.before),
        steps=tuple(FoldStep(s.task, s.node, view(s.value, BRIEF), _shown(s.after)) for s in fold.steps),
        after=_shown(fold.after),
        version_before=naming.show_version(fold.version_before),
        version_after=naming.show_version(fold.version_after),
        state_key=specs[fold.channel].state_key if fold.channel in specs else naming.is_state_key(fold.channel),
        refused=fold.refused,
        left_out=fold.left_out,
    )


def _order(task: Task) -> tuple[str, ...]:
    return tuple(f"{part:09d}" if isinstance(part, int) else str(part) for part in task.path[:3])


def _fold(
    engine: Engine,
    name: str,
    writes: Sequence[tuple[Task, Any]],
    around: tuple[Record, Record | None],
    namespace: str,
) -> Fold:
    record, child = around
    specs = engine.channels(namespace)
    before = record.channels.get(name, record.state.get(name, MISSING))
    folding = engine.fold(name, before, [value for _, value in writes], namespace)
    last = len(writes) - 1
    worked_out = folding.after.get(last, MISSING) if not folding.refused else MISSING
    told = [place for place in range(len(writes)) if place < MOST_STEPS - 1 or place == last]
    return Fold(
        channel=name,
        reducer=specs[name].reducer if name in specs else "",
        before=before,
        steps=tuple(
            FoldedWrite(writes[at][0].id, writes[at][0].name, writes[at][1], folding.after.get(at, MISSING))
            for at in told
        ),
        after=child.channels.get(name, MISSING) if child is not None else worked_out,
        version_before=record.versions.get(name),
        version_after=child.versions.get(name) if child is not None else None,
        refused=folding.refused if child is None else "",
        left_out=len(writes) - len(told),
    )


def _shown(value: Any) -> ValueView | None:
    return None if value is MISSING else view(value, BRIEF)
