"""Pending interrupts as questions: what is asked, what kind of answer fits, what answering re-runs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from debugger_ui.engines.base import Question, Record, Task
from debugger_ui.session.codec import to_text
from debugger_ui.session.forms import fields_of_schema, schema_of
from debugger_ui.session.parse import parse_json
from debugger_ui.session.problems import refuse
from debugger_ui.session.reading import Spot
from debugger_ui.session.render import USUAL, view
from debugger_ui.session.shape import safe_repr
from debugger_ui.session.text import literal
from debugger_ui.session.view_actions import FormField
from debugger_ui.session.view_record import QuestionView
from debugger_ui.session.view_values import QuestionShape

PROMPTS = ("question", "message", "prompt", "text", "title", "description", "task", "ask")
OPTIONS = ("options", "choices", "actions", "allowed", "answers")
MAX_OPTIONS = 24


class JsonText(str):
    """An answer that is to be read as JSON, also where a text is what fits the question best."""


def question_view(question: Question, task: Task, record: Record, spot: Spot) -> QuestionView:
    """Return a pending interrupt with what an answer form needs."""
    shape, options, fields = answer_shape(question)
    return QuestionView(
        id=question.id,
        thread=spot.thread,
        checkpoint=record.header.id,
        namespace=spot.namespace,
        task=task.id,
        node=task.name,
        payload=view(question.value, USUAL),
        prompt=_prompt(question.value),
        shape=shape,
        options=tuple(literal(_label(option)) for option in options),
        option_values=tuple(to_text(option) for option in options),
        fields=fields,
        reruns=(task.name,),
        kept=tuple(dict.fromkeys(other.name for other in record.tasks if other.done)),
        created=record.header.created,
        inside=bool(task.namespace),
    )


def answered_views(task: Task, record: Record, spot: Spot) -> tuple[QuestionView, ...]:
    """Return the questions of a task that were answered, with their answers.

    Another answer starts a branch, on which every task of the superstep runs again.
    """
    again = tuple(dict.fromkeys(other.name for other in record.tasks))
    return tuple(
        replace(
            question_view(question, task, record, spot),
            reruns=again,
            kept=(),
            answered=True,
            answer=view(task.answers[n], USUAL) if n < len(task.answers) else None,
        )
        for n, question in enumerate(task.asked)
    )


def answer_shape(question: Question) -> tuple[QuestionShape, Sequence[Any], tuple[FormField, ...]]:
    """Return the shape of the answer that fits, its options if it is a choice, fields if a form."""
    schema = schema_of(question.schema)
    if schema:
        if schema.get("type") == "object" and schema.get("properties"):
            return "form", (), fields_of_schema(schema, None)
        if isinstance(schema.get("enum"), list):
            return "choice", schema["enum"], ()
        simple: dict[str, QuestionShape] = {
            "boolean": "confirm",
            "string": "text",
            "number": "number",
            "integer": "number",
        }
        return simple.get(str(schema.get("type")), "json"), (), ()
    value = question.value
    if isinstance(value, Mapping):
        for key in OPTIONS:
            options = value.get(key)
            if isinstance(options, (list, tuple)) and 0 < len(options) <= MAX_OPTIONS and all(map(_plain, options)):
                return "choice", options, ()
        return "json", (), ()
    return ("text" if isinstance(value, str) else "json"), (), ()


def parse_answer(question: QuestionView, text: str) -> Any:
    """Return the answer that was typed for a question: JSON, but for a question that a plain text fits.

    Raises:
        SessionError: it is empty or is not the JSON that the question's shape needs.
    """
    if not text.strip():
        raise refuse(
            f"The answer for {question.node!r} is empty. Write one; "
            'if an empty text is meant, write "" with its quotes.',
            field=question.id,
        )
    if question.shape == "text" and not isinstance(text, JsonText):
        quoted = text.strip()
        if len(quoted) > 1 and quoted[0] == quoted[-1] == '"':
            try:
                return json.loads(quoted)
            except ValueError:
                return text
        return text
    return parse_json(text, field=question.id)


def _plain(option: Any) -> bool:
    return isinstance(option, (str, int, float, bool)) or option is None


def _label(option: Any) -> str:
    return option if isinstance(option, str) else to_text(option)


def _prompt(value: Any) -> str:
    if isinstance(value, Mapping):
        for key in PROMPTS:
            if isinstance(value.get(key), str) and value[key].strip():
                return literal(value[key], lines=True)
        return ""
    return literal(value, lines=True) if isinstance(value, str) else literal(safe_repr(value))[:200]
