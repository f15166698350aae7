"""A loop: the smallest graph that a pipeline cannot express.

`count` adds one, and a conditional edge sends it round again until the limit is reached. Every turn is a superstep
of its own, with its own checkpoint, so the loop can be entered again at any turn.
"""

from typing import Any, Literal

from typing_extensions import TypedDict

from runtime.graph import END, START, StateGraph

shows = "A node that runs again until a condition holds: one superstep and one checkpoint per turn."


class Counter(TypedDict):
    """Where the count stands and where it ends; both are plain keys, so the last write wins."""

    value: int
    limit: int


def count(state: Counter) -> dict[str, Any]:
    """Add one."""
    return {"value": state["value"] + 1}


def enough(state: Counter) -> Literal["count", "__end__"]:
    """Go round again below the limit."""
    return "count" if state["value"] < state["limit"] else END


builder = StateGraph(Counter)
builder.add_node("count", count)
builder.add_edge(START, "count")
builder.add_conditional_edges("count", enough)

graph = builder.compile(name="counter")
example_input: Counter = {"value": 0, "limit": 5}
