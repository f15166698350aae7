"""An engine over a compiled graph of our own runtime, which explains itself.

Plan, update and preview are the runtime's own word here, by the very code that a run goes through.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from debugger_ui.engines import naming
from debugger_ui.engines.base import (
    MISSING,
    Advance,
    Change,
    Event,
    Fold,
    FoldedWrite,
    Made,
    NodeVerdict,
    Place,
    Preview,
    Task,
)
from debugger_ui.engines.editing import GraphEditor
from debugger_ui.engines.failures import failure_of, without_codes
from debugger_ui.engines.graph import GraphEngine, questions_of, subgraph_namespace
from debugger_ui.engines.reader import answers_of, config_of, labelled, writes_of
from debugger_ui.engines.running import GraphRunner, config_at


def verdict_of(verdict: Any) -> NodeVerdict:
    """Return the runtime's verdict in the engines' words."""
    return NodeVerdict(
        node=verdict.node,
        runs=verdict.runs,
        reason=verdict.reason,
        trigger=verdict.trigger or "",
        version=verdict.version,
        seen=verdict.seen,
        waits_for=tuple(verdict.waits_for),
        sends=verdict.sends,
    )


class RuntimeRunner(GraphRunner):
    """Runs whole supersteps as any graph does, and single phases by the runtime's `step`."""

    answers_again = True

    def _arguments(self, step: Advance) -> tuple[Any, dict[str, Any], dict[str, Any]]:
        given, config, options = super()._arguments(step)
        halting = step.halting
        if halting is not None:

            def reached(made: Any) -> bool:
                return halting.reached(made_inside(made))

            config = self.graph.halting(config, reached, toward=halting.toward, moved=halting.moved)
        return given, config, options

    async def _consume(self, step: Advance, report: Callable[[Event], None]) -> str:
        if step.phase == "superstep":
            return await super()._consume(step, report)
        config = self.around.within(labelled(config_at(step), self.spec))
        given = {"tasks": list(step.tasks) or None, "supply": dict(step.supply), "context": self.around.context}
        snapshot = await self.graph.astep(config, phase=step.phase, **given)
        newest = str(snapshot.config["configurable"]["checkpoint_id"])
        if newest != step.place.id:
            report(Event("saved", newest))
        return newest


def made_inside(made: Any) -> Made:
    """Return the runtime's word of a checkpoint inside in the engines' words."""
    return Made(
        namespace=made.ns,
        id=made.checkpoint_id,
        ran=made.ran,
        due=made.due,
        changed=frozenset(naming.keys_of(made.changed)),
        state=lambda: _state_keys(made.values()),
        before=lambda: _state_keys(made.before()),
    )


def _state_keys(values: Mapping[str, Any]) -> Mapping[str, Any]:
    return {naming.key_of(name): value for name, value in values.items() if naming.is_state_key(naming.key_of(name))}


class RuntimeEditor(GraphEditor):
    """Previews by the runtime's own `preview_update`."""

    def preview(self, place: Place, changes: Sequence[Change], author: str) -> Preview:
        """Return what saving would make, as the runtime says."""
        made = self.graph.preview_update(config_of(place), self._values(changes, place), author or None)
        return Preview(
            state={key: value for key, value in self._state(made.values, place).items() if value is not MISSING},
            due=tuple(dict.fromkeys(task.name for task in made.next)),
        )


class RuntimeEngine(GraphEngine):
    """A compiled graph of `runtime` on its saver."""

    kind = "runtime"
    runner_type = RuntimeRunner
    editor_type = RuntimeEditor

    def _limited(self, root: str) -> dict[str, str]:
        return {}

    def verdicts(self, place: Place) -> Sequence[NodeVerdict] | None:
        """Return the runtime's verdict for every node."""
        return [verdict_of(one) for one in self.graph.plan(config_of(place)).verdicts if one.node != naming.START]

    def folds(self, place: Place) -> Sequence[Fold] | None:
        """Return the runtime's account of how the saved writes fold."""
        return [
            Fold(
                channel=fold.channel,
                reducer=fold.reducer or "",
                before=fold.before,
                steps=tuple(FoldedWrite(*step) for step in fold.steps),
                after=fold.after,
                version_before=fold.version_before,
                version_after=fold.version_after,
                refused=without_codes(fold.refused or ""),
                left_out=fold.left_out,
            )
            for fold in self.graph.explain_update(config_of(place))
        ]

    def _tasks(self, item: Any, place: Place, state: Any, planned: Any) -> tuple[Task, ...]:
        attempts = self.reader.attempts(place)
        written: dict[str, list[tuple[str, str, Any]]] = {}
        for write in item.pending_writes or ():
            written.setdefault(write[0], []).append(write)
        tasks = self.graph.plan(config_of(place)).tasks
        calls = self.reader.calls(place, item, [(task.id, task.path) for task in tasks])
        return tuple(
            replace(self._planned(task, place, attempts, written.get(task.id, ())), calls=calls.get(task.id, ()))
            for task in tasks
        )

    def _planned(
        self, task: Any, place: Place, attempts: Mapping[str, int], written: Sequence[tuple[str, str, Any]]
    ) -> Task:
        node = self.node_at(place, task.name)
        done = task.status in ("saved", "supplied")
        return Task(
            id=task.id,
            name=task.name,
            path=tuple(task.path),
            triggers=tuple(task.triggers),
            input=task.input,
            writes=writes_of(task.writes),
            done=done,
            supplied=task.status == "supplied",
            refused=task.status == "refused",
            failure=failure_of(task.error) if task.error is not None and not done else None,
            questions=() if done else questions_of(task.interrupts),
            asked=questions_of([one for _, name, asked in written if name == naming.INTERRUPT for one in asked])
            if done
            else (),
            answers=answers_of(written).get(task.id, ()),
            attempts=task.refusals + attempts.get(task.place, int(task.status not in ("to run", "refused"))),
            namespace=subgraph_namespace(task, place, node),
        )
