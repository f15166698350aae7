"""What siblings see of each other: nothing, until the barrier.

`reader` and `scribbler` run in the same superstep on the same state. `scribbler` changes the list that it was given
in place, which no node should do. It happens before `reader` looks (the two wait for each other), and yet `reader`
counts what was there when the superstep began. Only what a node returns counts, and only after the superstep.
"""

import threading
from typing import Any

from typing_extensions import TypedDict

from runtime.graph import END, START, StateGraph

shows = "Tasks of one superstep see the same frozen state, even if one of them changes its input in place."


class Board(TypedDict, total=False):
    """A list that one node spoils for itself, and what the other one saw."""

    notes: list[str]
    seen: int


scribbled = threading.Event()


def scribbler(state: Board) -> dict[str, Any]:
    """Change the input in place and return nothing."""
    state["notes"].append("scribble")
    scribbled.set()
    return {}


def reader(state: Board) -> dict[str, Any]:
    """Look only after the scribbling; run alone, do not wait for it for long."""
    scribbled.wait(timeout=1)
    return {"seen": len(state["notes"])}


def clear(state: Board) -> dict[str, Any]:
    """Make ready for the next run."""
    scribbled.clear()
    return {}


builder = StateGraph(Board)
builder.add_node("clear", clear)
builder.add_node("reader", reader)
builder.add_node("scribbler", scribbler)
builder.add_edge(START, "clear")
builder.add_edge("clear", "reader")
builder.add_edge("clear", "scribbler")
builder.add_edge("reader", END)
builder.add_edge("scribbler", END)

graph = builder.compile(name="isolation")
example_input: Board = {"notes": ["first", "second"]}
