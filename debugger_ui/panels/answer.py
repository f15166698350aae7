"""Answering questions: the payload, an input that fits its shape, and what an answer runs again.

Rule: an answer names the checkpoint at which its question was shown, so that the session can refuse
one that comes too late instead of applying it elsewhere.
"""

import json
from collections.abc import Callable

import streamlit as st

from debugger_ui.components import sheet
from debugger_ui.components.editor import json_editor, typed
from debugger_ui.components.text import count, markdown, slug, visible
from debugger_ui.panels.tab import Tab
from debugger_ui.session.questions import JsonText
from debugger_ui.session.views import CheckpointView, QuestionView

RUN_ON = "answer_run_on"
BUTTONS_AT_MOST = 6
EDITOR_HEIGHT = 96
LONG = 160
"""Characters of a question that still stand beside its chip."""


def questions(here: Tab, view: CheckpointView) -> None:
    """Draw the pending questions, each with its own input."""
    ability = here.session.abilities().answer
    for question in view.questions:
        with st.container(key=f"question_{question.id}", border=True, gap="small"):
            sheet.sheet(blocks(question), key=f"question_sheet_{question.id}", scope=view.id)
            if ability.allowed:
                form(here, view, question)
    if not ability.allowed:
        sheet.sheet([sheet.note(ability.reason, "warn")], key="cannot_answer")
        return
    if len(view.questions) > 1:
        st.button(
            f"Answer all {len(view.questions)}",
            key="answer_all",
            type="primary",
            on_click=send,
            args=(here, view, [(question, box_text(question)) for question in view.questions]),
        )
    st.toggle("Run on after answering", value=True, key=RUN_ON, help="Off: run only the superstep that waits")


def blocks(question: QuestionView) -> list[sheet.Block]:
    """Return the question and what answering it does."""
    again = ", ".join(question.reruns) or question.node
    effect = f"Answering runs {again} again from its first line."
    if question.inside:
        effect = f"Answering goes on inside {question.node}, at the node that asked."
    if question.kept:
        kept = sorted(set(question.kept))
        effect += f" {', '.join(kept)} {'is' if len(kept) == 1 else 'are'} saved and not run again."
    made = asked(question, sheet.chip(f"{question.node} asks", "waiting", "waiting"), "question")
    if question.payload.kind != "str":  # a question that is only a text is said already
        made.append(sheet.tree([{"key": "payload", "value": sheet.node(question.payload)}], depth=1))
    return [*made, sheet.text(effect, "small")]


def asked(question: QuestionView, chip: sheet.Item, name: str) -> list[sheet.Block]:
    """Return what was asked: a short question beside its chip, a long one under it, where it can be scrolled."""
    if len(question.prompt) <= LONG and "\n" not in question.prompt:
        return [sheet.bar([chip, sheet.word(question.prompt, "strong wrap")], name=name)]
    return [sheet.bar([chip], name=name), sheet.text(question.prompt, "asked")]


def form(here: Tab, view: CheckpointView, question: QuestionView) -> None:
    """Draw the input that fits the question's shape."""
    labels, _ = options(question)
    if 0 < len(labels) <= BUTTONS_AT_MOST:
        choice(here, view, question)
        with st.expander("Another answer, as JSON", key=f"other_{question.id}"):
            box(question)
            answer_button(here, view, question)
        return
    if question.shape == "form":
        fields(question)
    else:
        box(question)
    answer_button(here, view, question)


def options(question: QuestionView) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the labels of the options and the JSON text that each one answers with."""
    if question.shape == "confirm" and not question.options:
        return ("Yes", "No"), ("true", "false")
    return question.options, question.option_values


def choice(here: Tab, view: CheckpointView, question: QuestionView) -> None:
    """Draw a button per option."""
    with st.container(horizontal=True, gap="small"):
        for i, (label, value) in enumerate(zip(*options(question), strict=True)):
            st.button(
                markdown(label, 60),
                key=f"option_{question.id}_{i}",
                type="primary" if i == 0 else "secondary",
                on_click=send,
                args=(here, view, [(question, lambda text=value: text)]),
            )


def box(question: QuestionView) -> None:
    """Draw the box for a free answer: plain text, a number, or JSON."""
    key = box_key(question)
    if question.shape == "text":
        st.text_area("Answer", key=key, height=80, placeholder="Your answer, as plain text")
        st.toggle(
            "Read it as JSON",
            key=f"json_{question.id}",
            help='On: true, 3 or {"a": 1} are given as a boolean, a number and an object, not as a text.',
        )
    elif question.shape == "number":
        st.text_input("Answer", key=key, placeholder="A number")
    else:
        sheet.sheet([sheet.text("Answer, as JSON", "small")], key=f"{key}_label")
        json_editor("", key=key, rev=question.id, height=EDITOR_HEIGHT, label="Answer as JSON")


def fields(question: QuestionView) -> None:
    """Draw one input per field of the answer's schema."""
    for field in question.fields:
        key = field_key(question, field.key)
        label = f"{visible(field.key)} ({visible(field.type)})"
        if field.options:
            st.selectbox(markdown(label), field.options, key=key)
        else:
            st.text_input(markdown(label), value=field.text, key=key, help=markdown(field.description, 400) or None)


def question_fields(question: QuestionView) -> str:
    """Return the answer of a form as one JSON object, made of what stands in its inputs."""
    parts = []
    for field in question.fields:
        text = str(st.session_state.get(field_key(question, field.key), field.text))
        if text.strip() or field.required:
            parts.append(f"{json.dumps(field.key)}: {json.dumps(text) if field.kind == 'text' else text}")
    return "{" + ", ".join(parts) + "}"


def box_text(question: QuestionView) -> Callable[[], str]:
    """Return a function that reads the question's box when the button is pressed."""

    def read() -> str:
        if question.shape == "form":
            return question_fields(question)
        if question.shape in ("text", "number"):
            text = str(st.session_state.get(box_key(question)) or "")
            return JsonText(text) if st.session_state.get(f"json_{question.id}") else text
        return typed(box_key(question), question.id, "")

    return read


def answer_button(here: Tab, view: CheckpointView, question: QuestionView) -> None:
    """Draw the button that sends what stands in the box."""
    st.button(
        "Answer",
        key=f"send_{question.id}",
        type="secondary" if options(question)[0] else "primary",
        on_click=send,
        args=(here, view, [(question, box_text(question))]),
    )


def send(here: Tab, view: CheckpointView, answers: list[tuple[QuestionView, Callable[[], str]]]) -> None:
    """Give the answers; what is wrong with them becomes the message."""
    texts = {question.id: read() for question, read in answers}
    run_on = bool(st.session_state.get(RUN_ON, True))
    again = any(question.answered for question, _ in answers)
    action = here.session.answer_otherwise if again else here.session.answer
    started = here.act(action, texts, checkpoint=view.id, run=run_on)
    if again:
        return
    if started is not None and len(view.questions) > len(texts):
        here.notice = f"{count(len(view.questions) - len(texts), 'question')} still to answer."


def box_key(question: QuestionView) -> str:
    """Return the key of the question's box."""
    return f"box_{question.id}"


def field_key(question: QuestionView, field: str) -> str:
    """Return the key of one field's input."""
    return f"field_{question.id}_{slug(field)}"
