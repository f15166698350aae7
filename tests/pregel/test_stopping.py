"""Stopping from outside: cancelling, draining, time limits. What is done is kept, and the thread goes on."""

import asyncio
import threading
from datetime import timedelta

import pytest

from runtime.checkpoint.sqlite.aio import AsyncSqliteSaver
from runtime.errors import GraphDrained, NodeTimeoutError
from runtime.graph import START, StateGraph
from runtime.runtime import RunControl, Runtime
from runtime.types import RetryPolicy, TimeoutPolicy
from tests.kit.graphs import Log, builder, chain, thread

SHORT = 0.05


def one(node, **options):
    made = StateGraph(Log)
    made.add_node("node", node, **options)
    made.add_edge(START, "node")
    return made


# --- drain ----------------------------------------------------------------------------------------


def test_a_drain_stops_between_supersteps(run, saver):
    control = RunControl()

    def first(state):
        control.request_drain("deploy")
        return {"log": ["first"]}

    graph = chain("first", "second", first=first).compile(checkpointer=saver)
    with pytest.raises(GraphDrained, match="deploy"):
        run(graph, {"log": []}, thread(), control=control)
    state = run.state(graph, thread())
    assert (state.values["log"], state.next) == (["first"], ("second",))
    assert run(graph, None, thread())["log"] == ["first", "second"]


def test_a_drain_after_the_last_superstep_is_no_failure(run, saver):
    control = RunControl()

    def only(state):
        control.request_drain()
        return {"log": ["only"]}

    graph = chain("only", only=only).compile(checkpointer=saver)
    assert run(graph, {"log": []}, thread(), control=control)["log"] == ["only"]


def test_a_drain_reaches_runs_inside(run, saver):
    control = RunControl()

    def first(state):
        control.request_drain()
        return {"value": 1}

    inner = chain("first", "second", first=first).compile()
    graph = builder((START, "sub"), sub=inner).compile(checkpointer=saver)
    with pytest.raises(GraphDrained):
        run(graph, {"log": []}, thread(), control=control)
    assert run.state(graph, thread()).next == ("sub",)
    assert run(graph, None, thread())["log"] == ["second"]


# --- cancelling -----------------------------------------------------------------------------------


def test_a_cancelled_await_keeps_what_finished(tmp_path, calls):
    async def scenario():
        fast_done, hanging = asyncio.Event(), asyncio.Event()

        async def fast(state):
            calls["fast"] += 1
            fast_done.set()
            return {"log": ["fast"]}

        async def slow(state):
            calls["slow"] += 1
            if calls["slow"] == 1:
                hanging.set()
                await asyncio.Event().wait()
            return {"log": ["slow"]}

        async with AsyncSqliteSaver.from_conn_string(tmp_path / "db") as saver:
            graph = builder((START, "fast"), (START, "slow"), fast=fast, slow=slow).compile(checkpointer=saver)
            stream = graph.astream({"log": []}, thread(), stream_mode="updates")
            assert await anext(stream) == {"fast": {"log": ["fast"]}}
            await hanging.wait()
            waiting = asyncio.ensure_future(anext(stream))
            await asyncio.wait({waiting}, timeout=0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            await stream.aclose()
            assert (await graph.aget_state(thread())).next == ("slow",)
            return await graph.ainvoke(None, thread())

    assert asyncio.run(scenario())["log"] == ["fast", "slow"]
    assert calls == {"fast": 1, "slow": 2}


def test_a_cancelled_run_cancels_its_nodes():
    async def scenario():
        inside, cancelled = asyncio.Event(), asyncio.Event()

        async def node(state):
            inside.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.set()
                raise

        running = asyncio.ensure_future(chain("one", one=node).compile().ainvoke({"log": []}))
        await inside.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await asyncio.wait_for(cancelled.wait(), 20)

    asyncio.run(scenario())


@pytest.mark.parametrize("run", ["sync"], indirect=True)
def test_an_interrupted_keyboard_leaves_the_thread_resumable(saver, run, calls):
    def node(state):
        calls["node"] += 1
        if calls["node"] == 1:
            raise KeyboardInterrupt
        return {"log": ["node"]}

    graph = chain("one", "node", node=node).compile(checkpointer=saver)
    with pytest.raises(KeyboardInterrupt):
        run(graph, {"log": []}, thread())
    assert run.state(graph, thread()).next == ("node",)
    assert run(graph, None, thread())["log"] == ["one", "node"]


# --- time limits ----------------------------------------------------------------------------------


def hang(run, gate):
    """A node that does not come back before the gate opens."""
    if run.is_async:

        async def node(state):
            await asyncio.Event().wait()

        return node

    def node(state):
        gate.open.wait(20)
        return {"log": ["too late"]}

    return node


@pytest.mark.parametrize(
    ("policy", "kind"),
    [
        (TimeoutPolicy(per_attempt=SHORT), "run"),
        (TimeoutPolicy(run_timeout=timedelta(seconds=SHORT)), "run"),
        (TimeoutPolicy(idle_timeout=SHORT), "idle"),
        (TimeoutPolicy(per_step=SHORT), "step"),
        (TimeoutPolicy(max_execution=SHORT), "total"),
    ],
    ids=["attempt", "run", "idle", "step", "total"],
)
def test_the_caller_gets_the_error_at_the_deadline(run, saver, gate, policy, kind):
    graph = one(hang(run, gate), timeout=policy).compile(checkpointer=saver)
    with pytest.raises(NodeTimeoutError, match="node") as late:
        run(graph, {"log": []}, thread())
    assert late.value.kind == kind
    state = run.state(graph, thread())
    assert (state.values["log"], state.next) == ([], ("node",))


def test_a_number_is_a_limit_for_each_attempt(run, gate):
    with pytest.raises(NodeTimeoutError):
        run(one(hang(run, gate), timeout=SHORT).compile(), {"log": []})


def test_a_sync_node_in_an_async_run_is_abandoned_too(gate):
    def node(state):
        gate.open.wait(20)
        return {"log": ["too late"]}

    async def scenario():
        try:
            with pytest.raises(NodeTimeoutError):
                await one(node, timeout=SHORT).compile().ainvoke({"log": []})
        finally:
            gate.open.set()

    asyncio.run(scenario())


@pytest.mark.parametrize("run", ["sync"], indirect=True)
def test_what_an_abandoned_node_does_later_is_dropped(saver, run, gate, calls):
    ended = threading.Event()

    def node(state):
        calls["node"] += 1
        if calls["node"] > 1:
            return {"log": ["second"]}
        gate.open.wait(20)
        ended.set()
        return {"log": ["too late"]}

    graph = one(node, timeout=SHORT).compile(checkpointer=saver)
    with pytest.raises(NodeTimeoutError):
        run(graph, {"log": []}, thread())
    gate.open.set()
    assert ended.wait(20)
    assert run(graph, None, thread())["log"] == ["second"]


def test_a_late_attempt_can_be_retried(run, gate, calls):
    policy = RetryPolicy(initial_interval=0, jitter=False, retry_on=NodeTimeoutError, max_attempts=2)
    with pytest.raises(NodeTimeoutError):
        run(one(hang(run, gate), timeout=SHORT, retry_policy=policy).compile(), {"log": []})


def test_heartbeats_put_the_idle_limit_off(run):
    def node(state, runtime: Runtime):
        for _ in range(3):
            runtime.heartbeat()
        return {"log": ["alive"]}

    policy = TimeoutPolicy(idle_timeout=5, refresh_on="heartbeat")
    assert run(one(node, timeout=policy).compile(), {"log": []})["log"] == ["alive"]


def test_a_superstep_may_have_a_limit(run, saver, gate):
    made = one(hang(run, gate))
    graph = made.compile(checkpointer=saver)
    graph.step_timeout = SHORT
    with pytest.raises(TimeoutError):
        run(graph, {"log": []}, thread())
    gate.open.set()
    assert run.state(graph, thread()).next == ("node",)


@pytest.mark.parametrize("wrong", [0, -1, timedelta(0)])
def test_a_limit_of_nothing_is_refused(wrong):
    with pytest.raises(ValueError, match="greater than 0"):
        one(lambda state: None, timeout=wrong)


def test_in_time_nothing_is_noticed(run, saver):
    graph = one(lambda s: {"log": ["done"]}, timeout=TimeoutPolicy(per_attempt=20, idle_timeout=20, per_step=20))
    assert run(graph.compile(checkpointer=saver), {"log": []}, thread())["log"] == ["done"]
