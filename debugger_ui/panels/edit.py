"""The Edit tab: change state keys at any checkpoint, see what would come of it, save it as a branch.

Rule: saving runs nothing; only the button that says so also steps.
"""

import re

import streamlit as st

from debugger_ui.components import sheet
from debugger_ui.components.editor import json_editor, typed
from debugger_ui.components.picker import Choice, picked, picker
from debugger_ui.components.text import markdown, slug, visible
from debugger_ui.components.timeline import grouped
from debugger_ui.panels.tab import Tab
from debugger_ui.session.views import CheckpointView, Edit, EditField, EditForm, EditPreview, Problem, Saved

OVERWRITE, APPEND = "overwrite", "append"
AUTHOR = "edit_author"
NAME_LIMIT = 200
EMPTY_KEY = '""'
"""How a key is shown that has no character."""
LINE, FRAME, LOWEST, HIGHEST = 19, 26, 130, 260


def edit(here: Tab, view: CheckpointView) -> None:
    """Draw the editor for the checkpoint under the cursor."""
    ability = here.session.abilities().edit
    if not ability.allowed:
        nothing = sheet.empty("The state cannot be edited here", ability.reason, icon="lock")
        sheet.sheet([nothing], key="cannot_edit")
        return
    form = here.see(here.session.edit_form)
    if form is None:
        return
    choose_keys(form)
    choose_author(form)
    for field in chosen_fields(form):
        draw_field(form, field)
    edits, author = edits_now(form), author_now(form)
    preview = here.see(here.session.preview_edit, edits, author)
    if preview is not None:
        sheet.sheet(outcome(preview, edits), key="preview", stamp=f"{form.base}:{author}:{len(edits)}")
    if not view.head:
        name_box(form)
    save_buttons(here, form, preview)


def choose_keys(form: EditForm) -> None:
    """Draw a pill per state key; those that are pressed are to change."""
    st.pills(
        "Change",
        [field.key for field in form.fields],
        selection_mode="multi",
        key=keys_key(form),
        format_func=lambda key: markdown(key, 60) or EMPTY_KEY,
    )


def choose_author(form: EditForm) -> None:
    """Draw the choice of the node that the edit is written as.

    What runs next is what would run had this node just returned these values.
    """
    with st.container(horizontal=True, vertical_alignment="center", key="edit_author_row"):
        sheet.line(sheet.bar([sheet.word("Write as", "label")]), key="edit_author_label", height=32, width="content")
        picker(author_choice(form), key=AUTHOR)


def draw_field(form: EditForm, field: EditField) -> None:
    """Draw one key's editor."""
    with st.container(gap="xsmall", key=f"edit_field_{slug(field.key)}"):
        with st.container(horizontal=True, vertical_alignment="center", key=f"edit_head_{slug(field.key)}"):
            sheet.line(field_title(field), key=f"edit_title_{slug(field.key)}", height=28)
            if field.reducer and field.editable:
                st.segmented_control(
                    "Mode",
                    [OVERWRITE, APPEND],
                    default=OVERWRITE,
                    key=mode_key(form, field),
                    label_visibility="collapsed",
                    required=True,
                )
        if not field.editable:
            sheet.sheet([sheet.note(field.reason, "warn")], key=f"edit_fixed_{slug(field.key)}")
            return
        mode = mode_now(form, field)
        text = start_text(field, mode)
        json_editor(
            text,
            key=editor_key(field),
            rev=rev(form, field, mode),
            height=editor_height(text),
            label=f"{visible(field.key)} as JSON",
        )


def edits_now(form: EditForm) -> list[Edit]:
    """Return the edits as they stand in the page now; a field that cannot be edited is only looked at."""
    return [edit_now(form, field) for field in chosen_fields(form) if field.editable]


def edit_now(form: EditForm, field: EditField) -> Edit:
    """Return one key's edit as it stands in its editor now."""
    mode = mode_now(form, field)
    text = typed(editor_key(field), rev(form, field, mode), start_text(field, mode))
    return Edit(field.key, text, "append" if mode == APPEND else "overwrite")


def chosen_fields(form: EditForm) -> list[EditField]:
    """Return the fields whose pills are pressed."""
    chosen = st.session_state.get(keys_key(form)) or ()
    return [field for field in form.fields if field.key in chosen]


def author_now(form: EditForm) -> str:
    """Return the node that is chosen as the author."""
    return picked(AUTHOR, author_choice(form)) or ""


def author_choice(form: EditForm) -> Choice:
    """Return the authors that can be had, the runtime's own choice first shown."""
    value = form.author if form.author in form.authors else None
    options = [(node, visible(node, 60)) for node in form.authors]
    return Choice(options, value, "Write as", "Choose the node that this is written as", form.base)


def mode_now(form: EditForm, field: EditField) -> str:
    """Return whether the key's value is overwritten or appended to."""
    return str(st.session_state.get(mode_key(form, field)) or OVERWRITE)


def keys_key(form: EditForm) -> str:
    """Return the key of the pills."""
    return f"edit_keys_{form.base}"


def mode_key(form: EditForm, field: EditField) -> str:
    """Return the key of a field's mode."""
    return f"edit_mode_{form.base}_{slug(field.key)}"


def name_key(form: EditForm) -> str:
    """Return the key of the box for the new branch's name."""
    return f"edit_name_{form.base}"


def editor_key(field: EditField) -> str:
    """Return the key of a field's editor."""
    return f"editor_{slug(field.key)}"


def rev(form: EditForm, field: EditField, mode: str) -> str:
    """Return what the text in a field's editor belongs to."""
    return f"{form.base}:{field.key}:{mode}"


def field_title(field: EditField) -> sheet.Block:
    """Return the key, its type and its reducer in one row."""
    return sheet.bar(
        [
            sheet.word(field.key, "mono strong"),
            sheet.word(short_type(field.type), "muted", title=field.type),
            sheet.word(field.reducer, "muted", title=f"reducer {field.reducer}") if field.reducer else None,
            sheet.chip("no value yet") if field.empty else None,
            sheet.chip("masked", "", "lock", title="Leave the mark to keep the value, or write a new one over it")
            if field.masked
            else None,
        ]
    )


def short_type(name: str) -> str:
    """Return a type without the modules of its parts: `list[app.state.Finding]` as `list[Finding]`."""
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", name)


def start_text(field: EditField, mode: str) -> str:
    """Return what the editor starts with: the value, or an empty list to append."""
    if mode == APPEND:
        return "[]" if field.text.lstrip().startswith("[") or field.empty or field.masked else field.text
    return field.text


def editor_height(text: str) -> int:
    """Return a height that shows a short value whole."""
    return max(LOWEST, min(HIGHEST, (text.count("\n") + 1) * LINE + FRAME))


def outcome(preview: EditPreview, edits: list[Edit]) -> list[sheet.Block]:
    """Return what saving would do."""
    if preview.problems:
        return [problem_block(problem) for problem in preview.problems]
    blocks: list[sheet.Block] = []
    changes = [one for one in preview.outcomes if one.changed]
    if changes:
        rows = [{"key": one.key, "value": sheet.node(one.after), "by": ""} for one in changes]
        blocks.append(sheet.section("Becomes", [sheet.tree(rows, depth=1)], folded=True, count=len(changes)))
    elif edits:
        blocks.append(sheet.text("As typed, no value changes.", "small"))
    then = grouped(preview.next) or "nothing"
    line = [
        sheet.word("Saving runs nothing. Then Step would run", "muted"),
        sheet.word(then, "strong", name="would-run"),
    ]
    blocks.append(sheet.bar(line, name="preview"))
    if preview.asks_again:
        blocks.append(sheet.text(f"{', '.join(preview.asks_again)} would ask again.", "small"))
    return blocks


def problem_block(problem: Problem) -> sheet.Block:
    """Return what is in the way of saving; an author that is still to be chosen is no error yet."""
    if problem.field == "author":
        return sheet.note(problem.message, "info", name="edit-problem")
    return sheet.problem_note(problem, name="edit-problem")


def name_box(form: EditForm) -> None:
    """Draw the box for the new branch's name; after the newest checkpoint an edit goes on on its branch."""
    st.text_input(
        "Branch name",
        key=name_key(form),
        placeholder="Name of the branch, if it is to have one",
        label_visibility="collapsed",
        max_chars=NAME_LIMIT,
    )


def save_buttons(here: Tab, form: EditForm, preview: EditPreview | None) -> None:
    """Draw the two ways to save."""
    with st.container(horizontal=True, gap="small", key="edit_buttons"):
        st.button(
            "Save branch",
            key="save_branch",
            type="primary",
            icon=":material/fork_right:",
            help="Writes the edit as a new branch. Runs nothing.",
            on_click=save,
            args=(here, form, False),
        )
        st.button(
            "Save and step",
            key="save_and_step",
            icon=":material/skip_next:",
            disabled=preview is None or not preview.next or bool(preview.problems),
            help=markdown("Writes the edit, then runs one superstep."),
            on_click=save,
            args=(here, form, True),
        )


def save(here: Tab, form: EditForm, step: bool) -> None:
    """Save the edits as a branch, then step if asked to.

    They are read now and not when the button was drawn: a choice or a letter may have come in between.
    """
    name = str(st.session_state.get(name_key(form)) or "")
    saved: Saved | None = here.act(here.session.save_edit, edits_now(form), author_now(form), name)
    if saved is None:
        return
    if step:
        here.act(here.session.step)
    else:
        then = grouped(saved.next) or "nothing"
        here.notice = saved.message or f"Saved as a new branch. Nothing has run; Step would run {then}."
