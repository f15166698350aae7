"""Properties: completion order never shows, history only grows, replays repeat, explanations are true."""

import random
import sqlite3
import threading
from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runtime.checkpoint.memory import InMemorySaver
from runtime.checkpoint.sqlite import SqliteSaver
from runtime.errors import UnknownInterruptError
from runtime.graph import START
from runtime.types import Command, Overwrite, interrupt
from tests.kit.differential import Boom, build, draw, library
from tests.kit.graphs import builder, chain, thread

OURS = library("runtime")
FEW = settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


# --- completion order -------------------------------------------------------------------------------


@FEW
@given(order=st.permutations(["a", "b", "c", "d"]), replaced=st.sampled_from([None, "a", "b", "c", "d"]))
def test_completion_order_never_shows(order, replaced):
    turn = {name: threading.Event() for name in order}
    turn[order[0]].set()
    following = dict(pairwise(order))

    def node(name):
        def body(state):
            assert turn[name].wait(20)
            if name in following:
                turn[following[name]].set()
            return {"log": Overwrite([name]) if name == replaced else [name], "total": 1}

        return body

    graph = builder(*((START, name) for name in sorted(order)), **{name: node(name) for name in order}).compile()
    result = graph.invoke({"log": ["in"]})
    assert result["total"] == 4
    assert result["log"] == (["in", "a", "b", "c", "d"] if replaced is None else [replaced])


# --- history only grows -------------------------------------------------------------------------------


def story():
    """A graph that can do everything: it fails now and then, asks twice, fans in, and loops."""
    failing = [False]

    def work(state):
        if failing[0]:
            failing[0] = False
            raise Boom("work")
        return {"log": ["work"], "total": 1}

    def ask(state):
        return {"log": [f"{interrupt('one')}+{interrupt('two')}"]}

    made = builder((START, "a"), (START, "work"), (["a", "work"], "ask"), ask=ask, work=work)
    made.add_conditional_edges("ask", lambda s: "again" if s["total"] < 3 else "__end__", ["again", "__end__"])
    made.add_node("again", lambda s: {"total": 1})
    made.add_edge("again", "ask")
    return made, failing


def answer(graph, history, head, pick, count):
    """Answer the head's question, and then one of an older checkpoint."""
    if head.interrupts:
        graph.invoke(Command(resume={head.interrupts[0].id: count}), thread())
    paused = [snapshot for snapshot in history if snapshot.interrupts]
    if paused:
        chosen = paused[pick % len(paused)]
        graph.invoke(Command(resume={chosen.interrupts[0].id: count}), chosen.config)


MOVES = {
    "run": lambda graph, at, count: graph.invoke({"log": [f"in{count}"]}, thread()),
    "fail": lambda graph, at, count: graph.invoke({"log": [f"in{count}"]}, thread()),
    "step": lambda graph, at, count: graph.step(thread()),
    "phase": lambda graph, at, count: graph.step(thread(), phase="execute"),
    "resume": lambda graph, at, count: graph.invoke(None, thread()),
    "fork": lambda graph, at, count: graph.invoke(None, at),
    "edit": lambda graph, at, count: graph.update_state(at, {"log": [f"edit{count}"]}, "a"),
    "copy": lambda graph, at, count: graph.update_state(at, None, "__copy__"),
}


def move(graph, failing, kind, pick, count):
    """One thing that a person may do to a thread."""
    history = list(graph.get_state_history(thread()))
    head = graph.get_state(thread())
    failing[0] = kind == "fail"
    try:
        if kind == "answer":
            answer(graph, history, head, pick, count)
        else:
            MOVES[kind](graph, history[pick % len(history)].config, count)
    except (Boom, UnknownInterruptError):  # what the node was told to do; an answer that came too late
        pass
    finally:
        failing[0] = False


@FEW
@given(moves=st.lists(st.tuples(st.sampled_from(["answer", *MOVES]), st.integers(0, 20)), max_size=8))
def test_whatever_is_done_no_row_is_changed_and_every_old_state_reads_the_same(tmp_path_factory, moves):
    path = tmp_path_factory.mktemp("grows") / "db"
    made, failing = story()

    def rows():
        with sqlite3.connect(path) as connection:
            found = {
                (table, tuple(row))
                for table in ("checkpoints", "checkpoint_writes", "checkpoint_values")
                for row in connection.execute(f"SELECT * FROM {table}")
            }
        connection.close()
        return found

    def states(graph):
        return {
            s.config["configurable"]["checkpoint_id"]: (s.values, s.metadata, s.parent_config)
            for s in graph.get_state_history(thread())
        }

    with SqliteSaver.from_conn_string(path) as saver:
        graph = made.compile(checkpointer=saver)
        graph.invoke({"log": ["in"]}, thread())
        before, known = rows(), states(graph)
        for count, (kind, pick) in enumerate(moves):
            move(graph, failing, kind, pick, count)
            after, now = rows(), states(graph)
            assert before <= after
            assert {key: now[key] for key in known} == known
            before, known = after, now


# --- replaying ------------------------------------------------------------------------------------------


@FEW
@given(seed=st.integers(0, 10_000), pick=st.integers(0, 50))
def test_a_replay_with_the_same_results_comes_to_the_same_state(seed, pick):
    plan = draw(random.Random(seed))
    plan = type(plan)(
        {name: "plain" if kind in ("fails", "ask", "value") else kind for name, kind in plan.kinds.items()},
        plan.edges,
        plan.joins,
        plan.routes,
        plan.sends,
        plan.targets,
    )
    graph = build(plan, OURS, InMemorySaver())
    config = {**thread(), "recursion_limit": 60}
    final = graph.invoke({"log": ["in"], "total": 0}, config)
    history = list(graph.get_state_history(config))
    origin = history[pick % len(history)]
    assert graph.invoke(None, {**config, **origin.config}) == final
    after = list(graph.get_state_history(config))
    assert after[len(after) - len(history) :] == history

    def told(snapshot):
        return snapshot.values, snapshot.next, [(task.name, task.result) for task in snapshot.tasks]

    again = [told(s) for s in after[: len(after) - len(history)] if s.metadata["source"] == "loop"]
    assert again == [told(s) for s in history[: len(again)]]


# --- explanations ---------------------------------------------------------------------------------------


@FEW
@given(seed=st.integers(0, 10_000))
def test_verdicts_and_plans_are_what_then_runs(seed):
    plan = draw(random.Random(seed))
    graph = build(plan, OURS, InMemorySaver())
    graph.step(thread(), {"log": ["in"], "total": 0})
    for turn in range(12):
        head = graph.get_state(thread())
        if not head.next:
            break
        planned = graph.plan(thread())
        assert {verdict.node for verdict in planned.verdicts if verdict.runs} == {task.name for task in planned.tasks}
        given_now = Command(resume={head.interrupts[0].id: turn}) if head.interrupts else None
        ids = {task.id: task.name for task in planned.tasks}
        try:
            graph.step(thread(), given_now)
        except Exception as error:
            if type(error).__name__ not in ("Boom", "InvalidUpdateError"):
                raise
            if type(error).__name__ == "InvalidUpdateError":
                break
        recorded = next(s for s in graph.get_state_history(thread()) if s.config == head.config)
        assert {task.id: task.name for task in recorded.tasks} == ids


@FEW
@given(value=st.sampled_from(["left", "right"]), log=st.lists(st.integers(), max_size=3), overwrite=st.booleans())
def test_a_preview_is_always_what_the_edit_makes(value, log, overwrite):
    made = chain("one", left=lambda s: None, right=lambda s: None)
    made.add_conditional_edges("one", lambda s: s["value"], ["left", "right"])
    graph = made.compile(checkpointer=InMemorySaver(), interrupt_before=["one"])
    graph.invoke({"log": ["in"]}, thread())
    values = {"value": value, "log": Overwrite(log) if overwrite else log}
    preview = graph.preview_update(thread(), values, "one")
    state = graph.get_state(graph.update_state(thread(), values, "one"))
    assert (preview.values, [task.name for task in preview.next]) == (state.values, list(state.next))
