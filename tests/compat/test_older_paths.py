"""Helpers that agent packages still import from their older paths."""

from typing import Any

from langchain_core.runnables import RunnableConfig
from typing_extensions import TypedDict

from runtime.graph import START, StateGraph
from runtime.store.memory import InMemoryStore
from runtime.utils.config import ensure_config, get_config, get_store, patch_configurable
from runtime.utils.runnable import RunnableCallable


class State(TypedDict, total=False):
    x: Any


def test_a_config_is_completed_with_that_of_the_running_node() -> None:
    def node(state: State) -> State:
        inside = ensure_config({"tags": ["own"], "configurable": {"b": 2}})
        conf = inside["configurable"]
        return {"x": [conf["a"], conf["b"], inside["tags"], inside["metadata"]["langgraph_node"]]}

    graph = StateGraph(State).add_node(node).add_edge(START, "node").compile()
    config: RunnableConfig = {"configurable": {"a": 1}, "tags": ["caller"]}
    assert graph.invoke({}, config)["x"] == [1, 2, ["caller", "own"], "node"]


def test_a_later_config_lies_on_top_and_the_limits_are_the_runtime_s() -> None:
    found = ensure_config({"configurable": {"a": 1, "b": 1}}, None, {"configurable": {"b": 2}})
    assert found["configurable"] == {"a": 1, "b": 2}
    assert found["recursion_limit"] == 10007
    assert ensure_config({"recursion_limit": 5})["recursion_limit"] == 5


def test_store_and_config_are_those_of_the_node() -> None:
    store = InMemoryStore()

    def sync(state: State, config: RunnableConfig) -> State:
        get_store().put(("kept",), "k", {"v": 1})
        return {"x": get_config()["configurable"] == config["configurable"]}

    async def awaited(state: State) -> State:
        return {"x": "awaited"}

    node = RunnableCallable(sync, awaited, name="node")
    graph = StateGraph(State).add_node("node", node).add_edge(START, "node").compile(store=store)
    assert graph.invoke({}) == {"x": True}
    item = store.get(("kept",), "k")
    assert item is not None
    assert item.value == {"v": 1}


def test_patching_leaves_the_given_config_alone() -> None:
    given: RunnableConfig = {"configurable": {"a": 1}}
    assert patch_configurable(given, {"b": 2})["configurable"] == {"a": 1, "b": 2}
    assert given == {"configurable": {"a": 1}}
