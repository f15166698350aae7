"""What docs/differences.md claims, one function each: run on one runtime, it returns what can be seen there.

`claim` holds the title in the documentation, what is seen here, and what is seen on LangGraph 1.2.24.
"""

import operator
import threading
from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace
from typing import Annotated, Any, NamedTuple

from langchain_core.messages import HumanMessage, RemoveMessage
from typing_extensions import TypedDict

NOBODY = "1f000000-0000-6000-8000-000000000000"


class State(TypedDict, total=False):
    """A list that grows, and a plain value."""

    log: Annotated[list[Any], operator.add]
    value: Any


class Raised(NamedTuple):
    """An error's class, by name."""

    name: str


class Claim(NamedTuple):
    """A difference: its title in the documentation, and what each runtime shows."""

    title: str
    ours: Any
    peer: Any
    show: Callable[[SimpleNamespace], Any]


CLAIMS: list[Claim] = []


def claim(title: str, ours: Any, peer: Any) -> Callable[[Any], Any]:
    def keep(show: Any) -> Any:
        CLAIMS.append(Claim(title, ours, peer, show))
        return show

    return keep


def same(title: str, both: Any) -> Callable[[Any], Any]:
    return claim(title, both, both)


def library(name: str) -> SimpleNamespace:
    """The names that claims need, of one runtime."""
    names: dict[str, Any] = {"name": name}
    for module in ("graph", "types", "errors", "checkpoint.memory", "cache.memory", "graph.message"):
        names.update(vars(import_module(f"{name}.{module}")))
    return SimpleNamespace(**names)


def seen(show: Any, lib: SimpleNamespace) -> Any:
    try:
        return show(lib)
    except Exception as error:
        return Raised(type(error).__name__)


def at(thread: str = "t", **more: Any) -> dict[str, Any]:
    return {"configurable": {"thread_id": thread, **more}}


def logs(name: str) -> Any:
    return lambda state: {"log": [name]}


def chain(lib: SimpleNamespace, *, saver: Any = True, schema: Any = State, before: Any = (), **nodes: Any) -> Any:
    made = lib.StateGraph(schema)
    last = lib.START
    for name, node in nodes.items():
        made.add_node(name, node)
        made.add_edge(last, name)
        last = name
    saver = lib.InMemorySaver() if saver is True else saver
    return made.compile(checkpointer=saver, interrupt_before=list(before))


def asks(lib: SimpleNamespace, *texts: str) -> Any:
    return chain(lib, ask=lambda state: {"log": [lib.interrupt(text) for text in texts]})


def beside(lib: SimpleNamespace, **nodes: Any) -> Any:
    made = lib.StateGraph(State)
    for name, node in nodes.items():
        made.add_node(name, node)
        made.add_edge(lib.START, name)
    return made


# --- going back in time -----------------------------------------------------------------------------


@claim("An unknown checkpoint id is refused.", Raised("CheckpointNotFoundError"), {"log": ["lost", "a"]})
def unknown_checkpoint(lib):
    graph = chain(lib, a=logs("a"))
    graph.invoke({"log": ["x"]}, at())
    return graph.invoke({"log": ["lost"]}, at(checkpoint_id=NOBODY))


@claim("Each answer to one paused checkpoint has its own branch.", [["yes"], ["no"]], [["yes"], ["yes"]])
def two_answers(lib):
    graph = asks(lib, "q")
    graph.invoke({"log": []}, at())
    paused = graph.get_state(at()).config
    return [graph.invoke(lib.Command(resume=answer), paused)["log"] for answer in ("yes", "no")]


@claim("A replay from inside a subgraph starts at that node.", [], ["first"])
def replay_inside(lib):
    ran = []

    def first(state):
        ran.append("first")

    inner = chain(lib, saver=None, first=first, ask=lambda state: {"log": [lib.interrupt("q")]})
    graph = chain(lib, sub=inner)
    graph.invoke({"log": []}, at())
    inside = graph.get_state(at(), subgraphs=True).tasks[0].state.config
    graph.invoke(lib.Command(resume=1), at())
    ran.clear()
    graph.invoke(None, inside)
    return ran


@claim("A subgraph with a memory runs also in a turn that was paused before it.", ["one", "one"], ["one"])
def paused_turn(lib):
    ran = []

    def one(state):
        ran.append("one")

    inner = chain(lib, saver=None, one=one)
    inner.checkpointer = True
    graph = chain(lib, sub=inner)
    graph.invoke({"log": []}, at())
    graph.invoke({"log": []}, at(), interrupt_before=["sub"])
    graph.invoke(None, at())
    return ran


@claim("A thread that waits for a removed node says so.", Raised("InvalidUpdateError"), {"log": ["a"]})
def removed_node(lib):
    saver = lib.InMemorySaver()
    chain(lib, saver=saver, before=["old"], a=logs("a"), old=logs("old")).invoke({"log": []}, at())
    return chain(lib, saver=saver, a=logs("a"), new=logs("new")).invoke(None, at())


@claim("An old task that succeeded in the end shows no error.", [(False, {"log": ["ok"]})], [(True, {"log": ["ok"]})])
def old_error(lib):
    tries = []

    def node(state):
        tries.append(1)
        if len(tries) == 1:
            raise ValueError("once")
        return {"log": ["ok"]}

    graph = chain(lib, a=node)
    seen(lambda _: graph.invoke({"log": []}, at()), lib)
    graph.invoke(None, at())
    tasks = [task for snapshot in graph.get_state_history(at()) for task in snapshot.tasks]
    return [(task.error is not None, task.result) for task in tasks if task.name == "a"]


# --- questions and answers --------------------------------------------------------------------------


@claim(
    "Only ids of open questions make a map.",
    [[{}], [{1: "v"}], [{"f" * 32: "v"}]],
    [[], Raised("TypeError"), []],
)
def dict_answers(lib):
    found = []
    for answer in ({}, {1: "v"}, {"f" * 32: "v"}):
        graph = asks(lib, "q")
        graph.invoke({"log": []}, at())
        resume = lib.Command(resume=answer)
        found.append(seen(lambda _, graph=graph, resume=resume: graph.invoke(resume, at())["log"], lib))
    return found


@claim("None is an answer.", {"log": [None]}, Raised("UnboundLocalError"))
def none_answer(lib):
    graph = asks(lib, "q")
    graph.invoke({"log": []}, at())
    return graph.invoke(lib.Command(resume=None), at())


@claim("An answer to an earlier question is refused.", Raised("UnknownInterruptError"), {"log": [1, "stale"]})
def stale_answer(lib):
    graph = asks(lib, "one", "two")
    old = graph.invoke({"log": []}, at())["__interrupt__"][0].id
    graph.invoke(lib.Command(resume=1), at())
    return graph.invoke(lib.Command(resume={old: "stale"}), at())


@claim("An answer is not given to another question.", Raised("MisalignedResumeError"), {"log": ["yes"]})
def misaligned(lib):
    texts = iter(["delete a?", "delete b?"])
    graph = chain(lib, ask=lambda state: {"log": [lib.interrupt(next(texts))]})
    graph.invoke({"log": []}, at())
    return graph.invoke(lib.Command(resume="yes"), at())


@claim("`except Exception` does not swallow a pause.", True, False)
def swallowed(lib):
    def node(state):
        try:
            return {"log": [lib.interrupt("q")]}
        except Exception:
            return {"log": ["swallowed"]}

    return "__interrupt__" in chain(lib, ask=node).invoke({"log": []}, at())


# --- supersteps and state -----------------------------------------------------------------------------


@claim("The recursion limit counts supersteps of nodes.", {"log": ["a", "b"]}, Raised("GraphRecursionError"))
def recursion_limit(lib):
    return chain(lib, a=logs("a"), b=logs("b")).invoke({"log": []}, {**at(), "recursion_limit": 2})


@claim(
    "In-place changes reach nobody else.", {"log": ["in"], "value": ["in"]}, {"log": ["in", "a"], "value": ["in", "a"]}
)
def in_place(lib):
    changed = threading.Event()

    def first(state):
        state["log"].append("a")
        changed.set()

    def second(state):
        assert changed.wait(20)
        return {"value": list(state["log"])}

    return beside(lib, a=first, b=second).compile().invoke({"log": ["in"]})


@claim("A refused update leaves the thread readable.", {"log": ["in"]}, Raised("InvalidUpdateError"))
def refused_update(lib):
    graph = beside(lib, a=lambda state: {"value": 1}, b=lambda state: {"value": 2})
    graph = graph.compile(checkpointer=lib.InMemorySaver())
    assert seen(lambda _: graph.invoke({"log": ["in"]}, at()), lib) == Raised("InvalidUpdateError")
    return graph.get_state(at()).values


@claim(
    "Tasks whose results were refused run again.", (2, {"log": ["in"], "value": "a"}), (1, Raised("InvalidUpdateError"))
)
def refused_again(lib):
    ran = []

    def second(state):
        ran.append(1)
        return {"value": "b"} if len(ran) == 1 else None

    graph = beside(lib, a=lambda state: {"value": "a"}, b=second).compile(checkpointer=lib.InMemorySaver())
    assert seen(lambda _: graph.invoke({"log": ["in"]}, at()), lib) == Raised("InvalidUpdateError")
    after = seen(lambda _: graph.invoke(None, at()), lib)
    return len(ran), after


@claim("A router that raises is tried again.", {"log": ["a", "b"]}, {"log": ["a"]})
def failing_router(lib):
    tries = []

    def route(state):
        tries.append(1)
        if len(tries) == 1:
            raise KeyError("router")
        return "b"

    made = beside(lib, a=logs("a"))
    made.add_node("b", logs("b"))
    made.add_conditional_edges("a", route, ["b"])
    graph = made.compile(checkpointer=lib.InMemorySaver())
    assert seen(lambda _: graph.invoke({"log": []}, at()), lib) == Raised("KeyError")
    return graph.invoke(None, at())


@claim("A wrong target is an error.", [Raised("InvalidUpdateError")] * 3, [["a"]] * 3)
def wrong_target(lib):
    found = []
    for route in (lambda state: "nowhere", lambda state: [lib.Send("nowhere", 1)]):
        made = beside(lib, a=logs("a"))
        made.add_conditional_edges("a", route)
        graph = made.compile()
        found.append(seen(lambda _, graph=graph: graph.invoke({"log": []})["log"], lib))
    graph = chain(lib, saver=None, a=lambda state: lib.Command(goto="nowhere", update={"log": ["a"]}))
    return [*found, seen(lambda _: graph.invoke({"log": []})["log"], lib)]


@claim("`Overwrite` replaces plain keys too.", "new", "Overwrite")
def overwrite(lib):
    graph = chain(lib, a=logs("a"))
    graph.invoke({"log": []}, at())
    graph.update_state(at(), {"value": lib.Overwrite("new")}, "a")
    value = graph.get_state(at()).values["value"]
    return value if isinstance(value, str) else type(value).__name__


@claim("A subgraph does not write back a list that it did not change.", ["in"], ["in", "in"])
def passed_through(lib):
    inner = chain(lib, saver=None, inside=lambda state: {"value": 1})
    return chain(lib, sub=inner).invoke({"log": ["in"]}, at())["log"]


@claim("Any callable is a reducer.", {"n": 3}, Raised("ValueError"))
def builtin_reducer(lib):
    class Highest(TypedDict):
        n: Annotated[int, max]

    return chain(lib, saver=None, schema=Highest, a=lambda state: {"n": 3}).invoke({"n": 1})


@claim("Later messages replace earlier ones also after a remove-all.", ["second"], ["first", "second"])
def remove_all(lib):
    new = [RemoveMessage(id="__remove_all__"), HumanMessage("first", id="1"), HumanMessage("second", id="1")]
    return [message.content for message in lib.add_messages([], new)]


# --- limits and caches ----------------------------------------------------------------------------------


@claim("A timeout also holds for a synchronous node.", Raised("NodeTimeoutError"), Raised("ValueError"))
def sync_timeout(lib):
    opened = threading.Event()
    made = lib.StateGraph(State)
    try:
        made.add_node("a", lambda state: opened.wait(20) and None, timeout=0.05)
        made.add_edge(lib.START, "a")
        return made.compile().invoke({"log": []})
    finally:
        opened.set()


class Says:
    """A callable object with what it says."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __call__(self, state: Any) -> Any:
        return {"log": [self.text]}


@claim("Cached results are told apart by what really runs.", [["A"], ["B"]], [["A"], ["A"]])
def cache(lib):
    shared, found = lib.InMemoryCache(), []
    for text in "AB":
        made = lib.StateGraph(State)
        made.add_node("a", Says(text), cache_policy=lib.CachePolicy())
        made.add_edge(lib.START, "a")
        found.append(made.compile(cache=shared).invoke({"log": []})["log"])
    return found


@claim("An unknown stream mode is refused.", Raised("ValueError"), [])
def stream_mode(lib):
    return list(chain(lib, a=logs("a")).stream({"log": []}, at(), stream_mode="value"))


@claim("Failures side by side are told together.", 2, 1)
def failures(lib):
    both = threading.Barrier(2)

    def fails(text):
        def node(state):
            both.wait(20)
            raise ValueError(text)

        return node

    try:
        beside(lib, a=fails("left one"), b=fails("right one")).compile().invoke({"log": []})
    except ValueError as error:
        told = " ".join([str(error), *error.__notes__])
        return sum(text in told for text in ("left one", "right one"))
