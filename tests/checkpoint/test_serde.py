"""Stored values come back equal and of the same type, or storing them is an error; nothing runs on the way."""

import collections
import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import importlib
import ipaddress
import math
import pathlib
import pickle
import re
import sys
import threading
import uuid
import zoneinfo

import numpy as np
import ormsgpack
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from pydantic import BaseModel, SecretStr

from runtime.checkpoint.errors import SerializationError
from runtime.checkpoint.serde import Opaque, Serializer, allow_types
from runtime.types import Command, Interrupt, Overwrite, Send, TimeoutPolicy
from tests.checkpoint import things
from tests.checkpoint.things import (
    Begun,
    Bits,
    Colour,
    Doubling,
    Frozen,
    Keyed,
    Level,
    Model,
    Old,
    Open,
    Outer,
    Pair,
    Permission,
    Plain,
    Point,
    Shouting,
    Sized,
    Stack,
    Word,
)

# As our graphs ask for them: LangGraph may be loaded too.
serde = Serializer(allow=[*things.ALL, Command, Interrupt, Overwrite, Send, TimeoutPolicy])


def through(value, by=serde):
    return by.loads_typed(by.dumps_typed(value))


def alike(one, other):
    """Equal, of the same type, in the same order, all the way down."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple | collections.deque):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, dict):
        pairs = zip(one.items(), other.items(), strict=False)
        return len(one) == len(other) and all(alike(a, c) and alike(b, d) for (a, b), (c, d) in pairs)
    if dataclasses.is_dataclass(one) and not isinstance(one, type):
        return all(alike(getattr(one, f.name), getattr(other, f.name)) for f in dataclasses.fields(one))
    if isinstance(one, BaseModel):
        return one.model_fields_set == other.model_fields_set and all(
            alike(getattr(one, part), getattr(other, part)) for part in ("__dict__", "__pydantic_extra__")
        )
    if isinstance(one, Send):
        return one.node == other.node and one.timeout == other.timeout and alike(one.arg, other.arg)
    if isinstance(one, decimal.Decimal):
        return str(one) == str(other)
    if isinstance(one, np.generic):
        return one.dtype == other.dtype and one.tobytes() == other.tobytes()
    if isinstance(one, float):
        return (one == other and math.copysign(1, one) == math.copysign(1, other)) or (one != one and other != other)
    return bool(one == other)


VALUES = [
    None, True, 0, 1.5, -0.0, math.inf, -math.inf, "", "text", "żółw", b"", b"\xc4\x00", bytearray(b"ab"),
    2**63 - 1, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 10**4000,
    (1, (2, [3])), [(1, 2), [3]], {"k": (1,)}, {"a": bytearray(b"y")}, [[[]]], {}, (),
    {1: 2, (1, 2): 3, None: 4, "a": 5, 1.5: 6, b"k": 7}, {True: 8}, {Colour.RED: 1}, {Word.YES: 1}, {2**70: 1},
    {1, 2}, frozenset({1}), set(), {(1, 2)}, collections.deque([1, 2]), collections.deque([1], maxlen=3),
    collections.OrderedDict(b=1, a=2), collections.Counter("aab"), collections.defaultdict(list, {"a": [1]}),
    decimal.Decimal("1.10"), decimal.Decimal("-0"), fractions.Fraction(1, 3), 1 + 2j, range(3), slice(1, 2), ...,
    uuid.UUID(int=7), pathlib.Path("a/b"), pathlib.PurePosixPath("x"), pathlib.PureWindowsPath("c:/x"),
    re.compile("a+", re.I), re.compile(b"x"), ipaddress.ip_address("10.0.0.1"), ipaddress.ip_network("::/64"),
    dt.datetime(2024, 1, 1, 1, 2, 3, 9), dt.datetime.max, dt.date(2024, 1, 1), dt.time(1, 2, 3),
    dt.time(1, 2, tzinfo=dt.UTC), dt.timedelta(days=-1, microseconds=1), dt.timezone(dt.timedelta(hours=1), "X"),
    dt.datetime(2024, 2, 29, 1, 2, 3, 456, tzinfo=dt.timezone(dt.timedelta(hours=5, minutes=30))),
    zoneinfo.ZoneInfo("Europe/Berlin"),
    Colour.RED, Level.HIGH, Word.YES, Outer.Phase.READY, Outer.Part(3), Point(1, Point(2, (3,))), Frozen(1),
    Pair(1), Stack([1, 2]), Model(a=1, child=Model(a=2)), SecretStr("s"), int, Point,
    HumanMessage("hi"), SystemMessage("s"), ToolMessage("r", tool_call_id="t"), AIMessageChunk("c"),
    AIMessage("hi", id="1", tool_calls=[{"name": "x", "args": {"a": 1}, "id": "t"}]), RemoveMessage(id="3"),
    Document("x", metadata={"a": 1}),
    Send("n", {"a": (1,)}), Send("n", 1, timeout=3), Interrupt("q", id="i"), Command(resume=1), Overwrite([1]),
    Command(update={"a": 1}, goto=["x", Send("y", 1)]), TimeoutPolicy(run_timeout=2.0, per_attempt=2.0),
    math.nan, decimal.Decimal("NaN"), decimal.Decimal("-sNaN"), decimal.Decimal("-Infinity"), decimal.Decimal("1E+5"),
    dt.time(1, 2, 3, 4, tzinfo=dt.timezone(dt.timedelta(seconds=30, microseconds=5)), fold=1), slice(None, None, -2),
    ipaddress.ip_interface("10.0.0.1/24"), ipaddress.ip_address("fe80::1%eth0"), type(None), NotImplemented,
    {frozenset({1}): 1, dt.date(2020, 1, 1): 2, decimal.Decimal(1): 3, Plain(1, (2,)): {1: {(1,): {None: 2}}}},
    Permission.READ | Permission.WRITE, Permission(0), Bits.LOW | Bits.HIGH, Bits(9), Sized.SMALL, Sized.LARGE,
    Plain(1, (2,)), Keyed(a=1), Keyed(a=1, b=[(2,)]), Begun(1, 2), Open(t=(1, 2), more={1: 2}), Old(a=2, b=[1]),
    np.float16(1.5), np.complex128(1 + 2j), np.datetime64("NaT"), np.timedelta64(5, "ms"),
    np.array([(1, 2.5)], dtype=[("a", "i4"), ("b", "f8")])[0], np.dtype([("a", "<i4"), ("b", "<f8", (2,))]),
    np.float64(1.5), np.int64(3), np.bool_(True), np.str_("x"), np.datetime64("2020-01-01"),
    pd.Timestamp("2020-01-01", tz="Europe/Berlin"), pd.Timedelta(3, "s"), pd.Interval(0, 1), pd.Period("2020", "M"),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda value: f"{type(value).__name__}-{str(value)[:20]}"[:40])
def test_a_value_comes_back_as_it_was(value):
    assert alike(through(value), value)
    assert alike(through({"in": [value]}), {"in": [value]})


characters = st.text(st.characters(exclude_categories=["Cs"]))
plain = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), characters,
        st.binary(), st.binary().map(bytearray), st.decimals(allow_nan=False), st.dates(), st.timedeltas(),
        st.datetimes(timezones=st.none() | st.timezones()), st.uuids(), st.sampled_from(list(Colour)),
        st.builds(Point, st.integers()), st.decimals(), st.complex_numbers(allow_nan=False), st.fractions(),
        st.times(), st.ip_addresses(), st.builds(range, st.integers(-9, 9), st.integers(-9, 9)),
        st.builds(Permission, st.integers(0, 3)), st.builds(Bits, st.integers(0, 9)), st.builds(Frozen, st.integers()),
        st.builds(HumanMessage, characters), st.builds(pathlib.PurePosixPath, st.just("a"), st.sampled_from("xyz")),
        st.builds(np.float32, st.integers(-9, 9)), st.sampled_from([re.compile("a+", re.I), int, None, ...]),
    ),
    lambda inner: st.one_of(
        st.lists(inner), st.tuples(inner, inner), st.dictionaries(characters, inner),
        st.dictionaries(st.one_of(st.integers(), st.tuples(st.integers()), st.booleans(), st.none()), inner),
        st.sets(st.integers()), st.lists(inner).map(collections.deque), st.builds(Point, inner, inner),
        st.builds(Plain, inner, inner), st.builds(Keyed, a=st.integers(), b=st.lists(inner)),
        st.builds(Open, more=inner), st.frozensets(st.tuples(st.booleans(), characters)).map(lambda keys: {keys: 1}),
        st.dictionaries(characters, inner).map(collections.OrderedDict), st.builds(Send, characters, inner),
        st.builds(Interrupt, inner, id=characters), st.lists(inner).map(Stack),
    ),
    max_leaves=20,
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(plain)
def test_any_nest_of_values_comes_back_as_it_was(value):
    stored = serde.dumps_typed(value)
    found = serde.loads_typed(stored)
    assert alike(found, value)
    assert serde.dumps_typed(found)[0] == stored[0]


def test_deep_values_come_back_and_values_that_hold_themselves_are_refused():
    deep = "bottom"
    for _ in range(150):
        deep = {"d": [deep]}
    assert through(deep) == deep
    loop = []
    loop.append(loop)
    with pytest.raises(SerializationError, match="contains itself"):
        serde.dumps_typed(loop)


def test_a_fold_and_a_zone_survive():
    moment = dt.datetime(2024, 10, 27, 2, 30, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin"), fold=1)
    found = through(moment)
    assert (found.fold, found.tzinfo.key, found) == (1, "Europe/Berlin", moment)


def test_instances_come_back_without_running_their_class_again():
    found = through(Doubling(2))
    assert (found.a, found.cache) == (4, {"kept": 4})
    model = Model(a=1)
    model._hidden = 9
    found = through(model)
    assert (found, found._hidden, found.model_fields_set) == (model, 9, {"a"})
    assert type(through(Shouting("quiet"))) is Shouting
    assert list(through(Shouting("quiet"))) == list("quiet")


ARRAYS = [
    np.arange(6, dtype="float32").reshape(2, 3)[:, ::2],
    np.asfortranarray(np.arange(6).reshape(2, 3)),
    np.array(5),
    np.zeros((0, 3)),
    np.array([1, "a", None, (2,)], dtype=object),
    np.array([(1, 2.5)], dtype=[("a", "i4"), ("b", "f8")]),
    np.array(["2020"], dtype="M8[ns]"),
    np.array(["ab", "c"]),
    np.arange(3, dtype=">i4"),
    np.array([((1, 2), [1, 2, 3])], dtype=[("p", [("x", "i4"), ("y", "i4")]), ("q", "f4", (3,))]),
    np.array([(1, [[1, 2], [3, 4]])], dtype=np.dtype([("a", "i1"), ("b", "i4", (2, 2))], align=True)),
    np.zeros(2, dtype=np.dtype([("a", "i1"), ("b", "f8")], align=True)),
    np.zeros(1, dtype=np.dtype([("a", "i1"), ("b", np.dtype([("x", "i1"), ("y", "f8")], align=True))], align=True)),
    np.array([b"abc"], dtype="V3"),
    np.array([1 + 2j]),
    np.zeros((2, 0, 3)),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}-{array.shape}")
def test_arrays_come_back_with_their_dtype_and_can_be_written_to(array):
    found = through(array)
    assert type(found) is np.ndarray
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    assert (found == array).all()
    assert found.flags.writeable


def test_frames_and_series_come_back_with_dtypes_and_indexes():
    frame = pd.DataFrame(
        {
            "a": [1, 2],
            "b": ["x", None],
            "c": pd.Categorical(["u", "v"], ordered=True),
            "d": pd.to_datetime(["2020", "2021"], utc=True),
            "e": pd.array([1, None], dtype="Int64"),
            "f": [{"any": "thing"}, (1,)],
        },
        index=pd.MultiIndex.from_tuples([(1, "a"), (2, "b")], names=["i", "j"]),
    )
    pd.testing.assert_frame_equal(through(frame), frame)
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    pd.testing.assert_frame_equal(through(twice), twice)
    series = pd.Series([1.5, 2], index=pd.date_range("2020", periods=2, freq="D", tz="Asia/Tokyo"), name="s")
    pd.testing.assert_series_equal(through(series), series)


PANDAS = [
    pd.Series(["a", "b", None], dtype="category"), pd.Series([], dtype="float64"),
    pd.Series(["a", None], dtype="string"), pd.Series([True, None], dtype="boolean"),
    pd.Series([1, "a", None, (1, 2)]), pd.Series([1], name=("a", 1)),
    pd.Series(pd.to_timedelta([1, 2], unit="s")), pd.Series(pd.arrays.IntervalArray.from_breaks([0, 1, 2])),
    pd.Series(pd.period_range("2020", periods=2, freq="D")), pd.Series(pd.arrays.SparseArray([0, 0, 1])),
    pd.Series(np.array(["2020"], dtype="M8[s]")), pd.CategoricalIndex(["a", "b"]), pd.interval_range(0, 3),
    pd.period_range("2020", periods=3, freq="M"), pd.timedelta_range("1D", periods=2), pd.Index([1.5, None]),
    pd.Index(["a", 1, None]), pd.RangeIndex(1, 9, 2, name="r"), pd.DataFrame(), pd.DataFrame({1: [1], "a": [2.5]}),
    pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("b", "y")])),
]  # fmt: skip


@pytest.mark.parametrize(
    "value", PANDAS, ids=lambda value: f"{type(value).__name__}-{getattr(value, 'dtype', '')}"[:40]
)
def test_what_pandas_holds_comes_back_with_its_type(value):
    found = through({"in": (value,)})["in"][0]
    equal = {pd.DataFrame: pd.testing.assert_frame_equal, pd.Series: pd.testing.assert_series_equal}
    equal.get(type(value), pd.testing.assert_index_equal)(found, value)
    assert type(found) is type(value)


def test_what_stands_for_nothing_comes_back_as_itself():
    assert through([pd.NaT, pd.NA])[0] is pd.NaT
    assert through([pd.NaT, pd.NA])[1] is pd.NA
    assert through(pd.Categorical([1, 2, 1], ordered=True)).equals(pd.Categorical([1, 2, 1], ordered=True))


ENVELOPES = [
    {"lc": 2, "type": "constructor", "id": ["builtins", "open"], "args": ["x", "w"], "kwargs": {}},
    {"__overwrite__": 1},
    {"__type__": "builtins.open", "args": ["x"]},
    {"module": "os", "name": "system", "value": "id"},
    ["os", "system", "id"],
    {"__class__": "os.system"},
]


@pytest.mark.parametrize("value", ENVELOPES)
def test_data_that_looks_like_an_envelope_stays_data(value):
    assert alike(through(value), value)


# --- what cannot be stored ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("cut \ud83d here", r"the value holds half a surrogate pair, '\\ud83d' at position 4"),
        ({"x": ["fine", "\ud83d"]}, r"the value at \['x'\]\[1\] holds half a surrogate"),
        ({"\ud800": 1}, "surrogate"),
        ({"a": [{"b": threading.Lock()}]}, r"at \['a'\]\[0\]\['b'\].*_thread.lock: this cannot be stored"),
        (lambda: 1, "function"),
        (Point(object()), "<Point>.*builtins.object"),
        (np.ma.array([1], mask=[True]), "only numpy's arrays"),
    ],
)
def test_what_cannot_be_stored_says_where_and_why(value, message):
    with pytest.raises(SerializationError, match=message):
        serde.dumps_typed(value)


# --- what is not allowed ------------------------------------------------------------------------------------


@dataclasses.dataclass
class Unknown:
    x: int


class Later(enum.Enum):
    A = 1


def test_a_class_that_is_not_allowed_comes_back_opaque_and_goes_back_byte_for_byte():
    for value in Unknown(42), Later.A, {"deep": [Unknown(1)]}:
        stored = serde.dumps_typed(value)
        found = serde.loads_typed(stored)
        assert "Opaque" in repr(found)
        assert serde.dumps_typed(found) == stored
    found = through(Unknown(42))
    assert (found.module, found.name, found.data) == (__name__, "Unknown", {"x": 42})
    assert "allow_types(Unknown)" in found.why


def test_allowing_a_class_brings_it_back_everywhere():
    @dataclasses.dataclass
    class Local:
        x: int

    assert type(through(Local(1))) is Opaque
    allow_types(Local)
    assert through(Local(1)) == Local(1)
    with pytest.raises(TypeError, match="takes classes"):
        allow_types("tests.Local")


def test_an_allow_list_may_name_classes_or_spell_them():
    strict = Serializer()
    stored = strict.dumps_typed([Unknown(1), Later.A])
    assert strict.with_allowlist([Unknown, (__name__, "Later")]).loads_typed(stored) == [Unknown(1), Later.A]
    assert strict.with_msgpack_allowlist([]) is strict
    assert type(strict.loads_typed(stored)[0]) is Opaque


def test_a_class_that_is_gone_leaves_its_data(tmp_path, monkeypatch):
    (tmp_path / "gone_module.py").write_text(
        "import dataclasses\n@dataclasses.dataclass\nclass Saved:\n    value: int\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("gone_module")
    allowing = Serializer(allow=[("gone_module", "Saved")])
    stored = allowing.dumps_typed(module.Saved(42))
    assert allowing.loads_typed(stored) == module.Saved(42)
    (tmp_path / "gone_module.py").unlink()
    del sys.modules["gone_module"]
    importlib.invalidate_caches()
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for cached in tmp_path.glob("__pycache__/*"):
        cached.unlink()
    found = allowing.loads_typed(stored)
    assert found.data == {"value": 42}
    assert "cannot be imported" in found.why
    assert allowing.dumps_typed(found) == stored


def test_a_module_that_is_not_allowed_is_never_imported(tmp_path, monkeypatch):
    (tmp_path / "bomb_module.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    forged = Serializer().dumps_typed(Unknown(1))
    found = Serializer().loads_typed(_renamed(forged, __name__, "bomb_module"))
    assert (type(found), found.module) == (Opaque, "bomb_module")
    assert "bomb_module" not in sys.modules


def _renamed(stored, old, new):
    kind, data = stored
    code, inner = ormsgpack.unpackb(data, ext_hook=lambda code, inner: (code, inner))
    parts = ormsgpack.unpackb(inner)
    assert parts[0] == old
    return kind, ormsgpack.packb(ormsgpack.Ext(code, ormsgpack.packb([new, *parts[1:]])))


def test_pickles_are_not_decoded():
    with pytest.raises(ValueError, match="pickle"):
        serde.loads_typed(("pickle", pickle.dumps([1])))
