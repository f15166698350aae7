"""Stepping and explaining: what is told is what then happens, and phases add up to a superstep."""

import pytest

from runtime.errors import InvalidUpdateError, TaskNotFound
from runtime.graph import END, START
from runtime.types import Command, Overwrite, Send, interrupt
from tests.kit.graphs import builder, chain, checkpoint, ids, thread


def walked(run, graph, config, limit=20):
    """Step to the end; the names that ran in each superstep, each as planned."""
    seen = []
    while (state := run.state(graph, config)).next and len(seen) < limit:
        planned = run.plan(graph, config)
        assert sorted(task.name for task in planned.tasks) == sorted(state.next)
        runs = {verdict.node for verdict in planned.verdicts if verdict.runs}
        assert runs == set(state.next)
        seen.append(tuple(task.name for task in planned.tasks))
        run.step(graph, config)
    return seen


def fan():
    made = builder(plan=lambda s: {"log": ["plan"]}, work=lambda n: {"log": [n]}, gather=lambda s: {"value": "done"})
    made.add_edge(START, "plan")
    made.add_conditional_edges("plan", lambda s: [Send("work", n) for n in range(2)], ["work"])
    made.add_edge("work", "gather")
    return made


def test_a_step_with_an_input_only_records_it(run, saver):
    graph = chain("one", "two").compile(checkpointer=saver)
    state = run.step(graph, thread(), {"log": ["in"]})
    assert (state.next, state.metadata["source"]) == (("__start__",), "input")


def test_stepping_comes_to_what_a_run_comes_to(run, saver):
    graph = fan().compile(checkpointer=saver)
    whole = run(graph, {"log": []}, thread("run"))
    run.step(graph, thread(), {"log": []})
    assert walked(run, graph, thread()) == [("__start__",), ("plan",), ("work", "work"), ("gather",)]
    state = run.state(graph, thread())
    assert state.values == whole

    def told(history):
        return [(s.values, s.next, s.metadata["step"], s.metadata["source"]) for s in history]

    assert told(run.history(graph, thread())) == told(run.history(graph, thread("run")))


def test_phases_add_up_to_a_superstep(run, saver, calls):
    def one(state):
        calls["one"] += 1
        return {"log": ["one"]}

    graph = builder((START, "one"), (START, "two"), one=one).compile(checkpointer=saver)
    run.step(graph, thread(), {"log": []})
    run.step(graph, thread())
    before = run.state(graph, thread())
    executed = run.step(graph, thread(), phase="execute")
    assert executed.config == before.config
    assert {task.status for task in run.plan(graph, thread()).tasks} == {"saved"}
    updated = run.step(graph, thread(), phase="update")
    assert (updated.values["log"], updated.next) == (["one", "two"], ())
    assert calls["one"] == 1


def test_chosen_tasks_are_executed_alone(run, saver, calls):
    def work(n):
        calls[n] += 1
        return {"log": [n]}

    made = builder(work=work)
    made.add_conditional_edges(START, lambda s: [Send("work", n) for n in range(3)], ["work"])
    graph = made.compile(checkpointer=saver)
    run.step(graph, thread(), {"log": []})
    run.step(graph, thread())
    tasks = run.plan(graph, thread()).tasks
    run.step(graph, thread(), phase="execute", tasks=[tasks[1].id])
    assert calls == {1: 1}
    assert [task.status for task in run.plan(graph, thread()).tasks] == ["to run", "saved", "to run"]
    with pytest.raises(ValueError, match="2 of 3"):
        run.step(graph, thread(), phase="update")
    assert run.step(graph, thread()).values["log"] == [0, 1, 2]
    assert calls == {0: 1, 1: 1, 2: 1}


def test_a_supplied_result_is_taken_and_recorded_as_supplied(run, saver, calls):
    def one(state):
        calls["one"] += 1
        return {"log": ["one"]}

    graph = chain("one", "two", one=one).compile(checkpointer=saver)
    run.step(graph, thread(), {"log": []})
    run.step(graph, thread())
    (task,) = run.plan(graph, thread()).tasks
    run.step(graph, thread(), phase="execute", tasks=[], supply={task.id: {"log": ["by hand"]}})
    assert [task.status for task in run.plan(graph, thread()).tasks] == ["supplied"]
    state = run.step(graph, thread())
    assert (state.values["log"], state.next) == (["by hand"], ("two",))
    assert calls["one"] == 0


def test_unknown_tasks_are_refused_with_the_known(run, saver):
    graph = chain("one").compile(checkpointer=saver)
    run.step(graph, thread(), {"log": []})
    for wrong in ({"tasks": ["nothing"]}, {"supply": {"nothing": {}}}):
        with pytest.raises(TaskNotFound, match=r"nothing.*__start__"):
            run.step(graph, thread(), **wrong)


def test_looking_runs_and_writes_nothing(run, saver, calls):
    def one(state):
        calls["one"] += 1
        return {"log": ["one"]}

    graph = chain("one", "two", one=one).compile(checkpointer=saver, interrupt_before=["one"])
    run(graph, {"log": []}, thread())
    before = run.history(graph, thread())
    run.plan(graph, thread())
    run.explain(graph, thread())
    run.preview(graph, thread(), {"log": ["x"]}, "one")
    assert run.history(graph, thread()) == before
    assert not calls


def test_a_preview_is_what_the_edit_makes(run, saver):
    made = builder((START, "one"), left=lambda s: None, right=lambda s: None)
    made.add_conditional_edges("one", lambda s: s["value"], ["left", "right"])
    graph = made.compile(checkpointer=saver)
    run(graph, {"log": ["in"], "value": "left"}, thread())
    origin = checkpoint(run.history(graph, thread()), "one").config
    for values in ({"value": "right"}, {"value": "left", "log": ["x"]}, {"log": Overwrite([]), "value": "right"}, None):
        preview = run.preview(graph, origin, values, "one")
        state = run.state(graph, run.edit(graph, origin, values, "one"))
        assert preview.values == state.values
        assert [task.name for task in preview.next] == list(state.next)
        assert {v.node for v in preview.verdicts if v.runs} == set(state.next)


def test_a_preview_names_what_changes_and_what_asks_again(run, saver):
    graph = chain("a", "ask", ask=lambda s: {"log": [interrupt("q")]}).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    preview = run.preview(graph, thread(), {"value": 1}, "a")
    assert preview.changed == ("value",)
    assert [q.value for q in preview.asks_again] == ["q"]


def test_a_preview_refuses_what_the_edit_would(run, saver):
    graph = chain("one").compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    with pytest.raises(InvalidUpdateError, match="nowhere"):
        run.preview(graph, thread(), {"log": []}, "nowhere")


def test_an_explained_update_is_the_fold_that_happens(run, saver):
    graph = builder((START, "b"), (START, "a"), a=lambda s: {"log": ["a"], "total": 2}, b=lambda s: {"total": 3})
    graph = graph.compile(checkpointer=saver)
    run.step(graph, thread(), {"log": ["in"], "total": 1})
    run.step(graph, thread())
    run.step(graph, thread(), phase="execute")
    folds = {fold.channel: fold for fold in run.explain(graph, thread())}
    total = folds["total"]
    assert (total.before, [(node, value, after) for _, node, value, after in total.steps], total.after) == (
        1,
        [("a", 2, 3), ("b", 3, 6)],
        6,
    )
    assert total.version_after > total.version_before
    state = run.step(graph, thread(), phase="update")
    assert state.values == {"log": folds["log"].after, "total": total.after}


def test_an_explained_update_shows_what_is_refused(run, saver):
    def node(state):
        return {"value": 1}

    graph = builder((START, "a"), (START, "b"), a=node, b=node).compile(checkpointer=saver)
    run.step(graph, thread(), {"log": []})
    run.step(graph, thread())
    run.step(graph, thread(), phase="execute")
    (fold,) = [fold for fold in run.explain(graph, thread()) if fold.channel == "value"]
    assert "value" in fold.refused


def test_a_verdict_says_why(run, saver):
    edges = ((START, "a"), (START, "b"), ("b", "c"), (["a", "c"], "join"))
    graph = builder(*edges).compile(checkpointer=saver, interrupt_before=["c"])
    run(graph, {"log": []}, thread())
    verdicts = {verdict.node: verdict for verdict in run.plan(graph, thread()).verdicts}
    assert (verdicts["c"].runs, verdicts["c"].trigger) == (True, "branch:to:c")
    assert (verdicts["join"].runs, verdicts["join"].waits_for) == (False, ("c",))
    assert not verdicts["a"].runs
    assert "c" in verdicts["join"].reason


def test_questions_are_answered_by_steps(run, saver):
    graph = chain("ask", "after", ask=lambda s: {"log": [interrupt("q")]}).compile(checkpointer=saver)
    run.step(graph, thread(), {"log": []})
    run.step(graph, thread())
    state = run.step(graph, thread())
    assert [q.value for q in state.interrupts] == ["q"]
    assert run.plan(graph, thread()).tasks[0].status == "interrupted"
    state = run.step(graph, thread(), Command(resume={state.interrupts[0].id: "yes"}))
    assert (state.values["log"], state.next) == (["yes"], ("after",))


def test_a_failing_step_leaves_the_superstep_open(run, saver, calls):
    def fails(state):
        calls["fails"] += 1
        if calls["fails"] == 1:
            raise KeyError("boom")
        return {"log": ["ok"]}

    graph = chain("fails", fails=fails).compile(checkpointer=saver)
    run.step(graph, thread(), {"log": []})
    run.step(graph, thread())
    with pytest.raises(KeyError):
        run.step(graph, thread())
    (task,) = run.plan(graph, thread()).tasks
    assert (task.status, "boom" in str(task.error)) == ("failed", True)
    assert run.step(graph, thread()).values["log"] == ["ok"]


def test_a_step_at_an_old_checkpoint_makes_a_branch(run, saver):
    graph = chain("a", "b", "c").compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    origin = checkpoint(run.history(graph, thread()), "b").config
    state = run.step(graph, origin)
    assert (state.values["log"], state.next) == (["a", "b"], ("c",))
    assert [s.metadata["source"] for s in run.history(graph, thread())[:2]] == ["loop", "fork"]


def test_stepping_a_finished_thread_changes_nothing(run, saver):
    graph = chain("a").compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    before = run.history(graph, thread())
    run.step(graph, thread())
    assert run.history(graph, thread()) == before


def test_stepping_needs_a_checkpointer(run):
    with pytest.raises(ValueError, match="checkpointer"):
        run.step(chain("a").compile(), thread(), {"log": []})


def test_two_answers_by_steps_are_two_branches(run, saver):
    graph = chain("ask", ask=lambda s: {"log": [interrupt("q")]}).compile(checkpointer=saver)
    paused_id = ids(run(graph, {"log": []}, thread()))["q"]
    paused = run.state(graph, thread()).config
    first = run.step(graph, paused, Command(resume={paused_id: 1}))
    second = run.step(graph, paused, Command(resume={paused_id: 2}))
    assert (first.values["log"], second.values["log"]) == ([1], [2])
    assert run.state(graph, first.config).values["log"] == [1]


def test_a_loop_steps_as_it_runs(run, saver):
    made = builder((START, "one"))
    made.add_conditional_edges("one", lambda s: "one" if len(s["log"]) < 3 else END, ["one", END])
    graph = made.compile(checkpointer=saver)
    run.step(graph, thread(), {"log": []})
    assert walked(run, graph, thread()) == [("__start__",), ("one",), ("one",), ("one",)]
