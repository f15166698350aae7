"""New run: give a graph an input, look at the input checkpoint, and step from there."""

from collections.abc import Mapping

import streamlit as st

from debugger_ui.components import sheet
from debugger_ui.components.editor import json_editor, typed
from debugger_ui.components.text import count, markdown, slug, visible
from debugger_ui.panels.tab import Tab
from debugger_ui.session.views import FormField, RunForm

ASKED = "_new_run_asked"
THREAD = "new_run_thread"
FORM, WHOLE = "Form", "JSON"
EDITOR_HEIGHT = 120


def ask() -> None:
    """Open the dialog in the coming rerun."""
    st.session_state[ASKED] = True


def dialog_if_asked(here: Tab) -> None:
    """Draw the dialog when it was asked for."""
    if st.session_state.pop(ASKED, False):
        st.dialog("New run", width="medium", position="right")(content)(here)


def content(here: Tab) -> None:
    """Draw the dialog: graph, thread, input, and the two ways to start."""
    choose_graph(here)
    form = here.see(here.session.run_form)
    if form is None:
        sheet.sheet([sheet.problem_note(here.problem)] if here.problem else [], key="new_run_problem")
        return
    suggested = st.session_state.setdefault("_suggested_thread", form.thread)
    thread = st.text_input("Thread", value=suggested, key=THREAD, help="A new id starts a new thread.")
    how = st.segmented_control("Input as", [FORM, WHOLE], default=FORM, key="new_run_how", required=True)
    graph = here.session.cursor.graph
    as_json = how == WHOLE or not form.fields
    values = whole_input(form, graph) if as_json else form_input(form, graph)
    problem = st.session_state.pop("_new_run_problem", None)
    if problem is not None:
        sheet.sheet([sheet.problem_note(problem)], key="new_run_refused")
    with st.container(horizontal=True, gap="small"):
        start = st.button("Start", key="start", type="primary", help="Writes the input checkpoint. Runs no node.")
        run = st.button("Start and run", key="start_run", help="Runs to the next question or the end.")
    sheet.sheet(
        [sheet.text("Start only saves the input: nothing has run until you press Step.", "small")], key="start_note"
    )
    if start or run:
        begin(here, values, thread, run)


def begin(here: Tab, values: Mapping[str, str] | str, thread: str, run: bool) -> None:
    """Start the run and close the dialog; a refusal is shown in it, and what was typed stays."""
    started = here.act(here.session.new_run, values, thread=thread.strip(), run=run)
    if started is None:
        st.session_state["_new_run_problem"], here.problem = here.problem, None
        st.rerun(scope="fragment")
    st.session_state.pop("_suggested_thread", None)
    st.rerun()


def choose_graph(here: Tab) -> None:
    """Draw the choice of the graph, when there are several."""
    overview = here.session.overview()
    if len(overview.graphs) < 2:
        return
    chosen = st.selectbox(
        "Graph",
        overview.graphs,
        index=overview.graphs.index(overview.graph) if overview.graph in overview.graphs else 0,
        key="new_run_graph",
        format_func=lambda graph: visible(graph, 60),
    )
    if chosen != overview.graph:
        here.act(here.session.move, graph=chosen)
    shows = here.session.overview().shows if chosen != overview.graph else overview.shows
    if shows:
        sheet.sheet([sheet.text(shows, "small")], key="new_run_shows")


def form_input(form: RunForm, graph: str) -> dict[str, str]:
    """Draw the fields: first those that are needed or that the example fills; return their texts."""
    first = [field for field in form.fields if field.required or field.text]
    rest = [field for field in form.fields if field not in first]
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
        at = field.options.index(field.text) if field.text in field.options else 0
        return str(st.selectbox(label, field.options, index=at, key=key, help=about))
    if field.kind == "json":
        sheet.sheet([sheet.bar([sheet.word(field.key), sheet.word(field.type, "muted")])], key=f"label_{key}")
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
