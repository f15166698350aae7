"""Input forms, questions and the cursor: what a person types, and what a link says."""

from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel

from debugger_ui.engines.base import Question
from debugger_ui.session.cursor import Cursor
from debugger_ui.session.forms import fields_of_schema, parse_fields
from debugger_ui.session.problems import SessionError
from debugger_ui.session.questions import answer_shape, parse_answer
from debugger_ui.session.session import DebugSession
from tests.session.conftest import begin, done, research, step

SCHEMA = {
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer"},
        "score": {"anyOf": [{"type": "number"}, {"type": "null"}]},
        "on": {"type": "boolean", "default": True},
        "kind": {"enum": ["a", "b"]},
        "tags": {"type": "array"},
        "where": {"$ref": "#/$defs/Place"},
    },
    "$defs": {"Place": {"type": "object", "title": "Place"}},
    "required": ["name"],
}


def test_a_schema_becomes_fields_with_the_example_filled_in():
    fields = {field.key: field for field in fields_of_schema(SCHEMA, {"name": "Ada", "age": 3, "tags": ["x"]})}
    assert {key: (field.kind, field.text) for key, field in fields.items()} == {
        "name": ("text", "Ada"),
        "age": ("integer", "3"),
        "score": ("number", ""),
        "on": ("boolean", "true"),
        "kind": ("choice", ""),
        "tags": ("json", '["x"]'),
        "where": ("json", ""),
    }
    assert fields["kind"].options == ('"a"', '"b"')
    assert [field.key for field in fields.values() if field.required] == ["name"]


def test_typed_fields_become_values():
    fields = fields_of_schema(SCHEMA, None)
    texts = {"name": "Ada", "age": "3", "on": "false", "kind": '"b"', "tags": "[1]", "where": "{}", "score": ""}
    assert parse_fields(fields, texts) == {
        "name": "Ada",
        "age": 3,
        "on": False,
        "kind": "b",
        "tags": [1],
        "where": {},
    }


@pytest.mark.parametrize(
    ("texts", "field", "said"),
    [
        ({"name": "A", "age": "x"}, "age", "a JSON value is expected"),
        ({"name": "A", "age": "1.5"}, "age", "whole number"),
        ({"name": "A", "score": "true"}, "score", "a number"),
        ({"name": "A", "on": "1"}, "on", "true or false"),
        ({"name": "A", "tags": '"x"'}, "tags", "a list"),
        ({"name": "A", "where": "[]"}, "where", "an object"),
        ({"name": "A", "nobody": "1"}, "nobody", "no field"),
    ],
)
def test_a_field_that_does_not_fit_is_named(texts, field, said):
    with pytest.raises(SessionError, match=said) as refusal:
        parse_fields(fields_of_schema(SCHEMA, None), texts)
    assert refusal.value.problem.field == field


def test_an_example_that_is_left_alone_goes_in_as_it_is():
    example = {"tags": (1, 2), "name": "x"}
    fields = fields_of_schema(SCHEMA, example)
    assert parse_fields(fields, {field.key: field.text for field in fields if field.text}, example)["tags"] == (1, 2)


# --- questions ------------------------------------------------------------------------------------


class Verdict(BaseModel):
    ok: bool
    why: str = ""


@dataclass
class Note:
    text: str


@pytest.mark.parametrize(
    ("value", "schema", "shape"),
    [
        ("Who are you?", None, "text"),
        ({"question": "x"}, None, "json"),
        ({"options": ["a", "b"]}, None, "choice"),
        ({"options": [{"deep": 1}]}, None, "json"),
        ({"choices": []}, None, "json"),
        (["x"], None, "json"),
        (7, None, "json"),
        ("ok?", bool, "confirm"),
        ("how many?", int, "number"),
        ("who?", str, "text"),
        ("verdict?", Verdict, "form"),
        ("note?", Note, "form"),
        ("which?", {"enum": [1, 2]}, "choice"),
    ],
)
def test_the_shape_of_an_answer_follows_the_question(value, schema, shape):
    assert answer_shape(Question("q", value, schema))[0] == shape


@pytest.mark.parametrize(
    ("shape", "text", "value"),
    [
        ("text", "plain words", "plain words"),
        ("text", '"quoted"', "quoted"),
        ("text", '""', ""),
        ("text", "42", "42"),
        ("json", '{"a": 1}', {"a": 1}),
        ("choice", '"approve"', "approve"),
        ("confirm", "false", False),
    ],
)
def test_an_answer_is_read_by_its_shape(shape, text, value):
    question = SimpleNamespace(shape=shape, id="q", node="n")
    assert parse_answer(question, text) == value


# --- new runs -------------------------------------------------------------------------------------


def test_the_form_offers_the_input_with_the_example(session):
    form = session.run_form()
    assert {field.key: field.text for field in form.fields}["question"] == "bridge or ferry?"
    assert form.example == '{"question": "bridge or ferry?"}'
    assert form.thread.startswith("sample-")
    assert form.thread != session.run_form().thread


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "empty"),
        ("[]", "not list"),
        ("null", "not NoneType"),
        ('"text"', "not str"),
        ('{"question": ', "still open|JSON value is expected"),
        ({}, "input is empty"),
        ({"nobody": "1"}, "no field 'nobody'"),
        (r'{"question": "cut \ud83d here"}', r"\\ud83d is half a surrogate pair"),
    ],
)
def test_a_wrong_input_is_refused_and_makes_no_thread(session, given, said):
    with pytest.raises(SessionError, match=said):
        session.new_run(given, thread="t")
    assert session.threads().total == 0
    assert session.cursor.thread == ""


@pytest.mark.parametrize("kit", ["runtime"], indirect=True)
def test_an_input_that_cannot_be_saved_is_refused_where_it_was_typed(kit, calls, open_graph, monkeypatch):
    class Full(InMemorySaver):
        def put(self, *_):
            raise OSError("the disk is full")

    monkeypatch.setattr(kit, "saver", Full)
    session = DebugSession(open_graph(research(kit, calls)))
    with pytest.raises(SessionError, match="the disk is full"):
        session.new_run({"question": "x"}, thread="t")
    assert session.cursor.thread == ""
    assert not calls


@pytest.mark.parametrize("thread", ["x" * 256, "a\nb", "a\u202eb"])
def test_a_thread_id_is_short_and_printable(session, thread):
    with pytest.raises(SessionError, match="printable"):
        session.new_run({"question": "x"}, thread=thread)


def test_a_further_input_goes_on_the_same_thread(session):
    begin(session)
    session.new_run('{"question": "again?"}', thread="t")
    done(session)
    assert session.threads().total == 1
    assert {row.source for row in session.timeline().rows} >= {"input"}
    assert len(session.branches()) == 1
    assert session.checkpoint().entries[0].value.text == "again?"


# --- links ----------------------------------------------------------------------------------------


def test_a_link_leads_back_to_the_same_place(session):
    begin(session)
    step(session)
    session.back()
    session.move(path=("question",))
    other = DebugSession(session.workspace)
    assert other.load_params(session.cursor.to_params()) == []
    assert other.cursor == session.cursor
    assert other.checkpoint().id == session.checkpoint().id


@pytest.mark.parametrize(
    "params",
    [
        {"action": "run", "step": "1"},
        {"thread": "gone"},
        {"thread": "t", "checkpoint": "gone"},
        {"thread": "t", "branch": "gone"},
        {"graph": "gone"},
        {"path": "[1, {}]"},
        {"path": "[" * 5000},
        {"thread": "x" * 100_000},
        {"checkpoint": "no thread given"},
    ],
)
def test_a_wrong_or_old_link_runs_nothing_and_breaks_nothing(session, calls, params):
    begin(session)
    before = (dict(calls), session.timeline().total)
    other = DebugSession(session.workspace)
    dropped = other.load_params(params)
    assert all("There is no" in sentence or "in the address" in sentence for sentence in dropped)
    assert other.checkpoint() is None or other.cursor.thread == "t"
    assert (dict(calls), session.timeline().total) == before


def test_a_cursor_in_a_url_holds_only_what_is_set():
    assert Cursor().to_params() == {}
    assert Cursor.from_params(Cursor(thread="t", path=("a", 1)).to_params()) == Cursor(thread="t", path=("a", 1))


def test_a_move_to_what_is_not_there_leaves_the_cursor(session):
    begin(session)
    before = session.cursor
    for part in ("thread", "checkpoint", "branch", "namespace", "graph", "planet"):
        with pytest.raises(SessionError):
            session.move(**{part: "gone"})
    assert session.cursor == before
