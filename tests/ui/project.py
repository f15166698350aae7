"""Graphs for the browser tests: hostile text, a node that waits for a file, values of every form, very many nodes."""

import struct
import time
import zlib
from pathlib import Path
from typing import Annotated, TypedDict

from runtime.config import get_config
from runtime.graph import END, START, StateGraph
from runtime.types import interrupt

HERE = Path(__file__).parent
NODE = "<img src=x onerror=alert(1)>"
KEY = "**bold** <b>key</b> $x^2$"
VALUE = (
    "<script>alert(1)</script> **bold** $x$ :red[x] ![i](http://evil.example/leak.png) [a](javascript:alert(1)) "
    "\u202ereversed\u202c \x1b[31mred\x00 www.evil.example"
)
BIG = 2**63 + 1
SVG = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIG9ubG9hZD0iYWxlcnQoMSkiLz4="
LOAD = [{"type": "image_url", "image_url": {"url": url}} for url in (SVG, "http://evil.example/leak.png")]

Hostile = TypedDict("Hostile", {KEY: str, "numbers": list, "__proto__": dict, "chat": list, "rows": list}, total=False)


def write(state):
    return {
        KEY: VALUE,
        "numbers": [BIG, 0.1, float("inf"), (1, 2), b"\xff\x00"],
        "__proto__": {"constructor": VALUE},
        "chat": [{"role": VALUE, "name": VALUE, "content": VALUE}, {"role": "user", "content": LOAD}],
        "rows": [{KEY: VALUE, "__proto__": VALUE, "": SVG}] * 2,
    }


def ask(state):
    interrupt({"question": VALUE, "options": [VALUE, "plain"]})
    return {}


hostile_builder = StateGraph(Hostile)
hostile_builder.add_node(NODE, write)
hostile_builder.add_node("ask", ask)
hostile_builder.add_edge(START, NODE)
hostile_builder.add_edge(NODE, "ask")
hostile_builder.add_edge("ask", END)
hostile = hostile_builder.compile(name="hostile")


def add(before, new):
    return (before or []) + new


class Gated(TypedDict, total=False):
    log: Annotated[list[str], add]


def gate(state):
    """Wait until somebody makes the file that is named after the thread."""
    thread = get_config()["configurable"]["thread_id"]
    deadline = time.monotonic() + 300
    while not (HERE / f"{thread}.gate").exists():
        if time.monotonic() > deadline:
            raise TimeoutError("nobody opened the gate")
        time.sleep(0.01)
    return {"log": ["through the gate"]}


gated_builder = StateGraph(Gated)
gated_builder.add_node("gate", gate)
gated_builder.add_node("after", lambda state: {"log": ["after"]})
gated_builder.add_edge(START, "gate")
gated_builder.add_edge("gate", "after")
gated_builder.add_edge("after", END)
gated = gated_builder.compile(name="gated")


def png(width, height):
    """A picture of one colour."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = zlib.compress(b"".join(b"\x00" + b"\xc8\x50\x3c" * width for _ in range(height)))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


SECRET = "sk-never-on-the-page"


class Rich(TypedDict, total=False):
    note: str
    api_key: str
    messages: list
    rows: list
    picture: bytes


def fill(state):
    call = {"name": "search", "args": {"q": "tide"}, "id": "call-1"}
    turns = [{"role": "user", "content": f"no {n}"} for n in range(60)]
    turns += [{"role": "assistant", "content": "", "tool_calls": [call]}]
    turns += [{"role": "tool", "tool_call_id": "call-1", "content": "high at noon"}]
    rows = [{"n": n, "topic": f"topic {n}"} for n in range(3)]
    return {"api_key": SECRET, "messages": turns, "rows": rows, "picture": png(32, 20)}


def fail(state):
    raise ValueError(f"refused: {state['api_key']}")


rich_builder = StateGraph(Rich)
rich_builder.add_node("fill", fill)
rich_builder.add_node("fail", fail)
rich_builder.add_edge(START, "fill")
rich_builder.add_edge("fill", "fail")
rich = rich_builder.compile(name="rich")


def complain(state):
    raise ValueError("e" + "\u0301" * 1_000 + "\n" + "line\n" * 200)


long_error_builder = StateGraph(Rich)
long_error_builder.add_node("complain", complain)
long_error_builder.add_edge(START, "complain")
long_error = long_error_builder.compile(name="long-error")

large_builder = StateGraph(Rich)
for number in range(800):
    large_builder.add_node(f"n{number}", lambda state: {})
    large_builder.add_edge(f"n{number - 1}" if number else START, f"n{number}")
large = large_builder.compile(name="large")
