"""Two graphs for the browser tests: one whose text is hostile, one whose node waits for a file."""

import time
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

Hostile = TypedDict("Hostile", {KEY: str, "numbers": list, "__proto__": dict}, total=False)


def write(state):
    return {KEY: VALUE, "numbers": [BIG, 0.1, float("inf"), (1, 2), b"\xff\x00"], "__proto__": {"constructor": VALUE}}


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
