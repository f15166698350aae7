"""Masked keys: which are masked, and the switches to mask one or show it again. It holds for everybody who looks."""

import pandas as pd
import streamlit as st

from debugger_ui.components import sheet
from debugger_ui.panels.tab import Tab, state
from debugger_ui.session.masks import pattern_for
from debugger_ui.session.views import CheckpointView, MaskView

POPOVER, SHEET, BOX = "masks_popover", "masks", "mask_pattern"
COLUMNS = (sheet.column("key", "Key, path or pattern"), sheet.column("switch", "", align="right"))


def popover(here: Tab, view: CheckpointView) -> None:
    """Draw the button that opens the list, how many are masked, and the list when it is open."""
    found = here.session.masked()
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="masks_button", width="content"):
        opened = st.popover(
            "Mask",
            icon=":material/visibility_off:",
            key=POPOVER,
            on_change="rerun",
            help="Masked keys",
            width="content",
        )
        if found:
            number = sheet.chip(
                str(len(found)), "", "lock", title=", ".join(one.pattern for one in found), name="masked"
            )
            sheet.line(sheet.bar([number]), key="masks_set", height=32, width="content")
    if opened.open:
        with opened, st.container(key="masks_list"):
            listing(here, view, found)


def listing(here: Tab, view: CheckpointView, found: tuple[MaskView, ...]) -> None:
    """Draw what is masked, the keys that are not, and a box for a path or pattern."""
    blocks = [
        sheet.text("Masked values are neither shown nor exported. The database keeps them as they are.", "small"),
        table(view, found),
    ]
    if here.session.workspace.masks.problem:
        blocks.append(sheet.note(here.session.workspace.masks.problem, "warn"))
    sheet.sheet(blocks, key=SHEET, on_pick=lambda: pick(here))
    st.text_input(
        "Mask a path or pattern",
        key=BOX,
        placeholder="user.token, messages.*.content",
        on_change=add,
        args=(here,),
    )


def table(view: CheckpointView, found: tuple[MaskView, ...]) -> sheet.Block:
    """Return the masks, then the state's other keys, each with its switch."""
    masked = {one.pattern for one in found}
    rest = [entry.key for entry in view.entries if pattern_for(entry.key) not in masked]
    rows = [{"key": [sheet.word(one.pattern, "mono")], "switch": [off(one)]} for one in found]
    rows += [{"key": [sheet.word(key, "mono")], "switch": [on(key)]} for key in rest]
    return sheet.table(
        pd.DataFrame(rows, columns=["key", "switch"]),
        COLUMNS,
        label="Masked keys",
        rows=[{"key": name} for name in [*(one.pattern for one in found), *rest]],
        empty="The state has no key.",
    )


def off(one: MaskView) -> sheet.Item:
    """Return the switch of what is masked."""
    if one.fixed:
        return sheet.chip("masked", "next", "lock", title="Given with --mask when the debugger was started")
    return sheet.chip("masked", "next", "lock", act="unmask", value=one.pattern, title="Show the values again")


def on(key: str) -> sheet.Item:
    """Return the switch of what is shown."""
    return sheet.chip("shown", "", "todo", act="mask", value=key, title="Mask the values")


def pick(here: Tab) -> None:
    """Turn the switch that was clicked."""
    picked = state(SHEET).get("picked") or {}
    value = str(picked.get("value"))
    if picked.get("act") == "mask":
        here.act(here.session.mask, pattern_for(value))
    elif picked.get("act") == "unmask":
        here.act(here.session.unmask, value)


def add(here: Tab) -> None:
    """Mask what was typed; the box is empty again once it is taken."""
    typed = str(st.session_state.get(BOX) or "")
    if typed.strip() and here.act(here.session.mask, typed) is not None:
        st.session_state[BOX] = ""
