import operator
from functools import partial
from typing import Annotated, Literal, TypedDict

import pytest
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

from runtime.channels import (
    EphemeralValue,
    LastValueAfterFinish,
    NamedBarrierValue,
    NamedBarrierValueAfterFinish,
    Topic,
)
from runtime.checkpoint.memory import InMemorySaver
from runtime.errors import NodeError
from runtime.graph import END, START, StateGraph
from runtime.types import CachePolicy, Command, RetryPolicy, TimeoutPolicy
from runtime.warnings import DeprecatedSince05, DeprecatedSince10


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    x: int


def note(name):
    return lambda state: {"log": [name]}


def drawn(*names, schema=State, **options):
    builder = StateGraph(schema)
    for name in names:
        builder.add_node(name, note(name), **options)
    return builder


# --- complaints -----------------------------------------------------------------------------------


def test_all_complaints_come_at_once():
    class Other(TypedDict):
        log: Annotated[int, max]

    builder = drawn("a", "b")
    builder.add_node("c", note("c"), input_schema=Other, destinations=("nowhere",))
    builder.add_edge("a", "ghost")
    builder.add_edge("phantom", "a")
    builder.add_edge(["a", "spook"], "b")
    builder.add_conditional_edges("b", note("b"), {"yes": "spirit", "no": END})
    with pytest.raises(ValueError, match="for 8 reasons") as caught:
        builder.compile(interrupt_before=["wraith"])
    text = str(caught.value)
    assert "Channel 'log' already exists with a different type" in text
    assert "unknown node `ghost`, from 'a'" in text
    assert "unknown node 'phantom'" in text
    assert "unknown node 'spook'" in text
    assert "'b' node, '<lambda>' branch found unknown target 'spirit'" in text
    assert "`nowhere`, declared by node 'c'" in text
    assert "`wraith` not found" in text
    assert "must have an entrypoint" in text
    assert text.count("the nodes are 'a', 'b', 'c'") == 6


def test_one_complaint_stands_alone():
    with pytest.raises(ValueError, match=r"^Graph must have an entrypoint"):
        drawn("a").compile()


def test_a_managed_value_in_the_input_is_a_complaint():
    from runtime.managed import IsLastStep

    class Into(TypedDict):
        last: IsLastStep

    builder = StateGraph(State, input_schema=Into).add_node("a", note("a")).add_edge(START, "a")
    with pytest.raises(ValueError, match=r"Into\.last is a managed value"):
        builder.compile()


def test_a_node_with_the_name_of_the_default_error_handler_is_a_complaint():
    builder = drawn("__default_error_handler__").add_edge(START, "__default_error_handler__")
    builder.compile()
    builder.set_node_defaults(error_handler=lambda state: None)
    with pytest.raises(ValueError, match="rename it"):
        builder.compile()


@pytest.mark.parametrize("name", [START, END, "a|b", "a:b", "", "__interrupt__"])
def test_a_reserved_name_is_refused_on_the_spot(name):
    with pytest.raises(ValueError, match=r"reserved|empty"):
        StateGraph(State).add_node(name, note("a"))


def test_a_name_that_is_taken_is_refused_on_the_spot():
    with pytest.raises(ValueError, match="`a` already present"):
        drawn("a").add_node("a", note("a"))


@pytest.mark.parametrize("edge", [(END, "a"), (["a", END], "b"), ("a", START), (["a", "b"], START), ([], "a")])
def test_an_impossible_edge_is_refused_on_the_spot(edge):
    with pytest.raises(ValueError, match=r"END|START|no start"):
        drawn("a", "b").add_edge(*edge)


@pytest.mark.parametrize("action", [7, "text", None, [1]])
def test_what_cannot_be_a_node_is_refused(action):
    with pytest.raises(TypeError, match=r"'a'|got"):
        StateGraph(State).add_node("a", action)


def test_something_without_a_name_has_to_be_named():
    with pytest.raises(TypeError, match="has to be a function"):
        StateGraph(State).add_node(7)


def test_a_checkpointer_that_is_none_is_refused():
    with pytest.raises(TypeError, match="Invalid checkpointer"):
        drawn("a").add_edge(START, "a").compile(checkpointer="memory")


def test_unknown_keywords_are_refused():
    with pytest.raises(TypeError, match="'colour'"):
        StateGraph(State, colour="red")
    with pytest.raises(TypeError, match="'colour'"):
        drawn("a").add_node("b", note("b"), colour="red")


# --- names ------------------------------------------------------------------------------------------


class Callable:
    def __call__(self, state):
        return {"log": ["callable"]}

    def method(self, state):
        return {"log": ["method"]}


def function(state):
    return {"log": ["function"]}


@pytest.mark.parametrize(
    ("node", "name"),
    [
        (function, "function"),
        (Callable(), "Callable"),
        (Callable().method, "method"),
        (partial(function), "partial"),
        (RunnableLambda(function), "function"),
        (RunnablePassthrough(name="through"), "through"),
        (drawn("a").add_edge(START, "a").compile(name="inner"), "inner"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_node_takes_the_name_of_its_function(node, name):
    assert list(StateGraph(State).add_node(node).nodes) == [name]


def test_every_method_of_the_builder_returns_the_builder():
    builder = StateGraph(State)
    assert (
        builder.set_node_defaults()
        .add_node(function)
        .add_node("b", function)
        .add_edge(START, "function")
        .add_conditional_edges("function", lambda state: "b")
        .add_sequence([("c", function), ("d", function)])
        .set_entry_point("c")
        .set_conditional_entry_point(lambda state: END)
        .set_finish_point("d")
        .validate()
    ) is builder


def test_a_sequence(run):
    builder = StateGraph(State).add_sequence([function, ("second", note("second")), Callable()])
    builder.set_entry_point("function")
    assert run(builder.compile(), {"log": []})["log"] == ["function", "second", "callable"]
    with pytest.raises(ValueError, match="at least one node"):
        StateGraph(State).add_sequence([])
    with pytest.raises(ValueError, match="'function' is taken"):
        StateGraph(State).add_sequence([function, function])


# --- what is compiled -------------------------------------------------------------------------------


def test_channels_and_triggers():
    builder = drawn("a", "b", "c", "d").add_node("late", note("late"), defer=True)
    builder.add_edge(START, "a").add_edge("a", "b").add_edge("a", "c").add_edge("b", END)
    builder.add_edge(["b", "c"], "d").add_edge(["c", "b"], "late").add_edge(["a", "b"], END)
    graph = builder.compile()
    kinds = {name: type(channel) for name, channel in graph.channels.items() if name not in builder.channels}
    assert kinds == {
        "__start__": EphemeralValue,
        "__pregel_tasks": Topic,
        **{f"branch:to:{name}": EphemeralValue for name in "abcd"},
        "branch:to:late": LastValueAfterFinish,
        "join:b+c:d": NamedBarrierValue,
        "join:c+b:late": NamedBarrierValueAfterFinish,
    }
    assert graph.channels["join:b+c:d"].names == {"b", "c"}
    assert not graph.channels["branch:to:a"].guard
    assert graph.channels["__start__"].guard
    assert {name: node.triggers for name, node in graph.nodes.items()} == {
        "__start__": ("__start__",),
        **{name: (f"branch:to:{name}",) for name in "abc"},
        "d": ("branch:to:d", "join:b+c:d"),
        "late": ("branch:to:late", "join:c+b:late"),
    }
    assert graph.nodes["a"].outputs({"x": 1}) == [("x", 1), ("branch:to:b", None), ("branch:to:c", None)]
    assert graph.nodes["b"].outputs(None) == [("join:b+c:d", "b"), ("join:c+b:late", "b")]
    assert graph.nodes["__start__"].outputs({"x": 1, "unknown": 2}) == [("x", 1), ("branch:to:a", None)]
    assert graph.nodes["__start__"].tags == ("langsmith:hidden",)


def test_a_join_waits_for_all_and_a_deferred_node_for_everything(run):
    builder = drawn("a", "b", "c", "d").add_node("late", note("late"), defer=True)
    builder.add_edge(START, "a").add_edge(START, "b").add_edge("b", "c").add_edge(["a", "c"], "d")
    builder.add_edge("a", "late")
    assert run(builder.compile(), {"log": []})["log"] == ["a", "b", "c", "d", "late"]


def test_policies_of_nodes_and_defaults():
    retry, other, cache = RetryPolicy(max_attempts=5), RetryPolicy(max_attempts=2), CachePolicy(ttl=1)
    builder = StateGraph(State)
    builder.add_node("own", note("own"), retry_policy=[other, retry], timeout=1, cache_policy=CachePolicy(ttl=9))
    builder.add_node("plain", note("plain"))
    builder.add_node("handled", note("handled"), error_handler=lambda state: None)
    builder.set_node_defaults(retry_policy=retry, cache_policy=cache, timeout=2, error_handler=lambda state: None)
    builder.add_edge(START, "own").add_edge(START, "plain").add_edge(START, "handled")
    nodes = builder.compile().nodes
    assert nodes["own"].retry_policy == (other, retry)
    assert nodes["own"].timeout == TimeoutPolicy(run_timeout=1.0)
    assert nodes["own"].cache_policy.ttl == 9
    assert nodes["plain"].retry_policy == (retry,)
    assert nodes["plain"].timeout == TimeoutPolicy(run_timeout=2.0)
    assert nodes["plain"].cache_policy is cache
    assert nodes["plain"].error_handler == nodes["own"].error_handler == "__default_error_handler__"
    assert nodes["handled"].error_handler == "__error_handler__handled"
    for name in ("__error_handler__handled", "__default_error_handler__"):
        handler = nodes[name]
        assert handler.handles_errors
        assert handler.error_handler is None
        assert handler.cache_policy is None
        assert handler.retry_policy == (retry,)
        assert handler.timeout == TimeoutPolicy(run_timeout=2.0)


def test_compiling_with_defaults_leaves_the_builder_as_it_was():
    builder = drawn("a").add_edge(START, "a").set_node_defaults(error_handler=lambda state: None)
    builder.compile()
    assert set(builder.nodes) == {"a"}
    builder.compile()
    builder.set_node_defaults(retry_policy=RetryPolicy(max_attempts=7))
    assert builder.compile().nodes["a"].retry_policy[0].max_attempts == 7


def test_an_error_handler_runs_in_place_of_its_node(run):
    def broken(state):
        raise ValueError("broken")

    def handler(state, error: NodeError):
        return {"log": [f"{error.node}: {error.error}"]}

    builder = StateGraph(State).add_node("a", broken, error_handler=handler).add_edge(START, "a")
    assert run(builder.compile(), {"log": []})["log"] == ["a: broken"]


def test_a_graph_does_not_change_with_its_builder(run, caplog):
    builder = drawn("a").add_edge(START, "a")
    before = builder.compile()
    builder.add_node("b", note("b")).add_edge("a", "b")
    assert [record.message.split("got a new ")[1].split(";")[0] for record in caplog.records] == ["node", "edge"]
    assert run(before, {"log": []})["log"] == ["a"]
    assert "b" not in before.get_graph().nodes
    assert run(builder.compile(), {"log": []})["log"] == ["a", "b"]


def test_what_compile_passes_on():
    saver = InMemorySaver()
    builder = drawn("a", "b").add_edge(START, "a").add_edge("a", "b")
    graph = builder.compile(saver, interrupt_before=["b"], interrupt_after="*", name="named")
    assert graph.checkpointer is saver
    assert graph.interrupt_before_nodes == ["b"]
    assert graph.interrupt_after_nodes == "*"
    assert graph.name == graph.get_name() == "named"
    assert graph.builder is builder
    assert builder.compile().name == "LangGraph"


def test_a_lone_interrupt_name_is_a_name(run):
    builder = drawn("a", "ab").add_edge(START, "a").add_edge("a", "ab")
    config = {"configurable": {"thread_id": "1"}}
    assert run(builder.compile(InMemorySaver(), interrupt_before="ab"), {"log": []}, config)["log"] == ["a"]
    with pytest.raises(ValueError, match="`nope` not found"):
        builder.compile(interrupt_before="nope")


def test_the_builder_shows_what_was_drawn():
    builder = drawn("a", "b", "c").add_edge(START, "a").add_edge(["a", "b"], "c")
    builder.add_conditional_edges("a", function, {"x": "b"})
    assert builder.edges == {(START, "a")}
    assert builder.waiting_edges == {(("a", "b"), "c")}
    assert builder.branches["a"]["function"].ends == {"x": "b"}
    assert builder.nodes["a"].input_schema is State
    assert builder.state_schema is builder.input_schema is builder.output_schema is State
    assert builder.context_schema is None
    assert builder.schemas[State].keys() == {"log", "x"}


def test_command_targets_are_read_from_annotations_in_all_their_forms():
    def plain(state) -> Command[Literal["a", "b"]]: ...
    def union(state) -> Command[Literal["a"]] | dict: ...
    def optional(state) -> "Command[Literal['b', '__end__']] | None": ...
    def nothing(state) -> Command: ...
    def dictionary(state) -> dict: ...

    builder = StateGraph(State)
    for node in (plain, union, optional, nothing, dictionary):
        builder.add_node(node)
    builder.add_node("said", plain, destinations={"a": "to a"})
    assert {name: node.ends for name, node in builder.nodes.items()} == {
        "plain": ("a", "b"),
        "union": ("a",),
        "optional": ("b", "__end__"),
        "nothing": (),
        "dictionary": (),
        "said": {"a": "to a"},
    }


# --- older spellings ----------------------------------------------------------------------------------


def test_older_keywords_of_the_state_graph():
    class Part(TypedDict):
        x: int

    with pytest.warns(DeprecatedSince05, match="`input_schema=`"):
        builder = StateGraph(State, input=Part)
    assert builder.input_schema is Part
    with pytest.warns(DeprecatedSince05, match="`output_schema=`"):
        builder = StateGraph(State, output=Part)
    assert builder.output_schema is Part
    with pytest.warns(DeprecatedSince10, match="`context_schema=`") as caught:
        builder = StateGraph(State, config_schema=Part)
    assert builder.context_schema is Part
    assert caught[0].filename == __file__


def test_older_keywords_of_add_node():
    class Part(TypedDict):
        x: int

    policy = RetryPolicy()
    builder = StateGraph(State)
    with pytest.warns(DeprecatedSince05, match="`retry_policy=`") as caught:
        builder.add_node("a", note("a"), retry=policy)
    assert caught[0].filename == __file__
    assert builder.nodes["a"].retry_policy is policy
    with pytest.warns(DeprecatedSince05, match="`input_schema=`"):
        builder.add_node("b", note("b"), input=Part)
    assert builder.nodes["b"].input_schema is Part
