"""Graphs that sessions are tested on, built on each runtime that the debugger opens."""

import operator
import threading
from collections import Counter
from importlib import import_module
from types import SimpleNamespace
from typing import Annotated

import pytest
from hypothesis import HealthCheck, settings
from langgraph.checkpoint.memory import InMemorySaver
from typing_extensions import TypedDict

from debugger_ui.engines.graph import About
from debugger_ui.engines.opening import attach
from debugger_ui.session.session import DebugSession
from debugger_ui.session.workspace import Workspace
from runtime.checkpoint.sql import SqlSaver

PATIENT = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
"""For property tests: a busy machine is no finding."""

WAIT = 20
"""Seconds that a job gets; they end in milliseconds."""


ON_POSTGRES = {"test_story"}
"""The tests that run on PostgreSQL too: the main job, from a run to the comparison of its branches."""


def pytest_generate_tests(metafunc):
    chosen = {mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")}
    if "kit" in metafunc.fixturenames and "kit" not in chosen:
        more = ["postgres"] if metafunc.module.__name__.rpartition(".")[2] in ON_POSTGRES else []
        metafunc.parametrize("kit", ["runtime", "langgraph", *more], indirect=True)


@pytest.fixture
def kit(request):
    """The names that a graph is built with, of one runtime, and a saver to put it on."""
    root = "langgraph" if request.param == "langgraph" else "runtime"
    url = request.getfixturevalue("postgres_schema") if request.param == "postgres" else "sqlite://"

    def saver():
        made = SqlSaver(url) if root == "runtime" else InMemorySaver()
        if root == "runtime":
            request.addfinalizer(made.close)
        return made

    graph, types = import_module(f"{root}.graph"), import_module(f"{root}.types")
    return SimpleNamespace(
        root=root,
        StateGraph=graph.StateGraph,
        START=graph.START,
        END=graph.END,
        Send=types.Send,
        Command=types.Command,
        interrupt=types.interrupt,
        saver=saver,
    )


class Topics(TypedDict, total=False):
    """State of the research graph."""

    question: str
    topics: list[str]
    found: Annotated[list[str], operator.add]
    approved: bool
    report: str


def research(kit, calls):
    """plan, one worker per topic, check, a person's review, report or plan again."""

    def plan(state):
        calls["plan"] += 1
        return {"topics": ["cost", "traffic"]}

    def fan_out(state):
        return [kit.Send("work", {"topic": topic}) for topic in state["topics"]]

    def work(job):
        calls["work"] += 1
        return {"found": [f"{job['topic']}: known"]}

    def check(state):
        calls["check"] += 1
        return {}

    def review(state):
        calls["review"] += 1
        said = kit.interrupt({"question": "Good enough?", "options": ["approve", "revise"]})
        return kit.Command(goto="report" if said == "approve" else "plan", update={"approved": said == "approve"})

    def report(state):
        calls["report"] += 1
        return {"report": "; ".join(state["found"])}

    builder = kit.StateGraph(Topics)
    for node in (plan, work, check, report):
        builder.add_node(node.__name__, node)
    builder.add_node("review", review, destinations=("report", "plan"))
    builder.add_edge(kit.START, "plan")
    builder.add_conditional_edges("plan", fan_out, ["work"])
    builder.add_edge("work", "check")
    builder.add_edge("check", "review")
    builder.add_edge("report", kit.END)
    return builder


class Total(TypedDict, total=False):
    """State of the small graphs."""

    total: Annotated[int, operator.add]
    seen: list[str]
    note: str


def chain(kit, *nodes):
    """A graph that runs functions one after the other."""
    builder = kit.StateGraph(Total)
    names = [node.__name__ for node in nodes]
    for name, node in zip(names, nodes, strict=True):
        builder.add_node(name, node)
    for one, other in zip([kit.START, *names], [*names, kit.END], strict=True):
        builder.add_edge(one, other)
    return builder


@pytest.fixture
def calls():
    """How often each node has run."""
    return Counter()


@pytest.fixture
def open_graph(kit):
    """Open a builder's graph as a workspace; closed at the end."""
    opened = []

    def open_graph(builder, example=None, **options):
        graph = builder.compile(checkpointer=kit.saver())
        about = About(name="sample", example={"question": "bridge or ferry?"} if example is None else example)
        workspace = Workspace([attach(graph, None, about)], **options)
        opened.append(workspace)
        return workspace

    yield open_graph
    for workspace in opened:
        workspace.close()


@pytest.fixture
def session(kit, calls, open_graph):
    """A session on the research graph, with nothing run yet."""
    return DebugSession(open_graph(research(kit, calls)))


@pytest.fixture
def gate():
    """A node's door: `gate.inside` tells that it is in, `gate.open` lets it out."""
    gate = SimpleNamespace(inside=threading.Event(), open=threading.Event())
    yield gate
    gate.open.set()


def done(session):
    """Wait for the session's job and return its result."""
    progress = session.wait(WAIT)
    assert not progress.busy, progress
    return progress


def begin(session, thread="t", **values):
    """Give input and stop at the input's checkpoint."""
    session.new_run({"question": "bridge or ferry?", **values}, thread=thread)
    return done(session)


def step(session):
    """Run one superstep."""
    session.step()
    return done(session)


def proceed(session):
    """Run to the next stop."""
    session.proceed()
    return done(session)


def answer(session, text):
    """Answer the only question and run on."""
    (question,) = session.questions()
    session.answer({question.id: text}, checkpoint=question.checkpoint)
    return done(session)


def marks(session):
    """The graph's marks by node."""
    return {node.id: node.mark for node in session.graph().nodes if node.mark}
