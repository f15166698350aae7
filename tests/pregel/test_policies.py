"""Retries, caches, error handlers and limits."""

import pytest

from runtime.cache.memory import InMemoryCache
from runtime.errors import GraphRecursionError, NodeError
from runtime.graph import END, START, StateGraph
from runtime.managed import IsLastStep, RemainingSteps
from runtime.types import CachePolicy, Command, RetryPolicy, Send, interrupt
from tests.kit.graphs import Log, builder, chain, thread

AT_ONCE = RetryPolicy(initial_interval=0, jitter=False)


DOWN = ConnectionError("down")


def failing(calls, times, error=DOWN):
    """A node that fails so many times, then logs how often it ran."""

    def node(state):
        calls["node"] += 1
        if calls["node"] <= times:
            raise error
        return {"log": [calls["node"]]}

    return node


def one(node, **options):
    made = StateGraph(Log)
    made.add_node("node", node, **options)
    made.add_edge(START, "node")
    return made


def test_a_transient_error_is_tried_again(run, saver, calls):
    graph = one(failing(calls, 2), retry_policy=AT_ONCE).compile(checkpointer=saver)
    assert run(graph, {"log": []}, thread())["log"] == [3]


def test_the_last_error_comes_out_after_the_last_attempt(run, saver, calls):
    graph = one(failing(calls, 9), retry_policy=AT_ONCE._replace(max_attempts=3)).compile(checkpointer=saver)
    with pytest.raises(ConnectionError):
        run(graph, {"log": []}, thread())
    assert calls["node"] == 3
    assert run.state(graph, thread()).values["log"] == []


@pytest.mark.parametrize("error", [ValueError("x"), TypeError("x"), RuntimeError("x"), OSError("x"), TimeoutError("x")])
def test_other_errors_are_not_by_default(run, calls, error):
    with pytest.raises(type(error)):
        run(one(failing(calls, 1, error), retry_policy=AT_ONCE).compile(), {"log": []})
    assert calls["node"] == 1


@pytest.mark.parametrize(
    "chosen",
    [KeyError, (ValueError, KeyError), lambda error: isinstance(error, KeyError)],
    ids=["class", "two", "func"],
)
def test_retry_on_takes_classes_and_functions(run, calls, chosen):
    policy = AT_ONCE._replace(retry_on=chosen)
    assert run(one(failing(calls, 1, KeyError("x")), retry_policy=policy).compile(), {"log": []})["log"] == [2]


def test_the_first_policy_that_fits_counts(run, calls):
    policies = [
        AT_ONCE._replace(retry_on=ValueError, max_attempts=9),
        AT_ONCE._replace(retry_on=KeyError, max_attempts=2),
    ]
    with pytest.raises(KeyError):
        run(one(failing(calls, 9, KeyError("x")), retry_policy=policies).compile(), {"log": []})
    assert calls["node"] == 2


def test_a_pause_is_not_a_failure(run, saver, calls):
    def node(state):
        calls["node"] += 1
        return {"log": [interrupt("q")]}

    graph = one(node, retry_policy=AT_ONCE._replace(retry_on=BaseException)).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    assert calls["node"] == 1
    assert run(graph, Command(resume="a"), thread())["log"] == ["a"]


def test_a_cached_node_runs_once_for_the_same_input(run, calls):
    def node(state):
        calls["node"] += 1
        return {"log": [state["value"]]}

    graph = one(node, cache_policy=CachePolicy()).compile(cache=InMemoryCache())
    assert [run(graph, {"value": value, "log": []})["log"] for value in (1, 1, 2, 1)] == [[1], [1], [2], [1]]
    assert calls["node"] == 2


def test_a_hit_is_told_in_the_stream(run, calls):
    graph = one(lambda s: {"log": [1]}, cache_policy=CachePolicy()).compile(cache=InMemoryCache())
    run(graph, {"log": []})
    assert run.stream(graph, {"log": []}, stream_mode="updates") == [
        {"node": {"log": [1]}, "__metadata__": {"cached": True}}
    ]


def test_a_key_function_decides_what_is_the_same(run, calls):
    def node(state):
        calls["node"] += 1
        return {"log": [state["value"]]}

    policy = CachePolicy(key_func=lambda state: str(state["value"] % 2))
    graph = one(node, cache_policy=policy).compile(cache=InMemoryCache())
    assert [run(graph, {"value": value, "log": []})["log"] for value in (1, 3, 2)] == [[1], [1], [2]]


def test_a_cleared_cache_forgets(run, calls):
    graph = one(failing(calls, 0), cache_policy=CachePolicy()).compile(cache=InMemoryCache())
    assert run(graph, {"log": []})["log"] == [1]
    run.call(graph, "clear_cache")
    assert run(graph, {"log": []})["log"] == [2]


def test_graphs_do_not_share_a_cache_by_accident(run):
    cache = InMemoryCache()

    class Says:
        def __init__(self, text):
            self.text = text

        def __call__(self, state):
            return {"log": [self.text]}

    graphs = [one(Says(text), cache_policy=CachePolicy()).compile(cache=cache) for text in ("a", "b")]
    assert [run(graph, {"log": []})["log"] for graph in graphs] == [["a"], ["b"]]


def handled(calls, *, times=9):
    """A node that fails, with a handler that logs what it was told."""

    def handler(state, error: NodeError):
        calls["handler"] += 1
        return {"log": [f"{error.node}: {error.error}"]}

    made = one(failing(calls, times, ValueError("bad")), error_handler=handler)
    made.add_node("after", lambda s: {"log": ["after"]})
    made.add_edge("node", "after")
    return made


def test_an_error_handler_takes_the_nodes_place(run, saver, calls):
    graph = handled(calls).compile(checkpointer=saver)
    assert run(graph, {"log": []}, thread())["log"][0] == "node: bad"
    assert calls["handler"] == 1


def test_a_handler_is_not_called_where_nothing_failed(run, saver, calls):
    graph = handled(calls, times=0).compile(checkpointer=saver)
    assert run(graph, {"log": []}, thread())["log"] == [1, "after"]
    assert calls["handler"] == 0


def test_a_handler_may_send_the_run_elsewhere(run, saver, calls):
    def handler(state, error: NodeError):
        return Command(update={"log": ["handled"]}, goto="rescue")

    made = one(failing(calls, 9, ValueError("bad")), error_handler=handler)
    made.add_node("rescue", lambda s: {"log": ["rescue"]})
    assert run(made.compile(checkpointer=saver), {"log": []}, thread())["log"] == ["handled", "rescue"]


def test_retries_come_before_the_handler(run, calls):
    def handler(state, error: NodeError):
        return {"log": ["handled"]}

    made = one(failing(calls, 9), error_handler=handler, retry_policy=AT_ONCE._replace(max_attempts=3))
    assert run(made.compile(), {"log": []})["log"] == ["handled"]
    assert calls["node"] == 3


def loop(limit):
    made = builder((START, "one"))
    made.add_conditional_edges("one", lambda s: "one" if len(s["log"]) < limit else END, ["one", END])
    return made


def test_exactly_as_many_supersteps_as_the_limit_is_success(run, saver):
    graph = loop(5).compile(checkpointer=saver)
    assert len(run(graph, {"log": []}, {**thread(), "recursion_limit": 5})["log"]) == 5


def test_more_are_refused_naming_the_limit_and_the_thread_goes_on(run, saver):
    graph = loop(7).compile(checkpointer=saver)
    with pytest.raises(GraphRecursionError, match="5"):
        run(graph, {"log": []}, {**thread(), "recursion_limit": 5})
    state = run.state(graph, thread())
    assert (len(state.values["log"]), state.next) == (5, ("one",))
    assert len(run(graph, None, {**thread(), "recursion_limit": 2})["log"]) == 7


def test_parallel_nodes_are_one_superstep(run):
    graph = builder((START, "a"), (START, "b"), (["a", "b"], "c")).compile()
    assert run(graph, {"log": []}, {"recursion_limit": 2})["log"] == ["a", "b", "c"]


def test_nodes_know_how_far_the_limit_is(run):
    class Limited(Log):
        last: IsLastStep
        left: RemainingSteps

    made = StateGraph(Limited)
    made.add_node("one", lambda s: {"log": [[s["last"], s["left"]]]})
    made.add_edge(START, "one")
    made.add_conditional_edges("one", lambda s: "one" if len(s["log"]) < 3 else END, ["one", END])
    log = run(made.compile(), {"log": []}, {"recursion_limit": 3})["log"]
    assert [last for last, _ in log] == [False, False, True]
    assert [left for _, left in log] == [log[0][1], log[0][1] - 1, log[0][1] - 2]


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(run, limit):
    with pytest.raises(ValueError, match="recursion_limit"):
        run(chain("one").compile(), {"log": []}, {"recursion_limit": limit})


def test_a_failed_worker_is_handled_alone(run, saver, calls):
    def work(n):
        if n == 1:
            raise ValueError("bad")
        return {"log": [n]}

    def handler(state, error: NodeError):
        return {"log": [f"handled {error.error}"]}

    made = StateGraph(Log)
    made.add_node("work", work, error_handler=handler)
    made.add_conditional_edges(START, lambda s: [Send("work", n) for n in range(3)], ["work"])
    log = run(made.compile(checkpointer=saver), {"log": []}, thread())["log"]
    assert sorted(map(str, log)) == ["0", "2", "handled bad"]
