"""The Tasks tab: questions to answer, the tasks of the superstep that starts here, their pending writes."""

import pandas as pd

from debugger_ui.components import sheet
from debugger_ui.components.text import count
from debugger_ui.components.timeline import duration
from debugger_ui.panels import answer, answered, many, nested, retry
from debugger_ui.panels.tab import Tab, state
from debugger_ui.panels.words import TASK, TASK_TONE, short, task_chip
from debugger_ui.session.views import CheckpointView, Nesting, TaskView

WRITES = (
    sheet.column("channel", "Channel", mono=True, width="34%"),
    sheet.column("value", "Value"),
)
PENDING = (
    sheet.column("task", "Task", mono=True),
    sheet.column("channel", "Channel", mono=True),
    sheet.column("value", "Value", width="46%"),
)
SHEET = "tasks"
FINISHED = ("saved", "supplied")
REFUSED = "refused"


def tasks(here: Tab, view: CheckpointView) -> None:
    """Draw the superstep that starts at the checkpoint, and the one that made it."""
    if view.questions:
        answer.questions(here, view)
    answered.questions(here, view)
    retry.offer(here, view)
    shown = [task for task in view.tasks if not here.node or task.name == here.node]
    made = [task for task in view.made_by if not here.node or task.name == here.node]
    blocks: list[sheet.Block] = [sheet.problem_note(problem) for problem in view.problems]
    blocks += nested.effect(here.nesting) if view.next else []
    if here.node:
        blocks.append(
            sheet.bar(
                [
                    sheet.word("Only", "label"),
                    sheet.chip(here.node),
                    sheet.word("click the node again for all", "muted"),
                ]
            )
        )
    blocks += starting_here(view, shown, here.nesting)
    if made:
        some, more = many.page(made, f"{view.id}/made")
        blocks.append(
            sheet.section(
                "Made this checkpoint",
                [*(task_card(task, f"made/{task.id}", here.nesting) for task in some), *more],
                count=len(made),
                folded=bool(shown),
            )
        )
    blocks += nested.everything(here)
    sheet.sheet(blocks, key=SHEET, scope=view.id, stamp=view.id, on_pick=lambda: pick(here))


def pick(here: Tab) -> None:
    """Go into a subgraph, or show more tasks."""
    nested.pick(here, SHEET)
    many.pick(state(SHEET).get("picked") or {})


def starting_here(view: CheckpointView, shown: list[TaskView], nesting: Nesting | None = None) -> list[sheet.Block]:
    """Return the tasks of the superstep that starts at the checkpoint, and what is saved of it."""
    if not shown:
        if view.next:
            return [sheet.text("No task of this node is due at this checkpoint.", "muted")]
        return [sheet.empty("No task is due", "The graph has come to its end on this branch.", icon="done")]
    saved = [task for task in shown if task.status in FINISHED]
    hint = f"{len(saved)} of {len(shown)} saved" if saved else ""
    some, more = many.page(shown, f"{view.id}/next")
    return [
        sheet.section(
            f"Superstep {view.step + 1}",
            [*(task_card(task, f"task/{task.id}", nesting) for task in some), *more],
            count=None if hint else len(shown),
            hint=hint,
        ),
        *(pending_writes(shown) if view.head or len(saved) < len(shown) else []),
    ]


def pending_writes(shown: list[TaskView]) -> list[sheet.Block]:
    """Return what finished tasks of the unfinished superstep have written: it does not run again."""
    finished = [task for task in shown if task.status in FINISHED]
    rows = [(task, write) for task in finished for write in task.writes if not write.control]
    if not rows:
        return []
    frame = pd.DataFrame(
        [
            {
                "task": [sheet.word(task.name, "mono"), sheet.word(short(task.id), "mono muted", title=task.id)],
                "channel": write.channel,
                "value": [sheet.value_item(write.value)],
            }
            for task, write in rows[: many.PAGE]
        ]
    )
    left = len(rows) - many.PAGE
    return [
        sheet.section(
            "Pending writes",
            [
                sheet.table(frame, PENDING, label="Pending writes"),
                *([sheet.text(f"{left:,} more, each on the card of its task.", "small")] if left > 0 else []),
            ],
            count=len(rows),
            hint="saved before the superstep ended; these tasks do not run again",
        )
    ]


def task_card(task: TaskView, name: str, nesting: Nesting | None = None) -> sheet.Block:
    """Return one task: status, what woke it, input, writes, error."""
    items = [
        task_chip(task.status),
        sheet.word(short(task.id), "mono muted", title=f"task {task.id}"),
        sheet.gap(),
        sheet.word(duration(task.milliseconds), "muted") if task.milliseconds is not None else None,
        sheet.word(count(task.attempts, "attempt"), "muted") if task.attempts > 1 else None,
    ]
    return sheet.card(
        task.name,
        [*nested.ways_in(nesting, task), *task_parts(task)],
        look=(TASK_TONE.get(task.status, ""), TASK.get(task.status, ("", "todo"))[1]),
        items=items,
        name=name,
        status=task.status,
    )


def task_parts(task: TaskView) -> list[sheet.Block]:
    """Return the parts of a task's card that there is something to say about."""
    parts: list[sheet.Block] = []
    if task.error is not None:
        message = f"{task.error.type}: {task.error.message}" if task.error.message else task.error.type
        parts.append(sheet.note(message, "error", details=task.error.traceback, name="task-error"))
    if task.sent:
        parts.append(sheet.bar([sheet.word("woken by", "label"), sheet.word("a Send")]))
    elif task.triggers:
        parts.append(
            sheet.bar([sheet.word("woken by", "label"), *(sheet.word(name, "mono") for name in task.triggers)])
        )
    if task.input is not None:
        parts.append(sheet.tree([{"key": "input", "value": sheet.node(task.input)}], depth=0))
    if task.calls:
        rows = [{"key": f"call {n}", "value": sheet.node(value)} for n, value in enumerate(task.calls, 1)]
        hint = "" if task.status in FINISHED else "they do not run again"
        parts.append(sheet.section("Saved results of calls", [sheet.tree(rows, depth=0)], count=len(rows), hint=hint))
    state_writes = [write for write in task.writes if not write.control]
    if state_writes:
        frame = pd.DataFrame(
            [{"channel": write.channel, "value": [sheet.value_item(write.value)]} for write in state_writes]
        )
        parts.append(sheet.table(frame, WRITES, label=f"Writes of {task.name}"))
    elif task.status in FINISHED:
        parts.append(sheet.text("wrote no state key", "small"))
    return parts
