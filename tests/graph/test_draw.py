import operator
from typing import Annotated, Literal, TypedDict

from langchain_core.runnables import RunnableLambda

from runtime.channels import LastValue
from runtime.graph import END, START, StateGraph
from runtime.pregel import NodeBuilder, Pregel
from runtime.types import Command


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    x: int


def nothing(state):
    return None


def drawn(*names, **options):
    builder = StateGraph(State)
    for name in names:
        builder.add_node(name, nothing, **options)
    return builder


def arrows(graph, **options):
    """Edges as text: `a -> b`, `a ?> b` where it depends, `a ?> b: label`."""
    return [
        f"{edge.source} {'?' if edge.conditional else '-'}> {edge.target}" + (f": {edge.data}" if edge.data else "")
        for edge in graph.get_graph(**options).edges
    ]


def test_edges_joins_and_dead_ends():
    builder = drawn("a", "b", "c", "d").add_edge(START, "a").add_edge("a", "b").add_edge("a", "c")
    builder.add_edge(["b", "c"], "d")
    assert arrows(builder.compile()) == [
        "__start__ -> a",
        "a -> b",
        "a -> c",
        "b -> d",
        "c -> d",
        "d -> __end__",
    ]


def test_an_edge_to_end_beside_another_is_drawn():
    builder = drawn("a", "b").add_edge(START, "a").add_edge("a", "b").add_edge("a", END)
    assert arrows(builder.compile()) == ["__start__ -> a", "a -> b", "a -> __end__", "b -> __end__"]


def test_conditional_edges_with_their_answers():
    builder = drawn("a", "b", "c").add_edge(START, "a").add_edge("b", "a")
    builder.add_conditional_edges("a", nothing, {"go": "b", "c": "c", False: END})
    assert arrows(builder.compile()) == [
        "__start__ -> a",
        "a ?> __end__: False",
        "a ?> b: go",
        "a ?> c",
        "b -> a",
        "c -> __end__",
    ]


def test_a_certain_arrow_hides_a_conditional_one():
    builder = drawn("a", "b").add_edge(START, "a").add_edge("a", "b")
    builder.add_conditional_edges("a", nothing, ["b", END])
    assert arrows(builder.compile()) == ["__start__ -> a", "a ?> __end__", "a -> b", "b -> __end__"]


def test_declared_commands():
    def supervisor(state) -> Command[Literal["b", "__end__"]]: ...

    builder = StateGraph(State).add_node("a", supervisor).add_node("b", nothing, destinations={"a": "back"})
    builder.add_edge(START, "a")
    assert arrows(builder.compile()) == ["__start__ -> a", "a ?> __end__", "a ?> b", "b ?> a: back"]


def test_a_router_that_may_go_anywhere_is_not_guessed():
    builder = drawn("a", "b").add_edge(START, "a")
    builder.add_conditional_edges("a", nothing)
    graph = builder.compile().get_graph()
    assert [(edge.source, edge.target) for edge in graph.edges] == [(START, "a"), ("a", END)]
    assert "b" in graph.nodes


def test_a_graph_without_a_way_out_may_end_at_its_far_end():
    builder = drawn("a", "b").add_edge(START, "a").add_edge("a", "b").add_edge("b", "a")
    assert arrows(builder.compile()) == ["__start__ -> a", "a -> b", "b -> a", "b ?> __end__"]


def test_a_deferred_node_follows_the_dead_ends():
    builder = drawn("a", "b").add_node("late", nothing, defer=True)
    builder.add_edge(START, "a").add_edge("a", "b").add_edge("a", "late")
    graph = builder.compile()
    assert arrows(graph) == ["__start__ -> a", "a -> b", "a -> late", "b ?> late", "late -> __end__"]
    assert graph.get_graph().nodes["late"].metadata == {"defer": True}


def test_what_is_noted_at_nodes():
    builder = drawn("a", "b", metadata={"owner": "me"}).add_edge(START, "a").add_edge("a", "b")
    graph = builder.compile(interrupt_before=["b"], interrupt_after=["a", "b"]).get_graph()
    assert graph.nodes["a"].metadata == {"owner": "me", "__interrupt": "after"}
    assert graph.nodes["b"].metadata == {"owner": "me", "__interrupt": "before,after"}
    everywhere = builder.compile(interrupt_before="*").get_graph()
    assert everywhere.nodes["a"].metadata["__interrupt"] == "before"
    assert everywhere.nodes[START].metadata is None


def test_an_error_handler_hangs_on_its_node_and_hides_no_way_to_the_end():
    builder = StateGraph(State).add_node("a", nothing, error_handler=nothing).add_edge(START, "a")
    assert arrows(builder.compile()) == [
        "__start__ -> a",
        "a ?> __error_handler__a: error",
        "__error_handler__a -> __end__",
        "a -> __end__",
    ]


def nested():
    inner = drawn("i", "j").add_edge(START, "i").add_edge("i", "j").compile()
    middle = StateGraph(State).add_node("before", nothing).add_node("inner", inner).add_edge(START, "before")
    middle = middle.add_edge("before", "inner").compile()

    def calls(state):
        return middle.invoke(state)

    return drawn("a").add_node("calls", calls).add_edge(START, "a").add_edge("a", "calls").compile()


def test_subgraphs_are_drawn_open_as_deep_as_asked():
    graph = nested()
    assert arrows(graph) == ["__start__ -> a", "a -> calls", "calls -> __end__"]
    assert set(arrows(graph, xray=1)) == {
        "__start__ -> a",
        "a -> calls:before",
        "calls:before -> calls:inner",
        "calls:inner -> __end__",
    }
    for deep in (True, 2):
        assert set(arrows(graph, xray=deep)) == {
            "__start__ -> a",
            "a -> calls:before",
            "calls:before -> calls:inner:i",
            "calls:inner:i -> calls:inner:j",
            "calls:inner:j -> __end__",
        }


def test_mermaid_and_ascii():
    builder = drawn("a", "b").add_edge(START, "a")
    builder.add_conditional_edges("a", nothing, {"go": "b", "stop": END})
    drawing = builder.compile().get_graph()
    mermaid = drawing.draw_mermaid(with_styles=False)
    assert "__start__ --> a;" in mermaid
    assert "a -. &nbsp;go&nbsp; .-> b;" in mermaid
    assert "a -. &nbsp;stop&nbsp; .-> __end__;" in mermaid


def test_a_drawing_as_json():
    builder = drawn("a").add_node("r", RunnableLambda(nothing)).add_edge(START, "a").add_edge("a", "r")
    drawing = builder.compile().get_graph().to_json()
    assert [(node["id"], node.get("type")) for node in drawing["nodes"]] == [
        (START, "runnable"),
        ("a", "runnable"),
        ("r", "runnable"),
        (END, None),
    ]
    assert {"source": "a", "target": "r"} in drawing["edges"]


def test_a_graph_made_of_channels():
    graph = Pregel(
        nodes={
            "one": NodeBuilder().subscribe_only("input").do(len).write_to("middle"),
            "two": NodeBuilder().subscribe_to("middle").do(str).write_to("output"),
            "three": NodeBuilder().subscribe_to("middle", "input").write_to("middle", aside=1),
        },
        channels={name: LastValue(int) for name in ("input", "middle", "output", "aside")},
        input_channels="input",
        output_channels="output",
    )
    assert arrows(graph) == [
        "__start__ -> one",
        "__start__ -> three",
        "one -> three",
        "one -> two",
        "three -> three",
        "three -> two",
        "two -> __end__",
    ]
