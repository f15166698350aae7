"""The Threads page: find a thread by how it stands or by what is in it."""

import pandas as pd
import streamlit as st

from debugger_ui.components import sheet
from debugger_ui.components.text import count, size
from debugger_ui.components.timeline import clock, grouped
from debugger_ui.panels import header, inspector
from debugger_ui.panels.tab import Tab, state
from debugger_ui.panels.words import STATUS, damage, status_chip
from debugger_ui.session.text import clip, literal
from debugger_ui.session.views import Page, ThreadRow

PAGE = 50
NAME_LIMIT = 120
ANY = "all"
STATUSES = (ANY, "waiting", "failed", "running", "ready", "done")
COLUMNS = (
    sheet.column("id", "Thread", width="27%"),
    sheet.column("status", "Status", width="14%"),
    sheet.column("last", "Last node", width="20%"),
    sheet.column("steps", "Step", align="right", width="5%"),
    sheet.column("checkpoints", "Checkpoints", align="right", width="8%"),
    sheet.column("branches", "Branches", align="right", width="7%"),
    sheet.column("size", "Size", align="right", width="7%"),
    sheet.column("updated", "Updated", align="right", width="12%"),
)
SNIPPET = """from runtime.checkpoint.sqlite import SqliteSaver

with SqliteSaver.from_conn_string("agent.sqlite") as saver:
    graph = builder.compile(checkpointer=saver)
    graph.invoke(inputs, {"configurable": {"thread_id": "first"}})"""


def page(here: Tab) -> None:
    """Draw the page."""
    with st.container(key="threads_page"):
        row = st.container(horizontal=True, vertical_alignment="center", gap="small", key="thread_filters")
        with row:
            text, status = filters()
        offset = int(st.session_state.setdefault("threads_offset", 0))
        found = here.see(here.session.threads, status=status, text=text, offset=offset, limit=PAGE)
        with row:
            if found is not None and (found.offset or found.more):
                turn_pages(found)
            st.button(
                "Newest failure", key="newest_failure", icon=":material/error:", on_click=lambda: open_failure(here)
            )
        if found is not None:
            sheet.sheet(blocks(found, text, status), key="threads", on_pick=lambda: pick(here))


def filters() -> tuple[str, str]:
    """Draw the search and the filter; return the text and status that are wanted."""
    text = st.text_input(
        "Search",
        key="thread_search",
        placeholder="Search names, metadata and state",
        help="Looks for the text in ids, names, nodes and metadata, and in the newest state, questions and errors "
        "of the newest 1,000 threads.",
        label_visibility="collapsed",
        on_change=first_page,
        width=320,
    )
    status = st.segmented_control(
        "Status",
        STATUSES,
        default=ANY,
        format_func=status_word,
        key="thread_status",
        label_visibility="collapsed",
        on_change=first_page,
        required=True,
    )
    st.space("stretch")
    return str(text or ""), "" if status == ANY else str(status)


def status_word(status: str) -> str:
    """Return a status as the rows say it."""
    return STATUS[status][0] if status in STATUS else status


def first_page() -> None:
    """Go back to the first page: the filter has changed."""
    st.session_state["threads_offset"] = 0


def blocks(found: Page[ThreadRow], text: str, status: str) -> list[sheet.Block]:
    """Return the table, or what to do when it is empty, below what is damaged."""
    return [*damage(found.damaged), *table(found, text, status)]


def table(found: Page[ThreadRow], text: str, status: str) -> list[sheet.Block]:
    """Return the table, or what to do when it is empty."""
    if not found.rows:
        if text or status:
            named = " and ".join(
                filter(None, [f"status {status_word(status)}" if status else "", f'"{text}"' if text else ""])
            )
            return [sheet.empty("No thread matches", f"Nothing here has {named}. Clear the filter to see all.")]
        about = "The database has the right tables and no checkpoint yet. Press New run, or record one from Python:"
        return [sheet.empty("No threads yet", about, icon="input", code=SNIPPET)]
    columns = [column for column in COLUMNS if column["key"] != "size" or any(row.bytes for row in found.rows)]
    frame = pd.DataFrame([cells(row) for row in found.rows])
    extras = [{"key": row.id, "act": "open", "value": row.id} for row in found.rows]
    total = count(found.total, "thread") if found.total is not None else f"{len(found.rows)} threads on this page"
    return [sheet.table(frame, columns, label="Threads", rows=extras), sheet.text(total, "small")]


def cells(row: ThreadRow) -> dict[str, object]:
    """Return a thread's cells."""
    name = [name_word(row.title or row.id, "strong")]
    if row.title:
        name.append(name_word(row.id, "mono muted"))
    if row.error:
        name.append(sheet.word(row.error, "muted", title=row.error, name="match"))
    if row.match:
        name.append(sheet.word(row.match, "muted", title=row.match, name="match"))
    return {
        "id": name,
        "status": [status_chip(row.status, row.waiting)],
        "last": row.last_node + (f" → {grouped(row.next)}" if row.next else ""),
        "steps": f"{row.steps:,}",
        "checkpoints": f"{row.checkpoints:,}",
        "branches": str(row.branches),
        "size": "" if row.bytes is None else size(row.bytes),
        "updated": clock(row.updated, date=True),
    }


def name_word(name: str, style: str) -> sheet.Item:
    """Return a thread's name or id on one line: what it has of line breaks and blanks is seen, what is long is cut."""
    shown, cut = clip(literal(name), NAME_LIMIT)
    return sheet.word(
        f"{shown}…" if cut else shown if shown.strip() else repr(name), style, title=name[:2_000] if cut else None
    )


def pick(here: Tab) -> None:
    """Open the thread that was clicked in the Debug page."""
    picked = state("threads").get("picked") or {}
    if picked.get("act") == "open":
        st.session_state["page"] = header.DEBUG
        header.open_thread(here, str(picked.get("value")))


def open_failure(here: Tab) -> None:
    """Open the newest thread that failed, at the tasks of the superstep that did."""
    found = here.act(here.session.newest_failure)
    if found is None:
        here.notice = here.notice if here.problem else "No thread stands at a failure."
        return
    st.session_state["page"] = header.DEBUG
    inspector.show(inspector.TASKS)
    header.open_thread(here, found.id)


def turn_pages(found: Page[ThreadRow]) -> None:
    """Draw which part of the list this is, and the buttons to the page before and after."""
    total = "" if found.total is None else f" of {found.total:,}"
    said = f"{found.offset + 1:,}\N{EN DASH}{found.offset + len(found.rows):,}{total}"
    sheet.line(sheet.bar([sheet.word(said, "muted")], name="part"), key="threads_part", height=32, width="content")
    st.button("Newer", key="newer", disabled=not found.offset, on_click=turn, args=(-PAGE,))
    st.button("Older", key="older", disabled=not found.more, on_click=turn, args=(PAGE,))


def turn(by: int) -> None:
    """Go one page on or back."""
    st.session_state["threads_offset"] = max(0, int(st.session_state.get("threads_offset", 0)) + by)
