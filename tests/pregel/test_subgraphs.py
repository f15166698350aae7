"""Graphs as nodes of graphs: their state, their questions, and going back inside them."""

import operator
from typing import Annotated, Any

import pytest
from typing_extensions import TypedDict

from runtime.graph import START, StateGraph
from runtime.types import Command, Send, interrupt
from tests.kit.graphs import builder, chain, checkpoint, ids, questions, thread


def once(old, new):
    """Append what is not there yet: what a graph inside hands back of its parent's list adds nothing."""
    return [*old, *(item for item in new if item not in old)]


class Steps(TypedDict, total=False):
    """A log that both graphs keep."""

    log: Annotated[list[Any], once]
    value: Any


class Found(TypedDict):
    """What a worker hands back."""

    log: list[Any]


class Other(TypedDict, total=False):
    """A state that shares nothing with the parent's."""

    own: Annotated[list[Any], operator.add]


def counted(calls, name, answer=None):
    def node(state):
        calls[name] += 1
        return {"log": [name]} if answer is None else {"log": [f"{name}: {interrupt(answer)}"]}

    return node


def nested(calls, saver, checkpointer=None):
    """before, then sub (s1, review which asks, s3), then after."""
    names = {name: counted(calls, name) for name in ("s1", "s3", "before", "after")}
    inner = chain(
        "s1", "review", "s3", schema=Steps, s1=names["s1"], review=counted(calls, "review", "ok?"), s3=names["s3"]
    )
    outer = chain(
        "before",
        "sub",
        "after",
        schema=Steps,
        before=names["before"],
        sub=inner.compile(checkpointer=checkpointer),
        after=names["after"],
    )
    return outer.compile(checkpointer=saver)


def inside(run, graph, config):
    """The snapshot of the subgraph that waits at the config."""
    return run.state(graph, config, subgraphs=True).tasks[0].state


def test_it_goes_on_inside_and_runs_nothing_twice(run, saver, calls):
    graph = nested(calls, saver)
    assert questions(run(graph, {"log": []}, thread())) == ["ok?"]
    assert run(graph, Command(resume="yes"), thread())["log"] == ["before", "s1", "review: yes", "s3", "after"]
    assert calls == {"before": 1, "s1": 1, "review": 2, "s3": 1, "after": 1}


def test_its_state_can_be_read_while_it_waits(run, saver, calls):
    graph = nested(calls, saver)
    run(graph, {"log": ["in"]}, thread())
    state = run.state(graph, thread())
    assert state.next == ("sub",)
    assert state.tasks[0].state["configurable"]["checkpoint_ns"].startswith("sub:")
    inner = inside(run, graph, thread())
    assert (inner.values["log"], inner.next) == (["in", "before", "s1"], ("review",))
    assert [q.value for q in inner.interrupts] == ["ok?"]


def test_its_own_history_can_be_read(run, saver, calls):
    graph = nested(calls, saver)
    run(graph, {"log": []}, thread())
    namespace = inside(run, graph, thread()).config["configurable"]["checkpoint_ns"]
    history = run.history(graph, thread(checkpoint_ns=namespace))
    assert [s.next for s in history] == [("review",), ("s1",), ("__start__",)]


def test_what_it_changed_is_written_back_whole_through_the_reducer(run, saver):
    graph = builder((START, "sub"), sub=chain("one", "two").compile()).compile(checkpointer=saver)
    assert run(graph, {"log": ["in"]}, thread())["log"] == ["in", "in", "one", "two"]


def test_a_key_that_it_did_not_change_is_not_written_back(run, saver):
    inner = chain("one", one=lambda s: {"value": 1}).compile()
    graph = builder((START, "sub"), (START, "beside"), sub=inner).compile(checkpointer=saver)
    chunks = run.stream(graph, {"log": ["in"]}, thread(), stream_mode="updates")
    assert run.state(graph, thread()).values["log"] == ["in", "beside"]
    assert {"sub": {"value": 1}} in chunks


def test_called_inside_a_node_with_a_state_of_its_own(run, saver):
    inner = builder((START, "one"), schema=Other, one=lambda s: {"own": ["inner"]}).compile()

    def node(state):
        return {"log": inner.invoke({"own": state["log"]})["own"]}

    graph = chain("call", call=node).compile(checkpointer=saver)
    assert run(graph, {"log": ["in"]}, thread())["log"] == ["in", "in", "inner"]


def test_called_twice_in_a_node_each_call_starts_fresh(run, saver, calls):
    def deep(state):
        calls["deep"] += 1
        return {"own": [len(state["own"])]}

    inner = builder((START, "deep"), schema=Other, deep=deep).compile()

    def node(state):
        first = inner.invoke({"own": ["a"]})
        second = inner.invoke({"own": ["b", "c"]})
        return {"log": [first["own"], second["own"]]}

    graph = chain("call", call=node).compile(checkpointer=saver)
    assert run(graph, {"log": []}, thread())["log"] == [["a", 1], ["b", "c", 2]]


def test_without_memory_each_turn_starts_fresh(run, saver):
    inner = builder((START, "one"), schema=Other, one=lambda s: {"own": ["x"]}).compile()
    graph = chain("call", call=lambda s: {"log": [len(inner.invoke({"own": []})["own"])]}).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    assert run(graph, {"log": []}, thread())["log"] == [1, 1]


def test_with_memory_each_turn_goes_on_and_threads_are_kept_apart(run, saver):
    inner = builder((START, "one"), schema=Other, one=lambda s: {"own": ["x"]}).compile(checkpointer=True)
    graph = chain("call", call=lambda s: {"log": [len(inner.invoke({"own": []})["own"])]}).compile(checkpointer=saver)
    run(graph, {"log": []}, thread("a"))
    assert run(graph, {"log": []}, thread("a"))["log"] == [1, 2]
    assert run(graph, {"log": []}, thread("b"))["log"] == [1]


def test_memory_goes_back_in_time_with_its_parent(run, saver):
    inner = builder((START, "one"), schema=Other, one=lambda s: {"own": ["x"]}).compile(checkpointer=True)
    graph = chain("call", call=lambda s: {"log": [len(inner.invoke({"own": []})["own"])]}).compile(checkpointer=saver)
    for _ in range(3):
        run(graph, {"log": []}, thread())
    assert run.state(graph, thread()).values["log"] == [1, 2, 3]
    second_turn = checkpoint(run.history(graph, thread())[3:], "call")
    assert second_turn.values["log"] == [1]
    assert run(graph, None, second_turn.config)["log"] == [1, 2]


def test_checkpointer_false_saves_nothing_inside(run, saver, calls):
    inner = chain("one", "two").compile(checkpointer=False)
    graph = builder((START, "sub"), sub=inner).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    namespaces = {c.config["configurable"]["checkpoint_ns"] for c in run.collect(saver, "list", None)}
    assert namespaces == {""}


def test_questions_two_levels_down(run, saver, calls):
    deep = chain("d1", "ask", schema=Steps, d1=counted(calls, "d1"), ask=counted(calls, "ask", "deep?")).compile()
    middle = chain("m1", "deep", "m2", schema=Steps, m1=counted(calls, "m1"), deep=deep).compile()
    graph = chain("o1", "middle", schema=Steps, o1=counted(calls, "o1"), middle=middle).compile(checkpointer=saver)
    assert questions(run(graph, {"log": []}, thread())) == ["deep?"]
    result = run(graph, Command(resume="yes"), thread())
    assert result["log"] == ["o1", "m1", "d1", "ask: yes", "m2"]
    assert calls == {"o1": 1, "m1": 1, "d1": 1, "ask": 2}


def test_parallel_subgraphs_ask_and_are_answered_by_id(run, saver, calls):
    def sub(name):
        return chain("ask", ask=lambda s: {"log": [f"{name}: {interrupt(name)}"]}).compile()

    graph = builder((START, "a"), (START, "b"), a=sub("a"), b=sub("b")).compile(checkpointer=saver)
    asked = ids(run(graph, {"log": []}, thread()))
    assert sorted(asked) == ["a", "b"]
    assert questions(run(graph, Command(resume={asked["b"]: 2}), thread())) == ["a"]
    assert run(graph, Command(resume={asked["a"]: 1}), thread())["log"] == ["a: 1", "b: 2"]


def test_one_plain_answer_for_questions_in_one_subgraph_is_refused(run, saver):
    inner = builder((START, "a"), (START, "b"), a=lambda s: interrupt("a"), b=lambda s: interrupt("b")).compile()
    graph = builder((START, "sub"), sub=inner).compile(checkpointer=saver)
    assert sorted(questions(run(graph, {"log": []}, thread()))) == ["a", "b"]
    with pytest.raises(RuntimeError, match="2 questions"):
        run(graph, Command(resume="which?"), thread())


def test_two_questions_in_a_subgraphs_node(run, saver):
    inner = chain("ask", ask=lambda s: {"log": [interrupt("one"), interrupt("two")]}).compile()
    graph = builder((START, "sub"), sub=inner).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    assert questions(run(graph, Command(resume=1), thread())) == ["two"]
    assert run(graph, Command(resume=2), thread())["log"] == [1, 2]


def test_each_answer_inside_has_a_branch(run, saver, calls):
    graph = nested(calls, saver)
    run(graph, {"log": []}, thread())
    paused = run.state(graph, thread()).config
    for answer in ("yes", "no"):
        result = run(graph, Command(resume=answer), paused)
        assert result["log"] == ["before", "s1", f"review: {answer}", "s3", "after"]
    assert calls["s1"] == 1


def test_a_replay_from_before_it_runs_it_afresh(run, saver, calls):
    graph = nested(calls, saver)
    run(graph, {"log": []}, thread())
    run(graph, Command(resume="yes"), thread())
    origin = checkpoint(run.history(graph, thread()), "sub")
    assert questions(run(graph, None, origin.config)) == ["ok?"]
    assert calls["s1"] == 2
    assert run(graph, Command(resume="no"), thread())["log"] == ["before", "s1", "review: no", "s3", "after"]


def test_a_replay_from_inside_starts_at_that_node(run, saver, calls):
    graph = nested(calls, saver)
    run(graph, {"log": []}, thread())
    at_review = inside(run, graph, thread())
    run(graph, Command(resume="yes"), thread())
    before = dict(calls)
    assert questions(run(graph, None, at_review.config)) == ["ok?"]
    assert calls["s1"] == before["s1"]
    assert run(graph, Command(resume="no"), thread())["log"] == ["before", "s1", "review: no", "s3", "after"]


def test_an_edit_inside_is_taken_up_on_resume(run, saver, calls):
    graph = nested(calls, saver)
    run(graph, {"log": []}, thread())
    run.edit(graph, inside(run, graph, thread()).config, {"log": ["by hand"]}, "review")
    waiting = inside(run, graph, thread())
    assert (waiting.values["log"], waiting.next) == (["before", "s1", "by hand"], ("s3",))
    assert run(graph, None, thread())["log"] == ["before", "s1", "by hand", "s3", "after"]
    assert calls["review"] == 1


def test_an_answer_that_names_the_checkpoint_inside_goes_there_past_a_newer_edit(run, saver, calls):
    graph = nested(calls, saver)
    run(graph, {"log": []}, thread())
    asked = inside(run, graph, thread())
    before = run.history(graph, thread(checkpoint_ns=asked.config["configurable"]["checkpoint_ns"]))[1]
    run.edit(graph, before.config, {"log": ["by hand"]}, "s1")
    result = run(graph, Command(resume={asked.interrupts[0].id: "yes"}), asked.config)
    assert result["log"] == ["before", "s1", "review: yes", "s3", "after"]
    assert calls["s1"] == 1


def test_with_memory_it_runs_in_a_turn_that_was_paused_before_it(run, saver, calls):
    inner = chain("one", one=counted(calls, "one"), schema=Steps).compile(checkpointer=True)
    graph = builder((START, "sub"), sub=inner).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    run(graph, {"log": []}, thread(), interrupt_before=["sub"])
    run(graph, None, thread())
    assert calls["one"] == 2


def test_workers_may_be_subgraphs(run, saver):
    inner = StateGraph(Steps, output_schema=Found)
    inner.add_node("work", lambda s: {"log": [f"{s['value']}: {interrupt(s['value'])}"]})
    inner.add_edge(START, "work")
    made = builder(sub=inner.compile())
    made.add_conditional_edges(START, lambda s: [Send("sub", {"value": n}) for n in ("a", "b")], ["sub"])
    graph = made.compile(checkpointer=saver)
    asked = ids(run(graph, {"log": []}, thread()))
    assert run(graph, Command(resume={asked["a"]: 1, asked["b"]: 2}), thread())["log"] == ["a: 1", "b: 2"]


def test_a_failing_subgraph_is_resumed_inside(run, saver, calls):
    def flaky(state):
        calls["flaky"] += 1
        if calls["flaky"] == 1:
            raise KeyError("first time")
        return {"log": ["flaky"]}

    inner = chain("s1", "flaky", s1=counted(calls, "s1"), flaky=flaky).compile()
    graph = builder((START, "sub"), sub=inner).compile(checkpointer=saver)
    with pytest.raises(KeyError):
        run(graph, {"log": []}, thread())
    assert run(graph, None, thread())["log"] == ["s1", "flaky"]
    assert calls["s1"] == 1


def test_a_graph_with_a_thread_of_its_own_inside_a_node(run, saver):
    inner = chain("one").compile(checkpointer=saver)

    def call(state):
        inner.invoke({"log": ["own"]}, {"configurable": {"thread_id": "child", "checkpoint_ns": ""}})
        return {"log": ["parent"]}

    graph = chain("call", call=call).compile(checkpointer=saver)
    run(graph, {"log": []}, thread("parent"))
    assert run.state(inner, thread("child")).values["log"] == ["own", "one"]
    assert run.state(graph, thread("parent")).values["log"] == ["parent"]
