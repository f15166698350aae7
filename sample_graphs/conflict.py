"""Two writers, one plain key: the update that is refused.

`optimist` and `pessimist` run in the same superstep and both write `forecast`. A key without a reducer keeps one
value per superstep, so the update is refused with `InvalidUpdateError`. The checkpoint before it stays as it was:
edit there as one of the two, or give the key a reducer.
"""

from typing import Any

from typing_extensions import TypedDict

from runtime.graph import END, START, StateGraph

shows = "Two parallel writes to a key without a reducer raise InvalidUpdateError and change nothing."


class Weather(TypedDict, total=False):
    """`forecast` has no reducer: one write per superstep."""

    place: str
    forecast: str


def optimist(state: Weather) -> dict[str, Any]:
    """See the bright side."""
    return {"forecast": f"sun over {state['place']}"}


def pessimist(state: Weather) -> dict[str, Any]:
    """See the other one."""
    return {"forecast": f"rain over {state['place']}"}


builder = StateGraph(Weather)
builder.add_node("optimist", optimist)
builder.add_node("pessimist", pessimist)
builder.add_edge(START, "optimist")
builder.add_edge(START, "pessimist")
builder.add_edge("optimist", END)
builder.add_edge("pessimist", END)

graph = builder.compile(name="conflict")
example_input: Weather = {"place": "Lindhaven"}
