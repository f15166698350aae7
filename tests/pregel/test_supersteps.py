"""Supersteps: what runs when, how writes are folded, and what checkpoints say of it."""

import threading
from itertools import pairwise

import pytest
from typing_extensions import TypedDict

from runtime.errors import InvalidUpdateError
from runtime.graph import START, StateGraph
from runtime.types import Overwrite
from tests.kit.graphs import Log, builder, chain, thread, writes


def seen(history):
    return [(s.metadata["step"], s.metadata["source"], s.next, s.values) for s in reversed(history)]


def test_every_superstep_is_a_checkpoint(run, saver):
    graph = chain("one", "two").compile(checkpointer=saver)
    assert run(graph, {"log": ["in"]}, thread()) == {"log": ["in", "one", "two"], "total": 0}
    assert seen(run.history(graph, thread())) == [
        (-1, "input", ("__start__",), {"log": [], "total": 0}),
        (0, "loop", ("one",), {"log": ["in"], "total": 0}),
        (1, "loop", ("two",), {"log": ["in", "one"], "total": 0}),
        (2, "loop", (), {"log": ["in", "one", "two"], "total": 0}),
    ]


def test_checkpoints_are_a_chain_with_rising_ids(run, saver):
    graph = chain("one", "two", "three").compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    history = run.history(graph, thread())
    for child, parent in pairwise(history):
        assert child.parent_config == parent.config
        assert child.config["configurable"]["checkpoint_id"] > parent.config["configurable"]["checkpoint_id"]
    assert history[-1].parent_config is None


def test_a_second_input_counts_on(run, saver):
    graph = chain("one").compile(checkpointer=saver)
    run(graph, {"log": ["a"]}, thread())
    result = run(graph, {"log": ["b"]}, thread())
    assert result["log"] == ["a", "one", "b", "one"]
    steps = [(s.metadata["step"], s.metadata["source"]) for s in reversed(run.history(graph, thread()))]
    assert steps == [(-1, "input"), (0, "loop"), (1, "loop"), (2, "input"), (3, "loop"), (4, "loop")]


def test_metadata_holds_the_callers_and_no_private_keys(run, saver):
    graph = chain("one").compile(checkpointer=saver)
    run(graph, {"log": []}, {**thread(user="ann", __secret="x"), "metadata": {"run": 7}})
    for snapshot in run.history(graph, thread()):
        assert snapshot.metadata["run"] == 7
        assert snapshot.metadata["user"] == "ann"
        assert "thread_id" not in snapshot.metadata
        assert not any(key.startswith("__") for key in snapshot.metadata)


@pytest.mark.parametrize("last", ["a", "b", "c"])
def test_fold_order_is_by_name_whoever_ends_last(run, last):
    others = threading.Barrier(3)
    finished = threading.Event()
    left = [2]
    lock = threading.Lock()

    def node(name):
        def body(state):
            others.wait(20)
            if name == last:
                assert finished.wait(20)
            with lock:
                left[0] -= 1
                if left[0] == 0:
                    finished.set()
            return {"log": [name]}

        return body

    graph = builder((START, "c"), (START, "a"), (START, "b"), a=node("a"), b=node("b"), c=node("c")).compile()
    assert run(graph, {"log": []})["log"] == ["a", "b", "c"]


@pytest.mark.parametrize(
    "spelling", [Overwrite(["new"]), Overwrite(value=["new"]), {"__overwrite__": ["new"]}], ids=["arg", "name", "json"]
)
@pytest.mark.parametrize("who", ["a", "b"])
def test_overwrite_discards_the_other_writes_in_any_order(run, saver, spelling, who):
    nodes = {"a": writes("a"), "b": writes("b"), who: lambda state: {"log": spelling}}
    graph = builder((START, "a"), (START, "b"), **nodes).compile(checkpointer=saver)
    assert run(graph, {"log": ["old"]}, thread())["log"] == ["new"]
    assert run.state(graph, thread()).values["log"] == ["new"]


def test_two_overwrites_are_refused_and_nothing_is_applied(run, saver):
    def node(state):
        return {"log": Overwrite([1])}

    graph = builder((START, "a"), (START, "b"), a=node, b=node).compile(checkpointer=saver)
    with pytest.raises(InvalidUpdateError):
        run(graph, {"log": ["old"]}, thread())
    assert run.state(graph, thread()).values["log"] == ["old"]


def test_overwrite_of_a_plain_key_stores_its_payload(run, saver):
    graph = chain("one", one=lambda state: {"value": Overwrite("new")}).compile(checkpointer=saver)
    assert run(graph, {"value": "old"}, thread())["value"] == "new"
    run.edit(graph, thread(), {"value": Overwrite("edited")}, "one")
    assert run.state(graph, thread()).values["value"] == "edited"


def test_none_changes_nothing_and_is_a_superstep(run, saver):
    graph = chain("one", one=lambda state: None).compile(checkpointer=saver)
    chunks = run.stream(graph, {"log": ["in"]}, thread(), stream_mode=["updates", "values"])
    assert chunks == [("values", {"log": ["in"], "total": 0}), ("updates", {"one": None})]
    assert len(run.history(graph, thread())) == 3


def test_none_for_a_key_is_a_value(run, saver):
    graph = chain("one", one=lambda state: {"value": None}).compile(checkpointer=saver)
    assert run(graph, {"value": 1}, thread())["value"] is None
    assert run.state(graph, thread()).values["value"] is None


def test_a_join_waits_for_all_its_sources_and_runs_once(run, saver, calls):
    def join(state):
        calls["join"] += 1
        return {"log": ["join"]}

    edges = ((START, "a"), (START, "b"), ("b", "c"), (["a", "c"], "join"))
    graph = builder(*edges, join=join).compile(checkpointer=saver)
    assert run(graph, {"log": []}, thread())["log"] == ["a", "b", "c", "join"]
    assert calls["join"] == 1


def test_a_join_keeps_who_arrived_over_a_pause(run, saver):
    edges = ((START, "a"), (START, "b"), ("b", "c"), (["a", "c"], "join"))
    graph = builder(*edges).compile(checkpointer=saver, interrupt_before=["c"])
    assert run(graph, {"log": []}, thread())["log"] == ["a", "b"]
    assert run(graph, None, thread())["log"] == ["a", "b", "c", "join"]


def test_a_join_whose_branch_never_comes_does_not_run(run):
    made = builder((START, "a"), (["a", "b"], "join"))
    graph = made.compile()
    assert run(graph, {"log": []})["log"] == ["a"]


def test_single_edges_run_a_node_once_per_arrival(run):
    graph = builder((START, "a"), (START, "b"), ("b", "c"), ("a", "end"), ("c", "end")).compile()
    assert run(graph, {"log": []})["log"] == ["a", "b", "c", "end", "end"]


def test_a_deferred_node_runs_once_when_nothing_else_is_left(run):
    made = builder((START, "a"), (START, "b"), ("b", "c"))
    made.add_node("last", writes("last"), defer=True)
    made.add_edge("a", "last")
    made.add_edge("c", "last")
    assert run(made.compile(), {"log": []})["log"] == ["a", "b", "c", "last"]


def test_threads_do_not_share_anything(run, saver):
    graph = chain("one", one=lambda state: {"log": ["x"]}).compile(checkpointer=saver)
    run(graph, {"log": ["first"]}, thread("a"))
    assert run(graph, {"log": ["second"]}, thread("b"))["log"] == ["second", "x"]
    assert run.state(graph, thread("a")).values["log"] == ["first", "x"]


def test_the_same_graph_serves_threads_at_once(run, saver, gate):
    def wait(state):
        if state["log"] == ["slow"]:
            gate.inside.set()
            assert gate.open.wait(20)
        return {"log": ["done"]}

    graph = chain("wait", wait=wait).compile(checkpointer=saver)
    results = {}
    slow = threading.Thread(target=lambda: results.update(slow=run(graph, {"log": ["slow"]}, thread("s"))))
    slow.start()
    assert gate.inside.wait(20)
    assert run(graph, {"log": ["fast"]}, thread("f"))["log"] == ["fast", "done"]
    gate.open.set()
    slow.join(20)
    assert results["slow"]["log"] == ["slow", "done"]


def test_a_schema_of_its_own_for_input_and_output(run):
    class Ask(TypedDict):
        value: str

    class Answer(TypedDict):
        log: list

    made = StateGraph(Log, input_schema=Ask, output_schema=Answer)
    made.add_node("one", lambda state: {"log": [state["value"]]})
    made.add_edge(START, "one")
    assert run(made.compile(), {"value": "x"}) == {"log": ["x"]}
