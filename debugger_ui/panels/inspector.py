"""The inspector: State, Diff, Tasks, Superstep, Channels and Edit at the cursor. Only the open tab is drawn."""

import streamlit as st

from debugger_ui.components import sheet
from debugger_ui.panels import channels, diff, edit, superstep, tasks, values, why
from debugger_ui.panels.tab import Tab
from debugger_ui.session.views import CheckpointView

TAB_KEY = "tab"
STATE, DIFF, TASKS, CHANNELS, EDIT = "State", "Diff", "Tasks", "Channels", "Edit"
SUPERSTEP = "Superstep"
PANELS = {
    STATE: values.state,
    DIFF: diff.differences,
    TASKS: tasks.tasks,
    SUPERSTEP: superstep.superstep,
    CHANNELS: channels.channels,
    EDIT: edit.edit,
}


def inspector(here: Tab, view: CheckpointView | None) -> None:
    """Draw the tabs and the content of the open one."""
    tabs = st.tabs(list(PANELS), key=TAB_KEY, on_change="rerun", bind="query-params")
    for tab, panel in zip(tabs, PANELS.values(), strict=True):
        if not tab.open:
            continue
        with tab:
            if view is None:
                nothing = sheet.empty("Nothing to inspect", "This thread has no checkpoint yet.")
                sheet.sheet([nothing], key="nothing_to_inspect")
            else:
                if panel in (values.state, diff.differences):
                    why.card(here, view)
                panel(here, view)
