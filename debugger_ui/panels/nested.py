"""Subgraphs on the page: where the cursor stands among them, the ways in and out, and all their runs.

Rule: which run is meant, and whether one can be entered or left, is the session's; here it is only drawn.
"""

import pandas as pd

from debugger_ui.components import sheet
from debugger_ui.components.text import count
from debugger_ui.panels.tab import Tab, state
from debugger_ui.panels.words import STATUS
from debugger_ui.session.views import Ability, InnerRun, Nesting, TaskView

CRUMBS = "crumbs"
INTO, OUT, RUN = "into", "out", "run_into"
COLUMNS = (
    sheet.column("run", "Subgraph"),
    sheet.column("step", "Superstep", align="right", hint="of the graph around it"),
    sheet.column("status", "Status"),
    sheet.column("checkpoints", "Checkpoints", align="right"),
)


def look(here: Tab) -> Nesting | None:
    """Return where the cursor stands among subgraphs; None without a checkpoint."""
    return here.see(here.session.nesting, here.node) if here.see(here.session.spot) is not None else None


def crumbs(here: Tab, nesting: Nesting | None) -> None:
    """Draw the way from the outermost graph to here, when the cursor is inside a subgraph."""
    if nesting is None or len(nesting.crumbs) < 2:
        return
    items: list[sheet.Item] = [sheet.word("inside", "label")]
    for place, crumb in enumerate(nesting.crumbs[1:], 1):
        around = nesting.crumbs[place - 1]
        last = place == len(nesting.crumbs) - 1
        title = f"run by superstep {around.step} of {around.label}"
        act = {} if last else {"act": OUT, "value": crumb.namespace}
        items += [sheet.word(crumb.label, "mono", title=title, **act), sheet.word("/", "sep")]
    block = sheet.bar(items[:-1], name=CRUMBS)
    sheet.line(block, key=CRUMBS, height=34, width="content", on_pick=lambda: pick_crumb(here))


def pick_crumb(here: Tab) -> None:
    """Go to the level that was clicked: out, as often as it takes."""
    wanted = str((state(CRUMBS).get("picked") or {}).get("value") or "")
    here.act(leave, here, wanted)


def leave(here: Tab, namespace: str) -> None:
    """Step out until the cursor is in a namespace, or in the outermost graph."""
    while here.session.cursor.namespace not in ("", namespace):
        here.session.step_out()
    here.node = ""


def enter(here: Tab, namespace: str = "") -> None:
    """Step into a run: the named one, or the one that is meant at the cursor."""
    here.session.step_into(namespace, here.node)
    here.node = ""


def begin(here: Tab, task: str = "") -> None:
    """Run the subgraph of a task up to its first superstep, and go inside."""
    here.session.run_into(task)
    here.node = ""


def out(here: Tab) -> None:
    """Step out to the task around the subgraph, which is then selected."""
    before = here.session.nesting().crumbs
    here.session.step_out()
    here.node = before[-1].label.partition(" #")[0]


def way_in(nesting: Nesting | None, run: Ability) -> Ability:
    """Return whether there is anything to enter: of several runs, one is chosen among the tasks."""
    if nesting is None:
        return Ability(False, "No checkpoint is open.")
    if nesting.inside:
        return Ability(True)
    return run if nesting.ahead else nesting.into


def begins(nesting: Nesting | None) -> bool:
    """Whether going in means to run a subgraph that has not begun."""
    return nesting is not None and not nesting.inside and bool(nesting.ahead)


def way_out(nesting: Nesting | None) -> Ability:
    """Return whether there is a graph around this one."""
    return nesting.out if nesting is not None else Ability(False, "No checkpoint is open.")


def runs_of(nesting: Nesting | None, task: TaskView) -> list[InnerRun]:
    """Return the runs that belong to a task of the cursor's supersteps."""
    if nesting is None:
        return []
    return [run for run in nesting.inside if run.task == task.id or (not run.task and run.node == task.name)]


def ways_in(nesting: Nesting | None, task: TaskView) -> list[sheet.Block]:
    """Return what leads into the runs of a task, or into the one that it is about to begin."""
    found = runs_of(nesting, task)
    blocks = []
    if nesting is not None and task.id in nesting.ahead:
        title = "Run its subgraph up to the first superstep, and nothing beside it"
        blocks.append(
            sheet.bar([sheet.word("Run into", "button", act=RUN, value=task.id, title=title)], name="actions")
        )
    for run in found:
        word, icon = STATUS.get(run.status, (run.status, "todo"))
        call = f"call {run.call}" if len(found) > 1 else "its subgraph"
        blocks.append(
            sheet.bar(
                [
                    sheet.word("Step into", "button", act=INTO, value=run.namespace, title=run.namespace),
                    sheet.word(call, "label"),
                    sheet.chip(word, "next" if run.status == "ready" else run.status, icon),
                    sheet.word(count(run.checkpoints, "checkpoint"), "muted"),
                ],
                name="actions",
            )
        )
    return blocks


def everything(here: Tab) -> list[sheet.Block]:
    """Return all runs of subgraphs in the thread as a folded list; nothing when there are none."""
    found = here.see(here.session.inner_runs)
    if not found or not found.rows:
        return []
    shown, total = found.rows, found.total or 0
    frame = pd.DataFrame([row(run) for run in shown])
    rows = [
        {
            "key": run.namespace,
            "act": INTO,
            "value": run.namespace,
            "tone": "changed" if run.namespace == here.session.cursor.namespace else "",
        }
        for run in shown
    ]
    blocks = [sheet.table(frame, COLUMNS, label="Subgraph runs", rows=rows)]
    if found.more:
        blocks.append(sheet.text(f"The newest {len(shown)} of {total} are listed.", "small"))
    return [sheet.section("Subgraph runs in this thread", blocks, count=total, folded=True)]


def row(run: InnerRun) -> dict[str, object]:
    """Return one run's row."""
    word, icon = STATUS.get(run.status, (run.status, "todo"))
    call = [sheet.word(f"call {run.call}", "muted")] if run.call > 1 else []
    return {
        "run": [sheet.word(run.path, "mono strong", title=run.namespace), *call],
        "step": str(run.step),
        "status": [sheet.chip(word, "next" if run.status == "ready" else run.status, icon)],
        "checkpoints": str(run.checkpoints),
    }


def pick(here: Tab, key: str) -> None:
    """Step or run into what was clicked in a sheet."""
    picked = state(key).get("picked") or {}
    if picked.get("act") == INTO:
        here.act(enter, here, str(picked.get("value")))
    elif picked.get("act") == RUN:
        here.act(begin, here, str(picked.get("value")))


def effect(nesting: Nesting | None) -> list[sheet.Block]:
    """Return what a step from inside a subgraph runs."""
    if nesting is None or not nesting.effect:
        return []
    return [sheet.note(nesting.effect, "info", name="effect")]
