"""The timeline component: checkpoints newest first, a lane per branch."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from debugger_ui.components.registry import mount
from debugger_ui.session.views import Timeline, TimelineRow

HTML = """<div class="timeline">
<div class="head"><input type="search" placeholder="Find node, key, status…" aria-label="Find in the timeline"
 title="Enter: next match, Shift+Enter: the one before"><span class="count" role="status"></span>
<button type="button" class="hidden-branches" hidden></button></div>
<button type="button" class="news" hidden></button>
<div class="watched" hidden aria-label="Watches"></div>
<div class="list" tabindex="0" role="listbox" aria-label="Checkpoints">
<div class="inner"><svg class="lanes"></svg></div></div>
</div>"""


def _nothing() -> None:
    """There is nothing to click."""


@dataclass(frozen=True, slots=True)
class Clicks:
    """What to call when a row was chosen, when older rows are wanted, and for the buttons above the rows."""

    select: Callable[[], None]
    older: Callable[[], None] = _nothing
    hidden: Callable[[], None] = _nothing
    news: Callable[[], None] = _nothing
    unwatch: Callable[[], None] = _nothing


@dataclass(frozen=True, slots=True)
class Above:
    """Buttons above the rows; without a text there is none."""

    hidden: str = ""
    """About branches that are left out."""
    news: str = ""
    """About checkpoints that came meanwhile from elsewhere."""


QUIET = Above()
KEY = "timeline"
MARKS = {
    "damaged": "damaged: its row cannot be read",
    "encrypted": "encrypted: its values cannot be read without the key",
    "orphan": "damaged: its parent is not there",
    "cycle": "damaged: its ancestors form a circle",
}
"""What a row's mark means."""
SHUT = {"damaged": "not readable", "encrypted": "encrypted"}
"""What a row is called of which nothing is known but that it is there."""
TIMES = "\N{MULTIPLICATION SIGN}"
SOURCE = {"input": "input", "update": "edit", "fork": "fork", "loop": "start"}
"""What a row without a node is called: the loop's first checkpoint only takes the input in."""


def timeline(view: Timeline, *, selected: str, answered: str, clicks: Clicks, above: Above = QUIET) -> Any:
    """Draw the timeline; the clicked checkpoint comes back as state `selected.checkpoint`.

    A watch that is to go comes back as state `unwatch.expression`.
    `answered` is the `selected.serial` of the last choice that `selected` has taken into account.
    """
    return mount(
        "timeline",
        HTML,
        key=KEY,
        height="stretch",
        on_selected_change=clicks.select,
        on_older_change=clicks.older,
        on_hidden_change=clicks.hidden,
        on_news_change=clicks.news,
        on_unwatch_change=clicks.unwatch,
        data={**payload(view, selected=selected), "answered": answered, "hidden": above.hidden, "news": above.news},
    )


def payload(view: Timeline, *, selected: str) -> dict[str, Any]:
    """Return what the component's script gets: rows, then the selection."""
    names = {branch.head: branch.name for branch in view.branches} if len(view.branches) > 1 else {}
    rows = [_row(row, names.get(row.checkpoint, "")) for row in view.rows]
    version = hashlib.sha256(json.dumps([rows, view.watches]).encode()).hexdigest()[:16]
    return {
        "version": version,
        "rows": rows,
        "watches": list(view.watches),
        "lanes": view.lanes,
        "branches": len(view.branches),
        "total": view.total,
        "more": view.more,
        "selected": selected,
    }


def _row(row: TimelineRow, branch_name: str) -> dict[str, Any]:
    title = grouped(row.nodes) or SOURCE.get(row.source, row.source)
    changed = ", ".join(row.changed)
    if row.source == "update":
        title = f"edit as {title}" if row.nodes else "edit"
    sub = changed or ("input" if row.source == "input" else "no state key changed")
    if row.mark:
        title, sub = (SHUT.get(row.mark, title), MARKS.get(row.mark, row.mark))
    text = " ".join([title, row.source, changed, row.status, branch_name, row.note, *row.next])
    return {
        "id": row.checkpoint,
        "parent": row.parent,
        "lane": row.lane,
        "step": row.step,
        "source": row.source,
        "status": row.status,
        "head": row.head,
        "title": title,
        "sub": f"{row.note} · {sub}" if row.note else sub,
        "when": duration(row.milliseconds),
        "branch_name": branch_name,
        "inner": row.inner,
        "text": text.lower(),
        "cells": [{"x": cell.text, "e": cell.error} for cell in row.cells],
        "hint": f"{row.checkpoint}\nsaved {clock(row.created, date=True)}"
        + (f"\n{MARKS.get(row.mark, row.mark)}" if row.mark else ""),
    }


def grouped(nodes: Sequence[str]) -> str:
    """Return names in order of appearance, each with how often it occurs if it is more than once."""
    return ", ".join(f"{name} {TIMES}{n}" if n > 1 else name for name, n in Counter(nodes).items())


def duration(milliseconds: float | None) -> str:
    """Return a duration as people read it: `27 ms`, `1.4 s`, `3 min`."""
    if milliseconds is None:
        return ""
    if 0 < milliseconds < 1:
        return "<1 ms"
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:.1f} s"
    if milliseconds < 3_600_000:
        return f"{milliseconds / 60_000:.0f} min"
    return f"{milliseconds / 3_600_000:.1f} h"


def clock(created: str, *, date: bool = False) -> str:
    """Return a recorded time in the local time zone; as recorded when it is no ISO time."""
    try:
        local = datetime.fromisoformat(created).astimezone()
    except ValueError:
        return created
    return local.strftime("%Y-%m-%d %H:%M:%S" if date else "%H:%M:%S")
