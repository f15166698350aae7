"""What a process is doing when it is killed, and how another one goes on: from what is saved, and from nothing else."""

import operator
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import pytest
from typing_extensions import TypedDict

from runtime.errors import InvalidUpdateError
from runtime.graph import START, StateGraph
from runtime.types import Command, Send, interrupt
from tests.crash.points import Points
from tests.kit.faces import Face
from tests.kit.graphs import thread
from tests.kit.postgres import execute

WORKERS = 3
OLD = Path(__file__).parents[1] / "checkpoint" / "files" / "schema_1.db3"


class Place(NamedTuple):
    """Where a story happens: an open saver and its face, the log of the nodes that ran, and the points."""

    saver: Any
    face: Face
    durability: str
    ran: Path
    points: Points


class State(TypedDict, total=False):
    """`log` has a line for each node that finished; `inner` those of the subgraph."""

    log: Annotated[list[str], operator.add]
    inner: list[str]


class Inner(TypedDict, total=False):
    """The subgraph's."""

    inner: Annotated[list[str], operator.add]


def graph(place: Place) -> Any:
    """plan, three workers at once, a subgraph of two nodes, a question, finish."""

    def node(name: str, returns: Callable[[], Any]) -> Callable[[Any], Any]:
        def run(state: Any) -> Any:
            with place.ran.open("a", encoding="utf-8") as file:
                file.write(f"{name}\n")
            place.points.at(f"node {name}, first line")
            result = returns()
            place.points.at(f"node {name}, last line")
            return result

        return run

    def ask() -> Any:
        return {"log": [f"ask: {interrupt('Good?')}"]}

    def work(state: Any) -> Any:
        return node(f"work{state}", lambda: {"log": [f"work{state}"]})(state)

    inner = StateGraph(Inner)
    for name in "one", "two":
        inner.add_node(name, node(name, lambda name=name: {"inner": [name]}))
    inner.add_edge(START, "one")
    inner.add_edge("one", "two")

    made = StateGraph(State)
    made.add_node("plan", node("plan", lambda: {"log": ["plan"]}))
    made.add_node("work", work)
    made.add_node("inside", inner.compile())
    made.add_node("ask", node("ask", ask))
    made.add_node("finish", node("finish", lambda: {"log": ["finish"]}))
    made.add_edge(START, "plan")
    made.add_conditional_edges("plan", lambda state: [Send("work", n) for n in range(WORKERS)], ["work"])
    for one, other in ("work", "inside"), ("inside", "ask"), ("ask", "finish"):
        made.add_edge(one, other)
    return made.compile(checkpointer=place.saver)


# --- a run, an answer, a fork -------------------------------------------------------------------------


def run(place: Place, name: str = "t") -> None:
    """Begin a thread, or go on with it, up to the question."""
    made, config = graph(place), thread(name)
    state = place.face.state(made, config)
    if state.interrupts:
        return
    given = None if state.created_at else {"log": []}
    place.face(made, given, config, durability=place.durability)


def answer(place: Place, name: str = "t") -> None:
    """Answer the question, unless that is done, and go on to the end."""
    made, config = graph(place), thread(name)
    state = place.face.state(made, config)
    if state.interrupts:
        place.face(made, Command(resume="yes"), config, durability=place.durability)
    elif state.tasks:  # also those whose results are saved, and not folded yet
        place.face(made, None, config, durability=place.durability)


def finished(place: Place, name: str = "t") -> None:
    """A thread from its beginning to its end."""
    run(place, name)
    answer(place, name)


def fork(place: Place) -> None:
    """Edit the state before the subgraph, as its author, unless that is done, and go on to the question."""
    made = graph(place)
    history = place.face.history(made, thread())
    before = next(state for state in history if state.next == ("inside",))
    edits = [state for state in history if state.metadata["source"] == "update"]
    branch = edits[0].config if edits else place.face.edit(made, before.config, {"log": ["edited"]}, "inside")
    if not place.face.state(made, thread()).interrupts:
        place.face(made, None, thread() if edits else branch, durability=place.durability)


# --- an update that was refused -----------------------------------------------------------------------


def conflict(place: Place, *, agree: bool) -> Any:
    """Two nodes that write one plain key, unless they agree, and one beside them."""

    def node(name: str, key: str) -> Callable[[Any], Any]:
        def run(state: Any) -> Any:
            with place.ran.open("a", encoding="utf-8") as file:
                file.write(f"{name}\n")
            place.points.at(f"node {name}")
            return {key: [name]}

        return run

    made = StateGraph(State)
    for name, key in ("left", "inner"), ("right", "log" if agree else "inner"), ("beside", "log"):
        made.add_node(name, node(name, key))
        made.add_edge(START, name)
    return made.compile(checkpointer=place.saver)


def refused(place: Place) -> None:
    """A superstep of which all results are saved, and whose update was refused."""
    with pytest.raises(InvalidUpdateError):
        place.face(conflict(place, agree=False), {"log": []}, thread(), durability=place.durability)


def retry(place: Place) -> None:
    """Run again what was refused, unless that is done; now they agree."""
    made = conflict(place, agree=True)
    if place.face.state(made, thread()).tasks:
        place.face(made, None, thread(), durability=place.durability)


# --- removing, copying, a newer schema ----------------------------------------------------------------


def two_threads(place: Place) -> None:
    """Two finished threads."""
    finished(place, "t")
    finished(place, "u")


def tidy(place: Place) -> None:
    """Keep the newest of one thread, remove the other, and copy what is left."""
    place.face.call(place.saver, "prune", ["t"])
    place.face.call(place.saver, "delete_thread", "u")
    if place.face.call(place.saver, "get_tuple", thread("w")) is None:
        place.face.call(place.saver, "copy_thread", "t", "w")


def older(place: Place) -> None:
    """A finished thread in a database of schema 1."""
    finished(place)
    place.saver.close()


def downgrade(where: str) -> None:
    """Take back what schema 2 brought."""
    statements = ("ALTER TABLE checkpoint_store DROP COLUMN readable", "UPDATE checkpoint_store SET version = 1")
    if "://" in where:
        execute(where, *statements)
        return
    shutil.copy(OLD, where)


def migrate(place: Place) -> None:
    """Open it, which brings its tables up to date; and begin another thread."""
    run(place, "new")


class Story(NamedTuple):
    """What is done beforehand, unharmed; what a process is killed at; and how its durability matters."""

    before: Callable[[Place], None] | None
    act: Callable[[Place], None]
    durabilities: tuple[str, ...]
    old: bool = False


STORIES = {
    "run": Story(None, run, ("sync", "async", "exit")),
    "answer": Story(run, answer, ("sync", "async")),
    "fork": Story(finished, fork, ("sync", "async")),
    "retry": Story(refused, retry, ("sync", "async")),
    "tidy": Story(two_threads, tidy, ("sync",)),
    "migrate": Story(older, migrate, ("sync",), old=True),
}
