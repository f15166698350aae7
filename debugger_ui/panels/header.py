"""The header: what is open, which thread and branch, how it stands, and what can be changed."""

import re

import streamlit as st

from debugger_ui.components import sheet
from debugger_ui.components.picker import Choice, picker
from debugger_ui.components.text import markdown, visible
from debugger_ui.panels import branches, compare_choice, help_page, nested, new_run
from debugger_ui.panels.tab import Tab, state
from debugger_ui.panels.words import STATUS, status_chip
from debugger_ui.session.views import CheckpointView, Overview, ThreadRow

DEBUG, THREADS, INBOX, COMPARE = "Debug", "Threads", "Inbox", compare_choice.COMPARE
PICKER_ROWS = 200
THREAD_PICKER, BRANCH_PICKER = "thread_picker", "branch_picker"


def page() -> str:
    """Return which page is shown."""
    return str(st.session_state.get("page") or st.query_params.get("page") or DEBUG)


def header(here: Tab, view: CheckpointView | None) -> None:
    """Draw the header row; `view` is the checkpoint under the cursor, if there is one."""
    overview = here.recall("overview", here.session.overview)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="header"):
        sheet.line(brand(overview), key="brand", height=34, width="content")
        thread_picker(here)
        branch_picker(here)
        compare_choice.entry(here)
        branches.popover(here)
        nested.crumbs(here, here.nesting)
        with st.container(key="header_line"):
            inside = here.nesting is not None and len(here.nesting.crumbs) > 1
            sheet.line(standing(overview, view, inside=inside), key="standing", height=34)
        st.segmented_control(
            "Page",
            [DEBUG, THREADS, INBOX, COMPARE],
            key="page",
            default=DEBUG,
            label_visibility="collapsed",
            bind="query-params",
            required=True,
        )
        ability = here.session.abilities().new_run
        st.button(
            "New run",
            key="new_run",
            icon=":material/add:",
            shortcut="N",
            disabled=not ability.allowed,
            help=None if ability.allowed else markdown(ability.reason, 400),
            on_click=new_run.ask,
        )
        st.button("Help", key="help", icon=":material/help:", shortcut="H", on_click=help_page.ask)
    new_run.dialog_if_asked(here)
    help_page.dialog_if_asked()


def brand(overview: Overview) -> sheet.Block:
    """Return the product and the graph in one row."""
    name = overview.graph or "from the record"
    about = overview.shows if overview.graph else "drawn from a database alone"
    return sheet.bar(
        [sheet.word("Forkpoint", "brand"), sheet.word("/", "sep"), sheet.word(name, "strong", title=about)],
        name="brand",
    )


def standing(overview: Overview, view: CheckpointView | None, *, inside: bool = False) -> sheet.Block:
    """Return how the checkpoint stands, whether anything can be changed, and, where there is room, the database."""
    items: list[sheet.Item | None] = []
    if view is not None:
        if view.head or view.status != "done":  # as in the timeline: "finished" is said of the end of a branch
            items.append(status_chip(view.status, len(view.questions)))
        if not view.head:
            items.append(sheet.chip("not the newest", "edit", "fork", title="Step from here starts a branch"))
    if overview.read_only:
        items.append(sheet.chip("read-only", "warn", "lock", title=overview.read_only_reason, name="read-only"))
    if not inside:  # the way into a subgraph takes the room
        name = database_name(overview.database)
        items += [sheet.gap(), sheet.word(name, "mono muted", title=overview.database, name="database")]
    return sheet.bar(items, name="standing")


def database_name(database: str) -> str:
    """Return a file's name without its folders, and anything else as it is."""
    return database if "://" in database else re.split(r"[/\\]", database)[-1]


def thread_picker(here: Tab) -> None:
    """Draw the choice of the thread: the newest ones, and the one that is open."""
    found = here.see(here.recall, "threads", lambda: here.session.threads(limit=PICKER_ROWS))
    rows = {row.id: row for row in found.rows} if found else {}
    current = here.session.cursor.thread
    threads = list(rows) if current in rows or not current else [current, *rows]
    choice = Choice(
        options=[(thread, thread_label(thread, rows.get(thread))) for thread in threads],
        value=current or None,
        label="Thread",
        placeholder="No thread yet",
    )
    picker(choice, key=THREAD_PICKER, width=230, on_pick=lambda: pick_thread(here))


def thread_label(thread: str, row: ThreadRow | None) -> str:
    """Return a thread's line in the picker: its id or title, and how it stands."""
    name = visible((row.title if row else "") or thread, 60)
    return f"{name}  ·  {STATUS.get(row.status, (row.status, ''))[0]}" if row else name


def pick_thread(here: Tab) -> None:
    """Open the chosen thread."""
    chosen = (state(THREAD_PICKER).get("picked") or {}).get("value")
    if chosen:
        open_thread(here, chosen)


def open_thread(here: Tab, thread: str) -> None:
    """Open a thread at its newest checkpoint."""
    here.node = ""
    here.act(here.session.move, thread=thread)


def branch_picker(here: Tab) -> None:
    """Draw the choice of the branch; a thread with a single one to show needs none."""
    found = (here.see(here.session.branches) or ()) if here.session.cursor.thread else ()
    shown = [branch for branch in found if branch.current or here.hidden or not branch.hidden]
    if len(shown) < 2:
        return
    choice = Choice(
        options=[(branch.id, branch.name) for branch in shown],
        value=next((branch.id for branch in shown if branch.current), None),
        label="Branch",
    )
    picker(choice, key=BRANCH_PICKER, width=150, on_pick=lambda: pick_branch(here))


def pick_branch(here: Tab) -> None:
    """Go to the head of the chosen branch."""
    chosen = (state(BRANCH_PICKER).get("picked") or {}).get("value")
    if chosen:
        here.act(here.session.move, branch=chosen)
