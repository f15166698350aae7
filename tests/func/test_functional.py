"""Entrypoints and tasks: a workflow as a function, saved call by call."""

import asyncio
import threading

import pytest

from runtime.cache.memory import InMemoryCache
from runtime.func import entrypoint, task
from runtime.graph import START
from runtime.types import CachePolicy, Command, RetryPolicy, interrupt
from tests.kit.graphs import builder, ids, questions, thread


def test_a_workflow_returns_what_its_function_returns(run, saver):
    @task
    def double(n):
        return n * 2

    @entrypoint(checkpointer=saver)
    def flow(n):
        return [double(i).result() for i in range(n)]

    assert run(flow, 3, thread()) == [0, 2, 4]
    assert run.state(flow, thread()).values == [0, 2, 4]


def test_tasks_run_beside_each_other(run, saver):
    both = threading.Barrier(2)

    @task
    def meet(name):
        both.wait(20)  # passes only if both run at once
        return name

    @entrypoint(checkpointer=saver)
    def flow(_):
        futures = [meet("a"), meet("b")]
        return [future.result() for future in futures]

    assert run(flow, 0, thread()) == ["a", "b"]


def test_after_an_answer_finished_tasks_do_not_run_again(run, saver, calls):
    @task
    def work(n):
        calls[n] += 1
        return n

    @entrypoint(checkpointer=saver)
    def flow(n):
        before = work(n).result()
        answer = interrupt("ok?")
        after = work(n + 1).result()
        return [before, answer, after]

    assert questions(run(flow, 1, thread())) == ["ok?"]
    assert run(flow, Command(resume="yes"), thread()) == [1, "yes", 2]
    assert calls == {1: 1, 2: 1}


def test_a_question_in_a_task(run, saver, calls):
    @task
    def ask(text):
        calls["ask"] += 1
        return interrupt(text)

    @entrypoint(checkpointer=saver)
    def flow(_):
        return [ask("one").result(), ask("two").result()]

    assert questions(run(flow, 0, thread())) == ["one"]
    assert questions(run(flow, Command(resume=1), thread())) == ["two"]
    assert run(flow, Command(resume=2), thread()) == [1, 2]
    assert calls["ask"] == 4


def test_questions_of_parallel_tasks_are_asked_as_they_are_waited_for(run, saver):
    @task
    def ask(text):
        return interrupt(text)

    @entrypoint(checkpointer=saver)
    def flow(_):
        futures = [ask("a"), ask("b")]
        return [future.result() for future in futures]

    first = ids(run(flow, 0, thread()))
    second = ids(run(flow, Command(resume={first["a"]: 1}), thread()))
    assert run(flow, Command(resume={second["b"]: 2}), thread()) == [1, 2]


def test_after_a_failure_only_what_is_missing_runs(run, saver, calls):
    @task
    def work(name):
        calls[name] += 1
        if name == "bad" and calls[name] == 1:
            raise KeyError("first time")
        return name

    @entrypoint(checkpointer=saver)
    def flow(_):
        return [work("good").result(), work("bad").result()]

    with pytest.raises(KeyError):
        run(flow, 0, thread())
    assert run(flow, None, thread()) == ["good", "bad"]
    assert calls == {"good": 1, "bad": 2}


def test_previous_is_what_the_last_run_returned(run, saver):
    @entrypoint(checkpointer=saver)
    def count(n, *, previous=None):
        return (previous or 0) + n

    assert [run(count, n, thread()) for n in (1, 2, 3)] == [1, 3, 6]
    assert run(count, 5, thread("other")) == 5


def test_final_returns_one_value_and_keeps_another(run, saver):
    @entrypoint(checkpointer=saver)
    def flow(n, *, previous=None):
        return entrypoint.final(value=f"said {n}, kept {previous}", save=n)

    assert [run(flow, n, thread()) for n in (1, 2)] == ["said 1, kept None", "said 2, kept 1"]


def test_a_task_is_retried(run, saver, calls):
    @task(retry_policy=RetryPolicy(initial_interval=0, jitter=False))
    def flaky():
        calls["flaky"] += 1
        if calls["flaky"] < 3:
            raise ConnectionError("down")
        return calls["flaky"]

    @entrypoint(checkpointer=saver)
    def flow(_):
        return flaky().result()

    assert run(flow, 0, thread()) == 3


def test_a_task_is_cached(run, calls):
    @task(cache_policy=CachePolicy())
    def work(n):
        calls[n] += 1
        return n

    @entrypoint(cache=InMemoryCache())
    def flow(n):
        return work(n).result()

    assert [run(flow, n) for n in (1, 1, 2)] == [1, 1, 2]
    assert calls == {1: 1, 2: 1}


def test_tasks_are_seen_in_the_stream(run, saver):
    @task
    def work(n):
        return n + 1

    @entrypoint(checkpointer=saver)
    def flow(n):
        return work(n).result()

    assert run.stream(flow, 1, thread(), stream_mode="updates") == [{"work": 2}, {"flow": 2}]


def test_tasks_can_be_called_in_a_nodes_function(run, saver, calls):
    @task
    def work(n):
        calls[n] += 1
        return n

    def node(state):
        return {"log": [work(1).result(), interrupt("q"), work(2).result()]}

    graph = builder((START, "one"), one=node).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    assert run(graph, Command(resume="a"), thread())["log"] == [1, "a", 2]
    assert calls == {1: 1, 2: 1}


def test_a_graph_inside_a_workflow(run, saver):
    inner = builder((START, "one")).compile()

    @entrypoint(checkpointer=saver)
    def flow(n):
        return inner.invoke({"log": [n]})["log"]

    assert run(flow, 1, thread()) == [1, "one"]


@pytest.mark.parametrize("run", ["async"], indirect=True)
def test_async_tasks_and_workflows(saver, run):
    @task
    async def work(n):
        await asyncio.sleep(0)
        return n

    @entrypoint(checkpointer=saver)
    async def flow(n):
        return await asyncio.gather(*[work(i) for i in range(n)])

    assert run(flow, 3, thread()) == [0, 1, 2]


def test_a_replay_asks_again(run, saver):
    @entrypoint(checkpointer=saver)
    def flow(n):
        return interrupt(f"q{n}")

    run(flow, 1, thread())
    paused = run.state(flow, thread()).config
    assert run(flow, Command(resume="yes"), paused) == "yes"
    assert run(flow, Command(resume="no"), paused) == "no"


def test_a_task_outside_a_workflow_says_so():
    @task
    def work(n):
        return n

    with pytest.raises(RuntimeError, match=r"outside|entrypoint"):
        work(1)
