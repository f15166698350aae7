"""Values that `langgraph-checkpoint` and we give each other: what it wrote is read, and it reads what we write."""

import collections
import datetime as dt
import decimal
import pathlib
import re
import uuid

import numpy as np
import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from runtime.checkpoint.serde import Opaque, Serializer
from runtime.types import Command, Interrupt, Overwrite, Send
from tests.checkpoint import things
from tests.checkpoint.things import Colour, Model, Pair, Point

serde = Serializer(allow=things.ALL)

SHARED = [
    Send("n", {"a": 1}),
    Send("n", 1, timeout=3),
    Interrupt("q", id="i"),
    Command(update={"a": 1}, goto="x"),
    Overwrite([1]),
]


@pytest.mark.parametrize("value", SHARED, ids=repr)
def test_graph_types_are_written_under_the_name_that_either_side_knows(value):
    kind, data = serde.dumps_typed(value)
    assert kind == "msgpack"
    assert b"langgraph.types" in data
    assert b"runtime" not in data


JSON_PLUS = [
    {"a": 1, "b": [None, "x"]}, {1: 2}, dt.datetime(2024, 1, 1), uuid.UUID(int=1), {1, 2}, collections.deque([1]),
    decimal.Decimal("1.5"), pathlib.Path("a"), re.compile("x"), Colour.RED, Point(1), Pair(1), Model(a=1),
    HumanMessage("hi", id="1"), AIMessage("x"), Document("x"), b"bytes", bytearray(b"ba"), None, dt.timedelta(1),
    np.arange(3),
]  # fmt: skip


@pytest.mark.parametrize("value", JSON_PLUS, ids=lambda value: type(value).__name__)
def test_what_json_plus_wrote_is_read(value):
    found = serde.loads_typed(JsonPlusSerializer(allowed_msgpack_modules=None).dumps_typed(value))
    assert type(found) is type(value)
    assert (found == value).all() if isinstance(value, np.ndarray) else found == value


def test_old_json_is_read_and_its_envelopes_are_not_obeyed():
    assert serde.loads_typed(("json", b'{"a": [1, null]}')) == {"a": [1, None]}
    envelope = b'{"lc": 2, "type": "constructor", "id": ["builtins", "open"], "args": ["x", "w"]}'
    found = serde.loads_typed(("json", envelope))
    assert (type(found), found.module, found.name) == (Opaque, "builtins", "open")
    kind, data = serde.dumps_typed([found])
    assert serde.loads_typed((kind, data)) == [found]


def test_old_json_is_given_no_more_than_it_holds():
    counting = b"""{"lc": 2, "type": "constructor", "id": ["builtins", "set"], "args": [
        {"lc": 2, "type": "constructor", "id": ["builtins", "range"], "args": [1000000000000]}]}"""
    assert "elements should be here" in serde.loads_typed(("json", counting)).why
    one_number = b'{"lc": 2, "type": "constructor", "id": ["builtins", "set"], "args": 3}'
    assert "list should be here" in serde.loads_typed(("json", one_number)).why


def test_old_json_gives_safe_classes_back():
    text = b"""[
        {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "HumanMessage"],
         "kwargs": {"content": "hi", "type": "human", "id": "1"}},
        {"lc": 2, "type": "constructor", "id": ["datetime", "datetime"], "method": "fromisoformat",
         "args": ["2024-05-06T07:08:09+00:00"]},
        {"lc": 2, "type": "constructor", "id": ["builtins", "set"], "args": [[1, 2]]},
        {"lc": 2, "type": "constructor", "id": ["pathlib", "Path"], "method": "unlink", "args": ["x"]}
    ]"""
    message, moment, numbers, path = serde.loads_typed(("json", text))
    assert message == HumanMessage("hi", id="1")
    assert moment == dt.datetime(2024, 5, 6, 7, 8, 9, tzinfo=dt.UTC)
    assert numbers == {1, 2}
    assert "never called" in path.why
