"""A deferred fan-in: wait until nothing else is left to run.

Which branches a letter takes is decided at run time: thanks take one superstep, questions take three, and a letter
may hold either or both. Joining both ends would wait for ever for a branch that was not taken, and two plain edges
would tally twice. `tally` is deferred instead: it runs once, when every other task is done.
"""

import operator
from typing import Annotated, Any, Literal

from typing_extensions import TypedDict

from runtime.graph import END, START, StateGraph

shows = "A deferred node runs once, after all branches that were taken, whatever their number and length."


class Mail(TypedDict, total=False):
    """A letter, line by line, and what became of it."""

    letter: list[str]
    open: list[str]
    replies: Annotated[list[str], operator.add]
    summary: str


def branches(state: Mail) -> list[Literal["thank", "look_up"]]:
    """Take the short way for statements, the long one for questions, or both."""
    asks = [line.endswith("?") for line in state["letter"]]
    taken: list[Literal["thank", "look_up"]] = []
    if not all(asks):
        taken.append("thank")
    if any(asks):
        taken.append("look_up")
    return taken


def thank(state: Mail) -> dict[str, Any]:
    """Be done at once."""
    return {"replies": ["thank you for your letter"]}


def look_up(state: Mail) -> dict[str, Any]:
    """Collect the questions."""
    return {"open": [line for line in state["letter"] if line.endswith("?")]}


def ask(state: Mail) -> dict[str, Any]:
    """Find out who knows."""
    return {"open": [f"{question} The harbour office knows" for question in state["open"]]}


def answer(state: Mail) -> dict[str, Any]:
    """Write what was found."""
    return {"replies": state["open"]}


def tally(state: Mail) -> dict[str, Any]:
    """Count, when everything is in."""
    return {"summary": f"{len(state['replies'])} replies to {len(state['letter'])} lines"}


builder = StateGraph(Mail)
builder.add_node("thank", thank)
builder.add_node("look_up", look_up)
builder.add_node("ask", ask)
builder.add_node("answer", answer)
builder.add_node("tally", tally, defer=True)
builder.add_conditional_edges(START, branches)
builder.add_edge("look_up", "ask")
builder.add_edge("ask", "answer")
builder.add_edge("thank", "tally")
builder.add_edge("answer", "tally")
builder.add_edge("tally", END)

graph = builder.compile(name="deferred")
example_input: Mail = {"letter": ["The mast is here.", "When is the launch?"]}
