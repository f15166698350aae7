"""Send: tasks with inputs of their own, in the order they were sent."""

import operator
import threading
from typing import Annotated, Any

import pytest
from typing_extensions import TypedDict

from runtime.channels import Topic
from runtime.channels.untracked_value import UntrackedValue
from runtime.errors import InvalidUpdateError
from runtime.graph import END, START, StateGraph
from runtime.pregel import NodeBuilder, Pregel
from runtime.types import Command, Send, interrupt
from tests.kit.graphs import Log, builder, ids, thread


def fan(work, count=3, **nodes):
    """plan sends `count` jobs to work, then comes after."""
    made = builder(plan=lambda state: {"value": "planned"}, work=work, **nodes)
    made.add_edge(START, "plan")
    made.add_conditional_edges("plan", lambda state: [Send("work", n) for n in range(count)], ["work"])
    return made


def test_results_keep_the_order_of_the_sends(run, saver):
    done = [threading.Event() for _ in range(4)]
    done[3].set()

    def work(n):
        assert done[n + 1].wait(20)  # so they end in reverse
        done[n].set()
        return {"log": [n]}

    graph = fan(work).compile(checkpointer=saver)
    assert run(graph, {"log": []}, thread())["log"] == [0, 1, 2]


def test_an_argument_arrives_as_it_was_sent(run):
    marker = object()
    got = []

    def work(arg):
        got.append(arg)
        return {"log": [1]}

    made = builder(plan=lambda state: None, work=work)
    made.add_edge(START, "plan")
    made.add_conditional_edges("plan", lambda state: Send("work", marker), ["work"])
    run(made.compile(), {"log": []})
    assert got == [marker]


def test_equal_sends_are_tasks_of_their_own(run, saver, calls):
    def work(arg):
        calls["work"] += 1
        return {"log": [arg]}

    made = builder(plan=lambda state: None, work=work)
    made.add_edge(START, "plan")
    made.add_conditional_edges("plan", lambda state: [Send("work", "same")] * 3, ["work"])
    graph = made.compile(checkpointer=saver)
    assert run(graph, {"log": []}, thread())["log"] == ["same"] * 3
    assert calls["work"] == 3


def test_no_sends_end_the_branch(run):
    assert run(fan(lambda n: {"log": [n]}, count=0).compile(), {"log": []})["log"] == []


def test_a_send_to_no_node_is_refused_by_name(run, saver):
    made = builder(plan=lambda state: None)
    made.add_edge(START, "plan")
    made.add_conditional_edges("plan", lambda state: [Send("nowhere", 1)])
    graph = made.compile(checkpointer=saver)
    with pytest.raises(Exception, match="nowhere"):
        run(graph, {"log": []}, thread())
    assert run.state(graph, thread()).next == ("plan",)


def test_a_node_may_be_woken_and_sent_to_at_once(run):
    made = fan(lambda arg: {"log": [arg if isinstance(arg, int) else "woken"]}, count=2)
    made.add_edge("plan", "work")
    assert run(made.compile(), {"log": []})["log"] == ["woken", 0, 1]


def test_from_the_start(run, saver):
    made = builder(work=lambda n: {"log": [n]})
    made.add_conditional_edges(START, lambda state: [Send("work", n) for n in (1, 2)], ["work"])
    graph = made.compile(checkpointer=saver)
    assert run(graph, {"log": [0]}, thread())["log"] == [0, 1, 2]


def test_a_worker_may_send_on(run):
    def work(n):
        return Command(update={"log": [n]}, goto=[Send("work", n - 1)] if n else END)

    made = builder(work=work)
    made.add_conditional_edges(START, lambda state: Send("work", 2), ["work"])
    assert run(made.compile(), {"log": []})["log"] == [2, 1, 0]


def test_the_superstep_after_a_fan_out_runs_once(run, calls):
    def gather(state):
        calls["gather"] += 1
        return {"value": list(state["log"])}

    made = fan(lambda n: {"log": [n]}, gather=gather)
    made.add_edge("work", "gather")
    assert run(made.compile(), {"log": []})["value"] == [0, 1, 2]
    assert calls["gather"] == 1


def test_questions_of_workers_are_answered_one_by_one(run, saver, calls):
    def work(n):
        calls[n] += 1
        return {"log": [f"{n}: {interrupt(f'q{n}')}"]}

    graph = fan(work).compile(checkpointer=saver)
    first = run(graph, {"log": []}, thread())
    asked = ids(first)
    assert sorted(asked) == ["q0", "q1", "q2"]
    run(graph, Command(resume={asked["q1"]: "one"}), thread())
    last = run(graph, Command(resume={asked["q2"]: "two", asked["q0"]: "zero"}), thread())
    assert last["log"] == ["0: zero", "1: one", "2: two"]
    assert calls[1] == 2


def test_many(run, saver):
    graph = fan(lambda n: {"total": n}, count=300).compile(checkpointer=saver)
    assert run(graph, {"log": []}, thread())["total"] == sum(range(300))


def test_max_concurrency_bounds_how_many_run_at_once(run):
    lock, now, most = threading.Lock(), [0], [0]
    both = threading.Barrier(2)

    def work(n):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        both.wait(20)  # passes only if two run at once
        with lock:
            now[0] -= 1
        return {"log": [n]}

    graph = fan(work, count=6).compile()
    assert run(graph, {"log": []}, {"max_concurrency": 2})["log"] == list(range(6))
    assert most[0] == 2


def test_a_send_that_is_none_of_the_sends_is_refused(run):
    node = NodeBuilder().subscribe_only("in").do(lambda value: "no send").write_to("__pregel_tasks")
    graph = Pregel(
        nodes={"one": node},
        channels={"in": Topic(str)},
        input_channels="in",
        output_channels="in",
    )
    with pytest.raises(InvalidUpdateError, match="Send"):
        run(graph, "x")


def test_a_states_class_is_no_concern_of_a_send(run):
    assert run(fan(lambda n: Log(log=[n])).compile(), {"log": []})["log"] == [0, 1, 2]


class Secretive(TypedDict, total=False):
    """A list, and a value that is never saved."""

    log: Annotated[list[str], operator.add]
    secret: Annotated[Any, UntrackedValue]


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside a failure"])
def test_what_a_send_holds_for_an_untracked_key_is_handed_on_and_not_saved(run, saver, durability, beside):
    got = []

    def fails(state):
        raise RuntimeError("beside")

    made = StateGraph(Secretive)
    made.add_node("plan", lambda state: {"log": ["planned"]})
    made.add_node("work", lambda given: got.append(given["secret"]) or {"log": [given["name"]]})
    made.add_edge(START, "plan")
    made.add_conditional_edges("plan", lambda state: [Send("work", {"name": "w", "secret": "hush"})], ["work"])
    if beside:
        made.add_node("fails", fails)
        made.add_edge(START, "fails")
    graph = made.compile(checkpointer=saver)
    if beside:
        with pytest.raises(RuntimeError, match="beside"):
            run(graph, {"log": []}, thread(), durability=durability)
    else:
        assert run(graph, {"log": []}, thread(), durability=durability)["log"] == ["planned", "w"]
        assert got == ["hush"]
    saved = run.collect(saver, "list", thread())
    assert saved
    assert "hush" not in repr([(item.checkpoint, item.pending_writes) for item in saved])
