"""A superstep that the barrier refused: its record, and what its tasks do when they run again."""

import operator
from dataclasses import dataclass
from typing import Annotated

import pytest
from langgraph.cache.memory import InMemoryCache
from typing_extensions import TypedDict

from runtime.errors import InvalidUpdateError
from runtime.graph import START, StateGraph
from runtime.types import CachePolicy, Command, Send, interrupt
from tests.kit.graphs import builder, thread


class Conflict:
    """Two writers of a plain key, until one of them is told to write something else; and a third one beside them."""

    def __init__(self, calls):
        self.calls = calls
        self.writes = {"a": {"value": "a1"}, "b": {"value": "b1"}}

    def node(self, name):
        def act(state):
            self.calls[name] += 1
            return self.writes[name]

        return act

    def beside(self, state):
        self.calls["c"] += 1
        return {"log": ["c"]}

    def graph(self, saver, **compiled):
        nodes = {"a": self.node("a"), "b": self.node("b"), "c": self.beside}
        return builder((START, "a"), (START, "b"), (START, "c"), **nodes).compile(checkpointer=saver, **compiled)


@pytest.fixture
def conflict(calls):
    return Conflict(calls)


def refuse(run, graph, given=None):
    with pytest.raises(InvalidUpdateError, match="'value'"):
        run(graph, given, thread())


def standing(run, graph, config):
    """How each task of a checkpoint's superstep stands, with what it wrote."""
    return {task.name: (task.status, dict(task.writes)) for task in run.plan(graph, config).tasks}


def folds(run, graph, config):
    return {fold.channel: fold for fold in run.explain(graph, config)}


def test_the_refused_results_are_shown_with_what_refused_them(run, saver, conflict):
    graph = conflict.graph(saver)
    refuse(run, graph, {"log": []})
    assert standing(run, graph, thread()) == {
        "a": ("refused", {"value": "a1"}),
        "b": ("refused", {"value": "b1"}),
        "c": ("saved", {"log": ["c"]}),
    }
    shown = folds(run, graph, thread())
    assert [(node, value) for _, node, value, _ in shown["value"].steps] == [("a", "a1"), ("b", "b1")]
    assert "'value'" in shown["value"].refused
    assert (shown["log"].after, shown["log"].refused) == (["c"], None)


def test_what_is_written_the_second_time_is_what_is_recorded(run, saver, conflict):
    graph = conflict.graph(saver)
    refuse(run, graph, {"log": []})
    before = run.state(graph, thread()).config
    conflict.writes = {"a": {"value": "a2"}, "b": {"log": ["b2"]}}
    assert run(graph, None, thread()) == {"log": ["b2", "c"], "total": 0, "value": "a2"}
    assert conflict.calls == {"a": 2, "b": 2, "c": 1}
    assert standing(run, graph, before) == {
        "a": ("saved", {"value": "a2"}),
        "b": ("saved", {"log": ["b2"]}),
        "c": ("saved", {"log": ["c"]}),
    }
    shown = folds(run, graph, before)
    assert {name: fold.after for name, fold in shown.items()} == {"value": "a2", "log": ["b2", "c"]}


def test_every_refusal_is_recorded(run, saver, conflict):
    graph = conflict.graph(saver)
    refuse(run, graph, {"log": []})
    conflict.writes["a"] = {"value": "a2"}
    refuse(run, graph)
    assert standing(run, graph, thread())["a"] == ("refused", {"value": "a2"})
    conflict.writes = {"a": {"log": ["a3"]}, "b": {"value": "b3"}}
    assert run(graph, None, thread()) == {"log": ["a3", "c"], "total": 0, "value": "b3"}
    assert conflict.calls == {"a": 3, "b": 3, "c": 1}


def test_a_task_that_has_run_again_does_not_run_a_third_time(run, saver, conflict):
    graph = conflict.graph(saver)
    refuse(run, graph, {"log": []})
    conflict.writes["a"] = {"value": "a2"}
    again = next(task.id for task in run.plan(graph, thread()).tasks if task.name == "a")
    run.step(graph, thread(), phase="execute", tasks=[again])
    assert standing(run, graph, thread())["a"] == ("saved", {"value": "a2"})
    assert standing(run, graph, thread())["b"] == ("refused", {"value": "b1"})
    assert [node for _, node, _, _ in folds(run, graph, thread())["value"].steps] == ["a"]
    conflict.writes["b"] = {"log": ["b2"]}
    assert run(conflict.graph(saver), None, thread())["value"] == "a2"
    assert conflict.calls == {"a": 2, "b": 2, "c": 1}


def test_another_result_can_be_supplied(run, saver, conflict):
    graph = conflict.graph(saver)
    refuse(run, graph, {"log": []})
    ids = {task.name: task.id for task in run.plan(graph, thread()).tasks}
    run.step(graph, thread(), phase="execute", tasks=[ids["a"]], supply={ids["b"]: {"log": ["by hand"]}})
    stood = standing(run, graph, thread())
    assert (stood["a"][0], stood["b"]) == ("saved", ("supplied", {"log": ["by hand"]}))
    assert run.step(graph, thread(), phase="update").values == {"log": ["by hand", "c"], "total": 0, "value": "a1"}
    assert conflict.calls == {"a": 2, "b": 1, "c": 1}


def test_a_result_that_was_supplied_and_refused_is_no_more_supplied(run, saver, conflict):
    graph = conflict.graph(saver)
    run.step(graph, thread(), {"log": []})
    run.step(graph, thread())
    ids = {task.name: task.id for task in run.plan(graph, thread()).tasks}
    with pytest.raises(InvalidUpdateError, match="'value'"):
        run.step(graph, thread(), supply={ids["b"]: {"value": "by hand"}})
    assert standing(run, graph, thread())["b"] == ("refused", {"value": "by hand"})
    conflict.writes["b"] = {"log": ["b2"]}
    run.step(graph, thread(), phase="execute")
    assert standing(run, graph, thread())["b"] == ("saved", {"log": ["b2"]})


def test_an_error_of_the_second_time_is_its_own(run, saver, conflict):
    graph = conflict.graph(saver)
    refuse(run, graph, {"log": []})
    conflict.writes["b"] = 7  # no update: the node itself fails
    with pytest.raises(InvalidUpdateError, match="'b'"):
        run(graph, None, thread())
    stood = standing(run, graph, thread())
    assert (stood["a"], stood["b"][0]) == (("saved", {"value": "a1"}), "failed")
    conflict.writes["b"] = {"log": ["b2"]}
    assert run(graph, None, thread()) == {"log": ["b2", "c"], "total": 0, "value": "a1"}
    assert conflict.calls == {"a": 2, "b": 3, "c": 1}


def test_a_cache_does_not_give_a_refused_result_again(run, saver, conflict):
    made = builder((START, "a"), (START, "b"), b=conflict.node("b"))
    made.add_node("d", conflict.node("a"), cache_policy=CachePolicy())
    made.add_edge(START, "d")
    graph = made.compile(checkpointer=saver, cache=InMemoryCache())
    refuse(run, graph, {"log": []})
    conflict.writes["a"] = {"total": 4}
    assert run(graph, None, thread()) == {"log": ["a"], "total": 4, "value": "b1"}


def test_a_refusal_of_the_first_databases_is_one_too(run, saver, conflict):
    graph = conflict.graph(saver)
    run.step(graph, thread(), {"log": []})
    run.step(graph, thread())
    run.step(graph, thread(), phase="execute")
    config = run.state(graph, thread()).config
    ids = {task.name: task.id for task in run.plan(graph, thread()).tasks}
    saver.put_writes(config, [("__refused__", [ids["a"], ids["b"]])], "barrier", "")
    assert {name: status for name, (status, _) in standing(run, graph, thread()).items()} == {
        "a": "refused",
        "b": "refused",
        "c": "saved",
    }
    conflict.writes = {"a": {"value": "a2"}, "b": {"log": ["b2"]}}
    assert run(conflict.graph(saver), None, thread())["value"] == "a2"


@dataclass(frozen=True)
class TooMuch(Exception):
    """Lets nobody set anything on it, and has no text."""

    limit: int

    def __str__(self):
        raise RuntimeError("no words")


def at_most(limit):
    def add(old, new):
        if old + new > limit:
            raise TooMuch(limit)
        return old + new

    return add


class Limited(TypedDict, total=False):
    total: Annotated[int, at_most(5)]


def test_a_reducer_may_refuse_with_whatever_exception(run, saver, calls):
    def act(state):
        calls["act"] += 1
        return {"total": 9 if calls["act"] == 1 else 2}

    graph = builder((START, "act"), schema=Limited, act=act).compile(checkpointer=saver)
    with pytest.raises(TooMuch):
        run(graph, {"total": 1}, thread())
    assert standing(run, graph, thread())["act"] == ("refused", {"total": 9})
    assert "RuntimeError" in folds(run, graph, thread())["total"].refused
    assert run(graph, None, thread()) == {"total": 3}


def test_answers_outlive_a_refusal(run, saver, conflict):
    def asks(state):
        said = interrupt("which key?")
        return {"value": said} if "a2" not in conflict.writes else {"total": int(said)}

    graph = builder((START, "asks"), (START, "b"), asks=asks, b=conflict.node("b")).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    with pytest.raises(InvalidUpdateError, match="'value'"):
        run(graph, Command(resume="7"), thread())
    conflict.writes["a2"] = True
    assert run(graph, None, thread()) == {"log": [], "total": 7, "value": "b1"}


def test_a_send_to_a_node_that_is_gone_is_sent_anew(run, saver, calls):
    def made(target):
        def sends(state):
            calls["sends"] += 1
            return [Send(target, 1)]

        def fails(state):
            calls["fails"] += 1
            if calls["fails"] == 1:
                raise RuntimeError("once")
            return {"log": ["fine"]}

        found = builder(
            (START, "fails"), (START, "plan"), fails=fails, **{target: lambda n: {"log": [f"{target} {n}"]}}
        )
        found.add_conditional_edges("plan", sends, [target])
        return found.compile(checkpointer=saver)

    with pytest.raises(RuntimeError, match="once"):
        run(made("work"), {"log": []}, thread())
    with pytest.raises(InvalidUpdateError, match="'work'"):
        run(made("other"), None, thread())
    assert run(made("other"), None, thread())["log"] == ["fine", "plan", "other 1"]
    assert calls == {"sends": 2, "fails": 2}


class Inside(TypedDict, total=False):
    """State of a subgraph: a key that it shares with the graph around it, and one of its own."""

    value: str
    steps: Annotated[list[str], operator.add]


def with_subgraphs(conflict, saver):
    """Two subgraphs, of two nodes each, that write what `conflict` says."""

    def inner(name):
        def first(state):
            conflict.calls[f"{name}1"] += 1
            return {"steps": [f"{name}1"]}

        def second(state):
            conflict.calls[f"{name}2"] += 1
            if conflict.writes.get("fails") == name:
                raise RuntimeError(f"{name} fails")
            return {**conflict.writes[name], "steps": [f"{name}2"]}

        made = StateGraph(Inside)
        made.add_node("first", first)
        made.add_node("second", second)
        made.add_edge(START, "first")
        made.add_edge("first", "second")
        return made.compile()

    return builder((START, "a"), (START, "b"), a=inner("a"), b=inner("b")).compile(checkpointer=saver)


def inside(run, graph, config, name):
    """The states of a task's subgraph, newest first."""
    task = next(task for task in run.plan(graph, config).tasks if task.name == name)
    namespace = f"{name}:{task.id}"
    at = {"thread_id": config["configurable"]["thread_id"], "checkpoint_ns": namespace}
    return run.history(graph, {"configurable": at})


def test_a_subgraph_whose_result_was_refused_runs_again_from_its_input(run, saver, conflict):
    graph = with_subgraphs(conflict, saver)
    refuse(run, graph, {"log": []})
    before = run.state(graph, thread()).config
    conflict.writes = {"a": {"value": "a2"}, "b": {}}
    assert run(graph, None, thread())["value"] == "a2"
    assert conflict.calls == {"a1": 2, "a2": 2, "b1": 2, "b2": 2}
    newest, *older = inside(run, graph, before, "a")
    assert (newest.values["value"], newest.values["steps"]) == ("a2", ["a1", "a2"])
    assert [state.values["value"] for state in older if not state.next] == ["a1"]


def test_a_subgraph_that_runs_again_goes_on_where_it_failed(run, saver, conflict):
    graph = with_subgraphs(conflict, saver)
    refuse(run, graph, {"log": []})
    conflict.writes = {"a": {"value": "a2"}, "b": {}, "fails": "a"}
    with pytest.raises(RuntimeError, match="a fails"):
        run(graph, None, thread())
    del conflict.writes["fails"]
    assert run(graph, None, thread())["value"] == "a2"
    assert (conflict.calls["a1"], conflict.calls["a2"]) == (2, 3)
    assert (conflict.calls["b1"], conflict.calls["b2"]) == (2, 2)
