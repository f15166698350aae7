"""The Diff tab: what differs between this checkpoint and another, lists matched by what they hold."""

import pandas as pd

from debugger_ui.components import sheet
from debugger_ui.components.picker import Choice, picker
from debugger_ui.components.text import visible
from debugger_ui.components.timeline import grouped
from debugger_ui.panels import why
from debugger_ui.panels.tab import Tab, state
from debugger_ui.session.views import CheckpointView, DiffEntry, DiffView, TimelineRow

PARENT = ""
CHOICES = 300
WHERE, NARROW = 36, 12
"""Widths, in parts of a hundred, of the first column, and of a side that has no value in any row."""


def differences(here: Tab, view: CheckpointView) -> None:
    """Draw the differences to the parent, or to a checkpoint that the person chooses."""
    against = compare_with(here, view)
    found = here.see(here.session.diff, against, view.id)
    if found is not None:
        sheet.sheet(
            blocks(found, view), key="diff", scope=view.id, stamp=f"{view.id}:{against}", on_pick=lambda: pick(here)
        )


def pick(here: Tab) -> None:
    """Ask why the value that was clicked is what it is."""
    picked = state("diff").get("picked") or {}
    if picked.get("act") == "why":
        why.ask(here, str(picked.get("value")))


def compare_with(here: Tab, view: CheckpointView) -> str:
    """Draw the choice of what to compare with; return a checkpoint id, or empty for the parent."""
    rows = here.see(here.session.timeline, limit=CHOICES)
    others = {row.checkpoint: row for row in rows.rows if row.checkpoint != view.id} if rows else {}
    options = [(checkpoint, described(checkpoint, others)) for checkpoint in (PARENT, *others)]
    choice = Choice(options, PARENT, "Compared with", rev=view.thread)
    return picker(choice, key="compare_with") or PARENT


def described(checkpoint: str, rows: dict[str, TimelineRow]) -> str:
    """Return the line for a checkpoint in the choice."""
    row = rows.get(checkpoint)
    if row is None:
        return "compared with its parent"
    return visible(f"compared with superstep {row.step}: {grouped(row.nodes) or row.source}", 80)


def blocks(found: DiffView, view: CheckpointView) -> list[sheet.Block]:
    """Return the differences as a table, and what stayed equal."""
    if not found.before:
        return [sheet.text("This is the first checkpoint: there is nothing before it.", "muted"), *table(found)]
    if not found.entries:
        what = "no state key" if view.source == "loop" else "nothing"
        return [sheet.empty("Same state", f"Between the two checkpoints {what} changed; only versions may have moved.")]
    return table(found)


def columns(found: DiffView) -> tuple[sheet.Item, ...]:
    """Return the columns, with most of the room for the side that has something to show."""
    ops = {entry.op for entry in found.entries}
    half = (100 - WHERE) // 2
    before = {frozenset({"added"}): NARROW, frozenset({"removed"}): 100 - WHERE - NARROW}.get(frozenset(ops), half)
    return (
        sheet.column("path", "Where", mono=True, width=f"{WHERE}%"),
        sheet.column("before", "Before", width=f"{before}%"),
        sheet.column("after", "After", width=f"{100 - WHERE - before}%"),
    )


def where(entry: DiffEntry) -> list[sheet.Item]:
    """Return what differs, and who wrote it."""
    writers = grouped(entry.writers)
    return [
        sheet.chip(entry.op, entry.op),
        sheet.word(entry.label, "mono"),
        *([sheet.word(f"by {writers}", "under", title=writers)] if writers else []),
    ]


def table(found: DiffView) -> list[sheet.Block]:
    """Return the table of differences."""
    frame = pd.DataFrame(
        [
            {
                "path": where(entry),
                "before": [sheet.value_item(entry.before)],
                "after": [sheet.value_item(entry.after)],
            }
            for entry in found.entries
        ],
        columns=["path", "before", "after"],
    )
    made = [
        sheet.table(
            frame,
            columns(found),
            label="Differences",
            rows=[
                {"key": entry.label, "tone": entry.op} | ({} if entry.op == "removed" else why.asking(entry.path))
                for entry in found.entries
            ],
            empty="The state is empty.",
        )
    ]
    if found.truncated:
        made.append(sheet.text(f"{found.truncated} more differences are not shown.", "small"))
    if found.unchanged:
        made.append(sheet.text("Unchanged: " + ", ".join(found.unchanged), "small"))
    return made
