"""A node's trace policy: what tracers keep of its input and output, while everybody else sees the real ones."""

from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tracers.base import BaseTracer
from typing_extensions import TypedDict

from runtime.graph import START, StateGraph
from runtime.types import TracePolicy, omit_payload
from tests.kit.faces import Face


class State(TypedDict, total=False):
    x: int


class Keeper(BaseTracer):
    """A tracer that keeps the runs of node `node`."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[tuple[Any, Any]] = []

    def _persist_run(self, run: Any) -> None:
        self.kept += [(child.inputs, child.outputs) for child in run.child_runs if child.name == "node"]


class Listener(BaseCallbackHandler):
    """A handler that is no tracer."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def on_chain_start(self, serialized: Any, inputs: Any, **kwargs: Any) -> None:
        if kwargs.get("name") == "node":
            self.heard.append(inputs)

    def on_chain_end(self, outputs: Any, **kwargs: Any) -> None:
        self.heard.append(outputs)


def graph(policy: TracePolicy | None) -> Any:
    def node(state: State) -> State:
        return {"x": state["x"] + 1}

    return StateGraph(State).add_node("node", node, trace_policy=policy).add_edge(START, "node").compile()


def refuses(value: Any) -> Any:
    raise ValueError("not this one")


CASES = [
    (None, ({"x": 1}, {"x": 2})),
    (TracePolicy(process_inputs=omit_payload), ({}, {"x": 2})),
    (TracePolicy(process_outputs=lambda value: {"keys": sorted(value)}), ({"x": 1}, {"keys": ["x"]})),
    (TracePolicy(process_inputs=refuses, process_outputs=refuses), ({"x": 1}, {"x": 2})),
]


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize(("policy", "kept"), CASES, ids=["none", "inputs", "outputs", "failing"])
def test_tracers_keep_what_the_policy_shows(is_async: bool, policy: TracePolicy | None, kept: Any) -> None:
    tracer, listener = Keeper(), Listener()
    found = Face(is_async)(graph(policy), {"x": 1}, {"callbacks": [tracer, listener]})
    assert found == {"x": 2}
    assert tracer.kept == [kept]
    assert listener.heard[:2] == [{"x": 1}, {"x": 2}]
