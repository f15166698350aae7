"""From a graph view to DOT: ids are ours, names stay out, cycles do not pull the entry down."""

import random
import re

import pytest

from debugger_ui.components.dot import CHARACTER, POINTS, back_edges, drawing, reading_order
from debugger_ui.components.graph import payload
from debugger_ui.session.views import ClusterView, EdgeView, GraphView, NodeView

HOSTILE = [
    '<script>alert("x")</script>',
    'a"b',
    "back\\slash \\N \\l",
    "漢字",
    "semi;colon -> x",
    "\u202ereversed",
    "x" * 300,
]


def node(name, kind="node", mark="", **more):
    return NodeView(name, name, kind, mark, more.pop("visits", 0), **more)


def edge(source, target, *, taken=0, conditional=False):
    return EdgeView(source, target, conditional, "", taken, False)


def view(nodes, edges, clusters=()):
    return GraphView(tuple(nodes), tuple(edges), tuple(clusters), "t", "")


def test_names_never_reach_the_layout_source():
    nodes = [node("__start__", "start"), *(node(name) for name in HOSTILE)]
    made = drawing(view(nodes, [edge("__start__", name) for name in HOSTILE]))
    for name in HOSTILE:
        assert name not in made.source
    assert [part["name"] for part in made.nodes] == ["__start__", *HOSTILE]
    assert {part["id"] for part in made.nodes} == {f"n{i}" for i in range(len(nodes))}


def test_source_depends_on_topology_and_not_on_marks():
    edges = [edge("a", "b", taken=0)]
    before = drawing(view([node("a", mark="next"), node("b")], edges)).source
    after = drawing(view([node("a", mark="done", visits=3), node("b", mark="next")], [edge("a", "b", taken=2)])).source
    assert before == after
    assert drawing(view([node("a"), node("b")], [edge("b", "a")])).source != before


def test_the_edge_that_closes_a_cycle_does_not_constrain_ranks():
    nodes = [node(name) for name in ("start", "plan", "work", "review", "end")]
    edges = [
        edge("start", "plan"),
        edge("plan", "work"),
        edge("work", "review"),
        edge("review", "plan"),
        edge("review", "end"),
    ]
    assert back_edges([n.id for n in nodes], edges) == {("review", "plan")}
    lines = [line for line in drawing(view(nodes, edges)).source.splitlines() if "constraint=false" in line]
    assert len(lines) == 1


def test_a_self_loop_is_a_back_edge_and_a_diamond_has_none():
    assert back_edges(["a"], [edge("a", "a")]) == {("a", "a")}
    diamond = [edge("a", "b"), edge("a", "c"), edge("b", "d"), edge("c", "d")]
    assert back_edges(list("abcd"), diamond) == set()


@pytest.mark.parametrize("seed", range(25))
def test_without_its_back_edges_any_graph_is_acyclic(seed):
    choose = random.Random(seed)
    names = [f"v{i}" for i in range(12)]
    edges = [edge(choose.choice(names), choose.choice(names)) for _ in range(30)]
    back = back_edges(names, edges)
    left = {(e.source, e.target) for e in edges} - back
    while True:
        heads = {head for _, head in left}
        rest = {pair for pair in left if pair[0] in heads}
        if rest == left:
            break
        left = rest
    assert not left


def test_the_entry_is_declared_first():
    nodes = [node("b"), node("a"), node("__start__", "start")]
    order = reading_order(nodes, [edge("__start__", "a"), edge("a", "b")])
    assert [one.id for one in order] == ["__start__", "a", "b"]


def test_subgraphs_become_clusters_with_ids_of_ours():
    clusters = [ClusterView("outer", "</g> outer"), ClusterView("inner", "inner", parent="outer")]
    nodes = [node("x", cluster="outer"), node("y", cluster="inner"), node("z")]
    made = drawing(view(nodes, [], clusters))
    assert [part["id"] for part in made.clusters] == ["cluster_0", "cluster_1"]
    assert made.source.index("cluster_0") < made.source.index("cluster_1")
    assert "</g>" not in made.source


def test_an_edge_to_nowhere_is_left_out():
    made = drawing(view([node("a")], [edge("a", "ghost")]))
    assert made.edges == ()


def test_payload_names_each_mark_once_and_the_edges_taken():
    shown = view(
        [node("a", mark="done", visits=1), node("b", mark="next", tasks=3)], [edge("a", "b", taken=1), edge("b", "a")]
    )
    data = payload(shown, selected="b", stamp="s")
    assert (data["done"], data["next"], data["running"], data["counts"]) == (["a"], ["b"], [], {"b": 3})
    assert data["taken"] == ["e0"]


def test_payload_tells_of_which_nodes_only_some_tasks_stand_as_marked():
    shown = view([node("a", mark="failed", tasks=3, marked=1), node("b", mark="next", tasks=2, marked=2)], [])
    assert payload(shown, selected="", stamp="s")["marked"] == {"a": 1}


def test_names_as_people_give_them_are_drawn_whole():
    names = ("build_section_with_web_research", "update_flight_sensitive_tools", "book_car_rental_sensitive_tools_node")
    made = drawing(view([node(name) for name in names], [], [ClusterView(names[0], f"inside {names[0]}", "")]))
    assert [part["label"] for part in made.nodes] == list(names)
    assert made.clusters[0]["name"] == f"inside {names[0]}"
    widths = [float(found) * POINTS for found in re.findall(r"width=([\d.]+)", made.source)]
    assert all(width > CHARACTER * len(name) for width, name in zip(widths, names, strict=True))
