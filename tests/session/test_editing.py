"""Edits of typed state: what is kept, what is refused, what reducers make of it."""

import dataclasses
import operator
from typing import Annotated

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from debugger_ui.session.problems import SessionError
from debugger_ui.session.session import DebugSession
from debugger_ui.session.views import Edit
from tests.session.conftest import begin, done, proceed


class Score(BaseModel):
    points: int = Field(ge=0)


@dataclasses.dataclass
class Place:
    x: int
    near: str = ""


class Mixed(TypedDict, total=False):
    big: int
    raw: bytes
    tags: set[str]
    score: Score
    place: Place
    log: Annotated[list[str], operator.add]
    nested: dict[str, list[int]]
    text: str
    part: float | None


VALUES = {
    "big": 2**53 + 1,
    "raw": b"\x00\xff",
    "tags": {"a", "b"},
    "score": Score(points=1),
    "place": Place(1, "here"),
    "log": ["begun"],
    "nested": {"a": [1]},
    "text": "plain",
    "part": 0.5,
}


@pytest.fixture
def mixed(kit, open_graph):
    """A thread whose state holds what JSON cannot."""

    def fill(state):
        return VALUES

    def rest(state):
        return {"log": ["rested"]}

    builder = kit.StateGraph(Mixed)
    builder.add_node("fill", fill)
    builder.add_node("rest", rest)
    builder.add_edge(kit.START, "fill")
    builder.add_edge("fill", "rest")
    builder.add_edge("rest", kit.END)
    session = DebugSession(open_graph(builder, example={"text": "go"}))
    session.set_breakpoint("rest")
    session.new_run({"text": "go"}, thread="t", run=True)
    assert done(session).message == "Breakpoint before rest. Next: rest."
    return session


def stored(session):
    spot = session.spot()
    return session.desk.reading.record(spot).state


def test_an_edit_of_one_key_leaves_all_others_as_they_were(mixed):
    before = stored(mixed)
    mixed.save_edit([Edit("text", '"new"')], "fill")
    after = stored(mixed)
    assert after["text"] == "new"
    assert {key: value for key, value in after.items() if key != "text"} == {
        key: value for key, value in before.items() if key != "text"
    }
    assert {key: type(value) for key, value in after.items()} == {key: type(value) for key, value in before.items()}


def test_saving_the_editors_own_texts_changes_nothing(mixed):
    before = stored(mixed)
    form = mixed.edit_form()
    mixed.save_edit([Edit(field.key, field.text) for field in form.fields if field.editable], "fill")
    assert stored(mixed) == before


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("big", str(2**62 + 1), 2**62 + 1),
        ("tags", '["c"]', {"c"}),
        ("score", '{"points": 7}', Score(points=7)),
        ("place", '{"x": 2, "near": "there"}', Place(2, "there")),
        ("nested", '{"a": [2], "b": []}', {"a": [2], "b": []}),
        ("raw", '{"$type": "bytes", "base64": "AQ=="}', b"\x01"),
        ("log", '["rewritten"]', ["rewritten"]),
        ("part", "null", None),
    ],
)
def test_an_edited_value_keeps_its_type(mixed, key, text, value):
    preview = mixed.preview_edit([Edit(key, text)], "fill")
    assert preview.problems == ()
    mixed.save_edit([Edit(key, text)], "fill")
    assert stored(mixed)[key] == value
    assert type(stored(mixed)[key]) is type(value)


def test_append_goes_through_the_reducer_and_overwrite_does_not(mixed):
    fields = {field.key: field.reducer for field in mixed.edit_form().fields}
    assert (fields["log"], fields["text"]) == ("operator.add", "")
    base = mixed.checkpoint().id
    mixed.save_edit([Edit("log", '["more"]', "append")], "fill")
    assert stored(mixed)["log"] == ["begun", "more"]
    mixed.move(checkpoint=base)
    mixed.save_edit([Edit("log", '["only"]', "overwrite")], "fill")
    assert stored(mixed)["log"] == ["only"]
    assert [branch.name for branch in mixed.branches()] == ["main", "edit 1"]


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (Edit("text", ""), "empty"),
        (Edit("text", "  "), "empty"),
        (Edit("text", "{'a'"), "double quotes"),
        (Edit("log", '"a text"'), "'log' holds a list"),
        (Edit("log", "null"), "'log' holds a list"),
        (Edit("log", '"a text"', "append"), "'log' holds a list"),
        (Edit("nested", "[1]"), "'nested' holds a dict"),
        (Edit("big", "true"), "'big' holds an int, and this is a bool. Write a whole number"),
        (Edit("big", "1.5"), "'big' holds an int, and this is a float"),
        (Edit("part", '"half"'), "'part' holds a float or null, and this is a str. Write a number or null"),
        (Edit("part", "false"), "'part' holds a float or null"),
        (Edit("score", '{"points": -1}'), "points"),
        (Edit("nobody", "1"), "no key 'nobody'"),
    ],
)
def test_a_wrong_edit_is_refused_by_its_key_and_writes_nothing(mixed, edit, said):
    rows = mixed.timeline().total
    (problem,) = mixed.preview_edit([edit], "fill").problems
    assert problem.field == edit.key
    with pytest.raises(SessionError, match=said):
        mixed.save_edit([edit], "fill")
    assert mixed.timeline().total == rows


def test_all_wrong_keys_are_told_at_once(mixed):
    edits = [Edit("text", ""), Edit("log", "3"), Edit("big", "1")]
    assert [problem.field for problem in mixed.preview_edit(edits, "fill").problems] == ["text", "log"]


def test_the_same_key_twice_is_refused(mixed):
    with pytest.raises(SessionError, match="edited twice"):
        mixed.save_edit([Edit("text", '"a"'), Edit("text", '"b"')], "fill")


def test_no_edit_at_all_still_makes_a_branch(mixed):
    saved = mixed.save_edit([], "fill")
    assert saved.checkpoint == mixed.checkpoint().id
    assert mixed.checkpoint().source == "update"


def test_a_reducer_that_raises_is_shown_and_nothing_is_written(kit, open_graph):
    def strict(old, new):
        if new == "bad":
            raise ValueError("bad is not allowed")
        return new

    class State(TypedDict, total=False):
        word: Annotated[str, strict]

    builder = kit.StateGraph(State)
    builder.add_node("say", lambda state: {"word": "fine"})
    builder.add_edge(kit.START, "say")
    session = DebugSession(open_graph(builder, example={"word": "x"}))
    session.new_run('{"word": "x"}', thread="t")
    done(session)
    rows = session.timeline().total
    (problem,) = session.preview_edit([Edit("word", '"bad"', "append")], "say").problems
    assert "bad is not allowed" in problem.message
    with pytest.raises(SessionError, match="bad is not allowed"):
        session.save_edit([Edit("word", '"bad"', "append")], "say")
    assert session.timeline().total == rows


@pytest.fixture
def chat(kit, open_graph):
    """A thread of messages, before its reply."""
    from importlib import import_module

    graph = import_module(f"{kit.root}.graph")

    def reply(state):
        return {"messages": [AIMessage("hello", id="2")]}

    builder = kit.StateGraph(graph.MessagesState)
    builder.add_node("reply", reply)
    builder.add_edge(kit.START, "reply")
    session = DebugSession(open_graph(builder, example={"messages": [HumanMessage("hi", id="1")]}))
    session.new_run(session.run_form().example, thread="t", run=True)
    done(session)
    return session


def test_a_message_list_edited_as_json_becomes_messages_again(chat):
    (field,) = chat.edit_form().fields
    text = field.text.replace('"hello"', '"good day"')
    chat.save_edit([Edit("messages", text)], "reply")
    made = stored(chat)["messages"]
    assert [(type(m), m.content, m.id) for m in made] == [(HumanMessage, "hi", "1"), (AIMessage, "good day", "2")]


def test_an_appended_message_is_a_message(chat):
    chat.save_edit([Edit("messages", '[{"type": "human", "content": "more"}]', "append")], "reply")
    assert [type(message) for message in stored(chat)["messages"]] == [HumanMessage, AIMessage, HumanMessage]


def test_a_preview_equals_what_saving_makes(mixed):
    edits = [Edit("log", '["more"]', "append"), Edit("score", '{"points": 3}'), Edit("text", '"x"')]
    preview = mixed.preview_edit(edits, "fill")
    mixed.save_edit(edits, "fill")
    after = {entry.key: entry.value for entry in mixed.checkpoint().entries}
    assert {outcome.key: outcome.after for outcome in preview.outcomes} == {edit.key: after[edit.key] for edit in edits}
    assert preview.next == mixed.checkpoint().next


def test_editing_a_busy_thread_is_refused(session, calls):
    begin(session)
    proceed(session)
    session.workspace.board.get("t")._done.clear()
    with pytest.raises(SessionError, match="running"):
        session.save_edit([Edit("question", '"x"')], "plan")
    session.workspace.board.get("t")._done.set()


def test_tuples_stay_tuples_all_the_way_through_the_database(tmp_path):
    from debugger_ui.engines.graph import About
    from debugger_ui.engines.opening import attach
    from debugger_ui.session.workspace import Workspace
    from runtime.checkpoint.sqlite import SqliteSaver
    from runtime.graph import START, StateGraph

    class State(TypedDict, total=False):
        pair: tuple[int, int]
        unset: tuple[int, int]
        other: dict[str, tuple[int, ...]]

    builder = StateGraph(State)
    builder.add_node("fill", lambda state: {"pair": (1, 2), "other": {"a": (1,), "b": (2,)}})
    builder.add_edge(START, "fill")
    with SqliteSaver.from_conn_string(tmp_path / "x.sqlite") as saver:
        session = DebugSession(Workspace([attach(builder.compile(), saver, About(example={"pair": (0, 0)}))]))
        session.new_run(session.run_form().example, thread="t", run=True)
        done(session)
        edits = [Edit("pair", "[3, 4]"), Edit("unset", "[5, 6]"), Edit("other", '{"a": [9], "b": [2]}')]
        session.save_edit(edits, "fill")
        assert stored(session) == {"pair": (3, 4), "unset": (5, 6), "other": {"a": (9,), "b": (2,)}}
