"""The inspector: State, Diff, Tasks, Superstep, Channels and Edit at the cursor. Only the open tab is drawn."""

import streamlit as st

from debugger_ui.components import sheet
from debugger_ui.panels import channels, diff, edit, superstep, tasks, values, why
from debugger_ui.panels.tab import Tab
from debugger_ui.session.views import CheckpointView

TAB_KEY = "tab"
OPENED, KEPT = "_tab_opened", "_tab_kept"
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


def show(tab: str) -> None:
    """Open a tab for the person."""
    st.session_state[OPENED] = open_tab(), tab
    st.session_state[TAB_KEY] = tab


def open_tab() -> str:
    """Return the open tab: before it is drawn for the first time, the first one."""
    return str(st.session_state.get(TAB_KEY) or STATE)


def keep(drawn: str) -> None:
    """Have the next run take back a late word of the browser: that the tab before the one we opened is open.

    A look from the timer says which tab the browser shows, and may have been on its way when another was opened. A
    person's own choice comes with a run of the page, and never differs from what that has drawn.
    """
    if st.session_state.get(OPENED) == (open_tab(), drawn):
        st.session_state[KEPT] = drawn


def settle() -> None:
    """Take it back, before the tabs are drawn."""
    if kept := st.session_state.pop(KEPT, None):
        st.session_state[TAB_KEY] = kept


def why_not(here: Tab) -> str:
    """Return why there is no checkpoint to look at."""
    if here.see(here.session.spot) is None:
        return "This thread has no checkpoint yet."
    return "This checkpoint cannot be read. Others of this thread may be: choose one in the timeline."


def inspector(here: Tab, view: CheckpointView | None) -> None:
    """Draw the tabs and the content of the open one."""
    tabs = st.tabs(list(PANELS), key=TAB_KEY, on_change="rerun", bind="query-params")
    for tab, panel in zip(tabs, PANELS.values(), strict=True):
        if not tab.open:
            continue
        with tab:
            if view is None:
                nothing = sheet.empty("Nothing to inspect", why_not(here))
                sheet.sheet([nothing], key="nothing_to_inspect")
            else:
                if panel in (values.state, diff.differences):
                    why.card(here, view)
                panel(here, view)
