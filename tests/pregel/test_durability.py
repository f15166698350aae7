"""Durability: when a run's checkpoints are saved, and what is there when it stops."""

import pytest
from langchain_core.messages import AIMessage

from runtime.checkpoint.sqlite import SqliteSaver
from runtime.graph import START, MessagesState, StateGraph
from runtime.types import Command, interrupt
from tests.kit.graphs import builder, chain, questions, thread


@pytest.mark.parametrize("durability", ["sync", "async"])
def test_every_superstep_is_saved(run, saver, durability):
    graph = chain("one", "two").compile(checkpointer=saver)
    run(graph, {"log": []}, thread(), durability=durability)
    assert [s.next for s in run.history(graph, thread())] == [(), ("two",), ("one",), ("__start__",)]


def test_exit_saves_one_checkpoint_for_the_run(run, saver):
    graph = chain("one", "two").compile(checkpointer=saver)
    run(graph, {"log": []}, thread(), durability="exit")
    run(graph, {"log": []}, thread(), durability="exit")
    ends = run.history(graph, thread())
    assert [s.values["log"] for s in ends] == [["one", "two"] * 2, ["one", "two"]]
    assert ends[0].parent_config == ends[1].config


def test_sync_saves_a_superstep_before_the_next_begins(run, saver):
    seen = []

    def look(state):  # on a thread of its own in the awaiting face, so that it may run another loop
        seen.append(run.call(saver, "get_tuple", thread()).metadata["step"])

    graph = chain("one", "look", look=look).compile(checkpointer=saver)
    run(graph, {"log": []}, thread(), durability="sync")
    assert seen == [1]


def test_what_a_stream_has_told_is_saved_also_while_nobody_goes_on_with_it(tmp_path):
    with SqliteSaver.from_conn_string(tmp_path / "checkpoints.db") as saver:
        graph = chain("one", "two").compile(checkpointer=saver)
        told = graph.stream({"log": []}, thread(), stream_mode="updates", durability="async")
        assert next(told) == {"one": {"log": ["one"]}}
        written = [(channel, value) for _, channel, value in saver.get_tuple(thread()).pending_writes]
        assert ("log", ["one"]) in written
        assert list(told) == [{"two": {"log": ["two"]}}]


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_pause_can_be_answered(run, saver, durability):
    graph = chain("ask", "after", ask=lambda s: {"log": [interrupt("q")]}).compile(checkpointer=saver)
    run(graph, {"log": ["in"]}, thread(), durability=durability)
    state = run.state(graph, thread())
    assert (state.next, [q.value for q in state.interrupts]) == (("ask",), ["q"])
    assert run(graph, Command(resume="yes"), thread(), durability=durability)["log"] == ["in", "yes", "after"]


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_two_pauses_in_a_row(run, saver, durability):
    graph = chain("ask", ask=lambda s: {"log": [interrupt("one"), interrupt("two")]}).compile(checkpointer=saver)
    run(graph, {"log": []}, thread(), durability=durability)
    assert questions(run(graph, Command(resume=1), thread(), durability=durability)) == ["two"]
    assert run(graph, Command(resume=2), thread(), durability=durability)["log"] == [1, 2]


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_after_a_failure_finished_siblings_do_not_run_again(run, saver, calls, durability):
    def fails(state):
        calls["fails"] += 1
        if calls["fails"] == 1:
            raise KeyError("boom")
        return {"log": ["fails"]}

    def fine(state):
        calls["fine"] += 1
        return {"log": ["fine"]}

    graph = builder((START, "a"), (START, "fails"), a=fine, fails=fails).compile(checkpointer=saver)
    with pytest.raises(KeyError):
        run(graph, {"log": ["in"]}, {**thread(), "max_concurrency": 1}, durability=durability)
    state = run.state(graph, thread())
    assert state.next == ("fails",)
    assert "boom" in str(state.tasks[-1].error)
    assert run(graph, None, thread(), durability=durability)["log"] == ["in", "fine", "fails"]
    assert calls["fine"] == 1


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_with_a_subgraph_that_waits(run, saver, calls, durability):
    def s1(state):
        calls["s1"] += 1
        return {"log": ["s1"]}

    inner = chain("s1", "ask", s1=s1, ask=lambda s: {"log": [interrupt("q")]}).compile()
    graph = chain("sub", "after", sub=inner).compile(checkpointer=saver)
    run(graph, {"log": []}, thread(), durability=durability)
    assert run(graph, Command(resume="yes"), thread(), durability=durability)["log"] == ["s1", "yes", "after"]
    assert calls["s1"] == 1


def test_exit_saves_nothing_of_finished_subgraphs(run, saver):
    graph = builder((START, "sub"), sub=chain("one").compile()).compile(checkpointer=saver)
    run(graph, {"log": []}, thread(), durability="exit")
    assert [c.config["configurable"]["checkpoint_ns"] for c in run.collect(saver, "list", None)] == [""]


def test_exit_saves_on_failure_what_the_run_came_to(run, saver):
    def fails(state):
        raise KeyError("boom")

    graph = chain("one", "two", "fails", fails=fails).compile(checkpointer=saver)
    with pytest.raises(KeyError):
        run(graph, {"log": []}, thread(), durability="exit")
    (only,) = run.history(graph, thread())
    assert (only.values["log"], only.next) == (["one", "two"], ("fails",))


def test_an_unknown_durability_is_refused(run, saver):
    graph = chain("one").compile(checkpointer=saver)
    with pytest.raises(ValueError, match="perhaps"):
        run(graph, {"log": []}, thread(), durability="perhaps")


def test_durability_without_a_saver_is_told(run):
    with pytest.warns(UserWarning, match="durability"):
        run(chain("one").compile(), {"log": []}, durability="sync")


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_all_come_to_the_same_head(run, saver, durability):
    graph = builder((START, "a"), (START, "b"), (["a", "b"], "c")).compile(checkpointer=saver)
    run(graph, {"log": ["in"], "total": 3}, thread(), durability=durability)
    head = run.state(graph, thread())
    assert head.values == {"log": ["in", "a", "b", "c"], "total": 3}
    assert (head.next, head.metadata["step"], head.metadata["source"]) == ((), 2, "loop")


def test_a_message_keeps_its_id_through_a_failed_superstep(run, saver):
    """An id given while folding would be another one each time the saved write is folded."""
    fails = [True]

    def breaks(state):
        if fails:
            raise RuntimeError("not yet")
        return {}

    builder = StateGraph(MessagesState)
    builder.add_node("says", lambda state: {"messages": AIMessage("hi")})
    builder.add_node("breaks", breaks)
    builder.add_edge(START, "says").add_edge(START, "breaks")
    graph = builder.compile(checkpointer=saver)
    config = {"configurable": {"thread_id": "ids"}}
    with pytest.raises(RuntimeError, match="not yet"):
        run(graph, {"messages": [("user", "q")]}, config)
    before = [message.id for message in run.state(graph, config).values["messages"]]
    fails.clear()
    after = [message.id for message in run(graph, None, config)["messages"]]
    assert len(before) == 2
    assert before == after
