"""A graph as a node of another graph.

`edit` is a compiled graph with two nodes and a private key, `cuts`. It shares only `text` with its parent: the
parent's value goes in, the changed value comes out, and `cuts` stays inside. To the parent it is one task in one
superstep; inside it has supersteps and checkpoints of its own, under the namespace of that task.
"""

from typing import Any

from typing_extensions import TypedDict

from runtime.graph import END, START, StateGraph

shows = "A compiled graph runs as one node of its parent, with its own supersteps, state and checkpoints."

FILLERS = {"really", "very", "just"}


class Article(TypedDict, total=False):
    """The parent's state."""

    text: str
    published: str


class Edit(TypedDict, total=False):
    """The state inside `edit`."""

    text: str
    cuts: list[str]


def draft(state: Article) -> dict[str, Any]:
    """Write more than is needed."""
    return {"text": f"{state['text']} is really just a small and very windy harbour"}


def find_fillers(state: Edit) -> dict[str, Any]:
    """Note the words that say nothing."""
    return {"cuts": [word for word in state["text"].split() if word in FILLERS]}


def cut_fillers(state: Edit) -> dict[str, Any]:
    """Leave them out."""
    return {"text": " ".join(word for word in state["text"].split() if word not in state["cuts"])}


def publish(state: Article) -> dict[str, Any]:
    """Put a full stop."""
    return {"published": f"{state['text']}."}


inner = StateGraph(Edit)
inner.add_node("find_fillers", find_fillers)
inner.add_node("cut_fillers", cut_fillers)
inner.add_edge(START, "find_fillers")
inner.add_edge("find_fillers", "cut_fillers")
inner.add_edge("cut_fillers", END)

builder = StateGraph(Article)
builder.add_node("draft", draft)
builder.add_node("edit", inner.compile(name="edit"))
builder.add_node("publish", publish)
builder.add_edge(START, "draft")
builder.add_edge("draft", "edit")
builder.add_edge("edit", "publish")
builder.add_edge("publish", END)

graph = builder.compile(name="subgraph")
example_input: Article = {"text": "Lindhaven"}
