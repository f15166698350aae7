"""Bytes that nobody's serializer wrote, decoded in a process of its own: `python -m tests.checkpoint.hostile`.

Prints, as JSON, what became of each, how much memory it took, and which modules were imported on the way.
"""

import json
import os
import sys
import threading
import tracemalloc
from typing import Any

import ormsgpack

from runtime.checkpoint.serde import Serializer, codes

PATIENCE = 120  # seconds for all of them; the process ends itself then
TOO_MUCH = 4 << 30


def extension(code: int, parts: Any) -> ormsgpack.Ext:
    return ormsgpack.Ext(code, ormsgpack.packb(parts))


def nested(code: int, depth: int) -> bytes:
    data = ormsgpack.packb(None)
    for _ in range(depth):
        data = ormsgpack.packb(ormsgpack.Ext(code, data))
    return data


RANGE = extension(codes.STDLIB, ["range", 0, 10**9, 1])
NETWORK = extension(codes.ONE_ARGUMENT, ["ipaddress", "IPv4Network", "0.0.0.0/0"])
HUMAN = ["langchain_core.messages.human", "HumanMessage"]

# What a few bytes might be blown up to: by a constructor that goes through what it is given, or by a length.
SWOLLEN = {
    "a tuple of a range": ormsgpack.Ext(codes.TUPLE, ormsgpack.packb(RANGE)),
    "pairs of a range": ormsgpack.Ext(codes.PAIRS, ormsgpack.packb(RANGE)),
    "parts that are a range": ormsgpack.Ext(codes.STDLIB, ormsgpack.packb(RANGE)),
    "a class that is a range": ormsgpack.Ext(codes.ARGUMENTS, ormsgpack.packb(RANGE)),
    "arguments that are a range": extension(codes.ARGUMENTS, ["builtins", "complex", RANGE]),
    "a date of a range": extension(codes.DATETIME, [RANGE, None, 0]),
    "a set of a range": extension(codes.ONE_ARGUMENT, ["builtins", "set", RANGE]),
    "a frozenset of a network": extension(codes.ONE_ARGUMENT, ["builtins", "frozenset", NETWORK]),
    "a deque of a range": extension(codes.STDLIB, ["deque", RANGE, None]),
    "a deque of a network": extension(codes.ONE_ARGUMENT, ["collections", "deque", NETWORK]),
    "a counter of a range": extension(codes.STDLIB, ["Counter", RANGE]),
    "a counter of a network": extension(codes.ONE_ARGUMENT, ["collections", "Counter", NETWORK]),
    "an ordered dict of a network": extension(codes.STDLIB, ["OrderedDict", NETWORK]),
    "a fraction in text": extension(codes.ARGUMENTS, ["fractions", "Fraction", ["1e999999999"]]),
    "a fraction of a decimal": extension(
        codes.ARGUMENTS,
        ["fractions", "Fraction", [extension(codes.ONE_ARGUMENT, ["decimal", "Decimal", "1e999999999"])]],
    ),
    "a message of a range": extension(codes.KEYWORDS, [*HUMAN, {"content": RANGE}]),
    "a message with calls of a network": extension(
        codes.PYDANTIC_2, ["langchain_core.messages.ai", "AIMessage", {"content": "", "tool_calls": NETWORK}, ""]
    ),
    "a message with a range in a list": extension(codes.PYDANTIC_2, [*HUMAN, {"content": [[RANGE]]}, ""]),
    "a model with fields of a range": extension(codes.MODEL, [*HUMAN, {"content": "x"}, RANGE, None, None]),
    "an item in a namespace of a range": extension(
        codes.KEYWORDS,
        [
            "langgraph.store.base",
            "Item",
            {"value": {}, "key": "", "namespace": RANGE, "created_at": "2026-01-01", "updated_at": "2026-01-01"},
        ],
    ),
    "objects in a huge shape": extension(codes.OBJECT_ARRAY, ["|O", [10**10], []]),
    "objects in a shape of a range": extension(codes.OBJECT_ARRAY, ["|O", RANGE, []]),
    "records of huge fields": extension(codes.OBJECT_ARRAY, [[["a", "f8", [10**8]]], [2], [0, 0]]),
    "text of huge width": extension(codes.OBJECT_ARRAY, ["<U400000000", [1], ["x"]]),
    "an array of a range": extension(codes.OBJECT_ARRAY, ["|O", [10**9], RANGE]),
    "numbers in a huge shape": extension(codes.NUMPY_ARRAY, ["<f8", [10**12], "C", b""]),
    "a huge scalar": extension(codes.NUMPY_SCALAR, ["|V1000000000", b""]),
    "a series of one value": extension(codes.PANDAS, ["Series", ["range", 0, 10**10, 1, None], ["numpy", 1], None, {}]),
    "a series of a range": extension(
        codes.PANDAS, ["Series", ["range", 0, 10**9, 1, None], ["numpy", RANGE], None, {}]
    ),
    "a frame of one value": extension(
        codes.PANDAS,
        ["DataFrame", ["range", 0, 10**10, 1, None], ["range", 0, 1, 1, None], [["numpy", 1]], {}],
    ),
    "an index of a network": extension(codes.PANDAS, ["Index", ["values", ["numpy", NETWORK], None, None]]),
    "codes of a network": extension(codes.PANDAS, ["Index", ["multi", [["range", 0, 9, 1, None]], [NETWORK], [None]]]),
    "an extension array of a range": extension(
        codes.PANDAS, ["Series", ["range", 0, 10**9, 1, None], ["extension", "Int64", RANGE], None, {}]
    ),
    "categories of a range": extension(
        codes.PANDAS, ["Index", ["values", ["category", RANGE, ["range", 0, 10**9, 1, None], False], None, None]]
    ),
}

# Classes and functions that must not be looked up, imported or called.
FORBIDDEN = {
    f"{code} {module}.{name}": extension(code, [module, name, *more])
    for module, name in (
        ("os", "system"),
        ("builtins", "eval"),
        ("builtins", "open"),
        ("subprocess", "Popen"),
        ("antigravity", "geohash"),
        ("this", "s"),
        ("tests.checkpoint.things", "Point"),
        ("langchain_core.messages.human", "HumanMessage.__init__.__globals__"),
        ("langchain_core.load.load", "loads"),
        ("pathlib", "os.system"),
        ("re", "_compiler"),
    )
    for code, more in (
        (codes.ONE_ARGUMENT, ["id"]),
        (codes.ARGUMENTS, [["id"]]),
        (codes.KEYWORDS, [{"a": 1}]),
        (codes.METHOD, ["id", "fromisoformat"]),
        (codes.PYDANTIC_1, [{"a": 1}]),
        (codes.PYDANTIC_2, [{"a": 1}, "model_validate"]),
        (codes.MODEL, [{}, [], None, None]),
        (codes.INSTANCE, [{"__class__": 1}]),
        (codes.SUBCLASS, ["x", None]),
        (codes.CLASS, []),
        (codes.SECRET, ["x"]),
    )
}

# Lengths that are not true, and nests that are deeper than anybody's stack.
RAW = {
    "a list of four billion": b"\xdd\xff\xff\xff\xff",
    "a dict of four billion": b"\xdf\xff\xff\xff\xff\xa1a",
    "a text of four billion": b"\xdb\xff\xff\xff\xff",
    "bytes of four billion": b"\xc6\xff\xff\xff\xffx",
    "an extension of four billion": b"\xc9\xff\xff\xff\xff\x40",
    "lists in lists": b"\x91" * 1_000_000 + b"\xc0",
    "dicts in dicts": b"\x81\xa1a" * 1_000_000 + b"\xc0",
    "nests in nests": nested(codes.NESTED, 4000),
    "sets in sets": nested(codes.TUPLE, 4000),
    "nothing": b"",
    "more than one value": b"\x01\x02",
    "a code for nothing": ormsgpack.packb(ormsgpack.Ext(127, b"x")),
    "a code below nothing": b"\xc7\x01\xffx",
}


def outcome(data: bytes) -> tuple[str, int]:
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    try:
        value = Serializer().loads_typed(("forkpoint", data))
    except ValueError as error:
        said = f"ValueError: {error}"
    else:
        said = type(value).__name__
        said += f": {value.why}" if said == "Opaque" else ""
        if said.startswith("Opaque") and Serializer().dumps_typed(value)[1] != data:
            said = "changed: " + said
    return said, tracemalloc.get_traced_memory()[1] - before


def truncated() -> tuple[str, int]:
    """Every beginning of a value that has a bit of everything."""
    import datetime
    import pathlib

    from langchain_core.messages import HumanMessage

    value = {"a": (1, {2}), "b": [datetime.datetime(2026, 1, 1), pathlib.PurePosixPath("x")], "m": HumanMessage("hi")}
    _, whole = Serializer().dumps_typed(value)
    most = 0
    for length in range(len(whole)):
        said, peak = outcome(whole[:length])
        most = max(most, peak)
        if not said.startswith("ValueError"):
            return f"{length} bytes: {said}", most
    return "ValueError: each", most


def main() -> None:
    patience = threading.Timer(PATIENCE, os._exit, [3])
    patience.daemon = True
    patience.start()
    try:
        import resource
    except ImportError:  # not on Windows: there the measuring has to do
        pass
    else:
        resource.setrlimit(resource.RLIMIT_AS, (TOO_MUCH, TOO_MUCH))
    import numpy  # what only arrays need is not counted as imported by the bytes
    import pandas  # noqa: F401

    Serializer().loads_typed(Serializer().dumps_typed(numpy.zeros(1)))
    tracemalloc.start()
    before = set(sys.modules)
    found = {name: outcome(ormsgpack.packb(value)) for name, value in (SWOLLEN | FORBIDDEN).items()}
    found |= {name: outcome(data) for name, data in RAW.items()}
    found["cut off"] = truncated()
    print(json.dumps({"found": found, "imported": sorted(set(sys.modules) - before)}))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
