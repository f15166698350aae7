"""Branches: the list beside the branch picker, with names and notes; and the note of a checkpoint.

Rule: what is said here lies beside the database, never in it. Hiding leaves out of the timeline and the
picker what only hidden branches lead to; how many are hidden is said in the timeline, and shows them.
"""

import pandas as pd
import streamlit as st

from debugger_ui.components import sheet
from debugger_ui.components.timeline import clock, grouped
from debugger_ui.panels.tab import Tab, state
from debugger_ui.panels.words import status_chip
from debugger_ui.session.views import BranchSummary, CheckpointView

LIST, POPOVER, NOTE_POPOVER = "branches", "branches_open", "note_open"
CHOSEN = "_branch_chosen"
NOTE_LIMIT = 2_000
COLUMNS = (
    sheet.column("name", "Branch", width="28%"),
    sheet.column("origin", "Began as"),
    sheet.column("fork", "Left at", align="nowrap"),
    sheet.column("head", "Newest", align="nowrap"),
    sheet.column("steps", "Checkpoints", align="right"),
    sheet.column("actions", "", align="nowrap"),
)
START, ANSWER = "start", "another answer"
ORIGIN = {"start": (START, "input"), "edit": ("edit", "edited"), "replay": ("replay", "fork")}
ORIGIN |= {"answer": (ANSWER, "waiting"), "input": ("further input", "input")}


def popover(here: Tab) -> None:
    """Draw the button that opens the list of branches, and the list when it is open."""
    with st.container(key="branches_button", width="content"):
        opened = st.popover(
            "Branches of this thread",
            icon=":material/account_tree:",
            key=POPOVER,
            on_change="rerun",
            help="Branches of this thread",
            width="content",
        )
    if opened.open:
        with opened:
            listing(here)


def listing(here: Tab) -> None:
    """Draw every branch, hidden ones too, and the name and note of the one that was chosen."""
    found = here.see(here.session.branch_list) or ()
    if not found:
        sheet.sheet([sheet.empty("No branch yet", "A thread's first checkpoint begins one.")], key="no_branch")
        return
    blocks = [table(found)]
    kept = here.session.labels_kept()
    if kept:
        blocks.append(sheet.note(kept, "info", name="labels-kept"))
    sheet.sheet(blocks, key=LIST, on_pick=lambda: pick(here))
    chosen = next((branch for branch in found if branch.id == st.session_state.get(CHOSEN)), None)
    if chosen is not None:
        form(here, chosen)


def table(found: tuple[BranchSummary, ...]) -> sheet.Block:
    """Return the branches as a table; a click on a row goes to its newest checkpoint."""
    frame = pd.DataFrame([cells(branch) for branch in found], columns=[column["key"] for column in COLUMNS])
    rows = [
        {"key": branch.id, "act": "go", "value": branch.id, "tone": "selected" if branch.current else ""}
        for branch in found
    ]
    return sheet.table(frame, COLUMNS, label="Branches", rows=rows)


def cells(branch: BranchSummary) -> dict[str, object]:
    """Return a branch's cells."""
    name = [sheet.word(branch.name, "strong", title=branch.id)]
    if branch.hidden:
        name.append(sheet.chip("hidden", title="Left out of the timeline and the picker"))
    if branch.note:
        name.append(sheet.word(branch.note, "under"))
    word, icon = ORIGIN.get(branch.origin, (branch.origin, ""))
    origin = [sheet.chip(word, "edit" if branch.origin == "edit" else "", icon, title=clock(branch.created, date=True))]
    if branch.by:
        origin.append(sheet.word(f"as {grouped(branch.by)}", "under"))
    fork: list[sheet.Item] = []
    if branch.fork_step is not None:
        fork = [sheet.word(f"step {branch.fork_step}", act="fork", value=branch.id, title="Go to where it left")]
    status = status_chip(branch.status)
    return {
        "name": name,
        "origin": origin,
        "fork": fork,
        "head": [status, sheet.word(f"step {branch.head_step}", "muted")],
        "steps": f"{branch.checkpoints:,}",
        "actions": actions(branch),
    }


def actions(branch: BranchSummary) -> list[sheet.Item]:
    """Return what can be done with a branch besides going there."""
    return [
        sheet.word("Name", "button", act="edit", value=branch.id, title="Name it, or write a note on it"),
        sheet.word("Show" if branch.hidden else "Hide", "button", act="hide", value=branch.id),
    ]


def pick(here: Tab) -> None:
    """Do what was clicked in the list."""
    picked = state(LIST).get("picked") or {}
    act, id_ = picked.get("act"), str(picked.get("value"))
    branch = next((one for one in here.see(here.session.branch_list) or () if one.id == id_), None)
    if branch is None:
        return
    if act == "go":
        here.act(here.session.move, branch=id_)
    elif act == "fork":
        here.act(here.session.move, branch=id_, checkpoint=branch.forked_from)
    elif act == "hide":
        here.act(here.session.label_branch, id_, hidden=not branch.hidden)
    elif act == "edit":
        st.session_state[CHOSEN] = "" if st.session_state.get(CHOSEN) == id_ else id_


def form(here: Tab, branch: BranchSummary) -> None:
    """Draw the boxes for a branch's name and note."""
    with st.container(key="branch_form", border=True, gap="small"):
        st.text_input("Name", value=branch.name, key=f"branch_name_{branch.id}", max_chars=NOTE_LIMIT)
        st.text_area("Note", value=branch.note, key=f"branch_note_{branch.id}", height=80, max_chars=NOTE_LIMIT)
        with st.container(horizontal=True, gap="small", key="branch_buttons"):
            st.button("Save", key="branch_save", type="primary", on_click=save, args=(here, branch))
            st.button("Cancel", key="branch_cancel", on_click=lambda: st.session_state.pop(CHOSEN, None))


def save(here: Tab, branch: BranchSummary) -> None:
    """Keep the name and the note; an empty name gives the branch its own one back."""
    name = str(st.session_state.get(f"branch_name_{branch.id}") or "")
    note = str(st.session_state.get(f"branch_note_{branch.id}") or "")
    here.act(here.session.label_branch, branch.id, name=None if name == branch.name else name, note=note)
    st.session_state.pop(CHOSEN, None)


# --- hidden ones ------------------------------------------------------------------------------


def toggle_hidden(here: Tab) -> None:
    """Show the hidden branches in the timeline of this browser tab, or leave them out again."""
    here.hidden = not here.hidden


def hidden_words(hidden: int, shown: bool) -> str:
    """Return what the timeline says about hidden branches; "" when there are none."""
    if not hidden:
        return ""
    return f"hide {hidden}" if shown else f"{hidden} hidden"


# --- the note of a checkpoint -----------------------------------------------------------------


def note_popover(here: Tab, view: CheckpointView) -> None:
    """Draw the button for the checkpoint's note, and its box when it is open."""
    label = "Note" if view.note else "Add note"
    opened = st.popover(
        f":material/edit_note: {label}", key=f"{NOTE_POPOVER}_{label[:3]}", on_change="rerun", width="content"
    )
    if not opened.open:
        return
    with opened, st.container(key="note_form", gap="small"):
        key = f"checkpoint_note_{view.id}"
        st.text_area(f"Note on step {view.step}", value=view.note, key=key, height=90, max_chars=NOTE_LIMIT)
        kept = here.session.labels_kept()
        about = "Shown in the timeline. Kept beside the database, not in it."
        sheet.sheet([sheet.text(kept or about, "small")], key="note_about")
        st.button("Save note", key="note_save", type="primary", on_click=save_note, args=(here, view.id, key))


def save_note(here: Tab, checkpoint: str, key: str) -> None:
    """Keep the note; an empty one removes it."""
    here.act(here.session.note_checkpoint, checkpoint, str(st.session_state.get(key) or ""))
