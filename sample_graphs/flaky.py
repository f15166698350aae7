"""A tool that fails once, beside two that do not.

Three lookups run in one superstep and `tide_table` fails at its first attempt on each thread. The other two are
done by then, and their results are saved as pending writes. Running on from the failure runs `tide_table` alone:
the work that was paid for is not paid for again.
"""

from collections import Counter
from operator import add
from typing import Annotated, Any

from langchain_core.runnables import RunnableConfig
from typing_extensions import TypedDict

from runtime.graph import END, START, StateGraph

shows = "After a failure the finished siblings keep their results; only the failed task runs again."

# How often tide_table was called, by thread; it lasts as long as the process, like a real outage.
attempts: Counter[str] = Counter()


class Outlook(TypedDict, total=False):
    """Readings come in from three tasks at once, hence the reducer."""

    harbour: str
    readings: Annotated[list[str], add]
    advice: str


def tide_table(state: Outlook, config: RunnableConfig) -> dict[str, Any]:
    """Look up the tide; the first call on a thread gets no answer."""
    thread = str(config.get("configurable", {}).get("thread_id"))
    attempts[thread] += 1
    if attempts[thread] == 1:
        raise ConnectionError(f"the tide table of {state['harbour']} did not answer; run on to try again")
    return {"readings": [f"high water at {state['harbour']}: 14:20"]}


def wind_gauge(state: Outlook) -> dict[str, Any]:
    """Read the wind."""
    return {"readings": ["wind: 5 from the west"]}


def lock_keeper(state: Outlook) -> dict[str, Any]:
    """Ask the lock keeper."""
    return {"readings": ["the lock is open"]}


def advise(state: Outlook) -> dict[str, Any]:
    """Decide, once all three readings are in."""
    return {"advice": f"sail: {len(state['readings'])} readings say so"}


builder = StateGraph(Outlook)
LOOKUPS = [tide_table, wind_gauge, lock_keeper]
for lookup in LOOKUPS:
    builder.add_node(lookup.__name__, lookup)
    builder.add_edge(START, lookup.__name__)
builder.add_node("advise", advise)
builder.add_edge([lookup.__name__ for lookup in LOOKUPS], "advise")
builder.add_edge("advise", END)

graph = builder.compile(name="flaky")
example_input: Outlook = {"harbour": "Lindhaven"}
