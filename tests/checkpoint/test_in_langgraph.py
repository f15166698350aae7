"""LangGraph's own graphs on our savers: every story goes as it goes on LangGraph's saver in memory.

A story is told once per saver, by calls on one compiled graph; what it saw is compared, with ids numbered in the order
in which they appear.
"""

import operator
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, Send, interrupt
from pydantic import BaseModel

from tests.kit.peer import CONFIG, DURABILITY, FACES, Sync, history, numbered, snapshot


class Counting(TypedDict):
    n: int
    log: Annotated[list[str], operator.add]


def counting() -> StateGraph:
    graph = StateGraph(Counting)
    graph.add_node("one", lambda state: {"n": state["n"] + 1, "log": ["one"]})
    graph.add_node("two", lambda state: {"n": state["n"] * 2, "log": [f"two of {state['n']}"]})
    graph.add_edge(START, "one")
    graph.add_edge("one", "two")
    graph.add_conditional_edges("two", lambda state: "one" if state["n"] < 40 else END)
    return graph


def a_run_and_its_history(tell: Any) -> Any:
    app = tell(counting())
    for durability in DURABILITY:
        yield app.invoke({"n": 1, "log": ["begin"]}, CONFIG, durability=durability)
        yield snapshot(app.get_state(CONFIG))
    yield history(app)
    yield history(app, limit=3)
    yield history(app, filter={"source": "input"})


def streams(tell: Any) -> Any:
    app = tell(counting())
    modes = ["values", "updates", "checkpoints", "tasks"]
    for mode, chunk in app.stream({"n": 1, "log": []}, CONFIG, stream_mode=modes, durability="sync"):
        if mode == "checkpoints":
            chunk = {key: chunk[key] for key in ("values", "next", "metadata")}
        yield mode, chunk


def edits_forks_and_time_travel(tell: Any) -> Any:
    app = tell(counting())
    app.invoke({"n": 1, "log": []}, CONFIG)
    trunk = app.get_state_history(CONFIG)
    middle = trunk[len(trunk) // 2]
    yield app.invoke(None, middle.config)
    fork = app.update_state(middle.config, {"n": 100, "log": ["edited"]}, as_node="one")
    yield snapshot(app.get_state(fork))
    yield app.invoke(None, fork)
    again = app.update_state(trunk[2].config, {"n": 5})
    yield app.invoke(None, again)
    yield snapshot(app.get_state(middle.config))
    yield history(app)
    yield [snapshot(item) for item in app.get_state_history(CONFIG, before=middle.config, limit=2)]


def questions(tell: Any) -> Any:
    graph = StateGraph(Counting)

    def ask(state: Any) -> Any:
        first = interrupt({"how many": state["n"]})
        second = interrupt("sure?")
        return {"n": first, "log": [f"asked: {first} {second}"]}

    graph.add_node("ask", ask)
    graph.add_node("beside", lambda state: {"log": [f"beside: {interrupt('beside?')}"]})
    graph.add_node("end", lambda state: {"log": ["end"]})
    for name in "ask", "beside":
        graph.add_edge(START, name)
    graph.add_edge(["ask", "beside"], "end")
    app = tell(graph)
    app.invoke({"n": 1, "log": []}, CONFIG)
    yield snapshot(app.get_state(CONFIG))
    waiting = {item.value if isinstance(item.value, str) else "": item.id for item in app.get_state(CONFIG).interrupts}
    app.invoke(Command(resume={waiting["beside?"]: "yes"}), CONFIG)
    yield snapshot(app.get_state(CONFIG))
    app.invoke(Command(resume=7), CONFIG)
    yield snapshot(app.get_state(CONFIG))
    yield app.invoke(Command(resume="very"), CONFIG)
    yield history(app)


def breakpoints(tell: Any) -> Any:
    app = tell(counting(), interrupt_before=["two"], interrupt_after=["one"])
    yield app.invoke({"n": 30, "log": []}, CONFIG)
    for _ in range(3):
        yield snapshot(app.get_state(CONFIG))
        yield app.invoke(None, CONFIG)
    yield history(app)


class Fan(TypedDict):
    size: int
    out: Annotated[list[int], operator.add]


def a_fan_out(tell: Any) -> Any:
    graph = StateGraph(Fan)
    graph.add_node("work", lambda task: {"out": [task["n"] ** 2]})
    graph.add_node("sum", lambda state: {"size": sum(state["out"])})
    graph.add_conditional_edges(START, lambda state: [Send("work", {"n": n}) for n in range(state["size"])], ["work"])
    graph.add_edge("work", "sum")
    app = tell(graph)
    yield app.invoke({"size": 30, "out": []}, CONFIG)
    yield history(app)


def a_failure_and_what_follows(tell: Any) -> Any:
    fails = [True]
    ran: list[int] = []
    graph = StateGraph(Fan)

    def work(task: Any) -> Any:
        if task["n"] == 2 and fails[0]:
            raise ValueError("not yet")
        ran.append(task["n"])
        return {"out": [task["n"]]}

    graph.add_node("work", work)
    graph.add_conditional_edges(START, lambda state: [Send("work", {"n": n}) for n in range(state["size"])], ["work"])
    app = tell(graph)
    config = {**CONFIG, "max_concurrency": 1}
    with pytest.raises(ValueError, match="not yet"):
        app.invoke({"size": 3, "out": []}, config, durability="sync")
    yield snapshot(app.get_state(CONFIG))
    fails[0] = False
    yield app.invoke(None, config, durability="sync")
    yield sorted(ran)
    yield history(app)


def a_graph_in_a_graph(tell: Any) -> Any:
    inner = StateGraph(Counting)
    inner.add_node("ask", lambda state: {"n": interrupt("how many?"), "log": ["inner"]})
    inner.add_node("add", lambda state: {"n": state["n"] + 1, "log": ["added"]})
    inner.add_edge(START, "ask")
    inner.add_edge("ask", "add")
    outer = StateGraph(Counting)
    outer.add_node("inner", inner.compile())
    outer.add_node("last", lambda state: {"log": [f"last {state['n']}"]})
    outer.add_edge(START, "inner")
    outer.add_edge("inner", "last")
    app = tell(outer)
    app.invoke({"n": 0, "log": []}, CONFIG)
    yield snapshot(app.get_state(CONFIG, subgraphs=True))
    nested = app.get_state(CONFIG, subgraphs=True).tasks[0].state
    yield [snapshot(item) for item in app.get_state_history(nested.config)]
    yield app.invoke(Command(resume=41), CONFIG)
    yield history(app)


def jumps(tell: Any) -> Any:
    graph = StateGraph(Counting)
    graph.add_node(
        "a", lambda state: Command(update={"log": ["a"], "n": 1}, goto=["b", Send("c", {"n": 9, "log": []})])
    )
    graph.add_node("b", lambda state: {"log": [f"b{state['n']}"]})
    graph.add_node("c", lambda state: {"log": [f"c{state['n']}"]})
    graph.add_edge(START, "a")
    app = tell(graph)
    yield app.invoke({"n": 0, "log": []}, CONFIG)
    yield history(app)


class Talk(TypedDict):
    messages: Annotated[list, add_messages]


def a_conversation(tell: Any) -> Any:
    graph = StateGraph(Talk)
    graph.add_node(
        "answer", lambda state: {"messages": [AIMessage(str(len(state["messages"])), id=f"a{len(state['messages'])}")]}
    )
    graph.add_edge(START, "answer")
    app = tell(graph)
    for turn in range(12):
        app.invoke({"messages": [HumanMessage(f"turn {turn}", id=f"h{turn}")]}, CONFIG)
    yield app.invoke({"messages": [HumanMessage("instead", id="h3")]}, CONFIG)
    yield history(app)


def _added(state: list[int], writes: Any) -> list[int]:
    return [*(state or []), *(item for write in writes for item in write)]


class Deltas(TypedDict):
    n: int
    items: Annotated[list, DeltaChannel(_added, snapshot_frequency=4)]


@pytest.mark.filterwarnings("ignore::langgraph.warnings.LangGraphBetaWarning")
def a_delta_channel(tell: Any) -> Any:
    graph = StateGraph(Deltas)
    graph.add_node("grow", lambda state: {"n": state["n"] + 1, "items": [state["n"]]})
    graph.add_edge(START, "grow")
    graph.add_conditional_edges("grow", lambda state: "grow" if state["n"] < 11 else END)
    app = tell(graph)
    yield app.invoke({"n": 0, "items": [-1]}, CONFIG)
    yield snapshot(app.get_state(CONFIG))
    past = app.get_state_history(CONFIG)
    yield snapshot(app.get_state(past[5].config))
    fork = app.update_state(past[5].config, {"items": [99]}, as_node="grow")
    yield app.invoke(None, fork)
    yield snapshot(app.get_state(CONFIG))


class Order(BaseModel):
    item: str
    price: tuple[int, int] = (0, 1)


@dataclass
class Basket:
    orders: Annotated[list[Order], operator.add]
    tags: Annotated[set[str], operator.or_]
    best: Order | None = None


def classes_of_the_state(tell: Any) -> Any:
    graph = StateGraph(Basket)
    graph.add_node("buy", lambda state: {"orders": [Order(item="x", price=(1, 2))], "tags": {"new"}})
    graph.add_node("choose", lambda state: {"best": max(state.orders, key=lambda order: order.price)})
    graph.add_edge(START, "buy")
    graph.add_edge("buy", "choose")
    app = tell(graph)
    yield app.invoke({"orders": [Order(item="first")], "tags": {"old"}}, CONFIG)
    yield [(type(item).__name__, item) for item in app.get_state(CONFIG).values["orders"]]
    yield sorted(app.get_state(CONFIG).values["tags"])


STORIES = [
    a_run_and_its_history,
    streams,
    edits_forks_and_time_travel,
    questions,
    breakpoints,
    a_fan_out,
    a_failure_and_what_follows,
    a_graph_in_a_graph,
    jumps,
    a_conversation,
    a_delta_channel,
    classes_of_the_state,
]


def told(story: Any, face: type[Sync], saver: Any) -> list[str]:
    opened: list[Sync] = []

    def tell(graph: StateGraph, **options: Any) -> Sync:
        opened.append(face(graph, saver, **options))
        return opened[-1]

    try:
        return numbered(list(story(tell)))
    finally:
        for app in opened:
            app.close()


MAIN = ("sqlite", "async sqlite", "postgres")
FEW = (edits_forks_and_time_travel, a_graph_in_a_graph)  # for the other faces, which share all but their opening
TOLD = [(story, face) for face in FACES for story in (STORIES if face in MAIN else FEW)]


@pytest.mark.parametrize(("story", "face"), TOLD, ids=lambda part: getattr(part, "__name__", part))
def test_a_story_goes_as_on_langgraphs_own_saver(story, face, request):
    kind, opening = FACES[face]
    expected = told(story, kind, InMemorySaver())
    saver = opening(request).with_allowlist([Order])
    try:
        found = told(story, kind, saver)
        assert found == expected
        assert [*saver.audit()] == []
    finally:
        saver.close()
