"""A deferred fan-in: wait until nothing else is left to run.

How long each letter's way is, is known only at run time: some are answered at once, some are asked about first. A
join would need to know who is coming. `tally` is deferred instead: it runs once, after every other task is done.
"""

import operator
from typing import Annotated, Any

from typing_extensions import TypedDict

from runtime.graph import END, START, StateGraph
from runtime.types import Command, Send

shows = "A deferred node runs once, after branches whose number and length nobody knew beforehand."


class Letter(TypedDict):
    """What one branch is about."""

    text: str


class Mail(TypedDict, total=False):
    """The letters and what became of them."""

    letters: list[str]
    answers: Annotated[list[str], operator.add]
    summary: str


def read(state: Mail) -> Command[Any]:
    """Send each letter its own way."""
    return Command(goto=[Send("sort", Letter(text=text)) for text in state["letters"]])


def sort(letter: Letter) -> Command[Any]:
    """Answer a statement, ask about a question first."""
    return Command(goto=Send("ask" if letter["text"].endswith("?") else "answer", letter))


def ask(letter: Letter) -> Command[Any]:
    """Take one superstep more."""
    return Command(goto=Send("answer", Letter(text=letter["text"].rstrip("?") + ", as asked")))


def answer(letter: Letter) -> dict[str, Any]:
    """Write back."""
    return {"answers": [f"re: {letter['text']}"]}


def tally(state: Mail) -> dict[str, Any]:
    """Count, when all answers are in."""
    return {"summary": f"{len(state['answers'])} of {len(state['letters'])} answered"}


builder = StateGraph(Mail)
builder.add_node("read", read, destinations=("sort",))
builder.add_node("sort", sort, input_schema=Letter, destinations=("ask", "answer"))
builder.add_node("ask", ask, input_schema=Letter, destinations=("answer",))
builder.add_node("answer", answer, input_schema=Letter)
builder.add_node("tally", tally, defer=True)
builder.add_edge(START, "read")
builder.add_edge("answer", "tally")
builder.add_edge("tally", END)

graph = builder.compile(name="deferred")
example_input: Mail = {"letters": ["The mast is here", "When is the launch?", "Thank you"]}
