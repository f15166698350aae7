"""Two agents that hand a case over to each other.

Each agent is a graph of its own and a node of the parent. There is no edge between them: whoever has the case
decides, from inside its own graph, who gets it next, with `Command(graph=Command.PARENT, goto=...)`.

A graph that ends returns its whole state to its parent, with the log entries that it was given among the new ones;
hence the reducer that takes an entry only once.
"""

from typing import Annotated, Any, Literal

from typing_extensions import TypedDict

from runtime.graph import START, StateGraph
from runtime.types import Command

shows = "Control moves between two agents from inside their own graphs, by Command to the parent."


def unite(known: list[str], more: list[str]) -> list[str]:
    """Append the entries that are not there yet."""
    return known + [entry for entry in more if entry not in known]


class Case(TypedDict, total=False):
    """What both agents know; `log` grows by an entry for each thing done."""

    complaint: str
    log: Annotated[list[str], unite]
    diagnosis: str
    closed: bool


def hand_over(to: str, update: dict[str, Any]) -> Command[Any]:
    """Leave the agent's own graph and go to another agent in the parent."""
    return Command(graph=Command.PARENT, goto=to, update=update)


def greet(state: Case) -> Command[Literal["close"]]:
    """Pass a new case on; close one that comes back with a diagnosis."""
    if "diagnosis" in state:
        return Command(goto="close")
    return hand_over("technician", {"log": ["desk: passed on to the technician"]})


def close(state: Case) -> dict[str, Any]:
    """Tell the customer."""
    return {"closed": True, "log": [f"desk: told the customer that {state['diagnosis']}"]}


def inspect(state: Case) -> dict[str, Any]:
    """Find the cause."""
    cause = "the fuse is blown" if "dark" in state["complaint"] else "nothing is wrong"
    return {"diagnosis": cause, "log": [f"technician: found that {cause}"]}


def give_back(state: Case) -> Command[Any]:
    """Return the case with everything learned: what is only in this graph's state would stay here."""
    return hand_over("desk", {"diagnosis": state["diagnosis"], "log": state["log"]})


desk = StateGraph(Case)
desk.add_node("greet", greet)
desk.add_node("close", close)
desk.add_edge(START, "greet")

technician = StateGraph(Case)
technician.add_node("inspect", inspect)
technician.add_node("give_back", give_back)
technician.add_edge(START, "inspect")
technician.add_edge("inspect", "give_back")

builder = StateGraph(Case)
# `destinations` is for the drawing only: nobody could see these two arrows from outside.
builder.add_node("desk", desk.compile(name="desk"), destinations=("technician",))
builder.add_node("technician", technician.compile(name="technician"), destinations=("desk",))
builder.add_edge(START, "desk")

graph = builder.compile(name="handover")
example_input: Case = {"complaint": "the harbour light is dark"}
