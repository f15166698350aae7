"""The Debug page: timeline, graph and inspector around one cursor, all in one window height."""

import streamlit as st

from debugger_ui.components import sheet
from debugger_ui.components.graph import graph
from debugger_ui.components.timeline import Above, Clicks, clock, duration, grouped, timeline
from debugger_ui.panels import branches, inspector, live, transport, watches
from debugger_ui.panels.tab import TIMELINE_PAGE, Tab, state
from debugger_ui.panels.words import short
from debugger_ui.session.views import CheckpointView, RunProgress

COLUMNS = (1.05, 1.7, 1.45)


def page(here: Tab, progress: RunProgress, view: CheckpointView | None) -> None:
    """Draw the page for the cursor's checkpoint."""
    transport.transport(here, progress, view)
    left, middle, right = st.columns(COLUMNS, gap="small")
    with left, st.container(key="timeline_panel"):
        history(here, view)
    with middle, st.container(key="graph_panel"):
        picture(here, view)
    with right, st.container(key="inspector"):
        inspector.inspector(here, view)
    with st.container(key="footer", horizontal=True, vertical_alignment="center", gap="small"):
        sheet.line(footer(view), key="footer_sheet", height=26)
        if view is not None:
            branches.note_popover(here, view)


def history(here: Tab, view: CheckpointView | None) -> None:
    """Draw the timeline of the thread."""
    if view is None and not here.see(here.session.spot):
        hint = "Press New run to give a graph its input." if here.session.abilities().new_run.allowed else ""
        sheet.sheet([sheet.empty("No checkpoint yet", hint, icon="input")], key="no_history", fill=True)
        return
    rows = here.see(here.session.timeline, limit=here.rows, hidden=here.hidden)
    if rows is None:
        return
    timeline(
        rows,
        selected=view.id if view is not None else here.session.cursor.checkpoint,
        answered=str((state("timeline").get("selected") or {}).get("serial", "")),
        clicks=Clicks(
            select=lambda: pick_checkpoint(here),
            older=lambda: show_older(here),
            hidden=lambda: branches.toggle_hidden(here),
            news=lambda: show_news(here),
            unwatch=lambda: watches.forget(here, state("timeline").get("unwatch") or {}),
        ),
        above=Above(branches.hidden_words(rows.hidden, here.hidden), live.words(here.news)),
    )


def pick_checkpoint(here: Tab) -> None:
    """Go to the checkpoint that was clicked."""
    chosen = (state("timeline").get("selected") or {}).get("checkpoint")
    if chosen:
        here.act(here.session.move, checkpoint=chosen)


def show_news(here: Tab) -> None:
    """Go to the newest of what came from elsewhere."""
    here.act(here.session.go_to_news)


def show_older(here: Tab) -> None:
    """Show one page more of the timeline."""
    here.rows += TIMELINE_PAGE


def picture(here: Tab, view: CheckpointView | None) -> None:
    """Draw the graph with its marks at the cursor."""
    shown = here.see(here.session.picture)
    if shown is None:
        sheet.sheet([sheet.empty("No graph to draw", "This checkpoint cannot be read.")], key="no_graph", fill=True)
        return
    if not shown.nodes:
        sheet.sheet([sheet.empty("No graph to draw", "Open one to see it here.")], key="no_graph", fill=True)
        return
    graph(
        shown,
        key="graph",
        selected=selected_node(here),
        stamp=view.id if view else "none",
        on_select=lambda: pick_node(here),
    )


def selected_node(here: Tab) -> str:
    """Return the node that is selected in the graph."""
    return here.node


def pick_node(here: Tab) -> None:
    """Select a node: the inspector shows its tasks. A second click lets go."""
    # A node inside a subgraph is shown by the task that runs it.
    chosen = str((state("graph").get("selected") or {}).get("node", "")).partition("|")[0]
    here.node = "" if chosen == here.node else chosen
    if here.node:
        inspector.show(inspector.TASKS)


def author(view: CheckpointView) -> sheet.Item | None:
    """Return who made the checkpoint; of an edit also that the record does not tell."""
    if view.nodes:
        return sheet.word(grouped(view.nodes), title=grouped(view.nodes), name="by")
    if view.source == "update":
        return sheet.word("not recorded", "muted", title="Several nodes could have made this edit", name="by")
    return None


def footer(view: CheckpointView | None) -> sheet.Block:
    """Return where the cursor is, in one line."""
    if view is None:
        return sheet.bar([sheet.word("no checkpoint", "muted")], name="footer")
    parts = [
        ("checkpoint", sheet.word(short(view.id), "mono", title=view.id, name="checkpoint")),
        ("parent", sheet.word(short(view.parent) or "none", "mono", title=view.parent)),
        ("superstep", sheet.word(str(view.step), "mono")),
        ("source", sheet.word(view.source)),
        ("by", author(view)),
        ("next", sheet.word(grouped(view.next) or "nothing", title=grouped(view.next), name="next")),
        ("since parent", sheet.word(duration(view.milliseconds)) if view.milliseconds is not None else None),
        ("saved", sheet.word(clock(view.created), title=clock(view.created, date=True))),
        ("note", sheet.word(view.note, title=view.note, name="note") if view.note else None),
    ]
    items: list[sheet.Item] = []
    for label, item in parts:
        if item is not None:
            items += [sheet.word(label, "label"), item, sheet.word("·", "sep")]
    return sheet.bar(items[:-1], name="footer")
