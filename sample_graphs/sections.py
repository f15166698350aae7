"""Graphs inside graphs, two levels deep, with a question at the bottom.

`outline` sends each heading to a `section` of its own. A section is a graph: it writes a line and hands it to `check`,
which is a graph again and asks a person where a line names a number. So two runs of one subgraph stand side by side,
one of them waits two levels down, and the answer goes to just that one.
"""

import operator
from typing import Annotated, Any

from typing_extensions import TypedDict

from runtime.graph import END, START, StateGraph
from runtime.types import Send, interrupt

shows = "Two sections are written by a subgraph each; inside one of them another subgraph asks about a number."

FACTS = {"bridge": "The bridge costs 40 million", "ferry": "The ferry runs all year"}


class Report(TypedDict, total=False):
    """The outer state."""

    topics: list[str]
    lines: Annotated[list[str], operator.add]
    report: str


class Section(TypedDict, total=False):
    """The state inside a section."""

    topic: str
    line: str
    lines: list[str]


class Check(TypedDict, total=False):
    """The state inside the check of a section."""

    line: str
    numbers: list[str]


def outline(state: Report) -> dict[str, Any]:
    """Sort the topics."""
    return {"topics": sorted(state["topics"])}


def each_topic(state: Report) -> list[Send]:
    """Send each topic to a section of its own."""
    return [Send("section", {"topic": topic}) for topic in state["topics"]]


def write(state: Section) -> dict[str, Any]:
    """Write what is known."""
    return {"line": FACTS[state["topic"]]}


def find_numbers(state: Check) -> dict[str, Any]:
    """Note the numbers in the line."""
    return {"numbers": [word for word in state["line"].split() if word.isdigit()]}


def confirm(state: Check) -> dict[str, Any]:
    """Ask about numbers; a line without any is taken as it is."""
    if not state["numbers"]:
        return {"line": f"{state['line']}."}
    said = interrupt({"question": f"{state['line']}: is that right?", "options": ["yes", "no"]})
    return {"line": f"{state['line']}." if said == "yes" else f"{state['line']}, they say."}


def hand_in(state: Section) -> dict[str, Any]:
    """Give the line to the report."""
    return {"lines": [state["line"]]}


def bind(state: Report) -> dict[str, Any]:
    """Put the lines together."""
    return {"report": " ".join(state["lines"])}


check = StateGraph(Check)
check.add_node("find_numbers", find_numbers)
check.add_node("confirm", confirm)
check.add_edge(START, "find_numbers")
check.add_edge("find_numbers", "confirm")
check.add_edge("confirm", END)

section = StateGraph(Section)
section.add_node("write", write)
section.add_node("check", check.compile(name="check"))
section.add_node("hand_in", hand_in)
section.add_edge(START, "write")
section.add_edge("write", "check")
section.add_edge("check", "hand_in")
section.add_edge("hand_in", END)

builder = StateGraph(Report)
builder.add_node("outline", outline)
builder.add_node("section", section.compile(name="section"))
builder.add_node("bind", bind)
builder.add_edge(START, "outline")
builder.add_conditional_edges("outline", each_topic, ["section"])
builder.add_edge("section", "bind")
builder.add_edge("bind", END)

graph = builder.compile(name="sections")
example_input: Report = {"topics": ["ferry", "bridge"]}
