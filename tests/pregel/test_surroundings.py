"""What surrounds a run: callbacks, context variables, what nodes may ask for, batches and composition."""

import asyncio
import contextvars
from dataclasses import dataclass

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver as LangGraphSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from runtime.config import get_config, get_store
from runtime.graph import START, StateGraph
from runtime.runtime import Runtime, get_runtime
from runtime.store.memory import InMemoryStore
from runtime.types import Command, Send, interrupt
from tests.kit.graphs import Log, builder, chain, questions, thread


class Recorder(BaseCallbackHandler):
    """Keeps the names of runs, with their parents', as they start and as they end."""

    run_inline = True

    def __init__(self):
        self.names = {}
        self.started = []
        self.ended = []

    def on_chain_start(self, serialized, inputs, *, run_id, parent_run_id=None, name=None, **kwargs):
        self.names[run_id] = name
        self.started.append((self.names.get(parent_run_id), name))

    def on_chain_end(self, outputs, *, run_id, **kwargs):
        self.ended.append(self.names[run_id])


def test_callbacks_see_the_graph_and_its_nodes(run):
    recorder = Recorder()
    graph = chain("one", "two").compile(name="outer")
    run(graph, {"log": []}, {"callbacks": [recorder]})
    assert recorder.started == [(None, "outer"), ("outer", "one"), ("outer", "two")]
    assert recorder.ended == ["one", "two", "outer"]


def test_callbacks_see_runs_inside(run):
    recorder = Recorder()
    inner = chain("deep").compile(name="inner")
    graph = builder((START, "sub"), sub=inner).compile(name="outer")
    run(graph, {"log": []}, {"callbacks": [recorder]})
    assert ("outer", "sub") in recorder.started
    assert [parent for parent, name in recorder.started if name == "deep"] == ["inner"]


def test_what_a_node_calls_is_a_child_of_the_node(run):
    recorder = Recorder()
    called = RunnableLambda(lambda value: value, name="called")
    graph = chain("one", one=lambda state: {"log": [called.invoke("x")]}).compile()
    run(graph, {"log": []}, {"callbacks": [recorder]})
    assert ("one", "called") in recorder.started


def test_context_variables_reach_nodes_side_by_side(run):
    where = contextvars.ContextVar("where", default="nowhere")

    def node(state):
        return {"log": [where.get()]}

    graph = builder((START, "a"), (START, "b"), a=node, b=node).compile()
    token = where.set("here")
    try:
        assert run(graph, {"log": []})["log"] == ["here", "here"]
    finally:
        where.reset(token)


@dataclass
class Who:
    """The context of a run."""

    name: str


def test_nodes_get_what_they_ask_for(run, saver):
    store = InMemoryStore()
    store.put(("users",), "ann", {"age": 33})

    def node(state, config: RunnableConfig, runtime: Runtime[Who], *, store):
        age = store.get(("users",), runtime.context.name).value["age"]
        return {"log": [config["configurable"]["thread_id"], runtime.context.name, age]}

    def asking(state):
        return {"log": [get_config()["configurable"]["thread_id"], get_runtime(Who).context.name, get_store() is store]}

    made = StateGraph(Log, context_schema=Who)
    made.add_node("node", node)
    made.add_node("asking", asking)
    made.add_edge(START, "node")
    made.add_edge("node", "asking")
    graph = made.compile(checkpointer=saver, store=store)
    log = run(graph, {"log": []}, thread(), context=Who("ann"))["log"]
    assert log == ["t", "ann", 33, "t", "ann", True]


def test_a_batch_keeps_the_order(run):
    graph = chain("one", one=lambda state: {"log": [state["value"] * 2]}).compile()
    results = run.call(graph, "batch", [{"value": n, "log": []} for n in range(5)])
    assert [result["log"] for result in results] == [[0], [2], [4], [6], [8]]


def test_a_graph_is_a_runnable_in_both_directions(run):
    graph = chain("one").compile()
    before = RunnableLambda(lambda text: {"log": [text]})
    after = RunnableLambda(lambda state: state["log"])
    assert run.call(before | graph | after, "invoke", "in") == ["in", "one"]


def test_a_config_can_be_laid_under_every_call(run, saver):
    graph = chain("one").compile(checkpointer=saver).with_config(configurable={"thread_id": "under"})
    run(graph, {"log": []})
    assert run.state(graph, thread("under")).values["log"] == ["one"]


async def awaited(state):
    return {"log": ["async"]}


def test_async_nodes_run_beside_sync_ones():
    graph = builder((START, "a"), (START, "b"), a=awaited, b=lambda state: {"log": ["sync"]}).compile()
    assert asyncio.run(graph.ainvoke({"log": []}))["log"] == ["async", "sync"]


def test_an_async_node_in_a_sync_run_says_what_to_call():
    with pytest.raises(TypeError, match="ainvoke"):
        chain("one", one=awaited).compile().invoke({"log": []})


def test_a_strict_saver_of_langgraphs_gives_back_what_the_runtime_stored(run):
    saver = LangGraphSaver(serde=JsonPlusSerializer(allowed_msgpack_modules=None))
    made = builder(work=lambda n: {"log": [f"{n}: {interrupt('q')}"]})
    made.add_conditional_edges(START, lambda state: [Send("work", n) for n in (1,)], ["work"])
    graph = made.compile(checkpointer=saver)
    assert questions(run(graph, {"log": []}, thread())) == ["q"]
    assert [question.value for question in run.state(graph, thread()).interrupts] == ["q"]
    assert run(graph, Command(resume="yes"), thread())["log"] == ["1: yes"]
