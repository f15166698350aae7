"""In-place changes reach nobody: not siblings, the caller, retries, Sends, nor what is stored."""

import threading
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict

from runtime.graph import END, START, StateGraph
from runtime.types import Command, RetryPolicy, Send, interrupt
from tests.kit.graphs import Log, builder, chain, thread

AT_ONCE = RetryPolicy(initial_interval=0, jitter=False, retry_on=ConnectionError)


class Nested(TypedDict, total=False):
    """A value with containers inside."""

    value: Any
    seen: Any
    other: Any


def spoil(value):
    """Change a nested value in place, as deep as it goes."""
    value["list"].append("spoilt")
    value["list"][0].append("spoilt")
    value["inner"]["key"] = "spoilt"
    value["set"].add("spoilt")


def fresh():
    return {"list": [[1]], "inner": {"key": 1}, "set": {1}}


def test_a_sibling_sees_the_state_of_the_last_superstep(run, saver):
    spoilt = threading.Event()

    def first(state):
        spoil(state["value"])
        spoilt.set()
        return {}

    def second(state):
        assert spoilt.wait(20)
        return {"seen": state["value"]}

    graph = builder((START, "a"), (START, "b"), schema=Nested, a=first, b=second).compile(checkpointer=saver)
    result = run(graph, {"value": fresh()}, thread())
    assert result == {"value": fresh(), "seen": fresh()}


def test_the_callers_input_stays_as_it_was(run):
    def node(state):
        spoil(state["value"])

    given = {"value": fresh()}
    run(chain("one", schema=Nested, one=node).compile(), given)
    assert given == {"value": fresh()}


def test_changing_the_input_after_the_call_changes_no_checkpoint(run, saver):
    graph = chain("one", schema=Nested, one=lambda state: {"seen": 1}).compile(checkpointer=saver)
    given = {"value": fresh()}
    run(graph, given, thread())
    spoil(given["value"])
    assert run.state(graph, thread()).values["value"] == fresh()


def test_changing_a_result_changes_no_checkpoint(run, saver):
    graph = chain("one", schema=Nested, one=lambda state: {"seen": 1}).compile(checkpointer=saver)
    result = run(graph, {"value": fresh()}, thread())
    spoil(result["value"])
    state = run.state(graph, thread())
    spoil(state.values["value"])
    assert run.state(graph, thread()).values["value"] == fresh()


def test_changing_a_returned_object_later_changes_nothing(run, saver):
    kept = {}

    def one(state):
        kept["value"] = fresh()
        return {"value": kept["value"]}

    def two(state):
        spoil(kept["value"])
        return {"seen": state["value"]}

    graph = chain("one", "two", schema=Nested, one=one, two=two).compile(checkpointer=saver)
    run(graph, {"other": 1}, thread())
    assert run.state(graph, thread()).values["seen"] == fresh()


def test_every_attempt_starts_from_the_recorded_state(run, saver):
    seen = []

    def flaky(state):
        seen.append(len(state["log"]))
        state["log"].append("tried")
        if len(seen) < 3:
            raise ConnectionError("again")
        return {"value": list(state["log"])}

    made = StateGraph(Log).add_node("flaky", flaky, retry_policy=AT_ONCE).add_edge(START, "flaky")
    result = run(made.compile(checkpointer=saver), {"log": ["in"]}, thread())
    assert seen == [1, 1, 1]
    assert result["log"] == ["in"]
    assert result["value"] == ["in", "tried"]


def test_sends_of_one_object_are_copies(run):
    shared = {"list": []}

    def plan(state):
        return [Send("work", {**shared, "n": n}) for n in range(3)]

    def work(job):
        job["list"].append(job["n"])
        return {"log": [list(job["list"])]}

    made = builder(plan=lambda state: None, work=work)
    made.add_edge(START, "plan")
    made.add_conditional_edges("plan", plan, ["work"])
    assert run(made.compile(), {"log": []})["log"] == [[0], [1], [2]]
    assert shared == {"list": []}


def test_a_node_asked_again_starts_from_the_recorded_state(run, saver):
    def node(state):
        state["log"].append("mine")
        answer = interrupt("go on?")
        return {"value": [*state["log"], answer]}

    graph = chain("one", one=node).compile(checkpointer=saver)
    run(graph, {"log": ["in"]}, thread())
    assert run.state(graph, thread()).values["log"] == ["in"]
    assert run(graph, Command(resume="yes"), thread())["value"] == ["in", "mine", "yes"]


def test_a_router_cannot_change_the_state(run):
    def route(state):
        state["log"].append("router")
        return END

    made = builder((START, "one"))
    made.add_conditional_edges("one", route)
    assert run(made.compile(), {"log": []})["log"] == ["one"]


def test_what_is_streamed_is_the_listeners_own(run, saver):
    graph = chain("one", "two", schema=Nested, one=lambda s: {"seen": 1}, two=lambda s: {"other": s["value"]})
    graph = graph.compile(checkpointer=saver)

    def change(chunk):
        if "value" in chunk:
            spoil(chunk["value"])

    run.collect(graph, "stream", {"value": fresh()}, thread(), stream_mode="values", until=change)
    assert run.state(graph, thread()).values["other"] == fresh()


@dataclass
class Record:
    """A dataclass in the state."""

    items: list = field(default_factory=list)


class Model(BaseModel):
    """A model in the state."""

    items: list = []


@pytest.mark.parametrize("kind", [Record, Model])
def test_objects_with_fields_are_copied(run, kind):
    spoilt = threading.Event()

    def first(state):
        state["value"].items.append("spoilt")
        spoilt.set()

    def second(state):
        assert spoilt.wait(20)
        return {"seen": list(state["value"].items)}

    graph = builder((START, "a"), (START, "b"), schema=Nested, a=first, b=second).compile()
    given = kind()
    assert run(graph, {"value": given})["seen"] == []
    assert given.items == []
