"""Counts along long paths: bounded per look, complete in the end, the same as counting at once."""

from collections import Counter

from debugger_ui.engines.base import EdgeSpec, NodeSpec, Outline, Topology
from debugger_ui.session.walks import BUDGET, Walk, Walks


class Recorded:
    """An engine's two methods that walks need, over a given record; counts what is asked."""

    def __init__(self, steps):
        self.steps = steps
        self.asked = 0

    def topology(self, thread="", namespace=""):
        edges = [("__start__", "a"), ("a", "b"), ("b", "a"), ("a", "join"), ("b", "join")]
        nodes = (NodeSpec("a", "a"), NodeSpec("b", "b"), NodeSpec("join", "join", triggers=("join:a+b:join",)))
        return Topology(nodes, tuple(EdgeSpec(*edge) for edge in edges))

    def outlines(self, thread, ids, namespace=""):
        self.asked += len(ids)
        return {id_: Outline(ran=self.steps[id_]) for id_ in ids}


def walk(steps):
    path = list(steps)
    return Walks(Recorded(steps)).along("t", "", path, dict.fromkeys(path, "loop"))


def test_visits_and_edges_are_counted_from_the_root():
    found = walk({"1": ("a",), "2": ("b",), "3": ("a",), "4": ("b",), "5": ("join",)})
    assert found.visits == {"a": 2, "b": 2, "join": 1}
    assert found.edges == {("__start__", "a"): 1, ("a", "b"): 2, ("b", "a"): 1, ("a", "join"): 1, ("b", "join"): 1}
    assert found.into == {("a", "join"), ("b", "join")}


def test_an_edge_that_nobody_declared_is_still_taken():
    assert walk({"1": ("a",), "2": ("elsewhere",)}).edges["a", "elsewhere"] == 1


def test_an_edit_takes_no_edge_that_the_graph_does_not_have():
    steps = {"1": ("a",), "2": ("a",), "3": ("b",)}
    sources = {"1": "loop", "2": "update", "3": "loop"}
    found = Walks(Recorded(steps)).along("t", "", list(steps), sources)
    assert found.edges == {("__start__", "a"): 1, ("a", "b"): 1}
    assert found.visits == {"a": 1, "b": 1}


def test_a_long_path_is_counted_over_several_looks_and_then_kept():
    steps = {f"{row:05}": ("a" if row % 2 else "b",) for row in range(BUDGET * 3)}
    engine, path = Recorded(steps), list(steps)
    walks, sources = Walks(engine), dict.fromkeys(steps, "loop")
    looks = []
    while not looks or not looks[-1].complete:
        asked = engine.asked
        looks.append(walks.along("t", "", path, sources))
        assert engine.asked - asked <= BUDGET + 100
        assert looks[-1].before == ("a",)
    assert len(looks) == 3
    assert looks[-1].visits == Counter(step for (step,) in steps.values())
    asked = engine.asked
    again = walks.along("t", "", path[:-7], sources)
    assert engine.asked - asked < 300
    assert again == walk_at_once(steps, path[:-7])


def walk_at_once(steps, path):
    """Count without a limit, by counting short pieces one after the other."""
    engine, walks = Recorded(steps), None
    walks = Walks(engine)
    for end in range(100, len(path), 100):
        walks.along("t", "", path[:end], dict.fromkeys(path, "loop"))
    found = walks.along("t", "", path, dict.fromkeys(path, "loop"))
    assert isinstance(found, Walk)
    return found


def test_an_edit_counts_as_no_visit_of_the_node_in_whose_name_it_was_made():
    engine = Recorded({"1": ("a",), "2": ("b",), "3": ("a",)})
    found = Walks(engine).along("t", "", ["1", "2", "3"], {"1": "loop", "2": "update", "3": "loop"})
    assert (found.visits, found.edits) == ({"a": 2}, {"b": 1})
