"""Two questions at once.

`legal` and `finance` run in the same superstep and each asks a person. Both questions wait side by side, each with an
id; they can be answered together, or one by one in any order. Answering one runs its node to the end and leaves the
other waiting.
"""

import operator
from typing import Annotated, Any

from typing_extensions import TypedDict

from runtime.graph import END, START, StateGraph
from runtime.types import interrupt

shows = "Two interrupts wait in one superstep and are answered by id, together or one by one."


class Contract(TypedDict, total=False):
    """A contract that needs two signatures."""

    title: str
    signatures: Annotated[list[str], operator.add]
    signed: bool


def sign(desk: str, state: Contract) -> dict[str, Any]:
    """Ask a desk for its signature; nothing before the question has an effect, since it runs twice."""
    answer = interrupt({"prompt": f"{desk}: sign {state['title']!r}?", "options": ["yes", "no"]})
    return {"signatures": [f"{desk}: {answer}"]}


def legal(state: Contract) -> dict[str, Any]:
    """Ask the lawyers."""
    return sign("legal", state)


def finance(state: Contract) -> dict[str, Any]:
    """Ask the accountants."""
    return sign("finance", state)


def conclude(state: Contract) -> dict[str, Any]:
    """Sign only if both did."""
    return {"signed": all(signature.endswith(": yes") for signature in state["signatures"])}


builder = StateGraph(Contract)
builder.add_node("legal", legal)
builder.add_node("finance", finance)
builder.add_node("conclude", conclude)
builder.add_edge(START, "legal")
builder.add_edge(START, "finance")
builder.add_edge(["legal", "finance"], "conclude")
builder.add_edge("conclude", END)

graph = builder.compile(name="approvals")
example_input: Contract = {"title": "Ferry service 2031"}
