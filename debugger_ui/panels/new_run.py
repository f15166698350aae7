"""New run: give a graph an input, look at the input checkpoint, and step from there."""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from debugger_ui.components import sheet
from debugger_ui.components.editor import json_editor, typed
from debugger_ui.components.picker import Choice, picker
from debugger_ui.components.text import count, markdown, slug, visible
from debugger_ui.panels import dialogs
from debugger_ui.panels.tab import Tab, unexpected
from debugger_ui.session.cursor import Cursor
from debugger_ui.session.problems import SessionError
from debugger_ui.session.session import DebugSession
from debugger_ui.session.views import FormField, RunForm, RunProgress

ASKED = "_new_run_asked"
REFUSED = "_new_run_refused"
THREAD = "new_run_thread"
SUGGESTED = "_suggested_"
NOTHING = "null"
"""What a field without an example starts with; an empty box leaves the key out instead."""
FORM, WHOLE = "Form", "JSON"
EDITOR_HEIGHT = 120


def ask() -> None:
    """Open the dialog in the coming rerun."""
    st.session_state[ASKED] = True


def dialog_if_asked(here: Tab) -> None:
    """Draw the dialog when it was asked for."""
    if st.session_state.pop(ASKED, False):
        dialogs.show("New run", guarded, here, width="medium", position="right")


def guarded(here: Tab) -> None:
    """Draw the dialog; what goes wrong in it is said in it, since it is redrawn without the page."""
    try:
        content(here)
    except SessionError as error:
        sheet.sheet([sheet.problem_note(error.problem)], key="new_run_problem")
    except Exception as error:
        sheet.sheet([sheet.problem_note(unexpected(error))], key="new_run_fault")


def content(here: Tab) -> None:
    """Draw the dialog: graph, thread, input, and the two ways to start."""
    graph = choose_graph(here)
    draft = DebugSession(here.session.workspace, Cursor(graph=graph))
    about = draft.overview()
    sheet.sheet([sheet.text(about.shows, "small")] if about.shows else [], key="new_run_shows")
    form = draft.run_form()
    suggest_thread(graph, form.thread)
    thread = st.text_input("Thread", key=THREAD, help="A new id starts a new thread.")
    how = st.segmented_control("Input as", [FORM, WHOLE], default=FORM, key="new_run_how", required=True)
    as_json = how == WHOLE or not form.fields
    # However many fields there are, what follows them stays where it is.
    with st.container(key="new_run_input"):
        values = whole_input(form, graph) if as_json else form_input(form, graph)
    with st.container(horizontal=True, gap="small"):
        start = st.button("Start", key="start", type="primary", help="Writes the input checkpoint. Runs no node.")
        run = st.button("Start and run", key="start_run", help="Runs to the next question or the end.")
    # Below the buttons: above them their own help, shown while the pointer rests there, would cover it.
    problem = st.session_state.pop(REFUSED, None)
    sheet.sheet([sheet.problem_note(problem)] if problem is not None else [], key="new_run_refused")
    note = sheet.text("Start only saves the input: no node runs until you press Step.", "small")
    sheet.sheet([note], key="start_note")
    if start or run:
        begin(here, draft, (values, thread.strip()), run)


def suggest_thread(graph: str, fresh: str) -> None:
    """Fill the box for the thread with an id for this graph, unless the person has typed one."""
    suggested = st.session_state.setdefault(f"{SUGGESTED}{graph}", fresh)
    ours = {value for key, value in st.session_state.items() if str(key).startswith(SUGGESTED)}
    if st.session_state.get(THREAD) in {None, *ours}:
        st.session_state[THREAD] = suggested


def begin(here: Tab, draft: DebugSession, given: tuple[Mapping[str, str] | str, str], run: bool) -> None:
    """Start the run and close the dialog; a refusal is shown in it, and what was typed stays."""
    values, thread = given
    if here.act(start_run, here, draft, values, thread, run) is None:
        st.session_state[REFUSED], here.problem = here.problem, None
        st.rerun(scope="fragment")
    for key in [key for key in st.session_state if str(key).startswith(SUGGESTED)]:
        del st.session_state[key]
    st.rerun()


def start_run(here: Tab, draft: DebugSession, values: Mapping[str, str] | str, thread: str, run: bool) -> RunProgress:
    """Start the run in the tab's own session, in the graph that the dialog was about."""
    before = here.session.cursor
    here.session.cursor = draft.cursor
    try:
        return here.session.new_run(values, thread=thread, run=run)
    except SessionError:
        here.session.cursor = before
        raise


def choose_graph(here: Tab) -> str:
    """Draw the choice of the graph, when there are several; return the chosen one."""
    overview = here.session.overview()
    if len(overview.graphs) < 2:
        return here.session.cursor.graph
    options = [(graph, visible(graph, 60)) for graph in overview.graphs]
    choice = Choice(options, overview.graph, "Graph", rev=overview.graph)
    with st.container(gap="xxsmall", key="new_run_graph_field"):
        sheet.sheet([sheet.bar([sheet.word("Graph")])], key="new_run_graph_label")
        return picker(choice, key="new_run_graph") or overview.graph


def form_input(form: RunForm, graph: str) -> dict[str, str]:
    """Draw the fields: first those that are needed or that the example fills; return their texts."""
    fields = [field if field.text != NOTHING else replace(field, text="") for field in form.fields]
    first = [field for field in fields if field.required or field.text]
    rest = [field for field in fields if field not in first]
    values = {field.key: field_input(field, graph) for field in first or rest}
    if first and rest:
        with st.expander(f"{count(len(rest), 'optional field')}", key="new_run_more"):
            values |= {field.key: field_input(field, graph) for field in rest}
    return values


def field_input(field: FormField, graph: str) -> str:
    """Draw one field of the input; return its text."""
    key = f"input_{slug(graph)}_{slug(field.key)}"
    label = markdown(field.key) + ("" if field.required else " (optional)")
    about = markdown(f"{field.type}. {field.description}".strip(". "), 400) or None
    if field.options:
        options = field.options if field.required or field.text else ("", *field.options)
        at = options.index(field.text) if field.text in options else 0
        return str(st.selectbox(label, options, index=at, key=key, help=about))
    if field.kind == "json":
        name = field.key if field.required else f"{field.key} (optional)"
        with st.container(gap="xxsmall", key=f"field_{key}"):
            sheet.sheet(
                [sheet.bar([sheet.word(name), sheet.word(f"{field.type}, as JSON", "label")])], key=f"label_{key}"
            )
            rev = f"{graph}:{field.key}"
            return json_editor(field.text, key=key, rev=rev, height=EDITOR_HEIGHT, label=visible(field.key))
    if field.kind == "text":
        return str(st.text_area(label, value=field.text, key=key, height=68, help=about))
    return str(st.text_input(label, value=field.text, key=key, help=about))


def whole_input(form: RunForm, graph: str) -> str:
    """Draw the editor for the whole input; return its text."""
    key, rev = f"input_{slug(graph)}", f"whole:{graph}"
    json_editor(form.example or "{}", key=key, rev=rev, height=2 * EDITOR_HEIGHT, label="Input as JSON")
    return typed(key, rev, form.example or "{}")
