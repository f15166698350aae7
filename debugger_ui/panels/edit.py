"""The Edit tab: change state keys at any checkpoint, see what would come of it, save it as a branch.

Rule: saving runs nothing; only the button that says so also steps.
"""

import streamlit as st

from debugger_ui.components import sheet
from debugger_ui.components.editor import json_editor, typed
from debugger_ui.components.picker import Choice, picker
from debugger_ui.components.text import markdown, slug, visible
from debugger_ui.components.timeline import grouped
from debugger_ui.panels.tab import Tab
from debugger_ui.session.views import CheckpointView, Edit, EditField, EditForm, EditPreview, Saved

OVERWRITE, APPEND = "overwrite", "append"
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
    keys = choose_keys(form)
    author = choose_author(form)
    edits = [edit_key(form, field) for field in form.fields if field.key in keys]
    preview = here.see(here.session.preview_edit, edits, author)
    if preview is not None:
        sheet.sheet(outcome(preview, edits), key="preview", stamp=f"{form.base}:{author}:{len(edits)}")
    save_buttons(here, view, edits, author, preview)


def choose_keys(form: EditForm) -> list[str]:
    """Draw a pill per state key; return the keys that are pressed, which are those to change."""
    fields = {field.key: field for field in form.fields}
    chosen = st.pills(
        "Change",
        list(fields),
        selection_mode="multi",
        key=f"edit_keys_{form.base}",
        format_func=lambda key: markdown(key, 60),
    )
    return [key for key in chosen if key in fields]


def choose_author(form: EditForm) -> str:
    """Draw the choice of the node that the edit is written as; return it.

    What runs next is what would run had this node just returned these values.
    """
    value = form.author if form.author in form.authors else None
    options = [(node, visible(node, 60)) for node in form.authors]
    choice = Choice(options, value, "Write as", "Choose the node that this is written as", form.base)
    with st.container(horizontal=True, vertical_alignment="center", key="edit_author_row"):
        sheet.line(sheet.bar([sheet.word("Write as", "label")]), key="edit_author_label", height=32, width="content")
        return picker(choice, key="edit_author") or ""


def edit_key(form: EditForm, field: EditField) -> Edit:
    """Draw one key's editor; return the edit as it stands."""
    with st.container(gap="xsmall", key=f"edit_field_{slug(field.key)}"):
        mode = OVERWRITE
        with st.container(horizontal=True, vertical_alignment="center", key=f"edit_head_{slug(field.key)}"):
            sheet.line(field_title(field), key=f"edit_title_{slug(field.key)}", height=28)
            if field.reducer and field.editable:
                mode = str(
                    st.segmented_control(
                        "Mode",
                        [OVERWRITE, APPEND],
                        default=OVERWRITE,
                        key=f"edit_mode_{form.base}_{slug(field.key)}",
                        label_visibility="collapsed",
                        required=True,
                    )
                )
        text = start_text(field, mode)
        key, rev = f"editor_{slug(field.key)}", f"{form.base}:{field.key}:{mode}"
        if field.editable:
            text = json_editor(
                text, key=key, rev=rev, height=editor_height(text), label=f"{visible(field.key)} as JSON"
            )
        else:
            sheet.sheet([sheet.note(field.reason, "warn"), sheet.pre(field.text)], key=f"edit_fixed_{slug(field.key)}")
    return Edit(field.key, text, "append" if mode == APPEND else "overwrite")


def field_title(field: EditField) -> sheet.Block:
    """Return the key, its type and its reducer in one row."""
    return sheet.bar(
        [
            sheet.word(field.key, "mono strong"),
            sheet.word(field.type, "muted"),
            sheet.word(f"reducer {field.reducer}", "mono muted") if field.reducer else None,
            sheet.chip("no value yet") if field.empty else None,
        ]
    )


def start_text(field: EditField, mode: str) -> str:
    """Return what the editor starts with: the value, or an empty list to append."""
    if mode == APPEND:
        return "[]" if field.text.lstrip().startswith("[") or field.empty else field.text
    return field.text


def editor_height(text: str) -> int:
    """Return a height that shows a short value whole."""
    return max(LOWEST, min(HIGHEST, (text.count("\n") + 1) * LINE + FRAME))


def outcome(preview: EditPreview, edits: list[Edit]) -> list[sheet.Block]:
    """Return what saving would do."""
    if preview.problems:
        return [sheet.problem_note(problem, name="edit-problem") for problem in preview.problems]
    blocks: list[sheet.Block] = []
    changes = [one for one in preview.outcomes if one.before != one.after]
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


def save_buttons(here: Tab, view: CheckpointView, edits: list[Edit], author: str, preview: EditPreview | None) -> None:
    """Draw the two ways to save."""
    with st.container(horizontal=True, gap="small", key="edit_buttons"):
        st.button(
            "Save branch",
            key="save_branch",
            type="primary",
            icon=":material/fork_right:",
            help="Writes the edit as a new branch. Runs nothing.",
            on_click=save,
            args=(here, view, edits, author, False),
        )
        st.button(
            "Save and step",
            key="save_and_step",
            icon=":material/skip_next:",
            disabled=preview is None or not preview.next or bool(preview.problems),
            help=markdown("Writes the edit, then runs one superstep."),
            on_click=save,
            args=(here, view, edits, author, True),
        )


def save(here: Tab, view: CheckpointView, shown: list[Edit], author: str, step: bool) -> None:
    """Save the edits as they stand in the editors now, as a branch; then step if asked to."""
    edits = [Edit(one.key, latest(view, one), one.mode) for one in shown]
    saved: Saved | None = here.act(here.session.save_edit, edits, author)
    if saved is None:
        return
    if step:
        here.act(here.session.step)
    else:
        then = grouped(saved.next) or "nothing"
        here.notice = saved.message or f"Saved as a new branch. Nothing has run; Step would run {then}."


def latest(view: CheckpointView, edit: Edit) -> str:
    """Return what stands in the key's editor now: typing may have gone on since it was drawn."""
    return typed(f"editor_{slug(edit.key)}", f"{view.id}:{edit.key}:{edit.mode}", edit.text)
