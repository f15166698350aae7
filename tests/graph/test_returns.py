import operator
import warnings
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

import pytest
from pydantic import BaseModel

from runtime.errors import InvalidUpdateError, ParentCommand
from runtime.graph import END, START, StateGraph
from runtime.managed import IsLastStep
from runtime.types import Command, Overwrite, Send


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    x: int


def graph_of(*nodes, schema=State, entry=None, edges=()):
    """A graph with these (name, function) nodes; the first one is the entry."""
    builder = StateGraph(schema)
    for name, node in nodes:
        builder.add_node(name, node)
    builder.add_edge(START, entry or nodes[0][0])
    for start, end in edges:
        builder.add_edge(start, end)
    return builder.compile()


def returning(value):
    return graph_of(
        ("a", lambda state: value), ("b", lambda state: {"log": ["b"]}), ("c", lambda state: {"log": ["c"]})
    )


@dataclass
class Partial:
    x: int
    other: str = ""


class Model(BaseModel):
    x: int = 0
    log: list[str] | None = None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, {"log": ["in"]}),
        ({}, {"log": ["in"]}),
        ([], {"log": ["in"]}),
        ({"x": 1}, {"log": ["in"], "x": 1}),
        ({"x": 1, "log": ["a"]}, {"log": ["in", "a"], "x": 1}),
        ({"log": Overwrite(["only"])}, {"log": ["only"]}),
        (Partial(3), {"log": ["in"], "x": 3}),
        (Model(x=4), {"log": ["in"], "x": 4}),
        (Model(x=4, log=["m"]), {"log": ["in", "m"], "x": 4}),
        ([("log", ["p"]), ("log", ["q"]), ("x", 2)], {"log": ["in", "p", "q"], "x": 2}),
        (Command(update={"x": 5}), {"log": ["in"], "x": 5}),
        (Command(update=[("log", ["p"]), ("x", 6)]), {"log": ["in", "p"], "x": 6}),
        (Command(update=Partial(7)), {"log": ["in"], "x": 7}),
        (Command(goto="b"), {"log": ["in", "b"]}),
        (Command(goto=["b", "c"]), {"log": ["in", "b", "c"]}),
        (Command(goto=END), {"log": ["in"]}),
        (Command(goto=["b", END]), {"log": ["in", "b"]}),
        (Command(goto=Send("b", {})), {"log": ["in", "b"]}),
        (Send("b", {}), {"log": ["in", "b"]}),
        ([Send("b", {}), Send("b", {})], {"log": ["in", "b", "b"]}),
        ([{"x": 1}, {"log": ["a"]}], {"log": ["in", "a"], "x": 1}),
        (
            [Command(update={"log": ["1"]}, goto="b"), {"log": ["2"]}, Send("c", {}), None, Partial(9)],
            {"log": ["in", "1", "2", "b", "c"], "x": 9},
        ),
    ],
    ids=repr,
)
def test_what_a_node_may_return(run, value, expected):
    assert run(returning(value), {"log": ["in"]}) == expected


@pytest.mark.parametrize(
    "value",
    ["text", 7, object(), ["text"], [{"x": 1}, "text"], {1, 2}],
    ids=["text", "number", "object", "list", "mixed", "set"],
)
def test_anything_else_is_refused_with_the_node_and_what_was_seen(run, value):
    with pytest.raises(InvalidUpdateError) as caught:
        run(returning(value), {"log": []})
    text = str(caught.value)
    assert "'a'" in text
    assert repr(value)[:20] in text
    assert "log, x" in text


def test_an_update_without_keys_in_a_command_is_refused(run):
    with pytest.raises(InvalidUpdateError, match="Expected dict, got 'text'"):
        run(returning(Command(update="text")), {"log": []})


def test_an_input_that_is_no_dict_is_refused_as_the_input(run):
    with pytest.raises(InvalidUpdateError, match="the graph's input has to be a dict"):
        run(returning(None), "hello")


def test_an_unknown_key_warns_once_for_each_node_and_key(run):
    graph = graph_of(
        ("a", lambda state: {"x": 1, "typo": 2}),
        ("b", lambda state: {"typo": 3, "other": 4}),
        edges=[("a", "b")],
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            assert run(graph, {"log": []}) == {"log": [], "x": 1}
    texts = [str(warning.message) for warning in caught]
    assert [(text.split("'")[1], text.split("'")[3]) for text in texts] == [
        ("a", "typo"),
        ("b", "typo"),
        ("b", "other"),
    ]
    assert all("log, x" in text for text in texts)


def test_a_key_that_another_schema_of_the_graph_has_is_known(run):
    class Private(TypedDict):
        secret: str

    def second(state: Private):
        return {"log": [state["secret"]]}

    graph = graph_of(("a", lambda state: {"secret": "s"}), ("b", second), edges=[("a", "b")])
    assert run(graph, {"log": []})["log"] == ["s"]


def test_managed_values_that_come_back_with_the_state_are_passed_over(run):
    class Timed(TypedDict, total=False):
        x: int
        last: IsLastStep

    seen = []

    def node(state):
        seen.append(state["last"])
        return {**state, "x": 2}

    assert run(graph_of(("a", node), schema=Timed), {"x": 1}) == {"x": 2}
    assert seen == [False]


def test_a_graph_inside_may_return_keys_of_its_own(run):
    class Inner(TypedDict, total=False):
        x: int
        own: int

    inner = graph_of(("i", lambda state: {"x": state["x"] + 1, "own": 5}), schema=Inner)
    outer = graph_of(("inner", inner), ("called", lambda state: inner.invoke(state)), edges=[("inner", "called")])
    assert run(outer, {"x": 1}) == {"log": [], "x": 3}


def test_what_a_graph_inside_left_unchanged_is_not_folded_again():
    class Result(dict):
        unchanged = frozenset({"log", "x"})

    inner = graph_of(("i", lambda state: None))
    outer = graph_of(("inner", inner), ("function", lambda state: None))
    result = Result(log=["in"], x=1)
    assert outer.nodes["inner"].outputs(result) == [("x", 1)]  # only a reducer would count it twice
    assert outer.nodes["function"].outputs(result) == [("log", ["in"]), ("x", 1)]


@pytest.mark.parametrize(
    ("value", "seen"),
    [(Command(goto="nope"), "'nope'"), (Send("nope", 1), "nope"), (Command(goto=Send("nope", 1)), "nope")],
)
def test_an_unknown_target_is_refused_with_the_node_and_the_targets(run, value, seen):
    with pytest.raises(InvalidUpdateError) as caught:
        run(returning(value), {"log": []})
    text = str(caught.value)
    assert "node 'a' goes to" in text
    assert seen in text
    assert "'a', 'b', 'c'" in text
    assert "END" in text


def test_a_send_to_end_is_refused(run):
    with pytest.raises(InvalidUpdateError, match="END"):
        run(returning(Send(END, {})), {"log": []})


def test_a_command_for_the_graph_outside_bubbles_up(run):
    inner = graph_of(("i", lambda state: Command(graph=Command.PARENT, update={"x": 1}, goto="b")))
    outer = graph_of(("inner", inner), ("b", lambda state: {"log": ["b"]}))
    assert run(outer, {"log": ["in"]}) == {"log": ["in", "b"], "x": 1}


def test_a_command_for_the_graph_outside_raises_in_the_function_that_reads_it():
    graph = graph_of(("a", lambda state: None))
    command = Command(graph=Command.PARENT, update={"x": 1})
    with pytest.raises(ParentCommand) as caught:
        graph.nodes["a"].outputs([{"x": 2}, command])
    assert caught.value.args == (command,)


# --- a state without keys -------------------------------------------------------------------------


def root_graph(value, schema=Annotated[list, operator.add]):
    return graph_of(("a", lambda state: value), ("b", lambda state: ["b"]), schema=schema)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ["in"]),
        (["a"], ["in", "a"]),
        ([{"x": 1}], ["in", {"x": 1}]),
        ([("a", 1)], ["in", ("a", 1)]),
        (Command(update=["a"]), ["in", "a"]),
        (Command(update={"__root__": ["a"]}), ["in", "a"]),
        (Command(update=["a"], goto="b"), ["in", "a", "b"]),
        (Send("b", 1), ["in", "b"]),
        ([Send("b", 1), ["a"]], ["in", "a", "b"]),
        ([Command(update=["1"]), ["2"]], ["in", "1", "2"]),
    ],
    ids=repr,
)
def test_a_state_without_keys_takes_whatever_is_no_command(run, value, expected):
    assert run(root_graph(value), ["in"]) == expected


def test_a_state_of_one_number(run):
    assert run(graph_of(("a", lambda state: state + 1), schema=int), 1) == 2


def test_outputs_are_cheap_for_a_plain_dict():
    from time import perf_counter

    outputs = graph_of(("a", lambda state: None), ("b", lambda state: None), edges=[("a", "b")]).nodes["a"].outputs
    value: dict[str, Any] = {"log": ["a"], "x": 1}
    best = min(_seconds(outputs, value, perf_counter) for _ in range(20))
    assert best / 1000 < 5e-6  # about half a microsecond; the rest is for busy machines


def _seconds(outputs, value, clock):
    start = clock()
    for _ in range(1000):
        outputs(value)
    return clock() - start
