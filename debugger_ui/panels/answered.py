"""Questions of a superstep that were answered: what was said, and the way to another answer on a branch of its own."""

import streamlit as st

from debugger_ui.components import sheet
from debugger_ui.components.timeline import grouped
from debugger_ui.panels import answer
from debugger_ui.panels.tab import Tab
from debugger_ui.session.views import Ability, CheckpointView, QuestionView


def questions(here: Tab, view: CheckpointView) -> None:
    """Draw the questions that were answered at the checkpoint, each with its answer."""
    found = [question for task in view.tasks for question in task.answered]
    if not found:
        return
    ability = here.session.abilities().answer_again
    for question in found:
        with st.container(key=f"answered_{question.id}", border=True, gap="small"):
            sheet.sheet(blocks(question, ability), key=f"answered_sheet_{question.id}", scope=view.id)
            if ability.allowed and st.toggle("Answer otherwise", key=f"otherwise_{view.id}_{question.id}"):
                answer.form(here, view, question)


def blocks(question: QuestionView, ability: Ability) -> list[sheet.Block]:
    """Return the question, its answer, and what another one would do."""
    effect = ability.reason
    if ability.allowed:
        effect = f"Another answer starts a branch beside this one; {grouped(question.reruns)} run again there."
        if len(question.reruns) == 1:
            effect = effect.replace(" run again", " runs again")
    answered = sheet.value_item(question.answer) if question.answer else sheet.word("not in the record", "muted")
    return [
        *answer.asked(question, sheet.chip(f"{question.node} asked", "", "done"), "answered"),
        sheet.bar([sheet.word("answered with", "label"), answered]),
        sheet.text(effect, "small"),
    ]
