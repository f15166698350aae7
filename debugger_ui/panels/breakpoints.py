"""Breakpoints: before and after each node, set from a small list beside the transport.

They belong to the graph, are shared by every browser tab of this program, and hold Continue, not Step.
"""

from typing import Any

import pandas as pd
import streamlit as st

from debugger_ui.components import sheet
from debugger_ui.components.text import count
from debugger_ui.panels.tab import Tab, state
from debugger_ui.session.views import Breakpoint, GraphView, RunProgress

SHEET = "breakpoints"
POPOVER = "breakpoints_open"
SIDES = ("before", "after")
COLUMNS = (
    sheet.column("node", "Node"),
    sheet.column("before", "Before it runs"),
    sheet.column("after", "After it ran"),
    sheet.column("hits", "Hits", align="right"),
)


def popover(here: Tab) -> None:
    """Draw the button that opens the list, how many are set, and the list when it is open."""
    found = here.session.breakpoints()
    with st.container(
        horizontal=True, vertical_alignment="center", gap="xsmall", key="breakpoints_button", width="content"
    ):
        # Its label stays the same: with another one it would be another popover, and closed.
        opened = st.popover(
            "Breaks",
            icon=":material/flag:",
            key=POPOVER,
            on_change="rerun",
            help="Where Continue stops",
            width="content",
        )
        if found:
            number = sheet.chip(str(len(found)), "failed", title=f"{count(len(found), 'breakpoint')} set", name="set")
            sheet.line(sheet.bar([number]), key="breakpoints_set", height=32, width="content")
    if opened.open:
        with opened:
            listing(here, found)


def listing(here: Tab, found: tuple[Breakpoint, ...]) -> None:
    """Draw every node with its two switches."""
    graph = here.see(here.session.graph)
    ability = here.session.abilities().run
    blocks: list[sheet.Block] = [
        sheet.text("Continue stops there. Click to set or take away; Step is not held.", "small")
    ]
    if graph is not None:
        blocks.append(table(graph, {point.id: point for point in found}))
    if not ability.allowed and not found:
        blocks.append(sheet.text(ability.reason, "small"))
    sheet.sheet(blocks, key=SHEET, on_pick=lambda: pick(here))


def table(graph: GraphView, points: dict[str, Breakpoint]) -> sheet.Block:
    """Return the nodes with what is set at each."""
    nodes = [node.id for node in graph.nodes if node.kind not in ("start", "end") and node.known]
    rows: list[dict[str, Any]] = []
    for node in nodes:
        mine = [points[f"{when}:{node}"] for when in SIDES if f"{when}:{node}" in points]
        hits = sum(point.hits for point in mine)
        sides = {when: [switch(node, when, f"{when}:{node}" in points)] for when in SIDES}
        rows.append({"node": [sheet.word(node, "mono")], **sides, "hits": str(hits) if mine else ""})
    frame = pd.DataFrame(rows, columns=[column["key"] for column in COLUMNS])
    return sheet.table(
        frame, COLUMNS, label="Breakpoints", rows=[{"key": node} for node in nodes], empty="The graph has no node."
    )


def switch(node: str, when: str, on: bool) -> sheet.Item:
    """Return one switch: told by icon and word, then by colour."""
    tone, icon, word = ("failed", "waiting", "stops") if on else ("", "todo", "off")
    return sheet.chip(word, tone, icon, act="toggle", value=f"{when}:{node}", title=f"Breakpoint {when} {node}")


def pick(here: Tab) -> None:
    """Set or take away what was clicked."""
    picked = state(SHEET).get("picked") or {}
    if picked.get("act") == "toggle":
        toggle(here, str(picked.get("value")))


def toggle(here: Tab, point: str) -> None:
    """Set the breakpoint `when:node`, or take it away when it is there."""
    when, _, node = point.partition(":")
    if point in {one.id for one in here.session.breakpoints()}:
        here.act(here.session.remove_breakpoint, point)
    else:
        here.act(here.session.set_breakpoint, node, when)


def stopped(progress: RunProgress, checkpoint: str) -> sheet.Block | None:
    """Return what says that Continue stopped at a breakpoint at this checkpoint, or None."""
    if progress.state != "paused" or progress.checkpoint != checkpoint or not progress.message.startswith("Breakpoint"):
        return None
    why, _, rest = progress.message.partition(". ")
    steps = count(progress.steps, "superstep")
    items = [sheet.chip(why, "failed", "waiting", name="stopped"), sheet.word(f"after {steps}. {rest}", "muted")]
    return sheet.bar(items, name="activity")
