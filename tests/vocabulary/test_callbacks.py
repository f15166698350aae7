"""Callbacks of a graph's own life: stopped for interrupts, resumed."""

import asyncio

import pytest
from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler, CallbackManager
from langgraph.checkpoint.memory import InMemorySaver
from typing_extensions import TypedDict

from runtime.callbacks import (
    GraphCallbackHandler,
    GraphInterruptEvent,
    GraphResumeEvent,
    get_sync_graph_callback_manager_for_config,
)
from runtime.graph import START, StateGraph
from runtime.types import Command, interrupt


class State(TypedDict):
    answer: str


class Recorder(GraphCallbackHandler):
    def __init__(self):
        self.events = []

    def on_interrupt(self, event):
        self.events.append(event)

    def on_resume(self, event):
        self.events.append(event)


class AsyncRecorder(Recorder):
    async def on_interrupt(self, event):
        self.events.append(event)

    async def on_resume(self, event):
        self.events.append(event)


class Raising(GraphCallbackHandler):
    def __init__(self, raise_error):
        self.raise_error = raise_error

    def on_interrupt(self, event):
        raise ValueError("from the handler")


class Plain(BaseCallbackHandler):
    """A handler of langchain-core's, which knows nothing of graphs."""


def asking(state):
    return {"answer": interrupt("who?")}


@pytest.fixture
def graph():
    inner = StateGraph(State).add_node("ask", asking).add_edge(START, "ask").compile()
    outer = StateGraph(State).add_node("ask", asking).add_node("inner", inner)
    return outer.add_edge(START, "ask").add_edge("ask", "inner").compile(checkpointer=InMemorySaver())


@pytest.fixture(params=["sync", "async"])
def run(request, graph):
    def run(value, callbacks, **options):
        config = {"configurable": {"thread_id": "t"}, "callbacks": callbacks}
        if request.param == "sync":
            return graph.invoke(value, config, **options)
        return asyncio.run(graph.ainvoke(value, config, **options))

    run.recorder = Recorder if request.param == "sync" else AsyncRecorder
    return run


def said(recorder):
    return [(type(e).__name__[5:-5], e.status, len(e.checkpoint_ns)) for e in recorder.events]


def test_handlers_hear_of_every_stop_and_every_resume_inner_graphs_included(run):
    recorder = run.recorder()
    run({"answer": ""}, [Plain(), recorder])
    assert said(recorder) == [("Interrupt", "pending", 0)]
    event = recorder.events.pop()
    assert isinstance(event, GraphInterruptEvent)
    assert [question.value for question in event.interrupts] == ["who?"]
    assert event.checkpoint_id

    run(Command(resume="eve"), [recorder])
    assert said(recorder) == [("Resume", "pending", 0), ("Interrupt", "pending", 1), ("Interrupt", "pending", 0)]
    assert isinstance(recorder.events[0], GraphResumeEvent)
    assert recorder.events[0].checkpoint_id == event.checkpoint_id
    assert recorder.events[1].checkpoint_ns[0].startswith("inner:")
    assert recorder.events[0].run_id is not None
    recorder.events.clear()

    assert run(Command(resume="bob"), [recorder]) == {"answer": "bob"}
    assert said(recorder) == [("Resume", "pending", 0), ("Resume", "pending", 1)]


def test_breakpoints_are_stops_too(run):
    recorder = run.recorder()
    run({"answer": ""}, [recorder], interrupt_before=["ask"])
    assert said(recorder) == [("Interrupt", "interrupt_before", 0)]
    assert recorder.events[0].interrupts == ()


def test_a_run_that_neither_stops_nor_resumes_says_nothing(run, graph):
    recorder = run.recorder()
    run({"answer": ""}, [recorder])
    recorder.events.clear()
    run({"answer": "again"}, [recorder])
    assert [e for e in recorder.events if isinstance(e, GraphResumeEvent)] == []


def test_a_handler_that_raises_is_passed_over_unless_it_insists(run):
    recorder = run.recorder()
    assert "__interrupt__" in run({"answer": ""}, [Raising(raise_error=False), recorder])
    assert said(recorder) == [("Interrupt", "pending", 0)]
    with pytest.raises(ValueError, match="from the handler"):
        run({"answer": ""}, [Raising(raise_error=True)])


def test_what_a_handler_raised_leaves_the_thread_resumable(run):
    with pytest.raises(ValueError, match="from the handler"):
        run({"answer": ""}, [Raising(raise_error=True)])
    recorder = run.recorder()
    run(Command(resume="eve"), [recorder])
    assert said(recorder)[0] == ("Resume", "pending", 0)


@pytest.mark.parametrize("wrap", [lambda h: [h], lambda h: h, lambda h: CallbackManager([h])])
def test_callbacks_are_taken_in_each_of_langchains_forms(wrap):
    recorder = Recorder()
    manager = get_sync_graph_callback_manager_for_config({"callbacks": wrap(recorder)})
    assert manager.handlers == [recorder]


def test_handlers_that_know_nothing_of_graphs_are_left_alone():
    manager = get_sync_graph_callback_manager_for_config({"callbacks": [Plain(), AsyncCallbackHandler()]})
    assert manager.handlers == []
    manager.add_handler(Plain())
    manager.on_resume(GraphResumeEvent(None, "pending", "c", ()))
    assert get_sync_graph_callback_manager_for_config({}).handlers == []
    with pytest.raises(TypeError, match="'print'"):
        get_sync_graph_callback_manager_for_config({"callbacks": "print"})
