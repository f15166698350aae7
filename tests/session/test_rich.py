"""Values in the form that fits them: chats, tables and images, paged, literal, made of data only."""

import base64
import dataclasses
import operator
import struct
import zlib
from typing import Annotated, Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage
from langchain_core.messages import message_to_dict as as_dict
from pydantic import BaseModel
from typing_extensions import TypedDict

from debugger_ui.session.images import HEADER, MAX_BYTES
from debugger_ui.session.problems import SessionError
from debugger_ui.session.render import page_of, view
from debugger_ui.session.session import DebugSession
from debugger_ui.session.shape import Masked
from debugger_ui.session.views import PAGE, ChatView, ImageView, TableView, form_of
from tests.session.conftest import PATIENT, done, proceed


def png(width=4, height=3, pixels=b""):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = pixels or zlib.compress(b"".join(b"\x00" + b"\xc8\x50\x3c" * width for _ in range(height)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


PNG = png()
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF" + b"\x00" * 10 + b"\xff\xc0\x00\x11\x08\x00\x07\x00\x09\x03" + b"\x00" * 9
GIF = b"GIF89a" + struct.pack("<HH", 5, 6) + b"\x00" * 8
WEBP = b"RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x08\x00\x00" + b"\x00" * 4
LOSSY = b"RIFF\x00\x00\x00\x00WEBPVP8 \x00\x00\x00\x00\x00\x00\x00\x9d\x01\x2a\x0b\x00\x0c\x00"
SVG = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"


def text(data):
    return base64.b64encode(data).decode()


# --- images ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        (PNG, ("image/png", 4, 3)),
        (bytearray(JPEG), ("image/jpeg", 9, 7)),
        (GIF, ("image/gif", 5, 6)),
        (WEBP, ("image/webp", 8, 9)),
        (LOSSY, ("image/webp", 11, 12)),
        (f"data:image/png;base64,{text(PNG)}", ("image/png", 4, 3)),
        (f"data:image/gif;base64,{text(PNG)}", ("image/png", 4, 3)),
    ],
)
def test_an_image_is_told_by_its_bytes_and_measured(value, seen):
    found = page_of(value)
    assert (found.mime, found.width, found.height) == seen
    assert base64.b64decode(found.data)[:3] in (PNG[:3], JPEG[:3], GIF[:3], WEBP[:3])


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"\x89PNG",
        b"\x89PNG\r\n\x1a\n" + b"\x00" * 30,
        b"GIF89a",
        b"RIFF1234WEBP",
        SVG,
        f"data:image/svg+xml;base64,{text(SVG)}",
        f"data:image/png;base64,{text(SVG)}",
        "data:image/png;base64,@@@",
        "data:image/png,raw",
        "https://example.org/a.png",
        text(PNG),
    ],
)
def test_what_is_no_image_of_the_four_kinds_is_none(value):
    assert page_of(value) is None


def test_an_image_that_is_too_large_is_measured_and_not_sent():
    heavy = page_of(PNG + b"\x00" * MAX_BYTES)
    wide = page_of(png(60_000, 60_000, zlib.compress(b"\x00")))
    long = page_of(f"data:image/png;base64,{text(PNG + bytes(MAX_BYTES))}")
    assert [one.data for one in (heavy, wide, long)] == ["", "", ""]
    assert [one.reason for one in (heavy, wide, long)] == ["larger than 3 MB", "more than 40 megapixels", heavy.reason]
    assert (long.width, long.height) == (4, 3)
    assert HEADER % 4 == 0


@PATIENT
@given(st.binary(max_size=40), st.sampled_from([PNG, JPEG, GIF, WEBP, LOSSY, b""]), st.integers(0, 40))
def test_no_damaged_image_breaks_the_view(noise, start, keep):
    shown = view(start[:keep] + noise)
    assert shown.kind == "bytes"
    assert shown.rich is None or isinstance(shown.rich, ImageView)


# --- chats ----------------------------------------------------------------------------------------

CALL = {"name": "search", "args": {"q": "<b>x</b>"}, "id": "c1", "type": "tool_call"}


def turns(value):
    found = page_of(value)
    assert isinstance(found, ChatView)
    return found.messages


def test_messages_are_a_chat_with_calls_and_results_paired():
    asked, answered, orphan, last = turns(
        [
            AIMessage("let me look", id="m1", tool_calls=[CALL, {**CALL, "id": "c2", "name": "other"}]),
            ToolMessage("found\nit", tool_call_id="c1", id="m2"),
            ToolMessage("who?", tool_call_id="c9", status="error"),
            HumanMessage("thanks", name="Ada"),
        ]
    )
    assert [(call.name, call.id, call.answer) for call in asked.calls] == [("search", "c1", 1), ("other", "c2", None)]
    assert asked.calls[0].arguments == '{\n  "q": "<b>x</b>"\n}'
    assert (answered.role, answered.answers, answered.asked, answered.orphan) == ("tool", "search", 0, False)
    assert answered.blocks[0].text == "found\nit"
    assert (orphan.answers, orphan.asked, orphan.orphan, orphan.failed) == ("c9", None, True, True)
    assert (last.role, last.word, last.name, asked.id) == ("human", "user", "Ada", "m1")


def test_only_messages_of_the_state_are_a_whole_chat():
    result = ToolMessage("found it", tool_call_id="c1")
    assert not view([result], path=("messages",)).rich.part
    assert not page_of([result]).part
    assert view([result]).rich.part, "what a task wrote goes on what is in the state"
    assert view(result, path=("last",)).rich.part, "a message alone is in no chat"
    assert not view({"messages": [result]}).children[0].value.rich.part


def test_dicts_as_providers_write_them_are_a_chat():
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    system, user, ai, tool = turns(
        [
            {"role": "developer", "content": "be brief"},
            {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "42"},
        ]
    )
    assert [one.role for one in (system, user, ai, tool)] == ["system", "human", "ai", "tool"]
    assert [one.word for one in (system, user, ai)] == ["developer", "user", "assistant"]
    assert (ai.blocks, ai.calls[0].arguments, ai.calls[0].answer) == ((), '{\n  "a": 1\n}', 3)


@pytest.mark.parametrize(
    "value",
    [
        [as_dict(HumanMessage("hi")), as_dict(AIMessage("yes"))],
        [{"type": "human", "content": "hi"}, {"type": "ai", "content": "yes"}],
        (SystemMessage("hi"), RemoveMessage(id="m1")),
        HumanMessage("alone"),
        [HumanMessage("hi"), Masked("secret")],
    ],
)
def test_other_spellings_of_messages_are_chats_too(value):
    assert isinstance(view(value).rich, ChatView)


@pytest.mark.parametrize(
    "value",
    [[], ["hi"], [{"role": "user"}], [{"type": "circle", "content": "r"}], [HumanMessage("hi"), "x"], [{}], [[1], [2]]],
)
def test_what_only_looks_like_messages_is_no_chat(value):
    assert not isinstance(view(value).rich, ChatView)


def test_content_blocks_are_drawn_from_data_only():
    (one,) = turns(
        [
            AIMessage(
                [
                    {"type": "thinking", "thinking": "hm"},
                    "plain",
                    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{text(PNG)}"}},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/svg+xml", "data": text(SVG)}},
                    {"type": "image", "source_type": "base64", "data": text(GIF), "mime_type": "image/gif"},
                    {"type": "image_url", "image_url": "https://evil.example/x.png"},
                    {"type": "tool_use", "id": "t1", "name": "look", "input": {"n": 1}},
                    {"type": "video", "url": "https://evil.example/x.mp4"},
                ]
            )
        ]
    )
    seen = [(block.kind, block.image.mime if block.image else block.text[:25]) for block in one.blocks]
    assert seen == [
        ("reasoning", "hm"),
        ("text", "plain"),
        ("image", "image/png"),
        ("other", "not an image that can be "),
        ("image", "image/gif"),
        ("other", "https://evil.example/x.pn"),
        ("other", '{\n  "type": "video",\n  "u'),
    ]
    assert [(call.id, call.name) for call in one.calls] == [("t1", "look")]


def test_tool_results_among_the_blocks_answer_calls():
    ai, user = turns(
        [
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "look", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "seen"}]},
        ]
    )
    assert ai.calls[0].answer == 1
    assert (user.answers, user.asked, user.blocks[0].kind) == ("look", 0, "result")


def test_a_chat_shows_its_end_and_turns_pages():
    chat = [HumanMessage(f"no {n}", id=str(n)) for n in range(10_000)]
    chat[0] = AIMessage("", tool_calls=[CALL])
    chat[-1] = ToolMessage("late", tool_call_id="c1")
    end, begin = page_of(chat), page_of(chat, 0)
    assert (end.offset, len(end.messages), end.total) == (10_000 - PAGE, PAGE, 10_000)
    assert end.messages[-1].asked == 0
    assert begin.messages[0].calls[0].answer == 9_999


def test_text_in_messages_is_literal_and_long_text_is_counted():
    (one,) = turns([{"role": "us\u202eer", "content": "a\x1b[31m\n" + "x" * 30_000, "name": "n" * 500}])
    assert one.word == "us\\u202eer"
    assert one.blocks[0].text.startswith("a\\u001b[31m\nxxx")
    assert (one.blocks[0].hidden, len(one.name)) == (30_000 + 7 - 20_000, 80)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    ["content", "tool_calls", "tool_call_id", "name", "id", "type", "additional_kwargs", "function", "args", "source"]
)


@PATIENT
@given(st.lists(st.dictionaries(FIELDS, JSON | st.dictionaries(FIELDS, JSON)), min_size=1, max_size=3))
def test_no_odd_message_breaks_the_view(items):
    for item in items:
        item.setdefault("content", [{"type": "image"}, {"type": "tool_use"}, {"type": "tool_result"}, item.get("id")])
    assert isinstance(page_of([{"role": "user", **item} for item in items]), ChatView)
    view(items)


# --- tables ---------------------------------------------------------------------------------------


@dataclasses.dataclass
class Point:
    x: int
    y: Any = None


class Finding(BaseModel):
    topic: str
    tags: list[str] = []


@pytest.mark.parametrize(
    ("value", "columns", "first"),
    [
        ([{"a": 1, "b": "x"}, {"a": 2}], ("a", "b"), ["1", "x"]),
        ([Point(1, [1, 2]), Point(2)], ("x", "y"), ["1", "2 items"]),
        ([Finding(topic="t", tags=["a"])], ("topic", "tags"), ["t", "1 item"]),
        (pd.DataFrame({"n": [1, 2], "s": ["a", None]}), ("n", "s"), ["1", "a"]),
        (pd.Series([1.5], name="v"), ("v",), ["1.5"]),
    ],
)
def test_records_are_a_table(value, columns, first):
    found = page_of(value)
    assert isinstance(found, TableView)
    assert found.columns == columns
    assert [cell.text for cell in found.rows[0]] == first


def test_a_cell_that_is_not_there_is_none():
    found = page_of([{"a": 1, "b": 2}, {"a": None}])
    assert [cell and cell.text for cell in found.rows[1]] == ["null", None]


@pytest.mark.parametrize(
    "value", [[{"a": 1}, {"b": 2}, {"c": 3}], [{"a": 1}, 2], [{1: 2}], [1, 2], [[1], [2]], [{}], pd.Series(dtype=float)]
)
def test_what_has_no_common_keys_is_a_tree(value):
    found = page_of(value)
    assert found is None or found.rows == ()


def test_a_long_wide_table_is_paged_and_counted():
    rows = [{f"k{n}": n for n in range(60)} for _ in range(1_000)]
    found = page_of(rows, 900)
    assert (found.offset, found.total, len(found.rows), len(found.columns), found.hidden_columns) == (
        900,
        1_000,
        PAGE,
        24,
        36,
    )
    assert found.labels[0] == "900"


def test_frames_with_odd_names_and_duplicates_are_tables():
    frame = pd.DataFrame([[1, 2], [3, 4]], columns=["<b>x</b>", "<b>x</b>"], index=["\u202eone", 2])
    found = page_of(frame)
    assert (found.columns, found.labels) == (("<b>x</b>", "<b>x</b>"), ("\\u202eone", "2"))
    assert [[cell.text for cell in row] for row in found.rows] == [["1", "2"], ["3", "4"]]


# --- through the session --------------------------------------------------------------------------


class State(TypedDict, total=False):
    question: str
    messages: Annotated[list[Any], operator.add]
    rows: list[dict[str, Any]]
    picture: bytes


def test_a_session_gives_forms_pages_and_json_of_a_value(kit, open_graph):
    builder = kit.StateGraph(State)
    made = {"messages": [HumanMessage(str(n)) for n in range(100)], "rows": [{"n": n} for n in range(100)]}
    builder.add_node("write", lambda state: {**made, "picture": PNG})
    builder.add_edge(kit.START, "write")
    session = DebugSession(open_graph(builder, {"question": "why?"}))
    session.new_run({"question": "why?"}, thread="t")
    done(session)
    proceed(session)
    forms = {entry.key: entry.value.rich and form_of(entry.value.rich) for entry in session.checkpoint().entries}
    assert forms == {"question": None, "messages": "chat", "rows": "table", "picture": "image"}
    assert session.rich(("messages",), offset=10).messages[0].blocks[0].text == "10"
    assert session.rich(("rows",), offset=99).labels == ("99",)
    assert session.raw(("rows", 3)) == '{\n  "n": 3\n}'
    with pytest.raises(SessionError, match="question is no chat, table or image"):
        session.rich(("question",))
