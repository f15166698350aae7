"""Going back: replaying and forking from a checkpoint, and answering one twice."""

import pytest

from runtime.errors import CheckpointNotFoundError, InvalidUpdateError
from runtime.graph import START
from runtime.types import Command, Send, interrupt
from tests.kit.graphs import builder, chain, checkpoint, ids, questions, thread


def counted(calls, name, answer=None):
    def node(state):
        calls[name] += 1
        return {"log": [name]} if answer is None else {"log": [f"{name}: {interrupt(answer)}"]}

    return node


def three(calls):
    return chain("a", "b", "c", **{name: counted(calls, name) for name in "abc"})


def test_a_replay_runs_what_comes_after_and_nothing_before(run, saver, calls):
    graph = three(calls).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    before = run.history(graph, thread())
    assert run(graph, None, checkpoint(before, "b").config)["log"] == ["a", "b", "c"]
    assert calls == {"a": 1, "b": 2, "c": 2}
    assert run.history(graph, thread())[-len(before) :] == before


def test_a_replay_begins_with_a_fork(run, saver, calls):
    graph = three(calls).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    origin = checkpoint(run.history(graph, thread()), "b")
    run(graph, None, origin.config)
    after, middle, fork = run.history(graph, thread())[:3]
    assert (fork.metadata["source"], fork.metadata["step"]) == ("fork", 2)
    assert fork.parent_config == origin.config
    assert (fork.values, fork.next) == (origin.values, origin.next)
    assert (middle.parent_config, after.parent_config) == (fork.config, middle.config)


def test_a_replay_becomes_the_head(run, saver, calls):
    graph = three(calls).compile(checkpointer=saver)
    run(graph, {"log": ["first"]}, thread())
    origin = checkpoint(run.history(graph, thread()), "a")
    run(graph, {"log": ["second"]}, thread())
    run(graph, None, origin.config)
    assert run.state(graph, thread()).values["log"] == ["first", "a", "b", "c"]


def test_a_replay_of_the_end_runs_nothing(run, saver, calls):
    graph = three(calls).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    head = run.state(graph, thread())
    assert run(graph, None, head.config)["log"] == ["a", "b", "c"]
    assert sum(calls.values()) == 3


def test_a_replay_does_not_take_saved_writes_of_the_step(run, saver, calls):
    graph = builder((START, "a"), (START, "b"), a=counted(calls, "a"), b=counted(calls, "b")).compile(
        checkpointer=saver
    )
    run(graph, {"log": []}, thread())
    run(graph, None, checkpoint(run.history(graph, thread()), "a", "b").config)
    assert calls == {"a": 2, "b": 2}


def test_a_replay_asks_again(run, saver, calls):
    graph = chain("a", "ask", ask=counted(calls, "ask", "q")).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    run(graph, Command(resume="yes"), thread())
    origin = checkpoint(run.history(graph, thread()), "ask")
    again = run(graph, None, origin.config)
    assert questions(again) == ["q"]
    assert run(graph, Command(resume="no"), thread())["log"] == ["a", "ask: no"]


def test_each_answer_to_a_paused_checkpoint_has_a_branch(run, saver, calls):
    graph = chain("ask", "after", ask=counted(calls, "ask", "q")).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    paused = run.state(graph, thread())
    answers = ["yes", "no", {"why": "not"}, None]
    for answer in answers:
        result = run(graph, Command(resume=answer), paused.config)
        assert result["log"] == [f"ask: {answer}", "after"]
    ends = [s.values["log"][0] for s in run.history(graph, thread()) if not s.next]
    assert ends == [f"ask: {answer}" for answer in reversed(answers)]
    assert calls["ask"] == 1 + len(answers)


def test_a_second_answer_may_be_given_by_id(run, saver, calls):
    graph = chain("ask", ask=counted(calls, "ask", "q")).compile(checkpointer=saver)
    asked = ids(run(graph, {"log": []}, thread()))["q"]
    paused = run.state(graph, thread()).config
    assert run(graph, Command(resume={asked: 1}), paused)["log"] == ["ask: 1"]
    assert run(graph, Command(resume={asked: 2}), paused)["log"] == ["ask: 2"]


def test_an_answer_at_the_head_makes_no_fork(run, saver, calls):
    graph = chain("ask", ask=counted(calls, "ask", "q")).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    run(graph, Command(resume=1), run.state(graph, thread()).config)
    assert [s.metadata["source"] for s in run.history(graph, thread())] == ["loop", "loop", "input"]


def test_a_second_answer_to_the_second_question_keeps_the_first(run, saver):
    graph = chain("ask", ask=lambda s: {"log": [interrupt("one"), interrupt("two")]}).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    run(graph, Command(resume="1"), thread())
    paused = run.state(graph, thread()).config
    second = run.state(graph, thread()).interrupts[0].id
    assert run(graph, Command(resume={second: "2"}), paused)["log"] == ["1", "2"]
    assert run(graph, Command(resume={second: "zwei"}), paused)["log"] == ["1", "zwei"]


def test_on_the_branch_of_a_second_answer_the_next_question_can_be_answered(run, saver):
    graph = chain("ask", ask=lambda s: {"log": [interrupt("one"), interrupt("two")]}).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    paused = run.state(graph, thread()).config
    run(graph, {"log": ["a new input"]}, thread())
    assert questions(run(graph, Command(resume="a"), paused)) == ["two"]
    assert questions(run(graph, None, thread())) == ["two"]
    assert run(graph, Command(resume="b"), thread())["log"] == ["a", "b"]


def test_a_new_input_at_an_old_checkpoint_drops_its_tasks(run, saver, calls):
    graph = three(calls).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    origin = checkpoint(run.history(graph, thread()), "b")
    assert run(graph, {"log": ["new"]}, origin.config)["log"] == ["a", "new", "a", "b", "c"]
    assert calls == {"a": 2, "b": 2, "c": 2}


@pytest.mark.parametrize("wrong", ["1f000000-0000-6000-8000-000000000000", "nonsense"])
def test_an_unknown_checkpoint_is_refused_by_name(run, saver, calls, wrong):
    graph = three(calls).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    calls.clear()
    before = run.history(graph, thread())
    for given in (None, {"log": ["x"]}, Command(resume="x"), Command(goto="a")):
        with pytest.raises(CheckpointNotFoundError, match=wrong):
            run(graph, given, thread(checkpoint_id=wrong))
    with pytest.raises(CheckpointNotFoundError, match=wrong):
        run.edit(graph, thread(checkpoint_id=wrong), {"log": ["x"]}, "a")
    with pytest.raises(ValueError, match=wrong):
        run.state(graph, thread(checkpoint_id=wrong))
    assert not calls
    assert run.history(graph, thread()) == before


def test_another_threads_checkpoint_is_refused(run, saver, calls):
    graph = three(calls).compile(checkpointer=saver)
    run(graph, {"log": ["mine"]}, thread("mine"))
    foreign = run.state(graph, thread("mine")).config["configurable"]["checkpoint_id"]
    for name in ("other", "fresh"):
        with pytest.raises(CheckpointNotFoundError):
            run(graph, {"log": []}, thread(name, checkpoint_id=foreign))
        with pytest.raises(CheckpointNotFoundError):
            run.edit(graph, thread(name, checkpoint_id=foreign), {"log": ["x"]}, "a")
        assert run.history(graph, thread(name)) == []


def test_a_replay_of_a_fan_out_sends_again(run, saver, calls):
    def work(n):
        calls["work"] += 1
        return {"log": [n]}

    made = builder(plan=counted(calls, "plan"), work=work)
    made.add_edge(START, "plan")
    made.add_conditional_edges("plan", lambda s: [Send("work", n) for n in range(3)], ["work"])
    graph = made.compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    origin = checkpoint(run.history(graph, thread()), "work", "work", "work")
    assert run(graph, None, origin.config)["log"] == ["plan", 0, 1, 2]
    assert calls == {"plan": 1, "work": 6}


def test_history_takes_limit_before_and_filter(run, saver, calls):
    graph = three(calls).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    whole = run.history(graph, thread())
    assert run.history(graph, thread(), limit=2) == whole[:2]
    assert run.history(graph, thread(), limit=0) == []
    assert run.history(graph, thread(), before=whole[1].config) == whole[2:]
    assert run.history(graph, thread(), filter={"source": "input"}) == whole[-1:]


def test_old_snapshots_keep_what_their_tasks_came_to(run, saver, calls):
    graph = chain("a", "ask", ask=counted(calls, "ask", "q")).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    run(graph, Command(resume="yes"), thread())
    old = checkpoint(run.history(graph, thread()), "ask")
    assert [interrupt.value for interrupt in old.tasks[0].interrupts] == ["q"]
    assert old.tasks[0].result == {"log": ["ask: yes"]}


def test_a_replay_can_be_replayed(run, saver, calls):
    graph = three(calls).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    run(graph, None, checkpoint(run.history(graph, thread()), "a").config)
    run(graph, None, checkpoint(run.history(graph, thread()), "b").config)
    assert run.state(graph, thread()).values["log"] == ["a", "b", "c"]
    assert calls == {"a": 2, "b": 3, "c": 3}


def test_a_fork_of_an_edit_goes_on_where_the_edit_points(run, saver, calls):
    graph = three(calls).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    origin = checkpoint(run.history(graph, thread()), "b")
    edited = run.edit(graph, origin.config, {"log": ["edit"]}, "b")
    assert run(graph, None, edited)["log"] == ["a", "edit", "c"]
    assert run(graph, None, edited)["log"] == ["a", "edit", "c"]
    assert calls == {"a": 1, "b": 1, "c": 3}


def test_a_thread_that_waits_for_a_removed_node_says_so(run, saver):

    run(chain("a", "old").compile(checkpointer=saver, interrupt_before=["old"]), {"log": []}, thread())
    graph = chain("a", "new").compile(checkpointer=saver)
    before = run.history(graph, thread())
    with pytest.raises(InvalidUpdateError, match=r"'old'.*'a', 'new'"):
        run(graph, None, thread())
    assert run.history(graph, thread()) == before
    run.edit(graph, thread(), {"log": ["edit"]}, "a")
    assert run.state(graph, thread()).next == ("new",)


def test_a_finished_thread_does_not_miss_a_removed_node(run, saver):
    run(chain("a", "old").compile(checkpointer=saver), {"log": []}, thread())
    graph = chain("a", "new").compile(checkpointer=saver)
    assert run(graph, None, thread())["log"] == ["a", "old"]
    assert run(graph, {"log": []}, thread())["log"] == ["a", "old", "a", "new"]
