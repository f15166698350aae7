"""The State tab: every state key with its value, who wrote it, and what changed here."""

import json
from typing import Any

import streamlit as st

from debugger_ui.components import sheet
from debugger_ui.components.timeline import grouped
from debugger_ui.panels import fitting, masking, why
from debugger_ui.panels.tab import Tab
from debugger_ui.panels.tab import state as component_state
from debugger_ui.session.stops import expression_at
from debugger_ui.session.views import CheckpointView, Path, StateEntry, ValueView

TREE, RAW = "Tree", "JSON"


def state(here: Tab, view: CheckpointView) -> None:
    """Draw the state at the checkpoint."""
    with st.container(horizontal=True, vertical_alignment="center", key="state_bar"):
        form = st.segmented_control(
            "Shown as", [TREE, RAW], key="state_form", default=TREE, label_visibility="collapsed", required=True
        )
        st.space("stretch")
        masking.popover(here, view)
        if form == RAW:
            saved = here.see(here.session.export, "state")
            if saved is not None:
                st.download_button(
                    "Download", saved.data, saved.filename, saved.media_type, key="download", icon=":material/download:"
                )
    if form == RAW:
        whole_state = fitting.cut(here.see(here.session.raw, checkpoint=view.id) or "")
        sheet.sheet([sheet.pre(whole_state)], key="raw", scope=view.id, stamp=view.id)
        return
    blocks = [sheet.problem_note(problem) for problem in view.problems]
    rows = [entry_row(here, view, entry) for entry in view.entries]
    blocks.append(sheet.tree(rows, depth=1, empty="The state has no key with a value yet."))
    sheet.sheet(blocks, key="state", scope=view.id, stamp=view.id, on_pick=lambda: pick(here, view))


def entry_row(here: Tab, view: CheckpointView, entry: StateEntry) -> dict[str, Any]:
    """Return one key's row, with the values that the person asked to see in full."""
    return {
        "key": entry.key,
        "value": whole(here, view, entry.value),
        "changed": entry.changed,
        "by": grouped(entry.writers),
        "version": entry.version.split(".")[0].lstrip("0") or entry.version,
    }


def whole(here: Tab, view: CheckpointView, value: ValueView) -> dict[str, Any] | None:
    """Return the value as the browser draws it; cut parts can be asked for by their path."""
    if value.hidden and (view.id, path_text(value.path)) in here.full:
        value = here.see(here.session.value, value.path, checkpoint=view.id, full=True) or value
    drawn = sheet.node(value)
    if drawn is not None:
        if value.hidden and value.path:
            drawn["p"] = path_text(value.path)
        if value.path and len(value.path) <= why.DEEPEST:
            drawn["w"] = path_text(value.path)
        if value.path and (value.rich is not None or (value.children and len(value.path) == 1)):
            fitting.fit(here, view, value, drawn)
        if value.children and "b" not in drawn:
            drawn["c"] = [[child.key, whole(here, view, child.value)] for child in value.children]
    return drawn


def path_text(path: Path) -> str:
    """Return a path as text, and `json.loads` gives it back."""
    return json.dumps(list(path))


def pick(here: Tab, view: CheckpointView) -> None:
    """Show a value in full that was cut."""
    picked = component_state("state").get("picked") or {}
    if picked.get("act") == "why":
        why.ask(here, str(picked.get("value")))
    if picked.get("act") == "watch":
        watch(here, str(picked.get("value")))
    fitting.pick(here, view, picked)
    if picked.get("act") == "full":
        here.full.add((view.id, str(picked.get("value"))))


def watch(here: Tab, path: str) -> None:
    """Show the value at a path, given as text, in every row of the timeline."""
    here.act(here.session.add_watch, expression_at(tuple(json.loads(path))))
