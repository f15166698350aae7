"""The default cache key: the same for equal content, another for any other."""

import datetime
import decimal
import enum
import functools
import random
import subprocess
import sys
import threading
import uuid
from collections import OrderedDict, deque, namedtuple
from dataclasses import dataclass
from pathlib import PurePosixPath

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage
from pydantic import BaseModel

from runtime.types import CachePolicy, Send

key = CachePolicy().key_func


class Color(enum.Enum):
    RED = 1


class Number(enum.IntEnum):
    ONE = 1


class Model(BaseModel):
    x: int


class OtherModel(BaseModel):
    x: int


@dataclass
class Data:
    x: object


class Plain:
    def __init__(self, x):
        self.x = x


class Slotted:
    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x


Point = namedtuple("Point", "x")

DIFFERENT = [
    None,
    True,
    1,
    1.0,
    "1",
    b"1",
    Color.RED,
    Number.ONE,
    [1],
    (1,),
    {1},
    frozenset({1}),
    {"x": 1},
    OrderedDict(x=1),
    deque([1]),
    Point(1),
    Model(x=1),
    OtherModel(x=1),
    Data(1),
    Data([1]),
    Plain(1),
    Slotted(1),
    [[1], []],
    [[], [1]],
    ["ab", "c"],
    ["a", "bc"],
    datetime.date(2020, 1, 1),
    datetime.datetime(2020, 1, 1),
    datetime.timedelta(1),
    decimal.Decimal("1.0"),
    decimal.Decimal("1.00"),
    uuid.UUID(int=1),
    PurePosixPath("1"),
    numpy.array([1], dtype="int64"),
    numpy.array([1], dtype="int32"),
    numpy.array([[1]], dtype="int64"),
    numpy.array([1], dtype=object),
    HumanMessage("1", id="a"),
    AIMessage("1", id="a"),
    HumanMessage("1", id="b"),
    Send("a", 1),
    Send("a", 2),
    int,
    len,
    random.Random(1),
    random.Random(2),
    functools.partial(max, 1),
    functools.partial(min, 1),
]


def test_different_values_have_different_keys():
    keys = [key(value) for value in DIFFERENT]
    assert len(set(keys)) == len(keys)
    assert key(1, 2) != key((1, 2)) != key(1, x=2)


def test_equal_content_has_one_key():
    assert key({"a": 1, "b": {2, 3}}) == key({"b": {3, 2}, "a": 1})
    assert key(Model(x=1)) == key(Model(x=1))
    assert key(Plain([1])) == key(Plain([1]))


def test_the_key_is_the_same_in_another_process():
    program = (
        "from runtime.types import CachePolicy\n"
        "print(CachePolicy().key_func({'b': {'x', 'y', 'z'}, 'a': (1, 2.5, None)}))"
    )
    other = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == key({"a": (1, 2.5, None), "b": {"z", "y", "x"}})


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(json_like, json_like)
def test_keys_are_equal_just_when_the_text_is(one, other):
    assert (key(one) == key(other)) == (canonical(one) == canonical(other))


def canonical(value):
    if isinstance(value, dict):
        return "{" + ",".join(sorted(f"{k!r}:{canonical(v)}" for k, v in value.items())) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    return repr(value)


@pytest.mark.parametrize("value", [threading.Lock(), lambda: 1, [].append, Plain(1).__init__, (x for x in ())])
def test_what_has_no_content_is_refused_with_the_way_out(value):
    with pytest.raises(TypeError, match="key_func"):
        key({"x": [value]})


def test_a_value_that_contains_itself_is_refused():
    loop = []
    loop.append(loop)
    with pytest.raises(TypeError, match="contains itself"):
        key(loop)
