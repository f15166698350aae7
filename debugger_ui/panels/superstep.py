"""The Superstep tab: the round that starts at the checkpoint in its four parts, plan, execute, barrier, update.

Rules:
- Drawing it runs nothing; a recorded round and the one about to run are drawn alike.
- Between two phases nothing is kept here but which plan was looked at: the results are pending writes
  in the database, so what is seen is what a crash would leave.
"""

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from debugger_ui.components import sheet
from debugger_ui.components.editor import json_editor, typed
from debugger_ui.components.text import count, markdown, slug
from debugger_ui.components.timeline import grouped
from debugger_ui.panels import folding, many, tasks
from debugger_ui.panels.channels import number
from debugger_ui.panels.tab import Tab, state
from debugger_ui.panels.words import TASK, short
from debugger_ui.session.views import (
    Abilities,
    CheckpointView,
    PlanVerdict,
    PlanView,
    TaskView,
    TriggerView,
)

PLAN, EXECUTE, UPDATE, OVER = "plan", "execute", "update", "over"
PLANNED, SUPPLYING = "_phase_planned", "_supplying"
SHEET = "superstep"
FINISHED = tasks.FINISHED
EDITOR_HEIGHT = 96

VERDICTS = (sheet.column("node", "Node", width="46%"), sheet.column("verdict", "Verdict", width="54%"))


@dataclass(frozen=True, slots=True)
class Stand:
    """Which phase comes next at a checkpoint; a `reason` says why it cannot be run from here."""

    phase: str
    left: tuple[TaskView, ...] = ()
    """Tasks without a result that can be run."""
    reason: str = ""

    @property
    def allowed(self) -> bool:
        """Whether the next phase can be run."""
        return not self.reason


def stand(view: CheckpointView | None, can: Abilities, planned: str) -> Stand:
    """Return where the superstep at the checkpoint stands; `planned` is whose plan was looked at last."""
    if view is None or not view.tasks:
        return Stand(OVER, reason="Nothing is left to run here.")
    if view.status == "done":
        return Stand(
            OVER, reason="This superstep is recorded whole. To run it again by phases, save a branch from here in Edit."
        )
    left = tuple(task for task in view.tasks if task.status not in FINISHED)
    runnable = tuple(task for task in left if not task.questions)
    begun = any(task.status != "to run" for task in view.tasks)
    phase = UPDATE if not left else EXECUTE if begun or planned == view.id else PLAN
    return Stand(phase, runnable, held(view, can, left))


def held(view: CheckpointView, can: Abilities, left: tuple[TaskView, ...]) -> str:
    """Return why no phase can be run here, or nothing."""
    if not can.phases.allowed:
        return can.phases.reason
    if not view.head:
        return "A newer checkpoint follows this one. To run it again by phases, save a branch from here in Edit."
    if left and all(task.questions for task in left):
        return "It waits for an answer."
    if not can.step.allowed and not view.questions:
        return can.step.reason
    return ""


def now(here: Tab, view: CheckpointView | None) -> Stand:
    """Return where the superstep stands in this browser tab."""
    return stand(view, here.session.abilities(), str(st.session_state.get(PLANNED) or ""))


def advance(here: Tab, view: CheckpointView) -> None:
    """Do the next phase: look at the plan, or run what has no result, or fold the results."""
    next_one = now(here, view)
    if next_one.phase == PLAN:
        st.session_state[PLANNED] = view.id
    elif next_one.phase == EXECUTE:
        here.session.execute([task.id for task in next_one.left])
    elif next_one.phase == UPDATE:
        here.session.fold()


def superstep(here: Tab, view: CheckpointView) -> None:
    """Draw the superstep that starts at the checkpoint."""
    if not view.tasks:
        nothing = sheet.empty("No superstep starts here", "Nothing is due: the graph has come to its end.", icon="done")
        sheet.sheet([head(view), nothing], key=SHEET, scope=view.id, stamp=view.id, on_pick=lambda: pick(here, view))
        return
    can, next_one, busy = here.session.abilities(), now(here, view), here.session.progress().busy
    plan = here.see(here.session.plan, view.id) if can.plan.allowed else None
    update = here.see(here.session.update, view.id) if can.update.allowed else None
    may = next_one.allowed and not busy
    blocks = [
        head(view),
        steps(view, next_one),
        *(sheet.problem_note(problem) for problem in view.problems),
        sheet.text(next_words(next_one, busy), "small"),
        plan_part(view, plan, next_one.phase) if plan else unavailable("Plan", can.plan.reason),
        execute_part(view, may),
    ]
    sheet.sheet(blocks, key=SHEET, scope=view.id, stamp=f"{view.id}:{next_one.phase}", on_pick=lambda: pick(here, view))
    buttons(here, view, next_one, busy)
    after = [
        folding.barrier_part(view),
        folding.update_part(view, update, over=next_one.phase in (UPDATE, OVER))
        if update
        else unavailable("Update", can.update.reason),
    ]
    sheet.sheet(after, key="superstep_update", scope=view.id, stamp=view.id)


def unavailable(title: str, reason: str) -> sheet.Block:
    """Return a part that this engine cannot tell about."""
    return sheet.section(title, [sheet.text(reason or "This could not be read.", "muted")])


def head(view: CheckpointView) -> sheet.Block:
    """Return which superstep this is, and the way to the one before."""
    title = f"Superstep {view.step + 1}" if view.tasks else f"After superstep {view.step}"
    items = [sheet.word(title, "strong", name="title"), sheet.gap()]
    if view.parent:
        before = f"Superstep {view.step}" if view.source == "loop" else "Parent"
        items.append(
            sheet.word(f"← {before}", "plain", act="parent", value="", title="The superstep that made this checkpoint")
        )
    return sheet.bar(items, name="superstep-head")


def steps(view: CheckpointView, next_one: Stand) -> sheet.Block:
    """Return the phases in a row: those that are done, the one that comes next, those after it."""
    order = (PLAN, EXECUTE, UPDATE, OVER)
    at = order.index(next_one.phase)
    came = sum(task.status in FINISHED for task in view.tasks)
    refused = any(task.status == tasks.REFUSED for task in view.tasks)
    labels = ("Plan", f"Execute {came} of {len(view.tasks)}", "Update")
    items: list[sheet.Item] = []
    for place, label in enumerate(labels):
        tone, icon = ("done", "done") if place < at else ("next", "next") if place == at else ("", "todo")
        said = ("done", "comes next", "later")[(place >= at) + (place > at)]
        if refused and place == order.index(UPDATE):
            tone, icon, label, said = (
                "failed",
                "failed",
                "Update refused",
                "comes once more, after its tasks have run again",
            )
        items += [sheet.chip(label, tone, icon, title=said), sheet.word("→", "sep")]
    return sheet.bar(items[:-1], name="phases")


def next_words(next_one: Stand, busy: bool) -> str:
    """Return what Phase does next, or why it does nothing."""
    if busy:
        return "A run is going on in this thread."
    if next_one.reason:
        return next_one.reason
    names = grouped(tuple(task.name for task in next_one.left))
    again = " again" if next_one.left and all(task.status == tasks.REFUSED for task in next_one.left) else ""
    return {
        PLAN: "Phase (P) settles the plan: it runs nothing.",
        EXECUTE: f"Phase (P) runs {names}{again}. The results are saved as pending writes; no channel changes yet.",
        UPDATE: "Phase (P) folds the results into the channels and saves the next checkpoint.",
    }.get(next_one.phase, "")


# --- plan -------------------------------------------------------------------------------------


def plan_part(view: CheckpointView, plan: PlanView, phase: str) -> sheet.Block:
    """Return the verdict for every node, those that run first."""
    verdicts = sorted(plan.verdicts, key=lambda one: not one.runs)
    runs = sum(one.runs for one in verdicts)
    frame = pd.DataFrame(
        [{"node": [sheet.word(one.node, "mono strong"), *versions(one)], "verdict": verdict(one)} for one in verdicts],
        columns=["node", "verdict"],
    )
    blocks = [sheet.table(frame, VERDICTS, label="Plan", rows=[{"key": one.node} for one in verdicts])]
    if not plan.computed:
        blocks.append(sheet.text("Worked out from versions: this runtime does not explain its plan.", "small"))
    if any(task.name == "__start__" for task in view.tasks):
        blocks.insert(0, sheet.text("This round only takes in the input.", "small"))
    hint = f"{runs} of {count(len(verdicts), 'node')} {'runs' if runs == 1 else 'run'}"
    begun = phase != OVER and any(task.status != "to run" for task in view.tasks)
    return {**sheet.section("Plan", blocks, hint=hint, folded=begun), "id": f"plan/{view.id}/{begun}"}


def verdict(one: PlanVerdict) -> list[sheet.Item]:
    """Return whether the node runs, and why, in words."""
    mark = sheet.chip("runs", "next", "next") if one.runs else sheet.chip("waits" if one.waits_for else "no")
    reason = one.reason
    for opening in ("runs: ", "does not run: "):
        reason = reason.removeprefix(opening)
    return [mark, sheet.word(reason, "plain")]


def versions(one: PlanVerdict) -> list[sheet.Item]:
    """Return the versions of what can wake the node, now against seen."""
    return [
        sheet.word(trigger_words(trigger), "under", title=f"channel {trigger.channel}")
        for trigger in one.triggers
        if trigger.version
    ]


def trigger_words(trigger: TriggerView) -> str:
    """Return a trigger's version now and the one seen."""
    seen = f"seen {number(trigger.seen)}" if trigger.seen else "never seen"
    return f"version {number(trigger.version)}, {seen}"


# --- execute ----------------------------------------------------------------------------------


def execute_part(view: CheckpointView, may: bool) -> sheet.Block:
    """Return the tasks with what they got, how they stand and what they wrote."""
    some, more = many.page(view.tasks, f"{view.id}/execute")
    return sheet.section("Execute", [*(task_card(task, may) for task in some), *more], hint=standing(view.tasks))


def standing(found: tuple[TaskView, ...]) -> str:
    """Return how many tasks stand how: `2 saved, 1 failed`."""
    words = [TASK.get(task.status, (task.status, ""))[0] for task in found]
    return ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))


def task_card(task: TaskView, may: bool) -> sheet.Block:
    """Return one task, with what can be done with it."""
    card = tasks.task_card(task, f"execute/{task.id}")
    card["blocks"] = task_parts(task)
    if may and task.status not in (*FINISHED, "running"):
        again = "Run again" if task.status in ("failed", tasks.REFUSED) else "Run this task"
        doable = [
            None if task.questions else sheet.word(again, "button", act="run", value=task.id),
            sheet.word("Supply a result", "button", act="supply", value=task.id),
        ]
        card["blocks"] = [*card["blocks"], sheet.bar(doable, name="actions")]
    return card


def task_parts(task: TaskView) -> list[sheet.Block]:
    """Return what the task got, and what it wrote or why it did not."""
    parts: list[sheet.Block] = []
    if task.error is not None:
        message = f"{task.error.type}: {task.error.message}" if task.error.message else task.error.type
        parts.append(sheet.note(message, "error", details=task.error.traceback, name="task-error"))
    parts += [sheet.text(f"asks: {question.prompt}", "small") for question in task.questions]
    written = [write for write in task.writes if not write.control]
    rows = [{"key": "input", "value": sheet.node(task.input)}] if task.input is not None else []
    rows += [{"key": f"→ {write.channel}", "value": sheet.node(write.value)} for write in written]
    if rows:
        parts.append(sheet.tree(rows, depth=0))
    if task.status in FINISHED and not written:
        parts.append(sheet.text("wrote no state key", "small"))
    return parts


def pick(here: Tab, view: CheckpointView) -> None:
    """Do what was clicked in the sheet."""
    picked = state(SHEET).get("picked") or {}
    act, value = picked.get("act"), str(picked.get("value"))
    many.pick(picked)
    if act == "run":
        here.act(here.session.execute, [value])
    elif act == "supply":
        st.session_state[SUPPLYING] = (view.id, value)
    elif act == "parent":
        here.act(here.session.back)


def buttons(here: Tab, view: CheckpointView, next_one: Stand, busy: bool) -> None:
    """Draw what can be done with all tasks, and the box for a result to supply."""
    if not next_one.allowed:
        return
    with st.container(key="superstep_actions", gap="small"):
        supply_or_run(here, view, next_one, busy)


def supply_or_run(here: Tab, view: CheckpointView, next_one: Stand, busy: bool) -> None:
    """Draw the box for the result that is being supplied, and the button for all tasks or for the update."""
    wanted = st.session_state.get(SUPPLYING)
    task = next((task for task in view.tasks if wanted == (view.id, task.id)), None)
    if task is not None and task.status not in FINISHED:
        supply_box(here, view, task, busy)
    if next_one.phase == UPDATE:
        st.button(
            "Update the channels",
            key="run_update",
            type="primary",
            disabled=busy,
            on_click=here.act,
            args=(here.session.fold,),
        )
    elif next_one.left and len(view.tasks) > 1:
        left, everything = len(next_one.left), len(next_one.left) == len(view.tasks)
        label = f"Run all {left} tasks" if everything else f"Run the {count(left, 'task')} left"
        st.button(
            label,
            key="run_all_tasks",
            disabled=busy,
            on_click=here.act,
            args=(here.session.execute, [task.id for task in next_one.left]),
        )


def supply_box(here: Tab, view: CheckpointView, task: TaskView, busy: bool) -> None:
    """Draw the box for a result that is given by hand instead of running the task."""
    key, rev = f"supply_{slug(task.id)}", f"{view.id}:{task.id}"
    with st.container(key="supply_box", border=True, gap="small"):
        keys = ", ".join(here.see(here.session.state_keys) or ())
        about = "What the node would return: an object of state keys. The task is not run; the record says supplied."
        blocks = [
            sheet.reveal(task.id),
            sheet.bar(
                [
                    sheet.word("Result of", "label"),
                    sheet.word(task.name, "mono strong"),
                    sheet.word(short(task.id), "mono muted", title=f"task {task.id}"),
                ]
            ),
            sheet.text(about + (f" Keys: {keys}." if keys else ""), "small"),
        ]
        sheet.sheet(blocks, key="supply_about", scope=task.id)
        json_editor("{}", key=key, rev=rev, height=EDITOR_HEIGHT, label="Result as JSON")
        with st.container(horizontal=True, gap="small", key="supply_buttons"):
            st.button(
                "Supply",
                key="supply_result",
                type="primary",
                disabled=busy,
                help=markdown("Saves this as the task's result. Runs nothing."),
                on_click=supply,
                args=(here, task.id, key, rev),
            )
            st.button("Cancel", key="supply_cancel", on_click=lambda: st.session_state.pop(SUPPLYING, None))


def supply(here: Tab, task: str, key: str, rev: str) -> None:
    """Give what stands in the box as the task's result; when it is refused, the box stays."""
    if here.act(here.session.supply, task, typed(key, rev, "{}")) is not None:
        st.session_state.pop(SUPPLYING, None)
