"""Command: an update and where to go next, from a node or from outside."""

import pytest

from runtime.errors import EmptyInputError, InvalidUpdateError
from runtime.graph import END, START
from runtime.types import Command, Send, interrupt
from tests.kit.graphs import builder, chain, questions, thread


def hand_over(**command):
    """one returns the command; a and b only log their names."""
    return builder((START, "one"), a=lambda s: {"log": ["a"]}, b=lambda s: {"log": ["b"]}, **command)


@pytest.mark.parametrize(
    ("goto", "log"),
    [
        ("a", ["one", "a"]),
        (["b", "a"], ["one", "a", "b"]),
        (END, ["one"]),
        ((), ["one"]),
        (Send("a", {}), ["one", "a"]),
        ([Send("a", {}), "b", Send("a", {})], ["one", "b", "a", "a"]),
    ],
)
def test_goto_takes_nodes_and_sends(run, saver, goto, log):
    graph = hand_over(one=lambda s: Command(update={"log": ["one"]}, goto=goto)).compile(checkpointer=saver)
    assert run(graph, {"log": []}, thread())["log"] == log


def test_goto_beside_an_edge_runs_both_once(run):
    made = hand_over(one=lambda s: Command(update={"log": ["one"]}, goto="b"))
    made.add_edge("one", "a")
    assert run(made.compile(), {"log": []})["log"] == ["one", "a", "b"]


def test_goto_to_no_node_is_refused_by_name(run, saver):
    graph = hand_over(one=lambda s: Command(goto="nowhere")).compile(checkpointer=saver)
    with pytest.raises(Exception, match="nowhere"):
        run(graph, {"log": []}, thread())
    assert run.state(graph, thread()).next == ("one",)


def test_a_list_may_mix_commands_updates_and_sends(run):
    def one(state):
        return [Command(update={"log": [1]}, goto="a"), {"log": [2]}, Send("b", {})]

    assert run(hand_over(one=one).compile(), {"log": []})["log"] == [1, 2, "a", "b"]


def test_an_update_may_be_pairs(run):
    graph = hand_over(one=lambda s: Command(update=[("log", [1]), ("log", [2])])).compile()
    assert run(graph, {"log": []})["log"] == [1, 2]


def test_from_outside_an_update_goes_on_from_the_pause(run, saver):
    graph = chain("one", "two").compile(checkpointer=saver, interrupt_before=["two"])
    run(graph, {"log": []}, thread())
    assert run(graph, Command(update={"log": ["edit"]}), thread())["log"] == ["one", "edit", "two"]


def test_from_outside_it_gets_no_checkpoint_of_its_own(run, saver):
    graph = chain("one", "two").compile(checkpointer=saver, interrupt_before=["two"])
    run(graph, {"log": []}, thread())
    before = len(run.history(graph, thread()))
    run(graph, Command(update={"log": ["edit"]}), thread())
    assert len(run.history(graph, thread())) == before + 1


def test_from_outside_goto_runs_a_node(run, saver):
    graph = chain("one", "two").compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    assert run(graph, Command(goto="one"), thread())["log"] == ["one", "two", "one", "two"]


def test_from_outside_goto_takes_sends(run, saver):
    graph = builder((START, "one"), work=lambda n: {"log": [n]}).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    assert run(graph, Command(goto=[Send("work", 1), Send("work", 2)]), thread())["log"] == ["one", 1, 2]


def test_answer_and_update_go_together(run, saver):
    def ask(state):
        return {"log": [interrupt("q"), *state["log"]]}

    graph = chain("ask", ask=ask).compile(checkpointer=saver)
    assert questions(run(graph, {"log": ["in"]}, thread())) == ["q"]
    result = run(graph, Command(resume="answer", update={"value": 7}), thread())
    assert result["log"] == ["in", "answer", "in"]
    assert result["value"] == 7


@pytest.mark.parametrize("goto", ["nowhere", 7])
def test_from_outside_goto_to_no_node_is_refused(run, saver, goto):
    graph = chain("one").compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    with pytest.raises((InvalidUpdateError, TypeError), match=str(goto)):
        run(graph, Command(goto=goto), thread())
    assert run(graph, None, thread())["log"] == ["one"]


def test_parent_at_the_top_is_refused_from_outside_and_inside(run, saver):
    graph = chain("one", one=lambda s: Command(graph=Command.PARENT, update={"log": ["up"]})).compile(
        checkpointer=saver
    )
    with pytest.raises(InvalidUpdateError, match="PARENT"):
        run(graph, Command(graph=Command.PARENT, update={"log": []}), thread())
    with pytest.raises(Exception, match=r"(?i)parent"):
        run(graph, {"log": []}, thread())


def test_an_empty_command_on_a_fresh_thread_is_refused(run, saver):
    graph = chain("one").compile(checkpointer=saver)
    with pytest.raises(EmptyInputError):
        run(graph, Command(), thread())


def test_parent_updates_the_parent_once_and_leaves_the_subgraph(run, saver):
    inner = chain(
        "inside", "never", inside=lambda s: Command(graph=Command.PARENT, update={"log": ["up"]}, goto="after")
    ).compile()
    graph = builder((START, "sub"), sub=inner, after=lambda s: {"log": ["after"]}).compile(checkpointer=saver)
    assert run(graph, {"log": ["in"]}, thread())["log"] == ["in", "up", "after"]


def test_parent_with_sends_runs_them_in_the_parent(run, saver):
    inner = chain(
        "inside", inside=lambda s: Command(graph=Command.PARENT, goto=[Send("work", n) for n in (1, 2)])
    ).compile()
    graph = builder((START, "sub"), sub=inner, work=lambda n: {"log": [n]}).compile(checkpointer=saver)
    assert run(graph, {"log": []}, thread())["log"] == [1, 2]


def test_parent_through_two_levels_reaches_the_next_one_up(run):
    innermost = chain("deep", deep=lambda s: Command(graph=Command.PARENT, update={"log": ["mid"]}, goto="m")).compile()
    middle = builder((START, "sub"), sub=innermost, m=lambda s: {"log": ["m"]}).compile()
    graph = builder((START, "outer"), outer=middle).compile()
    assert run(graph, {"log": []})["log"] == ["mid", "m"]


def test_resume_without_a_checkpointer_names_what_is_missing(run):
    graph = chain("one").compile()
    with pytest.raises(RuntimeError, match="checkpointer"):
        run(graph, Command(resume="x"))
