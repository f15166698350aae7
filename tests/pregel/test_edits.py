"""update_state: checkpoints that a person makes, as if a node had just returned."""

import pytest

from runtime.errors import InvalidUpdateError
from runtime.graph import END, START
from runtime.types import Command, Overwrite, Send, StateUpdate, interrupt
from tests.kit.graphs import builder, chain, checkpoint, thread


def test_an_edit_acts_as_its_node_and_goes_on_after_it(run, saver):
    graph = chain("a", "b", "c").compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    origin = checkpoint(run.history(graph, thread()), "b")
    edited = run.edit(graph, origin.config, {"log": ["edit"]}, "b")
    state = run.state(graph, edited)
    assert (state.values["log"], state.next) == (["a", "edit"], ("c",))
    assert (state.metadata["source"], state.metadata["step"]) == ("update", 2)
    assert state.parent_config == origin.config
    assert run(graph, None, edited)["log"] == ["a", "edit", "c"]


def test_an_edit_runs_nothing_and_leaves_the_original(run, saver, calls):
    def node(state):
        calls["a"] += 1
        return {"log": ["a"]}

    graph = chain("a", "b", a=node).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    before = run.history(graph, thread())
    run.edit(graph, before[1].config, {"log": [1]}, "a")
    assert calls["a"] == 1
    assert run.history(graph, thread())[1:] == before


def test_conditional_edges_are_taken_on_the_edited_state(run, saver):
    made = builder((START, "one"), left=lambda s: {"log": ["left"]}, right=lambda s: {"log": ["right"]})
    made.add_conditional_edges("one", lambda s: s["value"], ["left", "right"])
    graph = made.compile(checkpointer=saver)
    run(graph, {"log": [], "value": "left"}, thread())
    origin = checkpoint(run.history(graph, thread()), "one")
    edited = run.edit(graph, origin.config, {"value": "right"}, "one")
    assert run.state(graph, edited).next == ("right",)
    assert run(graph, None, edited)["log"] == ["right"]


def test_without_a_node_it_is_the_last_writers(run, saver):
    graph = chain("a", "b").compile(checkpointer=saver, interrupt_after=["a"])
    run(graph, {"log": []}, thread())
    run.edit(graph, thread(), {"log": ["more"]})
    assert run.state(graph, thread()).next == ("b",)
    assert run(graph, None, thread())["log"] == ["a", "more", "b"]


def test_after_parallel_nodes_it_needs_one_and_says_which(run, saver):
    graph = builder((START, "a"), (START, "b")).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    with pytest.raises(InvalidUpdateError, match="as_node") as refused:
        run.edit(graph, thread(), {"log": ["?"]})
    assert "'a'" in str(refused.value)
    assert "'b'" in str(refused.value)


def test_an_unknown_node_is_named_with_the_known_ones(run, saver):
    graph = chain("a", "b").compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    with pytest.raises(InvalidUpdateError, match=r"'nowhere'.*'a', 'b'"):
        run.edit(graph, thread(), {"log": []}, "nowhere")


def test_on_a_fresh_thread_it_is_the_input(run, saver):
    graph = chain("a").compile(checkpointer=saver)
    run.edit(graph, thread(), {"log": ["given"]})
    state = run.state(graph, thread())
    assert (state.values["log"], state.next) == (["given"], ("a",))
    assert run(graph, None, thread())["log"] == ["given", "a"]


def test_overwrite_replaces_behind_a_reducer(run, saver):
    graph = chain("a", "b").compile(checkpointer=saver)
    run(graph, {"log": ["x", "y"]}, thread())
    run.edit(graph, thread(), {"log": Overwrite(["only"])}, "b")
    assert run.state(graph, thread()).values["log"] == ["only"]


def test_none_as_a_node_takes_its_edges_without_a_change(run, saver):
    graph = chain("a", "b", "c").compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    origin = checkpoint(run.history(graph, thread()), "b")
    edited = run.edit(graph, origin.config, None, "b")
    state = run.state(graph, edited)
    assert (state.values["log"], state.next) == (["a"], ("c",))


def test_end_with_none_clears_what_was_to_run(run, saver):
    graph = chain("a", "b").compile(checkpointer=saver, interrupt_before=["b"])
    run(graph, {"log": []}, thread())
    run.edit(graph, thread(), None, END)
    state = run.state(graph, thread())
    assert (state.values["log"], state.next) == (["a"], ())
    assert run(graph, None, thread())["log"] == ["a"]


def test_end_with_none_takes_what_finished(run, saver):
    def ask(state):
        return {"log": [interrupt("q")]}

    graph = builder((START, "ask"), (START, "b"), ask=ask).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    run.edit(graph, thread(), None, END)
    state = run.state(graph, thread())
    assert (state.values["log"], state.next, state.interrupts) == (["b"], (), ())


def test_input_leaves_the_state_and_waits_at_the_start(run, saver):
    graph = chain("a").compile(checkpointer=saver)
    run(graph, {"log": ["old"]}, thread())
    run.edit(graph, thread(), {"log": ["new"]}, "__input__")
    state = run.state(graph, thread())
    assert (state.values["log"], state.next) == (["old", "a"], ("__start__",))
    assert state.metadata["source"] == "input"
    assert run(graph, None, thread())["log"] == ["old", "a", "new", "a"]


def test_copy_makes_a_sibling(run, saver):
    graph = chain("a", "b").compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    origin = checkpoint(run.history(graph, thread()), "b")
    copied = run.state(graph, run.edit(graph, origin.config, None, "__copy__"))
    assert copied.parent_config == origin.parent_config
    assert copied.config != origin.config
    assert (copied.values, copied.next) == (origin.values, origin.next)
    assert copied.metadata["source"] == "fork"
    assert run(graph, None, thread())["log"] == ["a", "b"]


def test_copy_with_updates_makes_an_edited_sibling(run, saver):
    graph = chain("a", "b", "c").compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    origin = checkpoint(run.history(graph, thread()), "b")
    edited = run.edit(graph, origin.config, [({"log": ["edit"]}, "b")], "__copy__")
    assert run(graph, None, edited)["log"] == ["a", "edit", "c"]


def test_bulk_makes_a_checkpoint_for_each_superstep(run, saver):
    graph = builder((START, "a"), (START, "b"), (["a", "b"], "c")).compile(checkpointer=saver)
    steps = [
        [StateUpdate({"log": ["in"]}, "__input__")],
        [StateUpdate({"log": ["in"]}, START)],
        [StateUpdate({"log": ["B"]}, "b"), StateUpdate({"log": ["A"]}, "a")],
    ]
    run.bulk(graph, thread(), steps)
    state = run.state(graph, thread())
    assert (sorted(state.values["log"]), state.next) == (["A", "B", "in"], ("c",))
    assert len(run.history(graph, thread())) == 3
    assert run(graph, None, thread())["log"][-1] == "c"


@pytest.mark.parametrize("wrong", [[], [[]], [[StateUpdate({"log": []}, "a")], []]])
def test_bulk_refuses_nothing(run, saver, wrong):
    graph = chain("a").compile(checkpointer=saver)
    with pytest.raises(ValueError, match="No "):
        run.bulk(graph, thread(), wrong)


@pytest.mark.parametrize("alone", ["__copy__", "__input__", END])
def test_special_edits_go_alone(run, saver, alone):
    graph = chain("a").compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    values = {"log": []} if alone == "__input__" else None
    with pytest.raises(InvalidUpdateError):
        run.bulk(graph, thread(), [[StateUpdate(values, alone), StateUpdate({"log": []}, "a")]])


def test_as_a_worker_the_workers_do_not_run_again(run, saver, calls):
    def work(n):
        calls["work"] += 1
        return {"log": [n]}

    made = builder(plan=lambda s: None, work=work, check=lambda s: {"value": len(s["log"])})
    made.add_edge(START, "plan")
    made.add_conditional_edges("plan", lambda s: [Send("work", n) for n in range(3)], ["work"])
    made.add_edge("work", "check")
    graph = made.compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    origin = checkpoint(run.history(graph, thread()), "work", "work", "work")
    edited = run.edit(graph, origin.config, {"log": Overwrite(["mine"])}, "work")
    assert run.state(graph, edited).next == ("check",)
    result = run(graph, None, edited)
    assert (result["log"], result["value"], calls["work"]) == (["mine"], 1, 3)


def test_as_the_planner_the_workers_run_again(run, saver, calls):
    def work(n):
        calls["work"] += 1
        return {"log": [n]}

    made = builder(plan=lambda s: None, work=work)
    made.add_edge(START, "plan")
    made.add_conditional_edges("plan", lambda s: [Send("work", n) for n in range(3)], ["work"])
    graph = made.compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    origin = checkpoint(run.history(graph, thread()), "work", "work", "work")
    edited = run.edit(graph, origin.config, {"value": "again"}, "plan")
    result = run(graph, None, edited)
    assert (result["log"], calls["work"]) == ([0, 1, 2], 6)


def test_an_edit_of_a_paused_node_takes_the_questions_place(run, saver, calls):
    def ask(state):
        calls["ask"] += 1
        return {"log": [interrupt("q")]}

    graph = chain("ask", "after", ask=ask).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    run.edit(graph, thread(), {"log": ["by hand"]}, "ask")
    state = run.state(graph, thread())
    assert (state.next, state.interrupts) == (("after",), ())
    assert run(graph, None, thread())["log"] == ["by hand", "after"]
    assert calls["ask"] == 1


def test_a_fork_holds_nothing_of_the_unfinished_step(run, saver):
    graph = builder((START, "ask"), (START, "b"), ask=lambda s: {"log": [interrupt("q")]}).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    paused = run.history(graph, thread())[0]
    assert paused.values["log"] == []
    edited = run.edit(graph, paused.config, {"log": ["edit"]}, "ask")
    assert run.state(graph, edited).values["log"] == ["edit"]


def test_a_refused_edit_writes_nothing(run, saver):
    graph = chain("a").compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    before = run.history(graph, thread())
    with pytest.raises(Exception, match="log"):
        run.edit(graph, thread(), {"log": 7}, "a")
    assert run.history(graph, thread()) == before


def test_a_node_that_returns_commands_can_be_acted_for_with_one(run, saver):
    made = builder((START, "one"), one=lambda s: Command(goto="a"), a=lambda s: {"log": ["a"]})
    graph = made.compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    origin = checkpoint(run.history(graph, thread()), "one")
    edited = run.edit(graph, origin.config, Command(update={"log": ["edit"]}, goto="a"), "one")
    assert run(graph, None, edited)["log"] == ["edit", "a"]


def test_a_loop_goes_on_from_an_edited_counter(run, saver):
    made = builder((START, "count"), count=lambda s: {"value": s["value"] + 1, "log": [s["value"]]})
    made.add_conditional_edges("count", lambda s: "count" if s["value"] < 5 else END, ["count", END])
    graph = made.compile(checkpointer=saver)
    assert run(graph, {"value": 0, "log": []}, thread())["log"] == [0, 1, 2, 3, 4]
    origin = next(s for s in run.history(graph, thread()) if s.values.get("value") == 2)
    edited = run.edit(graph, origin.config, {"value": 4}, "count")
    assert run(graph, None, edited)["log"] == [0, 1, 4]


def test_editing_one_checkpoint_many_times_keeps_all_branches(run, saver):
    graph = chain("a", "b").compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    origin = checkpoint(run.history(graph, thread()), "b")
    edited = [run.edit(graph, origin.config, {"log": [n]}, "a") for n in range(3)]
    assert [run(graph, None, config)["log"] for config in edited] == [["a", n, "b"] for n in range(3)]
    assert all(run.state(graph, config).parent_config == origin.config for config in edited)
