"""Runtime, config access and managed values, outside a run and as plain values."""

from types import SimpleNamespace
from typing import get_args

import pytest
from langgraph.store.memory import InMemoryStore

from runtime.config import get_config, get_store, get_stream_writer
from runtime.graph import START, StateGraph
from runtime.managed import IsLastStep, RemainingSteps
from runtime.managed.base import is_managed_value
from runtime.runtime import DEFAULT_RUNTIME, ExecutionInfo, RunControl, Runtime, ServerInfo, get_runtime


@pytest.mark.parametrize("ask", [get_config, get_store, get_stream_writer, get_runtime])
def test_outside_a_run_there_is_nothing_to_get(ask):
    with pytest.raises(RuntimeError, match=f"{ask.__name__}.*outside"):
        ask()


def test_a_control_keeps_its_first_words():
    control = RunControl()
    assert not control.drain_requested
    assert control.drain_reason is None
    control.request_drain("SIGTERM")
    assert control.drain_requested
    assert Runtime(control=control).drain_reason == "SIGTERM"
    assert Runtime(control=control).drain_requested
    assert not Runtime().drain_requested
    assert Runtime().drain_reason is None


def test_merging_keeps_what_the_other_lacks():
    written = []
    store = InMemoryStore()
    info = ExecutionInfo("c", "ns", "t")
    mine = Runtime(context={"user": 1}, store=store, stream_writer=written.append, execution_info=info, previous=3)
    merged = mine.merge(Runtime(previous=0, server_info=ServerInfo("a", "g")))
    assert merged.context == {"user": 1}
    assert merged.store is store
    assert merged.previous == 0
    assert merged.execution_info is info
    assert merged.server_info == ServerInfo("a", "g")
    merged.stream_writer("x")
    assert written == ["x"]
    assert mine.merge(Runtime(context={"user": 2})).context == {"user": 2}


def test_overrides_make_a_copy():
    base = Runtime(previous=1)
    assert base.override(previous=2).previous == 2
    assert base.previous == 1
    with pytest.raises(RuntimeError, match="no task"):
        base.patch_execution_info(node_attempt=2)
    placed = base.override(execution_info=ExecutionInfo("c", "ns", "t"))
    assert placed.patch_execution_info(node_attempt=2).execution_info.node_attempt == 2
    assert placed.execution_info.node_attempt == 1


def test_the_default_runtime_can_be_used_like_any_other():
    assert DEFAULT_RUNTIME.stream_writer("x") is None
    assert DEFAULT_RUNTIME.heartbeat() is None


@pytest.mark.parametrize(("step", "last", "remaining"), [(1, False, 4), (3, False, 2), (4, True, 1)])
def test_managed_values_count_down_to_the_limit(step, last, remaining):
    clock = SimpleNamespace(step=step, stop=4)
    is_last, left = get_args(IsLastStep)[1], get_args(RemainingSteps)[1]
    assert is_last.get(clock) is last
    assert left.get(clock) == remaining
    assert is_managed_value(is_last)
    assert not is_managed_value(int)
    assert not is_managed_value(3)


class Proxy:
    """A user whose fields are found by name, as servers wrap them."""

    def __getattr__(self, name):
        return {"identity": "eve"}[name]


@pytest.mark.parametrize(
    ("configurable", "found"),
    [
        ({}, None),
        ({"thread_id": "t", "langgraph_auth_user": {"no": "user"}}, None),
        ({"assistant_id": 7, "graph_id": "g"}, ("7", "g", None)),
        ({"graph_id": "g"}, ("", "g", None)),
        ({"langgraph_auth_user": Proxy()}, ("", "", "eve")),
    ],
)
def test_what_a_server_says_in_the_config_reaches_the_nodes(configurable, found):
    seen = []

    def node(state, runtime: Runtime):
        info = runtime.server_info
        seen.append(info and (info.assistant_id, info.graph_id, info.user and info.user.identity))

    graph = StateGraph(dict).add_node("node", node).add_edge(START, "node").compile()
    graph.invoke({"x": 1}, {"configurable": configurable})
    assert seen == [found]
