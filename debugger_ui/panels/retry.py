"""A superstep that failed with some of its tasks saved: which are kept, which run again, and the way to do it."""

import streamlit as st

from debugger_ui.components import sheet
from debugger_ui.components.text import markdown
from debugger_ui.components.timeline import grouped
from debugger_ui.panels.tab import Tab
from debugger_ui.session.views import CheckpointView, Missing


def offer(here: Tab, view: CheckpointView) -> None:
    """Draw the offer where a superstep has failed at the head of its branch."""
    found = here.see(here.session.missing)
    if found is None or found.checkpoint != view.id:
        return
    step, busy = here.session.abilities().step, here.session.progress().busy
    with st.container(key="retry", border=True, gap="small"):
        sheet.sheet(blocks(view, found), key="retry_about", scope=view.id)
        st.button(
            label(found),
            key="retry_missing",
            type="primary",
            icon=":material/replay:",
            disabled=busy or not step.allowed,
            help=markdown(step.reason, 400) if step.reason else None,
            on_click=here.act,
            args=(here.session.step, view.id),
        )


def label(found: Missing) -> str:
    """Return what the button does."""
    if not found.saved:
        return "Retry"
    return "Retry only the missing" if found.keeps else "Retry all tasks"


def blocks(view: CheckpointView, found: Missing) -> list[sheet.Block]:
    """Return what failed, what is saved, and what runs again."""
    total = len(found.saved) + len(found.again) + len(found.waiting)
    what = (
        f"The update of superstep {view.step + 1} was refused" if found.refused else f"Superstep {view.step + 1} failed"
    )
    title = f"{what}: {len(found.saved)} of {total} tasks are saved"
    rows = [sheet.bar([sheet.chip("failed", "failed", "failed"), sheet.word(title, "strong wrap")], name="retry")]
    if found.saved:
        kept = "saved, not run again" if found.keeps else "saved, but run again since another branch is newer"
        rows.append(sheet.bar([sheet.word(kept, "label"), sheet.word(grouped(found.saved), "mono", name="saved")]))
    rows.append(sheet.bar([sheet.word("runs again", "label"), sheet.word(grouped(found.again), "mono", name="again")]))
    return rows
