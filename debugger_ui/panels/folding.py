"""The barrier and the update of a superstep: whose results are in, and how they fold into each channel."""

import pandas as pd

from debugger_ui.components import sheet
from debugger_ui.components.text import count
from debugger_ui.components.timeline import grouped
from debugger_ui.panels.channels import number
from debugger_ui.panels.tasks import FINISHED
from debugger_ui.panels.words import TASK, TASK_TONE
from debugger_ui.session.views import CheckpointView, UpdateFold, UpdateView

FOLD = (
    sheet.column("who", "", width="30%"),
    sheet.column("write", "Write"),
    sheet.column("after", "Value", hint="of the channel, with this write folded in"),
)


def barrier_part(view: CheckpointView) -> sheet.Block:
    """Return how many results are in, and whom the update waits for."""
    came = [task for task in view.tasks if task.status in FINISHED]
    left = [task for task in view.tasks if task.status not in FINISHED]
    items = [
        sheet.chip(f"{len(came)} of {len(view.tasks)} results in", *(("", "todo") if left else ("done", "done"))),
        sheet.word(f"The update waits for {grouped(tuple(task.name for task in left))}.", "muted wrap")
        if left
        else sheet.word("Nothing waits: the results fold in the order of the tasks.", "muted wrap"),
    ]
    return sheet.section("Barrier", [sheet.bar(items, name="barrier")])


def update_part(view: CheckpointView, update: UpdateView, *, over: bool) -> sheet.Block:
    """Return how each channel gets its value: before, writes in fold order, after; `over` if all are in."""
    keys = [fold for fold in update.folds if fold.state_key]
    control = [fold for fold in update.folds if not fold.state_key]
    blocks = [fold_card(fold, view) for fold in keys]
    if not update.folds:
        nothing = "No channel was written." if over else "No result is in yet, so nothing folds."
        blocks.append(sheet.text(nothing, "muted"))
    elif not over:
        blocks.insert(0, sheet.text("As far as results are in; nothing of this is folded yet.", "small"))
    if control:
        cards = [fold_card(fold, view) for fold in control]
        hint = "what wakes the nodes of the next superstep"
        blocks.append(sheet.section("Triggers and joins", cards, count=len(control), hint=hint, folded=True))
    return sheet.section("Update", blocks, hint=count(len(keys), "state key") if keys else "")


def fold_card(fold: UpdateFold, view: CheckpointView) -> sheet.Block:
    """Return one channel: before ⊕ each write = after, and its version on both sides."""
    names = {task.id: task.status for task in view.tasks}
    rows = [{"who": [sheet.word("before", "muted")], "write": "", "after": [sheet.value_item(fold.before)]}]
    for step in fold.steps:
        who = [sheet.word("⊕", "sep"), sheet.word(step.node, "mono", title=f"task {step.task}")]
        if names.get(step.task) == "supplied":
            who.append(sheet.chip("supplied", TASK_TONE["supplied"], TASK["supplied"][1]))
        rows.append({"who": who, "write": [sheet.value_item(step.value)], "after": [sheet.value_item(step.after)]})
    if not fold.refused:
        rows.append({"who": [sheet.word("= after", "strong")], "write": "", "after": [sheet.value_item(fold.after)]})
    blocks = [sheet.table(pd.DataFrame(rows), FOLD, label=f"Fold of {fold.channel}")]
    if fold.refused:
        blocks.insert(0, sheet.note(fold.refused, "error", name="refused"))
    items = [
        sheet.word(fold.reducer or "last value wins", "muted"),
        sheet.gap(),
        sheet.word(version_words(fold), "mono muted", title="version of the channel before and after"),
    ]
    look = ("failed", "failed") if fold.refused else ("", "")
    return sheet.card(fold.channel, blocks, look=look, items=items, name=f"fold/{fold.channel}")


def version_words(fold: UpdateFold) -> str:
    """Return the channel's version before and after; without the second, only the first."""
    before = f"v{number(fold.version_before)}" if fold.version_before else "no version"
    return f"{before} → v{number(fold.version_after)}" if fold.version_after else before
