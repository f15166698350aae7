"""Watches: expressions that the timeline shows for every checkpoint; added and removed beside the breakpoints."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from debugger_ui.components import sheet
from debugger_ui.panels.tab import Tab, state

SHEET = "watches"
TEXT, REFUSED = "watch_text", "_watch_refused"
COLUMNS = (sheet.column("text", "Expression", width="85%"), sheet.column("acts", "", align="right"))
ABOUT = 'Shown in every row of the timeline, as in len(topics) or messages[-1]["content"]. Help has the whole language.'


def listing(here: Tab) -> None:
    """Draw what is watched, and what adds one."""
    found = here.session.watches()
    blocks = [sheet.bar([sheet.word("Watches", "strong")]), sheet.text(ABOUT, "small")]
    if found:
        rows = [{"text": [sheet.word(text, "mono")], "acts": [remove(text)]} for text in found]
        frame = pd.DataFrame(rows, columns=[column["key"] for column in COLUMNS])
        blocks.append(sheet.table(frame, COLUMNS, label="Watches", rows=[{"key": text} for text in found]))
    sheet.sheet(blocks, key=SHEET, on_pick=lambda: pick(here))
    if REFUSED in st.session_state:
        sheet.sheet([sheet.problem_note(st.session_state[REFUSED])], key="watch_refused")
    with st.form("watch_form", border=False), st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_input("Expression", key=TEXT, placeholder="len(topics)")
        st.form_submit_button("Watch", key="watch_add", on_click=add, args=(here,))


def remove(text: str) -> sheet.Item:
    """Return what takes a watch away."""
    return sheet.word("remove", act="remove", value=text, title="Stop watching this")


def add(here: Tab) -> None:
    """Add what was typed; what cannot be taken stays in the box, with the reason under it."""
    st.session_state.pop(REFUSED, None)
    if here.act(here.session.add_watch, str(st.session_state[TEXT])) is not None:
        st.session_state[TEXT] = ""
    elif here.problem is not None:
        st.session_state[REFUSED], here.problem = replace(here.problem, field=""), None


def pick(here: Tab) -> None:
    """Take away what was clicked."""
    picked = state(SHEET).get("picked") or {}
    if picked.get("act") == "remove":
        forget(here, {"expression": picked.get("value")})


def forget(here: Tab, picked: Mapping[str, Any]) -> None:
    """Take a watch away."""
    if picked.get("expression"):
        here.act(here.session.remove_watch, str(picked["expression"]))
