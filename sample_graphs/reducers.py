"""The order in which a reducer takes its writes.

Three nodes write `line` in one superstep, and joining text is not commutative. The first by name takes longest, so
it answers last; its write is folded first all the same. The order is that of the tasks, never of their finishing,
and so the state is the same on every machine.
"""

import time
from typing import Annotated, Any

from typing_extensions import TypedDict

from runtime.graph import END, START, StateGraph

shows = "Writes of one superstep are folded in task order, whoever finishes first."


def join(left: str, right: str) -> str:
    """Put the newer text behind the older; swapping the two would show."""
    return f"{left} > {right}" if left else right


class Line(TypedDict):
    """A text with an order to it."""

    line: Annotated[str, join]


def alpha(state: Line) -> dict[str, Any]:
    """Answer last."""
    time.sleep(0.02)
    return {"line": "alpha"}


def bravo(state: Line) -> dict[str, Any]:
    """Answer second."""
    time.sleep(0.01)
    return {"line": "bravo"}


def charlie(state: Line) -> dict[str, Any]:
    """Answer first."""
    return {"line": "charlie"}


builder = StateGraph(Line)
for node in (charlie, bravo, alpha):
    builder.add_node(node.__name__, node)
    builder.add_edge(START, node.__name__)
    builder.add_edge(node.__name__, END)

graph = builder.compile(name="reducers")
example_input: Line = {"line": "start"}
