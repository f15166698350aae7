import functools
from types import ModuleType, SimpleNamespace
from typing import TypedDict

import pytest
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

from runtime.graph import START, StateGraph
from runtime.pregel import NodeBuilder


class State(TypedDict, total=False):
    x: int


def leaf(name):
    return StateGraph(State).add_node(name, lambda state: None).add_edge(START, name).compile(name=name)


def names(node):
    """The names of the graphs that are found in a node."""
    graph = StateGraph(State).add_node("n", node).add_edge(START, "n").compile()
    return [found.name for found in graph.nodes["n"].subgraphs]


GLOBAL = leaf("global")
LISTED = [leaf("listed")]
module = ModuleType("module_of_graphs")
module.graph = leaf("in a module")
holder = SimpleNamespace(inner=SimpleNamespace(graph=leaf("held")))


def uses_global(state):
    return GLOBAL.invoke(state)


async def uses_global_async(state):
    return await GLOBAL.ainvoke(state)


def uses_module(state):
    return module.graph.invoke(state)


def uses_holder(state):
    return holder.inner.graph.invoke(state)


def uses_list(state):
    return LISTED[0].invoke(state)


def uses_nothing(state):
    return {"x": len(str(state))}


def names_it_inside(state):
    def inside():
        return GLOBAL.invoke(state)

    return inside()


class WithProperty:
    touched = False

    @property
    def graph(self):
        type(self).touched = True
        return leaf("computed")


lazy = WithProperty()


def uses_property(state):
    return lazy.graph.invoke(state)


class Callable:
    def __call__(self, state):
        return GLOBAL.invoke(state)


@pytest.mark.parametrize(
    ("node", "found"),
    [
        (GLOBAL, ["global"]),
        (uses_global, ["global"]),
        (uses_global_async, ["global"]),
        (uses_module, ["in a module"]),
        (uses_holder, ["held"]),
        (uses_list, []),
        (uses_nothing, []),
        (names_it_inside, []),
        (Callable(), ["global"]),
        (functools.partial(uses_global), ["global"]),
        (RunnableLambda(uses_global), ["global"]),
        (RunnablePassthrough() | GLOBAL, ["global"]),
        (RunnablePassthrough() | RunnableLambda(uses_holder) | GLOBAL, ["held", "global"]),
        ({"one": GLOBAL, "two": uses_global}, ["global"]),
        (len, []),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_graphs_in_a_node(node, found):
    assert names(node) == found


def test_graphs_that_a_function_captured():
    graph, kept = leaf("captured"), SimpleNamespace(graph=leaf("kept"))

    def node(state):
        def inside():
            return kept.graph.invoke(state)

        return graph.invoke(inside())

    assert names(node) == ["captured", "kept"]


def test_a_captured_variable_without_a_value_is_passed_over():
    graph = leaf("there")

    def node(state):
        return later, graph

    assert names(node) == ["there"]
    later = None


def test_the_function_behind_a_wrapper():
    @functools.wraps(uses_global)
    def wrapper(*arguments):
        return None

    assert names(wrapper) == ["global"]


def test_no_property_is_run_to_find_a_graph():
    assert names(uses_property) == []
    assert not WithProperty.touched


def test_a_node_of_channels_knows_its_graphs():
    node = NodeBuilder().subscribe_only("a").do(uses_nothing).do(uses_global).build()
    assert [graph.name for graph in node.subgraphs] == ["global"]


def test_subgraphs_by_path():
    middle = StateGraph(State).add_node("inner", GLOBAL).add_edge(START, "inner").compile(name="middle")
    outer = StateGraph(State).add_node("calls", lambda state: middle.invoke(state)).add_node("plain", uses_nothing)
    graph = outer.add_edge(START, "calls").compile()
    assert [(path, found.name) for path, found in graph.get_subgraphs()] == [("calls", "middle")]
    assert [(path, found.name) for path, found in graph.get_subgraphs(recurse=True)] == [
        ("calls", "middle"),
        ("calls|inner", "global"),
    ]
    assert [path for path, _ in graph.get_subgraphs(namespace="calls|inner", recurse=True)] == ["calls|inner"]
