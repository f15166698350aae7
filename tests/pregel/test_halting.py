"""Halts inside subgraphs, asked for from outside: what runs, what is left alone, and that nothing of it shows later."""

import asyncio
import random
import threading
from itertools import count, pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runtime.checkpoint.memory import InMemorySaver
from runtime.func import entrypoint, task
from runtime.graph import START, StateGraph
from runtime.types import Command, Send, interrupt
from tests.kit.faces import Face
from tests.kit.graphs import Log, builder, chain, thread

FEW = settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


def everywhere(made):
    """Halt at every checkpoint."""
    return True


def plain(ns):
    """A namespace without task ids."""
    return "|".join(part.partition(":")[0] for part in ns.split("|"))


def go(run, graph, reached, given=None, config=None, **options):
    """Go on with one superstep of the outermost graph, halting inside; return what was told of its tasks."""
    config = graph.halting(config or thread(), reached, **options)
    return run.stream(graph, given, config, interrupt_after="*", stream_mode="tasks", durability="sync")


def begin(run, graph):
    """Take the input in, and run nothing yet."""
    run(graph, {"log": []}, thread(), interrupt_before="*")


def record(saver):
    """Everything on the thread, by namespace without ids: how each checkpoint came about and what it holds."""
    found = {}
    for saved in saver.list(thread()):
        conf, checkpoint = saved.config["configurable"], saved.checkpoint
        values = {k: v for k, v in checkpoint["channel_values"].items() if not k.startswith("branch:")}
        written = sorted((c, repr(v)) for _, c, v in saved.pending_writes if not c.startswith("__"))
        row = (saved.metadata["step"], saved.metadata["source"], repr(sorted(values.items())), repr(written))
        found.setdefault(plain(conf["checkpoint_ns"]), []).append(row)
    return {ns: sorted(rows) for ns, rows in found.items()}


def inside(run, graph):
    """Where the runs inside stand: what is due next, by node and namespace."""
    return {task.name: task.state and task.state.next for task in run.state(graph, thread(), subgraphs=True).tasks}


def namespace(run, graph, name):
    (task,) = [one for one in run.state(graph, thread(), subgraphs=True).tasks if one.name == name]
    return task.state.config["configurable"]["checkpoint_ns"]


def asking(text):
    """A node that asks, and logs the answer."""
    return lambda state: {"log": [f"{text}={interrupt(text)}"]}


# --- one superstep inside -------------------------------------------------------------------------------


def doors(calls):
    """Two subgraphs and a plain node side by side, then one that joins them."""

    def leaf(name):
        def node(state):
            calls[name] += 1
            return {"log": [name]}

        return node

    left = chain("l1", "l2", **{name: leaf(name) for name in ("l1", "l2")}).compile()
    right = chain("r1", "r2", **{name: leaf(name) for name in ("r1", "r2")}).compile()
    sides = [(START, "left"), (START, "right"), (START, "beside"), (["left", "right", "beside"], "end")]
    return builder(*sides, left=left, right=right, beside=leaf("beside"))


def test_a_run_inside_halts_where_it_is_told_and_goes_on_there(run, saver, calls):
    graph = doors(calls).compile(checkpointer=saver)
    begin(run, graph)
    for due in ("__start__", "l1", "l2", ""):
        go(run, graph, everywhere)
        assert inside(run, graph)["left"] == ((due,) if due else ())
    assert run(graph, None, thread())["log"] == ["beside", "l1", "l2", "r1", "r2", "end"]
    assert set(calls.values()) == {1}


def test_only_the_way_to_a_run_is_gone_and_its_neighbours_stand_still(run, saver, calls):
    graph = doors(calls).compile(checkpointer=saver)
    begin(run, graph)
    go(run, graph, lambda made: "l1" in made.due or "r1" in made.due)
    assert calls == {"beside": 1}
    ns = namespace(run, graph, "left")
    told = go(run, graph, lambda made: made.ns == ns, toward=ns)
    assert {one["name"] for one in told} == {"left"}
    assert (calls, inside(run, graph)) == (
        {"beside": 1, "l1": 1},
        {"left": ("l2",), "right": ("r1",), "beside": None},
    )


def test_a_run_that_ends_on_the_way_leaves_its_superstep_unfolded(run, saver, calls):
    graph = doors(calls).compile(checkpointer=saver)
    begin(run, graph)
    go(run, graph, lambda made: "l1" in made.due or "r1" in made.due)
    go(run, graph, lambda made: False, toward=namespace(run, graph, "left"))
    state = run.state(graph, thread())
    assert (state.next, calls) == (("right",), {"beside": 1, "l1": 1, "l2": 1})
    assert state.metadata["step"] == 0
    go(run, graph, lambda made: False)
    assert run.state(graph, thread()).values["log"] == ["beside", "l1", "l2", "r1", "r2"]


def test_what_is_told_of_a_checkpoint_is_how_it_was_made(run, saver):
    graph = builder((START, "door"), door=chain("a", "b").compile()).compile(checkpointer=saver)
    seen = []

    def told(made):
        log = [side().get("log") for side in (made.before, made.values)]
        seen.append((plain(made.ns), made.ran, made.due, "log" in made.changed, log))
        return False

    begin(run, graph)
    go(run, graph, told)
    assert seen == [
        ("door", (), (), False, [None, []]),
        ("door", (), ("a",), True, [[], []]),
        ("door", ("a",), ("b",), True, [[], ["a"]]),
        ("door", ("b",), (), True, [["a"], ["a", "b"]]),
    ]


def test_each_run_of_a_fan_out_is_stepped_by_itself(run, saver):
    made = StateGraph(Log)
    made.add_node("part", chain("p1", "p2").compile())
    made.add_conditional_edges(START, lambda s: [Send("part", {"log": [n]}) for n in "xyz"], ["part"])
    graph = made.compile(checkpointer=saver)
    begin(run, graph)
    go(run, graph, lambda one: "p1" in one.due)
    parts = run.state(graph, thread(), subgraphs=True).tasks
    ns = parts[1].state.config["configurable"]["checkpoint_ns"]
    go(run, graph, lambda one: one.ns == ns, toward=ns)
    stands = run.state(graph, thread(), subgraphs=True).tasks
    assert [(one.state.next, one.state.values["log"]) for one in stands] == [
        (("p1",), ["x"]),
        (("p2",), ["y", "p1"]),
        (("p1",), ["z"]),
    ]


def test_a_function_that_calls_graphs_runs_again_and_its_graphs_do_not(run, saver, calls):
    inner = chain("i1", "i2", i1=lambda s: calls.update(i1=1) or {"log": ["i1"]}).compile()

    def door(state):
        calls["door"] += 1
        return {"log": [*inner.invoke({"log": ["1"]})["log"], *inner.invoke({"log": ["2"]})["log"]]}

    graph = builder((START, "door"), door=door).compile(checkpointer=saver)
    begin(run, graph)
    for _ in range(9):
        go(run, graph, lambda made: bool(made.ran))
    assert run.state(graph, thread()).values["log"] == ["1", "i1", "i2", "2", "i1", "i2"]
    assert (calls["i1"], calls["door"]) == (2, 5)


@pytest.mark.parametrize("memory", [None, True])
def test_an_older_checkpoint_inside_goes_on_in_a_run_of_its_own_and_halts_there(run, saver, memory):
    door = chain("a", "b", "c").compile(checkpointer=memory)
    graph = builder((START, "door"), (START, "beside"), door=door).compile(checkpointer=saver)
    run(graph, {"log": []}, thread())
    first = next(one for one in run.history(graph, thread()) if one.next)
    ns = "door" if memory else next(f"door:{one.id}" for one in first.tasks if one.name == "door")
    inner = run.history(graph, thread(checkpoint_ns=ns, checkpoint_map={"": ""}))
    older = next(one for one in inner if one.next == ("b",))
    at = thread(
        checkpoint_ns=ns,
        checkpoint_id=older.config["configurable"]["checkpoint_id"],
        checkpoint_map={"": first.config["configurable"]["checkpoint_id"]},
    )
    moved = {}
    told = go(run, graph, lambda made: made.ns == moved.get(ns), config=at, toward=ns, moved=moved)
    assert {one["name"] for one in told} == {"door"}
    assert inside(run, graph) == {"door": ("c",), "beside": None}
    assert (list(moved) == [ns], moved[ns] == ns) == (True, bool(memory))
    assert run(graph, None, thread())["log"] == ["beside", "a", "b", "c"]


# --- where nothing halts --------------------------------------------------------------------------------


def test_a_run_that_saves_nothing_is_not_asked(run, saver):
    graph = builder((START, "door"), door=chain("a", "b").compile(checkpointer=False)).compile(checkpointer=saver)
    begin(run, graph)
    go(run, graph, everywhere)
    assert run.state(graph, thread()).values["log"] == ["a", "b"]


def test_a_run_on_a_thread_of_its_own_hears_nothing_of_it(run, saver):
    other = chain("a", "b").compile(checkpointer=InMemorySaver() if not run.is_async else None)
    asked = []

    def door(state):
        config = {"configurable": {"thread_id": "other", "checkpoint_ns": "", "checkpoint_map": {}}}
        return {"log": other.invoke({"log": []}, config)["log"]}

    graph = builder((START, "door"), door=door).compile(checkpointer=saver)
    if run.is_async:
        other.checkpointer = InMemorySaver()
    begin(run, graph)
    go(run, graph, lambda made: asked.append(made.ns) or True)
    assert (asked, run.state(graph, thread()).values["log"]) == ([], ["a", "b"])


def test_a_task_of_the_functional_api_that_calls_a_graph_halts_there(run, saver):
    inner = chain("a", "b").compile()

    @task
    def called():
        return inner.invoke({"log": []})["log"]

    @entrypoint(checkpointer=saver)
    def flow(given):
        return called().result()

    for given_now in ("in", None, None):
        run.stream(flow, given_now, flow.halting(thread(), lambda made: bool(made.ran)), stream_mode="tasks")
    assert run(flow, None, thread()) == ["a", "b"]


def test_questions_and_halts_mix(run, saver):
    inner = chain("a", "ask", "b", ask=lambda s: {"log": [interrupt("q")]}).compile()
    graph = builder((START, "door"), door=inner).compile(checkpointer=saver)
    begin(run, graph)
    go(run, graph, lambda made: "ask" in made.due)
    assert run.state(graph, thread()).interrupts == ()
    go(run, graph, everywhere)
    assert [one.value for one in run.state(graph, thread()).interrupts] == ["q"]
    go(run, graph, everywhere, Command(resume="yes"))
    assert inside(run, graph) == {"door": ("b",)}
    assert run(graph, None, thread())["log"] == ["a", "yes", "b"]


def test_an_answer_is_kept_when_the_task_halts_after_it(run, saver):
    inner = chain("a", "b").compile()

    def door(state):
        return {"log": [interrupt("q"), *inner.invoke({"log": []})["log"]]}

    graph = builder((START, "door"), door=door).compile(checkpointer=saver)
    begin(run, graph)
    go(run, graph, everywhere)
    go(run, graph, lambda made: "b" in made.due, Command(resume="yes"))
    state = run.state(graph, thread())
    assert (state.next, state.interrupts) == (("door",), ())
    assert run(graph, None, thread())["log"] == ["yes", "a", "b"]


def test_a_question_inside_that_was_answered_is_not_shown_outside_after_a_halt(run, saver):
    inner = chain("ask", "b", "ask2", ask=asking("one"), ask2=asking("two")).compile()
    graph = builder((START, "door"), door=inner).compile(checkpointer=saver)
    begin(run, graph)
    go(run, graph, lambda made: False)
    go(run, graph, lambda made: "b" in made.due, Command(resume="1"))
    assert run.state(graph, thread()).interrupts == ()
    go(run, graph, lambda made: False)
    assert [one.value for one in run.state(graph, thread()).interrupts] == ["two"]
    go(run, graph, lambda made: False, Command(resume="2"))
    assert run.state(graph, thread()).values["log"] == ["one=1", "b", "two=2"]


def test_a_question_beside_a_run_that_is_stepped_stays_open(run, saver):
    mid = builder((START, "asks"), (START, "low"), asks=asking("q"), low=chain("a", "b").compile()).compile()
    graph = builder((START, "door"), door=mid).compile(checkpointer=saver)
    begin(run, graph)
    go(run, graph, lambda made: "a" in made.due)
    (door,) = run.state(graph, thread(), subgraphs=True).tasks
    low = next(one for one in door.state.tasks if one.name == "low").state.config["configurable"]["checkpoint_ns"]
    go(run, graph, lambda made: made.ns == low, toward=low)
    (door,) = run.state(graph, thread(), subgraphs=True).tasks
    assert [one.value for one in door.interrupts] == ["q"]
    assert next(one for one in door.state.tasks if one.name == "low").state.next == ("b",)
    go(run, graph, lambda made: False, Command(resume={door.interrupts[0].id: "yes"}))
    assert run.state(graph, thread()).values["log"] == ["q=yes", "a", "b"]


def test_a_question_that_is_asked_again_after_a_halt_beside_it_is_open_again(saver):
    run = Face(True)
    one, other = chain("ask", ask=asking("q")).compile(), chain("a", "b").compile()

    async def door(state):
        both = await asyncio.gather(other.ainvoke({"log": []}), one.ainvoke({"log": []}))
        return {"log": both[1]["log"]}

    graph = builder((START, "door"), door=door).compile(checkpointer=saver)
    begin(run, graph)
    for halting in (lambda made: False, lambda made: True, lambda made: False):
        go(run, graph, halting)
    (question,) = run.state(graph, thread()).interrupts
    go(run, graph, lambda made: False, Command(resume={question.id: "yes"}))
    assert run.state(graph, thread()).values["log"] == ["q=yes"]


# --- whatever is halted, the record is that of a plain run ---------------------------------------------


def nest(source, depth, names):
    """A random graph of parallel layers, whose nodes log, ask, are graphs, call graphs, or send to one."""
    layers, made = [], StateGraph(Log)
    for _ in range(source.randint(1, 2)):
        layer = [f"n{next(names)}" for _ in range(source.randint(1, 2))]
        for name in layer:
            made.add_node(name, body(source, name, depth, names))
        layers.append(layer)
    for name in layers[0]:
        made.add_edge(START, name)
    for before, after in pairwise(layers):
        for name in after:
            made.add_edge(before, name)
    if depth and source.random() < 0.5:
        made.add_node("sent", nest(source, 0, names).compile())
        made.add_conditional_edges(layers[-1][0], lambda s: [Send("sent", {"log": [n]}) for n in "xy"], ["sent"])
    return made


def body(source, name, depth, names):
    kind = source.choice(("graph", "call", "leaf")) if depth else source.choice(("leaf", "leaf", "ask"))
    if kind == "leaf":
        return lambda state: {"log": [name], "total": 1}
    if kind == "ask":
        return lambda state: {"log": [f"{name}={interrupt(name)}"]}
    inner = nest(source, depth - 1, names).compile(checkpointer=True if kind == "graph" and depth == 1 else None)
    if kind == "graph":
        return inner

    def call(state):
        return {"log": [*inner.invoke({"log": [name]})["log"], *inner.invoke({"log": ["again"]})["log"]]}

    async def acall(state):
        return {"log": (await inner.ainvoke({"log": [name]}))["log"]}

    return acall if source.is_async else call


def finish(run, graph, step):
    """Run to the end, answering every question by its own words."""
    for _ in range(400):
        head = run.state(graph, thread())
        if not head.next:
            return head.values
        asked = {one.id: one.value for one in head.interrupts}
        step(Command(resume=asked) if asked else None)
    raise AssertionError("it does not come to its end")


@FEW
@given(seed=st.integers(0, 100_000), often=st.sampled_from([0.1, 0.4, 1.0]), is_async=st.booleans())
def test_however_often_runs_inside_halt_the_record_is_that_of_a_plain_run(seed, often, is_async):
    run, found = Face(is_async), []
    for halting in (False, True):
        source = random.Random(seed)
        source.is_async = is_async
        saver = InMemorySaver()
        graph = nest(source, 2, count()).compile(checkpointer=saver)
        dice, lock = random.Random(seed + 1), threading.Lock()

        def reached(made, dice=dice, lock=lock):
            with lock:
                return dice.random() < often

        def step(given_now, graph=graph, reached=reached, halting=halting):
            if halting:
                go(run, graph, reached, given_now)
            else:
                run(graph, given_now, thread(), durability="sync")

        step({"log": ["in"]})
        found.append((finish(run, graph, step), record(saver)))
    assert found[0] == found[1]
