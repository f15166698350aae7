"""Values: shown exactly and literally, edited as JSON without losing types."""

import dataclasses
import datetime as dt
import enum
import json
import math
import unicodedata
from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from pydantic import BaseModel, Field

from debugger_ui.session.codec import restore, to_plain, to_text
from debugger_ui.session.diff import equal
from debugger_ui.session.parse import MAX_CHARS, MAX_DEPTH, parse_json
from debugger_ui.session.problems import SessionError
from debugger_ui.session.render import FULL, USUAL, view
from debugger_ui.session.shape import at_path
from debugger_ui.session.text import json_safe, literal, path_label
from tests.session.conftest import PATIENT


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@dataclasses.dataclass(slots=True)
class Point:
    x: int
    y: float = 0.0


class Finding(BaseModel):
    topic: str
    score: float = Field(ge=0)
    tags: tuple[str, ...] = ()


class Rude:
    def __repr__(self):
        raise RuntimeError("no")


def back(value, change=lambda plain: plain):
    """Edit a value the way the editor does: as text, changed, and parsed again."""
    return restore(change(json.loads(to_text(value))), value, ("key",))


# --- shown ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (None, "null", "null"),
        (True, "bool", "true"),
        (9007199254740993, "int", "9007199254740993"),
        (10**40, "int", "1" + "0" * 40),
        (0.1, "float", "0.1"),
        (math.nan, "float", "nan"),
        (-math.inf, "float", "-inf"),
        (b"\x00\xff", "bytes", "AP8="),
        ((1, 2), "tuple", "2 items"),
        ({1}, "set", "1 item"),
        (deque([1]), "list", "1 item"),
        ({"a": 1}, "dict", "{1 key}"),
        (Point(1), "dataclass", "Point(2 fields)"),
        (Colour.RED, "enum", "<Colour.RED: 1>"),
        (dt.datetime(2026, 1, 2, tzinfo=dt.UTC), "datetime", "2026-01-02T00:00:00+00:00"),
        (HumanMessage("hi"), "message", "human: hi"),
        (Rude(), "object", "<Rude; its repr raised RuntimeError>"),
    ],
)
def test_each_kind_of_value_is_shown_as_what_it_is(value, kind, text):
    shown = view(value)
    assert (shown.kind, shown.text) == (kind, text)


def test_an_integer_beyond_what_python_prints_is_shown_in_hexadecimal():
    assert view(2**20000).text == hex(2**20000)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<b>x</b> **y** $z$", "<b>x</b> **y** $z$"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("\x00\x1b[31m", "\\u0000\\u001b[31m"),
        ("a\u202eb", "a\\u202eb"),
        ("a\u200bb", "a\\u200bb"),
        ("\ud800", "\\ud800"),
        ("e\u0301", "e\u0301"),
        ("e" + "\u0301" * 6, "e" + "\u0301" * 4 + "\\u0301" * 2),
        ("\U000e0041", "\\U000e0041"),
        ("日本語 Ω é", "日本語 Ω é"),
    ],
)
def test_text_is_literal_and_what_deceives_is_escaped(text, shown):
    assert literal(text) == shown


def test_no_character_that_deceives_is_overlooked():
    characters = [chr(code) for code in range(0x110000)]
    hidden = [one for one in characters if unicodedata.category(one) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")]
    assert not [one for one in hidden if one in literal(f"a{one}b")]
    marks = [one for one in characters if unicodedata.category(one).startswith("M")]
    assert not [one for one in marks if one * 9 in literal(f"a{one * 9}b")]


@PATIENT
@given(st.text(alphabet=st.characters()))
def test_literal_text_can_always_be_sent(text):
    literal(text).encode("utf-8")
    literal(text, lines=True).encode("utf-8")


def test_long_and_deep_values_are_cut_and_counted():
    shown = view("x" * 10_000)
    assert (len(shown.text), shown.size, shown.hidden) == (600, 10_000, 9_400)
    shown = view(list(range(1_000)))
    assert (len(shown.children), shown.hidden, shown.size) == (50, 950, 1_000)
    deep = []
    for _ in range(5_000):
        deep = [deep]
    shown, levels = view(deep, FULL), 0
    while shown.children:
        shown, levels = shown.children[0].value, levels + 1
    assert levels == FULL.depth
    assert shown.hidden == 1


def test_a_value_that_contains_itself_is_cut():
    loop = []
    loop.append(loop)
    assert view(loop).text == "1 item"
    with pytest.raises(ValueError, match="nested deeper"):
        to_plain(loop)


def test_a_path_leads_back_to_the_value_that_was_shown():
    value = {"a": [{"b": (1, Point(5))}], 7: "seven"}

    def check(shown):
        if shown.path:
            assert view(at_path(value, shown.path), USUAL, shown.path).text == shown.text
        for child in shown.children:
            check(child.value)

    check(view(value))
    with pytest.raises(LookupError):
        at_path(value, ("a", 3))


def test_a_path_reads_as_people_write_it():
    assert path_label(("messages", 3, "content")) == "messages[3].content"
    assert path_label(("a b", "[id=m3]", "c")) == "['a b'][id=m3].c"


# --- edited ---------------------------------------------------------------------------------------

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=True)
    | st.text(alphabet=st.characters())
    | st.binary()
    | st.datetimes()
    | st.builds(Point, st.integers(), st.floats(allow_nan=False))
    | st.sampled_from(Colour)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers() | st.just("$type"), inner)
        | st.sets(st.integers() | st.text())
    ),
    max_leaves=12,
)


@PATIENT
@given(VALUES)
def test_a_value_that_is_not_changed_is_the_same_object(value):
    assert back(value) is value


@PATIENT
@given(VALUES, VALUES)
def test_untouched_neighbours_stay_the_very_same_objects(one, other):
    state = {"one": one, "other": other, "text": "old"}
    changed = back(state, lambda plain: {**plain, "text": "new"})
    assert changed["text"] == "new"
    assert changed["one"] is one
    assert changed["other"] is other


@PATIENT
@given(VALUES)
def test_the_editors_text_is_json_that_can_be_sent(value):
    text = to_text(value)
    text.encode("utf-8")
    assert literal(text, lines=True) == text


@pytest.mark.parametrize(
    ("value", "change", "wanted"),
    [
        ((1, 2), lambda p: [*p, 3], (1, 2, 3)),
        ({1, 2}, lambda p: [1, 5], {1, 5}),
        (deque([1]), lambda p: [*p, 2], deque([1, 2])),
        (Point(1), lambda p: {**p, "x": 4}, Point(4)),
        (1.0, lambda p: 3, 3.0),
        (1, lambda p: 2, 2),
        (True, lambda p: False, False),
        (b"a", lambda p: {"$type": "bytes", "base64": "Yg=="}, b"b"),
        (Colour.RED, lambda p: {**p, "name": "BLUE"}, Colour.BLUE),
        ([(1, 2), (3, 4)], lambda p: p[1:], [(3, 4)]),
        ([Point(1)], lambda p: [*p, {"x": 2, "y": 1.0}], [Point(1), Point(2, 1.0)]),
        ({"a": (1,)}, lambda p: {"a": [2], "b": [3]}, {"a": (2,), "b": [3]}),
        ({7: "x"}, lambda p: {**p, "pairs": [[7, "y"]]}, {7: "y"}),
    ],
)
def test_a_changed_value_keeps_its_type(value, change, wanted):
    made = back(value, change)
    assert made == wanted
    assert equal(made, wanted)


def test_a_model_stays_a_model_and_validates():
    finding = Finding(topic="cost", score=1, tags=("a",))
    made = back(finding, lambda plain: {**plain, "score": 2})
    assert made == Finding(topic="cost", score=2, tags=("a",))
    with pytest.raises(SessionError, match="score") as refusal:
        back({"f": finding}, lambda plain: {"f": {**plain["f"], "score": -1}})
    assert "Finding" in refusal.value.problem.message


def test_messages_stay_messages():
    call = {"name": "search", "args": {"q": "x"}, "id": "c1", "type": "tool_call"}
    thread = [
        HumanMessage("hi", id="1"),
        AIMessage("", id="2", tool_calls=[call]),
        ToolMessage("found", tool_call_id="c1", id="3"),
    ]

    def change(plain):
        plain[1]["content"] = "let me look"
        return [plain[0], plain[1], {"type": "human", "content": "and?"}, plain[2]]

    made = back(thread, change)
    assert [type(message) for message in made] == [HumanMessage, AIMessage, HumanMessage, ToolMessage]
    assert made[0] is thread[0]
    assert made[3] is thread[2]
    assert (made[1].content, made[1].tool_calls, made[1].id) == ("let me look", thread[1].tool_calls, "2")


def test_an_integer_beyond_what_python_reads_can_stay_and_be_changed():
    assert back({"n": 2**20000, "m": 1}, lambda plain: {**plain, "m": 2}) == {"n": 2**20000, "m": 2}
    assert back(2**20000, lambda plain: {**plain, "hex": hex(2**20001)}) == 2**20001


def test_an_unknown_message_type_is_refused_by_name():
    with pytest.raises(SessionError, match="no message of type 'robot'"):
        back([HumanMessage("hi")], lambda plain: [{**plain[0], "type": "robot"}])


def test_an_unknown_dataclass_field_is_refused_by_name():
    with pytest.raises(SessionError, match="Point has no field 'z'"):
        back(Point(1), lambda plain: {**plain, "z": 1})


def test_what_json_cannot_say_may_stay_or_go_but_not_change():
    lock = object()
    state = {"lock": lock, "n": 1}
    assert back(state, lambda plain: {**plain, "n": 2})["lock"] is lock
    assert back(state, lambda plain: {"n": 1}) == {"n": 1}
    with pytest.raises(SessionError, match="cannot be written as JSON"):
        back(state, lambda plain: {**plain, "lock": {**plain["lock"], "shown": "mine"}})


# --- parsed ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "column", "said"),
    [
        ("", 1, 1, "empty"),
        ("  \n ", 1, 1, "empty"),
        ('{"a": 1,}', 1, None, "comma before the closing"),
        ("{'a': 1}", 1, 2, "double quotes"),
        ('{"a": "x', 1, 7, "not closed"),
        ('{"a": 1', 1, 8, "still open"),
        ('{"a" 1}', 1, 6, "colon"),
        ("[1 2]", 1, 4, "comma is expected"),
        ('{"a": True}', 1, 7, "JSON writes true"),
        ("[1,\n 2,\n nope]", 3, 2, "a JSON value is expected"),
        ("1 2", 1, 3, "something left over"),
        ('"a\nb"', 1, 3, "line break"),
    ],
)
def test_a_mistake_is_told_with_its_place(text, line, column, said):
    with pytest.raises(SessionError, match=said) as refusal:
        parse_json(text, "state")
    problem = refusal.value.problem
    assert (problem.line, problem.field) == (line, "state")
    assert column is None or problem.column == column


def test_what_json_would_lose_in_silence_is_refused():
    with pytest.raises(SessionError, match="'a' is there twice"):
        parse_json('{"a": 1, "a": 2}')
    with pytest.raises(SessionError, match="too large for a float"):
        parse_json("1e999")
    for text in (r'["fine", {"a": "\udc00"}]', r'{"\ud800": 1}', '"\ud83d"'):
        with pytest.raises(SessionError, match="half a surrogate pair"):
            parse_json(text)
    assert parse_json(r'"\ud83d\ude00 \\ud800"') == "\U0001f600 \\ud800"


def test_deep_and_huge_texts_are_refused_by_a_stated_limit():
    with pytest.raises(SessionError, match=f"deeper than {MAX_DEPTH}"):
        parse_json("[" * 100_000)
    with pytest.raises(SessionError, match=f"up to {MAX_CHARS:,}"):
        parse_json('"' + "x" * MAX_CHARS + '"')
    with pytest.raises(SessionError, match="has 5,000 digits; up to 4,300 can be typed"):
        parse_json("9" * 5_000)


def test_python_numbers_survive_parsing():
    assert parse_json("9007199254740993") == 9007199254740993
    assert parse_json(str(10**40)) == 10**40
    assert math.isnan(parse_json("NaN"))
    assert parse_json("-Infinity") == -math.inf


@PATIENT
@given(st.text(alphabet=st.characters()))
def test_json_safe_text_is_the_same_value(text):
    written = json_safe(json.dumps(text, ensure_ascii=False))
    assert json.loads(written) == text
    written.encode("utf-8")
