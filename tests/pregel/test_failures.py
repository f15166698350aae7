"""Failures: nothing is half applied, and the thread stays readable and resumable."""

import asyncio
import threading
import time
import weakref
from dataclasses import dataclass
from functools import partial

import pytest
from pydantic import BaseModel

from runtime.checkpoint.sqlite import SqliteSaver
from runtime.errors import EmptyInputError, InvalidUpdateError
from runtime.graph import END, START, StateGraph
from runtime.pregel.workers import Workers
from runtime.types import Send
from tests.kit.graphs import builder, chain, thread


def resumable(run, graph, next_nodes):
    """The thread can be read, listed, and stands before these nodes."""
    state = run.state(graph, thread())
    assert state.next == next_nodes
    assert len(run.history(graph, thread())) == state.metadata["step"] + 2
    return state


def test_the_error_says_which_node_and_is_in_the_state(run, saver):
    def fails(state):
        raise ValueError("bad thing")

    graph = chain("one", "fails", fails=fails).compile(checkpointer=saver)
    with pytest.raises(ValueError, match="bad thing") as failed:
        run(graph, {"log": []}, thread())
    assert any("fails" in note for note in failed.value.__notes__)
    state = resumable(run, graph, ("fails",))
    assert "bad thing" in str(state.tasks[0].error)
    assert state.values["log"] == ["one"]


def test_several_failures_are_told_together(run, saver):
    def fails(name):
        def node(state):
            both.wait(20)
            raise ValueError(name)

        return node

    both = threading.Barrier(2)
    graph = builder((START, "a"), (START, "b"), a=fails("first"), b=fails("second")).compile(checkpointer=saver)
    with pytest.raises(ValueError, match=r"first|second") as failed:
        run(graph, {"log": []}, thread())
    told = " ".join([str(failed.value), *failed.value.__notes__])
    assert "first" in told
    assert "second" in told


class Unspeakable(Exception):
    """Raises when it is asked what it says."""

    def __str__(self):
        raise RuntimeError("no words")

    __repr__ = __str__


def test_an_error_that_raises_when_it_is_asked_for_its_text_is_recorded_as_itself():
    def fails(state):
        both.wait(20)
        raise Unspeakable

    both = threading.Barrier(2)
    with SqliteSaver.from_conn_string(":memory:") as saver:
        graph = builder((START, "a"), (START, "b"), a=fails, b=fails).compile(checkpointer=saver)
        with pytest.raises(Unspeakable) as failed:  # not by asyncio.run: that itself asks for the text
            graph.invoke({"log": []}, thread())
        assert any("also failed: node" in note and "Unspeakable" in note for note in failed.value.__notes__)
        state = graph.get_state(thread())
        assert state.next == ("a", "b")
        assert ["Unspeakable" in str(task.error) for task in state.tasks] == [True, True]


@dataclass(frozen=True)
class Frozen(Exception):
    """Lets nobody set anything on it."""

    why: str


def test_an_error_that_is_frozen_is_raised_and_recorded_as_itself(run, saver):
    def fails(state):
        raise Frozen("as it is")

    graph = builder((START, "a"), (START, "b"), a=fails, b=fails).compile(checkpointer=saver)
    with pytest.raises(Frozen, match="as it is") as failed:
        run(graph, {"log": []}, thread())
    assert [note.split("'")[0] for note in failed.value.__notes__] == ["in node ", "also failed: node "]
    state = run.state(graph, thread())
    assert ["Frozen" in str(task.error) for task in state.tasks] == [True, True]


def test_an_idle_worker_holds_nothing_of_its_last_job():
    class Hog:
        pass

    workers, hog = Workers(), Hog()
    gone = weakref.ref(hog)
    workers.submit(partial(id, hog))
    del hog
    deadline = time.monotonic() + 20
    while not workers._idle:
        assert time.monotonic() < deadline
    assert gone() is None


def test_a_thread_that_outlives_a_failed_sibling_is_recorded(run, saver, calls):
    failing = threading.Event()

    def fails(state):
        calls["fails"] += 1
        failing.set()
        if calls["fails"] == 1:
            raise ValueError("once")
        return {"log": ["fine"]}

    def slow(state):
        calls["slow"] += 1
        assert failing.wait(20)
        return {"log": ["slow"]}

    graph = builder((START, "fails"), (START, "slow"), fails=fails, slow=slow).compile(checkpointer=saver)
    with pytest.raises(ValueError, match="once"):
        run(graph, {"log": []}, thread())
    assert run(graph, None, thread())["log"] == ["fine", "slow"]
    assert calls == {"fails": 2, "slow": 1}


def test_a_router_that_raises_is_tried_again(run, saver, calls):
    def route(state):
        calls["route"] += 1
        if calls["route"] == 1:
            raise KeyError("router")
        return "after"

    made = builder((START, "one"), after=lambda s: {"log": ["after"]})
    made.add_conditional_edges("one", route, ["after", END])
    graph = made.compile(checkpointer=saver)
    with pytest.raises(KeyError):
        run(graph, {"log": []}, thread())
    assert resumable(run, graph, ("one",)).values["log"] == []
    assert run(graph, None, thread())["log"] == ["one", "after"]


def test_a_reducer_that_raises_applies_nothing_and_names_the_key(run, saver, calls):
    def wrong(state):
        calls["wrong"] += 1
        return {"log": 7 if calls["wrong"] == 1 else ["right"], "value": "beside"}

    graph = builder((START, "a"), (START, "wrong"), wrong=wrong).compile(checkpointer=saver)
    with pytest.raises(TypeError) as failed:
        run(graph, {"log": ["in"]}, thread())
    assert any("'log'" in note and "'wrong'" in note for note in failed.value.__notes__)
    state = run.state(graph, thread())
    assert state.values == {"log": ["in"], "total": 0}
    assert "wrong" in state.next
    assert len(run.history(graph, thread())) == 2


def test_two_writers_of_a_plain_key_are_refused_by_name(run, saver):
    def node(state):
        return {"value": 1}

    graph = builder((START, "a"), (START, "b"), a=node, b=node).compile(checkpointer=saver)
    with pytest.raises(InvalidUpdateError, match="'value'"):
        run(graph, {"log": ["in"]}, thread())
    state = run.state(graph, thread())
    assert state.values == {"log": ["in"], "total": 0}
    edited = run.edit(graph, thread(), {"value": "by hand"}, "a")
    assert run.state(graph, edited).values["value"] == "by hand"


def test_a_value_that_cannot_be_saved_is_refused_and_the_thread_goes_on(run, saver):
    lock = [threading.Lock(), None]

    def node(state):
        return {"value": lock.pop(0)}

    graph = chain("one", "two", two=node).compile(checkpointer=saver)
    with pytest.raises(Exception, match="lock"):
        run(graph, {"log": []}, thread(), durability="sync")
    assert resumable(run, graph, ("two",)).values["log"] == ["one"]
    assert run(graph, None, thread(), durability="sync")["value"] is None


class Model(BaseModel):
    """A state that validates."""

    count: int = 0
    name: str = ""


def test_an_invalid_state_is_refused_and_the_thread_stays_readable(run, saver, calls):
    def wrong(state):
        calls["wrong"] += 1
        return {"count": "many" if calls["wrong"] == 1 else 3}

    made = StateGraph(Model)
    made.add_node("wrong", wrong)
    made.add_node("after", lambda state: {"name": f"n{state.count}"})
    made.add_edge(START, "wrong")
    made.add_edge("wrong", "after")
    graph = made.compile(checkpointer=saver)
    with pytest.raises(Exception, match="count"):
        run(graph, {"count": 1}, thread())
    run.state(graph, thread())
    run.history(graph, thread())
    edited = run.edit(graph, thread(), {"count": 3}, "wrong")
    assert run(graph, None, edited) == {"count": 3, "name": "n3"}


def test_a_failed_worker_alone_runs_again(run, saver, calls):
    def work(n):
        calls[n] += 1
        if n == 2 and calls[n] == 1:
            raise KeyError(n)
        return {"log": [n]}

    made = builder(plan=lambda s: None, work=work)
    made.add_edge(START, "plan")
    made.add_conditional_edges("plan", lambda s: [Send("work", n) for n in range(3)], ["work"])
    graph = made.compile(checkpointer=saver)
    with pytest.raises(KeyError):
        run(graph, {"log": []}, {**thread(), "max_concurrency": 1})
    assert run.state(graph, thread()).next == ("work",)
    assert run(graph, None, thread())["log"] == [0, 1, 2]
    assert calls == {0: 1, 1: 1, 2: 2}


@pytest.mark.parametrize("wrong", ["text", 7, object()])
def test_a_result_that_is_no_update_is_refused_naming_the_node(run, saver, wrong):
    graph = chain("one", one=lambda s: wrong).compile(checkpointer=saver)
    with pytest.raises(InvalidUpdateError, match="one"):
        run(graph, {"log": []}, thread())
    assert run.state(graph, thread()).next == ("one",)


def test_an_unknown_key_is_told_once_and_is_no_error(run):
    graph = chain("one", one=lambda s: {"log": ["x"], "lgo": ["x"]}).compile()
    with pytest.warns(UserWarning, match=r"one.*lgo|lgo.*one"):
        assert run(graph, {"log": []})["log"] == ["x"]
    assert run(graph, {"log": []})["log"] == ["x"]  # a second warning would be an error here


def test_a_cancelled_error_of_the_nodes_own_is_a_failure(run, saver):
    def node(state):
        raise asyncio.CancelledError

    graph = chain("one", one=node).compile(checkpointer=saver)
    with pytest.raises(Exception, match=r"(?i)cancel"):
        run(graph, {"log": []}, thread())
    assert run.state(graph, thread()).next == ("one",)


def test_an_empty_input_is_an_input(run, saver):
    graph = chain("one").compile(checkpointer=saver)
    run(graph, {"log": ["a"]}, thread())
    assert run(graph, {}, thread())["log"] == ["a", "one", "one"]


def test_no_input_on_a_fresh_thread_is_refused_and_on_a_finished_one_does_nothing(run, saver):
    graph = chain("one").compile(checkpointer=saver)
    with pytest.raises(EmptyInputError, match="'t'"):
        run(graph, None, thread())
    run(graph, {"log": []}, thread())
    before = run.history(graph, thread())
    assert run(graph, None, thread())["log"] == ["one"]
    assert run.history(graph, thread()) == before


def test_a_config_without_a_thread_is_refused_by_name(run, saver):
    with pytest.raises(ValueError, match="thread_id"):
        run(chain("one").compile(checkpointer=saver), {"log": []})


def test_state_methods_need_a_checkpointer(run):
    with pytest.raises(ValueError, match="checkpointer"):
        run.state(chain("one").compile(), thread())


def test_a_router_to_an_unknown_node_names_it_and_the_known(run, saver):
    made = builder((START, "one"), after=lambda s: None)
    made.add_conditional_edges("one", lambda s: "aftr", ["after", END])
    graph = made.compile(checkpointer=saver)
    with pytest.raises(Exception, match=r"(?s)one.*aftr.*after|aftr.*one.*after"):
        run(graph, {"log": []}, thread())
    assert run.state(graph, thread()).next == ("one",)
