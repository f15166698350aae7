"""Reading and writing the state through the config's own entries, as file back ends of agents do from inside tools."""

import operator
from typing import Annotated, Any

import pytest
from langchain_core.runnables import RunnableConfig
from typing_extensions import TypedDict

from runtime._internal._constants import CONF, CONFIG_KEY_READ, CONFIG_KEY_SEND
from runtime.config import get_config
from runtime.graph import START, StateGraph
from tests.kit.faces import Face


def joined(left: dict[str, str] | None, right: dict[str, str]) -> dict[str, str]:
    return {**(left or {}), **right}


class State(TypedDict, total=False):
    files: Annotated[dict[str, str], joined]
    log: Annotated[list[Any], operator.add]
    never: str


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_a_node_reads_its_own_writes_where_it_asks_for_them(is_async: bool) -> None:
    def node(state: State, config: RunnableConfig) -> State:
        conf: Any = get_config()[CONF]
        read, send = conf[CONFIG_KEY_READ], conf[CONFIG_KEY_SEND]
        send([("files", {"b": "new"})])
        return {"log": [read("files"), read("files", True), read("never"), read(["files", "never"], True)]}

    def after(state: State) -> State:
        return {"log": [state["files"]]}

    graph = StateGraph(State).add_sequence([node, after]).add_edge(START, "node").compile()
    found = Face(is_async)(graph, {"files": {"a": "old"}, "log": []})
    both = {"a": "old", "b": "new"}
    assert found == {"files": both, "log": [{"a": "old"}, both, None, {"files": both}, both]}
