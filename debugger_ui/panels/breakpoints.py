"""Breakpoints and watches: what stops Continue, and what the timeline shows, in one list beside the transport.

They belong to the graph, are shared by every browser tab of this program, and hold Continue, not Step.
"""

from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from debugger_ui.components import sheet
from debugger_ui.components.picker import Choice, picker
from debugger_ui.components.text import count
from debugger_ui.panels import watches
from debugger_ui.panels.tab import Tab, state
from debugger_ui.session.breaks import MOST_HITS
from debugger_ui.session.stops import worded
from debugger_ui.session.views import Breakpoint, RunProgress

SHEET = "breakpoints"
POPOVER = "breakpoints_open"
PLACE, CONDITION, HIT = "break_place", "break_condition", "break_hit"
CHANGED, REFUSED = "_break_changed", "_break_refused"
SIDES = ("before", "after")
NODES = (
    sheet.column("node", "Node", width="58%"),
    sheet.column("before", "Before"),
    sheet.column("after", "After"),
)
POINTS = (
    sheet.column("place", "Stops", width="58%"),
    sheet.column("hits", "Hits", align="right", hint="since this program started, or since it was changed"),
    sheet.column("acts", "", align="right"),
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
            help="Breakpoints and watches",
            width="content",
        )
        if found:
            number = sheet.chip(str(len(found)), "failed", title=f"{count(len(found), 'breakpoint')} set", name="set")
            sheet.line(sheet.bar([number]), key="breakpoints_set", height=32, width="content")
    if opened.open:
        with opened, st.container(key="stops"):
            listing(here, found)
            watches.listing(here)
    else:
        for refused in (REFUSED, watches.REFUSED, CHANGED):
            st.session_state.pop(refused, None)


def listing(here: Tab, found: tuple[Breakpoint, ...]) -> None:
    """Draw every node with its two switches, what is set, and what sets one with a condition."""
    nodes = here.see(here.session.stops)
    ability = here.session.abilities().run
    blocks: list[sheet.Block] = []
    if here.session.workspace.kept.problem:
        blocks.append(sheet.note(here.session.workspace.kept.problem, "warn", name="not_kept"))
    blocks += [
        sheet.bar([sheet.word("Breakpoints", "strong")]),
        sheet.text("Continue stops there. Click to set or take away; Step is not held.", "small"),
    ]
    if nodes is not None:
        blocks.append(table(nodes, {point.id: point for point in found}))
    inside = here.session.abilities().inside
    if not inside.allowed and here.nesting is not None and (here.nesting.inside or here.nesting.out.allowed):
        blocks.append(sheet.text(inside.reason, "small"))
    if found:
        blocks.append(set_points(found))
    if not ability.allowed and not found:
        blocks.append(sheet.text(f"Continue cannot run from here. {ability.reason}", "small"))
    sheet.sheet(blocks, key=SHEET, on_pick=lambda: pick(here))
    form(here, nodes or ())


def table(nodes: tuple[str, ...], points: dict[str, Breakpoint]) -> sheet.Block:
    """Return the nodes with what is set at each."""
    rows: list[dict[str, Any]] = []
    for node in nodes:
        sides = {when: [switch(node, when, f"{when}:{node}" in points)] for when in SIDES}
        *way, name = node.split("|")
        inside = [sheet.word(f"{' / '.join(way)} /", "mono muted")] if way else []
        rows.append({"node": [*inside, sheet.word(name, "mono")], **sides})
    frame = pd.DataFrame(rows, columns=[column["key"] for column in NODES])
    return sheet.table(
        frame, NODES, label="Breakpoints", rows=[{"key": node} for node in nodes], empty="The graph has no node."
    )


def switch(node: str, when: str, on: bool) -> sheet.Item:
    """Return one switch: told by icon and word, then by colour."""
    tone, icon, word = ("failed", "waiting", "stops") if on else ("", "todo", "off")
    return sheet.chip(word, tone, icon, act="toggle", value=f"{when}:{node}", title=f"Breakpoint {when} {worded(node)}")


def set_points(found: tuple[Breakpoint, ...]) -> sheet.Block:
    """Return what is set, with conditions and hits, and what can be done with each."""
    rows = [{"place": place(point), "hits": hits(point), "acts": acts(point)} for point in found]
    frame = pd.DataFrame(rows, columns=[column["key"] for column in POINTS])
    return sheet.table(frame, POINTS, label="Set breakpoints", rows=[{"key": point.id} for point in found])


def place(point: Breakpoint) -> list[sheet.Item]:
    """Return where a breakpoint is, and on what condition."""
    items = [sheet.word(point.place, "mono" if point.enabled else "mono muted")]
    if point.condition:
        items.append(sheet.word(f"if {point.condition}", "mono under"))
    return items


def hits(point: Breakpoint) -> list[sheet.Item]:
    """Return how often it was hit, and from which hit on it stops."""
    items = [sheet.word(str(point.hits), name="hits")]
    if point.stop_at > 1:
        items.append(sheet.word(f"stops from {point.stop_at}", "under"))
    return items


def acts(point: Breakpoint) -> list[sheet.Item]:
    """Return the ways to switch, change and remove it."""
    word, title = ("switch off", "Keep it, but go past it") if point.enabled else ("switch on", "Stop there again")
    return [
        sheet.word(word, act="switch", value=point.id, title=title),
        sheet.word("change", act="change", value=point.id, title="Change its condition, or the hit it stops at"),
        sheet.word("remove", act="toggle", value=point.id, title="Take it away"),
    ]


def form(here: Tab, nodes: tuple[str, ...]) -> None:
    """Draw what sets a breakpoint with a condition, at a change, or from a certain hit on."""
    places = [(f"{side}:{node}", f"{side} {worded(node)}") for node in nodes for side in SIDES]
    places += [(f"change:{key}", f"when {worded(key)} changes") for key in here.see(here.session.stop_keys) or ()]
    changed = st.session_state.get(CHANGED)
    shown = str(changed) if changed else None
    choice = Choice(places, shown, "Where to stop", "Stop where? A node, or a key of the state", rev=changed or "")
    chosen = picker(choice, key=PLACE)
    st.session_state.setdefault(HIT, 1)
    if REFUSED in st.session_state:
        sheet.sheet([sheet.problem_note(st.session_state[REFUSED])], key="break_refused")
    with st.form("break_form", border=False), st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_input("Only if", key=CONDITION, placeholder='score < 0.5 and "cost" in topics')
        st.number_input("From hit", min_value=1, max_value=MOST_HITS, key=HIT, width=110)
        st.form_submit_button("Set", key="break_set", on_click=put, args=(here, chosen or ""))


def put(here: Tab, point: str) -> None:
    """Set the breakpoint that the form describes."""
    st.session_state.pop(REFUSED, None)
    when, _, node = point.partition(":")
    condition, hit = str(st.session_state[CONDITION]), int(st.session_state[HIT])
    made = here.act(here.session.set_breakpoint, node, when, condition=condition, stop_at=hit) if point else None
    if made is not None:
        st.session_state[CONDITION], st.session_state[HIT] = "", 1
    elif here.problem is not None:
        st.session_state[REFUSED], here.problem = replace(here.problem, field=""), None


def pick(here: Tab) -> None:
    """Do what was clicked: set, take away, switch or change one."""
    picked = state(SHEET).get("picked") or {}
    act, value = picked.get("act"), str(picked.get("value"))
    point = next((one for one in here.session.breakpoints() if one.id == value), None)
    if act == "toggle":
        toggle(here, value)
    elif act == "switch" and point is not None:
        here.act(here.session.switch_breakpoint, value, enabled=not point.enabled)
    elif act == "change" and point is not None:
        st.session_state[CHANGED] = value
        st.session_state[CONDITION], st.session_state[HIT] = point.condition, point.stop_at


def toggle(here: Tab, point: str) -> None:
    """Set the breakpoint `when:node`, or take it away when it is there."""
    when, _, node = point.partition(":")
    if point in {one.id for one in here.session.breakpoints()}:
        here.act(here.session.remove_breakpoint, point)
    else:
        here.act(here.session.set_breakpoint, node, when)


def stopped(progress: RunProgress, checkpoint: str) -> sheet.Block | None:
    """Return what says that a run stopped at a breakpoint at this checkpoint, or None."""
    if progress.busy or progress.checkpoint != checkpoint or not progress.why:
        return None
    rest = progress.message.removeprefix(progress.why).strip()
    why = progress.why.rstrip(".")
    tone = "failed" if progress.problem is None else "warn"
    chip = sheet.chip(why, tone, "waiting" if progress.problem is None else "warn", name="stopped", title=why)
    said = f"after {count(progress.steps, 'superstep')}. {rest}" if progress.steps else rest
    return sheet.bar([chip, sheet.word(said, "muted", title=said)], name="activity")
