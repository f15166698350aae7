"""The barrier and the update of a superstep: whose results are in, and how they fold into each channel."""

from typing import Any

from debugger_ui.components import sheet
from debugger_ui.components.text import count
from debugger_ui.components.timeline import grouped
from debugger_ui.panels.channels import number
from debugger_ui.panels.tasks import FINISHED, REFUSED
from debugger_ui.session.views import CheckpointView, TaskView, UpdateFold, UpdateView


def barrier_part(view: CheckpointView) -> sheet.Block:
    """Return how many results are in, and whom the update waits for."""
    came = [task for task in view.tasks if task.status in FINISHED]
    left = [task for task in view.tasks if task.status not in FINISHED]
    items = [
        sheet.chip(f"{len(came)} of {len(view.tasks)} results in", *(("", "todo") if left else ("done", "done"))),
        sheet.word(barrier_words(left), "muted wrap"),
    ]
    return sheet.section("Barrier", [sheet.bar(items, name="barrier")])


def barrier_words(left: list[TaskView]) -> str:
    """Return whom the update waits for."""
    if not left:
        return "Nothing waits: the results fold in the order of the tasks."
    names = grouped(tuple(task.name for task in left))
    if all(task.status == REFUSED for task in left):
        return f"The results of {names} were refused. The update waits until they have run again."
    return f"The update waits for {names}."


def update_part(view: CheckpointView, update: UpdateView, *, over: bool) -> sheet.Block:
    """Return how each channel gets its value: before, writes in fold order, after; `over` if all are in."""
    keys = [fold for fold in update.folds if fold.state_key]
    control = [fold for fold in update.folds if not fold.state_key]
    blocks = [fold_card(fold, view) for fold in keys]
    if not update.folds:
        nothing = "No channel was written." if over else "No result is in yet, so nothing folds."
        blocks.append(sheet.text(nothing, "muted"))
    elif any(fold.refused for fold in update.folds):
        blocks.insert(0, sheet.text("All or nothing: where one key is refused, no key changes.", "small"))
    elif not over:
        blocks.insert(0, sheet.text("As far as results are in; nothing of this is folded yet.", "small"))
    if control:
        cards = [fold_card(fold, view) for fold in control]
        hint = "what wakes the nodes of the next superstep"
        blocks.append(sheet.section("Triggers and joins", cards, count=len(control), hint=hint, folded=True))
    return sheet.section("Update", blocks, hint=count(len(keys), "state key") if keys else "")


def fold_card(fold: UpdateFold, view: CheckpointView) -> sheet.Block:
    """Return one channel: before ⊕ each write = after, and its version on both sides."""
    blocks: list[sheet.Block] = [sheet.tree(fold_rows(fold, view), depth=0)]
    if fold.refused:
        blocks.insert(0, sheet.note(fold.refused, "error", name="refused"))
    items = [
        sheet.word(fold.reducer or "last value wins", "muted"),
        sheet.gap(),
        sheet.word(version_words(fold), "mono muted", title="version of the channel before and after"),
    ]
    look = ("failed", "failed") if fold.refused else ("", "")
    return sheet.card(fold.channel, blocks, look=look, items=items, name=f"fold/{fold.channel}")


def fold_rows(fold: UpdateFold, view: CheckpointView) -> list[dict[str, Any]]:
    """Return the value before, each write with what the channel is then, and the value after."""
    by_hand = {task.id for task in view.tasks if task.status == "supplied"}
    several = len(fold.steps) > 1
    rows: list[dict[str, Any]] = [{"key": "before", "value": sheet.node(fold.before)}]
    for at, step in enumerate(fold.steps, 1):
        is_last = at == len(fold.steps)
        place = at + fold.left_out if is_last else at
        if is_last and fold.left_out:
            rows.append({"key": "…", "value": {"k": "note", "t": "", "x": f"{fold.left_out:,} more writes"}})
        name = f"⊕ {place} {step.node}" if several else f"⊕ {step.node}"
        by = "hand (supplied)" if step.task in by_hand else ""
        rows.append({"key": name, "value": sheet.node(step.value), "by": by})
        if several and not is_last:
            rows.append({"key": f"= after {place}", "value": sheet.node(step.after)})
    if not fold.refused:
        rows.append({"key": "= after", "value": sheet.node(fold.after)})
    return rows


def version_words(fold: UpdateFold) -> str:
    """Return the channel's version before and after; without the second, only the first."""
    before = f"v{number(fold.version_before)}" if fold.version_before else "no version"
    return f"{before} → v{number(fold.version_after)}" if fold.version_after else before
