"""interrupt(): questions in nodes, in loops and side by side, and their answers."""

import threading
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ValidationError

from runtime.errors import GraphInterrupt, MisalignedResumeError, UnknownInterruptError, is_invalid_resume
from runtime.graph import START, StateGraph
from runtime.types import Command, Interrupt, interrupt
from tests.kit.graphs import Log, builder, chain, ids, questions, thread


def asks(*texts):
    """A node that asks the questions in turn and logs the answers."""

    def node(state):
        return {"log": [interrupt(text) for text in texts]}

    return node


def test_the_pause_is_returned_streamed_and_in_the_state(run, saver):
    graph = chain("one", "ask", ask=asks("q")).compile(checkpointer=saver)
    chunks = run.stream(graph, {"log": []}, thread(), stream_mode=["updates", "values"])
    (asked,) = next(chunk["__interrupt__"] for mode, chunk in chunks if mode == "updates" and "__interrupt__" in chunk)
    assert (asked.value, len(asked.id)) == ("q", 32)
    state = run.state(graph, thread())
    assert state.next == ("ask",)
    assert state.interrupts == (asked,)
    assert state.tasks[0].interrupts == (asked,)
    assert run(graph, None, thread())["__interrupt__"] == [asked]


def test_several_questions_are_asked_in_turn_each_with_an_id(run, saver, calls):
    def node(state):
        calls["node"] += 1
        return {"log": [interrupt("name"), interrupt("age"), interrupt("town")]}

    graph = chain("ask", ask=node).compile(checkpointer=saver)
    seen = []
    result = run(graph, {"log": []}, thread())
    for answer in ("Ann", 33, "Ulm"):
        seen.append(ids(result).popitem())
        assert run.state(graph, thread()).next == ("ask",)
        result = run(graph, Command(resume=answer), thread())
    assert result["log"] == ["Ann", 33, "Ulm"]
    assert [text for text, _ in seen] == ["name", "age", "town"]
    assert len({id for _, id in seen}) == 3
    assert calls["node"] == 4


def test_a_question_keeps_its_id_while_it_is_open(run, saver):
    graph = chain("ask", ask=asks("q")).compile(checkpointer=saver)
    first = run(graph, {"log": []}, thread())
    assert ids(run(graph, None, thread())) == ids(first)


def test_a_validating_loop_asks_until_the_answer_fits(run, saver):
    def node(state):
        question = "age?"
        while not isinstance(answer := interrupt(question), int):
            question = f"{answer!r} is no age; age?"
        return {"log": [answer]}

    graph = chain("ask", ask=node).compile(checkpointer=saver)
    assert questions(run(graph, {"log": []}, thread())) == ["age?"]
    assert questions(run(graph, Command(resume="x"), thread())) == ["'x' is no age; age?"]
    assert questions(run(graph, Command(resume="y"), thread())) == ["'y' is no age; age?"]
    assert run(graph, Command(resume=4), thread())["log"] == [4]


@pytest.mark.parametrize("answer", [False, 0, 0.0, "", [], {}, None])
@pytest.mark.parametrize("way", ["plain", "map"])
def test_falsy_answers_arrive_unchanged(run, saver, answer, way):
    got = []

    def node(state):
        got.append(interrupt("q"))

    graph = chain("ask", ask=node).compile(checkpointer=saver)
    (id,) = ids(run(graph, {"log": []}, thread())).values()
    result = run(graph, Command(resume=answer if way == "plain" else {id: answer}), thread())
    assert "__interrupt__" not in result
    assert got == [answer]
    assert type(got[0]) is type(answer)


@pytest.mark.parametrize("answer", [{"a": 1}, {1: "v"}, {"0" * 32: "v"}, {"x": {"y": []}}])
def test_a_dict_that_maps_no_open_question_is_the_answer(run, saver, answer):
    graph = chain("ask", ask=asks("q")).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    assert run(graph, Command(resume=answer), thread())["log"] == [answer]


@pytest.mark.parametrize("order", [("a", "b", "c"), ("c", "a", "b"), ("b", "c", "a")])
def test_parallel_questions_are_answered_in_any_order(run, saver, order, calls):
    def node(name):
        def body(state):
            calls[name] += 1
            return {"log": [[name, interrupt(name)]]}

        return body

    graph = builder((START, "a"), (START, "b"), (START, "c"), **{n: node(n) for n in order}).compile(checkpointer=saver)
    asked = ids(run(graph, {"log": []}, thread()))
    for name in order:
        result = run(graph, Command(resume={asked[name]: name.upper()}), thread())
    assert result["log"] == [["a", "A"], ["b", "B"], ["c", "C"]]


def test_an_answered_sibling_is_not_run_again(run, saver, calls):
    def node(name):
        def body(state):
            answer = interrupt(name)
            calls[name] += 1
            return {"log": [answer]}

        return body

    graph = builder((START, "a"), (START, "b"), a=node("a"), b=node("b")).compile(checkpointer=saver)
    asked = ids(run(graph, {"log": []}, thread()))
    paused = run(graph, Command(resume={asked["a"]: 1}), thread())
    assert questions(paused) == ["b"]
    assert run.state(graph, thread()).next == ("b",)
    assert run(graph, Command(resume={asked["b"]: 2}), thread())["log"] == [1, 2]
    assert calls == {"a": 1, "b": 1}


def test_one_plain_answer_for_several_questions_is_refused(run, saver):
    graph = builder((START, "a"), (START, "b"), a=asks("a"), b=asks("b")).compile(checkpointer=saver)
    asked = ids(run(graph, {"log": []}, thread()))
    with pytest.raises(RuntimeError) as refused:
        run(graph, Command(resume="which?"), thread())
    for id in asked.values():
        assert id in str(refused.value)
    assert run(graph, Command(resume={asked["a"]: 1, asked["b"]: 2}), thread())["log"] == [1, 2]


def test_an_answered_id_is_refused_by_name(run, saver):
    graph = chain("ask", ask=asks("first", "second")).compile(checkpointer=saver)
    old = ids(run(graph, {"log": []}, thread()))["first"]
    run(graph, Command(resume="one"), thread())
    with pytest.raises(UnknownInterruptError, match=old):
        run(graph, Command(resume={old: "stale"}), thread())
    assert run(graph, Command(resume="two"), thread())["log"] == ["one", "two"]


def test_an_id_of_an_earlier_round_is_refused_by_name(run, saver):
    graph = chain("ask", ask=asks("q")).compile(checkpointer=saver)
    old = ids(run(graph, {"log": []}, thread()))["q"]
    run(graph, Command(resume=1), thread())
    run(graph, {"log": []}, thread())
    with pytest.raises(UnknownInterruptError, match=old):
        run(graph, Command(resume={old: "stale"}), thread())
    assert run(graph, Command(resume=2), thread())["log"] == [1, 2]


def test_a_map_with_an_open_and_an_unknown_id_is_refused_whole(run, saver):
    graph = builder((START, "a"), (START, "b"), a=asks("a"), b=asks("b")).compile(checkpointer=saver)
    asked = ids(run(graph, {"log": []}, thread()))
    with pytest.raises(UnknownInterruptError):
        run(graph, Command(resume={asked["a"]: 1, "f" * 32: 2}), thread())
    assert len(run.state(graph, thread()).interrupts) == 2


def test_an_answer_without_a_question_changes_nothing(run, saver, calls):
    def node(state):
        calls["ask"] += 1
        return {"log": [interrupt("q")]}

    graph = chain("ask", ask=node).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    run(graph, Command(resume="yes"), thread())
    before = len(run.history(graph, thread()))
    assert run(graph, Command(resume="again"), thread())["log"] == ["yes"]
    assert (calls["ask"], len(run.history(graph, thread()))) == (2, before)


def test_a_plain_answer_is_not_left_for_the_next_question(run, saver):
    graph = chain("one", "two", one=asks("first"), two=asks("second")).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    assert questions(run(graph, Command(resume="one"), thread())) == ["second"]
    assert questions(run(graph, None, thread())) == ["second"]


def test_another_question_than_the_answered_one_is_noticed(run, saver):
    asked = iter(["delete a?", "delete b?"])

    def node(state):
        return {"log": [interrupt(next(asked))]}

    graph = chain("ask", ask=node).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    with pytest.raises(MisalignedResumeError, match="delete b"):
        run(graph, Command(resume="yes"), thread())
    assert run.state(graph, thread()).values["log"] == []


def test_in_a_changed_order_each_question_has_its_own_answer(run, saver):
    order = [["a", "b"], ["a", "b"], ["b", "a"]]

    def node(state):
        return {"log": [f"{text}: {interrupt(text)}" for text in order.pop(0)]}

    graph = chain("ask", ask=node).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    run(graph, Command(resume="to a"), thread())
    assert run(graph, Command(resume="to b"), thread())["log"] == ["b: to b", "a: to a"]


def test_a_question_in_place_of_the_first_answered_one_is_noticed(run, saver):
    order = [["a", "b"], ["a", "b"], ["c", "b"]]

    def node(state):
        return {"log": [interrupt(text) for text in order.pop(0)]}

    graph = chain("ask", ask=node).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    run(graph, Command(resume="to a"), thread())
    with pytest.raises(MisalignedResumeError, match="'c'"):
        run(graph, Command(resume="to b"), thread())


def test_except_exception_does_not_swallow_the_pause(run, saver):
    def node(state):
        try:
            return {"log": [interrupt("q")]}
        except Exception:  # what a node does to survive its tools
            return {"log": ["swallowed"]}

    graph = chain("ask", ask=node).compile(checkpointer=saver)
    assert questions(run(graph, {"log": []}, thread())) == ["q"]
    assert run(graph, Command(resume="yes"), thread())["log"] == ["yes"]


def test_graph_interrupt_can_be_named_in_an_except(run, saver):
    """Code that cleans up before a pause names the exception, and raises it on."""
    cleaned = []

    def node(state):
        try:
            return {"log": [interrupt("q")]}
        except GraphInterrupt:
            cleaned.append(1)
            raise

    graph = chain("ask", ask=node).compile(checkpointer=saver)
    assert questions(run(graph, {"log": []}, thread())) == ["q"]
    assert cleaned == [1]


class Approval(BaseModel):
    """What an approver fills in."""

    approved: bool
    note: str = ""


def test_an_answer_is_validated_and_converted(run, saver):
    got = []

    def node(state):
        got.append(interrupt("ok?", response_schema=Approval))
        return {"log": [got[-1].approved]}

    graph = chain("ask", ask=node).compile(checkpointer=saver)
    (asked,) = run(graph, {"log": []}, thread())["__interrupt__"]
    assert asked.response_schema["properties"]["approved"]["type"] == "boolean"
    with pytest.raises(ValidationError) as refused:
        run(graph, Command(resume={asked.id: {"approved": "perhaps"}}), thread())
    assert is_invalid_resume(refused.value)
    state = run.state(graph, thread())
    assert state.next == ("ask",)
    assert run(graph, Command(resume={asked.id: {"approved": True}}), thread())["log"] == [True]
    assert got == [Approval(approved=True)]


def test_siblings_finish_and_are_not_run_again(run, saver, calls):
    asked = threading.Event()

    def slow(state):
        calls["slow"] += 1
        assert asked.wait(20)
        return {"log": ["slow"]}

    def ask(state):
        try:
            return {"log": [interrupt("q")]}
        finally:
            asked.set()

    graph = builder((START, "ask"), (START, "slow"), ask=ask, slow=slow).compile(checkpointer=saver)
    assert run(graph, {"log": []}, thread())["log"] == ["slow"]
    assert run.state(graph, thread()).values["log"] == ["slow"]
    assert run(graph, Command(resume="yes"), thread())["log"] == ["yes", "slow"]
    assert calls["slow"] == 1


def test_without_a_checkpointer_the_pause_is_returned_or_refused_by_name(run):
    graph = chain("ask", ask=asks("q")).compile()
    assert questions(run(graph, {"log": []})) == ["q"]


def test_a_new_input_drops_the_question(run, saver):
    graph = chain("ask", ask=asks("q")).compile(checkpointer=saver)
    old = ids(run(graph, {"log": ["a"]}, thread()))["q"]
    new = ids(run(graph, {"log": ["b"]}, thread()))["q"]
    assert new != old
    assert run(graph, Command(resume="yes"), thread())["log"] == ["a", "b", "yes"]


def test_in_a_loop_each_round_asks_anew(run, saver):
    def node(state):
        answer = interrupt(f"round {len(state['log'])}")
        return Command(update={"log": [answer]}, goto="ask" if answer != "stop" else "__end__")

    graph = chain("ask", ask=node).compile(checkpointer=saver)
    result = run(graph, {"log": []}, thread())
    seen = []
    for answer in ("a", "b", "stop"):
        seen += result["__interrupt__"]
        result = run(graph, Command(resume=answer), thread())
    assert result["log"] == ["a", "b", "stop"]
    assert [q.value for q in seen] == ["round 0", "round 1", "round 2"]
    assert len({q.id for q in seen}) == 3


@pytest.mark.parametrize("run", ["async"], indirect=True)
def test_async_nodes_ask_as_plain_ones_do(saver, run):
    async def node(state):
        return {"log": [interrupt("first"), interrupt("second")]}

    graph = chain("ask", ask=node).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    assert questions(run(graph, Command(resume=1), thread())) == ["second"]
    assert run(graph, Command(resume=2), thread())["log"] == [1, 2]


def test_an_old_question_without_its_node_says_so(run, saver):
    run(chain("ask", ask=asks("q")).compile(checkpointer=saver), {"log": []}, thread())
    renamed = chain("question", question=asks("q")).compile(checkpointer=saver)
    with pytest.raises(Exception, match="ask"):
        run(renamed, Command(resume="yes"), thread())


def test_a_question_may_be_any_serialisable_value(run, saver):
    question = {"text": "ok?", "options": ["a", "b"], "nested": {"n": [1, None]}}
    graph = chain("ask", ask=lambda s: {"log": [interrupt(question)]}).compile(checkpointer=saver)
    assert questions(run(graph, {"log": []}, thread())) == [question]
    assert run.state(graph, thread()).interrupts[0].value == question
    assert run(graph, Command(resume="a"), thread())["log"] == ["a"]


def test_interrupt_is_a_value_with_equality():
    assert Interrupt("q", id="1") == Interrupt("q", id="1") != Interrupt("q", id="2")


def test_outside_a_node_it_is_refused():
    with pytest.raises(RuntimeError, match="outside"):
        interrupt("q")


def test_state_with_a_default_reducer_pauses_too(run, saver):
    class Kept(Log):
        kept: Annotated[Any, lambda old, new: new or old]

    made = StateGraph(Kept)
    made.add_node("ask", lambda s: {"kept": interrupt("q")})
    made.add_edge(START, "ask")
    graph = made.compile(checkpointer=saver)
    run(graph, {"kept": 1}, thread())
    assert run(graph, Command(resume=0), thread())["kept"] == 1
