"""A parallel join: an edge from a list of sources waits for all of them.

`flight` takes one superstep, `hotel` and `price_hotel` take two. `offer` is joined to both ends by one edge with a
list of sources, so it runs once, when the slower branch is in. Two single edges would have run it twice.
"""

from typing import Any

from typing_extensions import TypedDict

from runtime.graph import END, START, StateGraph

shows = "Two branches of unequal length and a node that waits for both: a barrier over several supersteps."


class Trip(TypedDict, total=False):
    """Each branch writes keys of its own, so no reducer is needed."""

    city: str
    nights: int
    flight: int
    hotel: str
    hotel_price: int
    offer: str


def flight(state: Trip) -> dict[str, Any]:
    """Price the flight by the length of the city's name: made up, but always the same."""
    return {"flight": 40 + 10 * len(state["city"])}


def hotel(state: Trip) -> dict[str, Any]:
    """Choose a hotel."""
    return {"hotel": f"Hotel {state['city']} Harbour"}


def price_hotel(state: Trip) -> dict[str, Any]:
    """Price the chosen hotel."""
    return {"hotel_price": state["nights"] * 5 * len(state["hotel"])}


def offer(state: Trip) -> dict[str, Any]:
    """Add both prices up."""
    return {"offer": f"{state['hotel']} and flight: {state['flight'] + state['hotel_price']}"}


builder = StateGraph(Trip)
builder.add_node("flight", flight)
builder.add_node("hotel", hotel)
builder.add_node("price_hotel", price_hotel)
builder.add_node("offer", offer)
builder.add_edge(START, "flight")
builder.add_edge(START, "hotel")
builder.add_edge("hotel", "price_hotel")
builder.add_edge(["flight", "price_hotel"], "offer")
builder.add_edge("offer", END)

graph = builder.compile(name="join")
example_input: Trip = {"city": "Bergen", "nights": 3}
