"""On random graphs: plans name what then runs, folds end in what is stored, previews in what is saved."""

import operator
from types import SimpleNamespace
from typing import Annotated

from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import TypedDict

from debugger_ui.engines.graph import About
from debugger_ui.engines.opening import attach
from debugger_ui.session.session import DebugSession
from debugger_ui.session.views import Edit
from debugger_ui.session.workspace import Workspace
from runtime.checkpoint.sqlite import SqliteSaver
from runtime.graph import END, START, StateGraph
from runtime.types import Send
from tests.session.conftest import PATIENT, done

NODES = ("a", "b", "c", "d")
STEPS = 5


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    total: Annotated[int, operator.add]
    last: str


@st.composite
def shapes(draw):
    """Plain edges, one join, and a node that sends."""
    edge = st.tuples(st.sampled_from(NODES), st.sampled_from(NODES))
    join = st.tuples(st.lists(st.sampled_from(NODES), min_size=2, max_size=3, unique=True), st.sampled_from(NODES))
    return SimpleNamespace(
        first=draw(st.lists(st.sampled_from(NODES), min_size=1, max_size=2, unique=True)),
        edges=draw(st.lists(edge, min_size=1, max_size=4, unique=True)),
        join=draw(st.none() | join),
        sends=draw(st.none() | st.tuples(st.sampled_from(NODES), st.sampled_from(NODES), st.integers(1, 3))),
    )


def build(shape):
    builder = StateGraph(State)
    for name in NODES:
        builder.add_node(name, lambda state, name=name: {"log": [name], "total": 1})
    for name in shape.first:
        builder.add_edge(START, name)
    for source, target in shape.edges:
        builder.add_edge(source, target)
    if shape.join is not None:
        builder.add_edge(*shape.join)
    if shape.sends is not None:
        source, target, count = shape.sends
        builder.add_conditional_edges(source, lambda state: [Send(target, state)] * count, [target, END])
    return builder


@settings(PATIENT, max_examples=12)
@given(shapes())
def test_what_is_explained_is_what_happens(shape):
    with SqliteSaver.from_conn_string(":memory:") as saver:
        session = DebugSession(Workspace([attach(build(shape).compile(), saver, About(example={"last": "x"}))]))
        session.new_run({"last": "x"}, thread="t")
        done(session)
        for _ in range(STEPS):
            view = session.checkpoint()
            promised = {verdict.node for verdict in session.plan().verdicts if verdict.runs}
            assert promised == set(view.next)
            if not view.next:
                break
            session.step()
            assert done(session).state in ("paused", "done")
            made = session.checkpoint()
            assert set(made.nodes) == promised
            stored = {entry.key: entry.value for entry in made.entries}
            folds = session.update(view.id)
            assert folds.tasks_in == folds.tasks == len(made.made_by)
            folded = {fold.channel: fold for fold in folds.folds if fold.state_key}
            assert set(folded) == {"log", "total"}
            for key, fold in folded.items():
                assert fold.steps[-1].after == fold.after
                assert (fold.after.text, fold.after.size) == (stored[key].text, stored[key].size)
            check_chain(session)


def check_chain(session):
    """Every chain of writers ends at an input."""
    hops = session.why(("log",))
    assert hops
    assert all(hop.kind in ("task", "input") for hop in hops)
    assert hops[0].path == ("log",)


@settings(PATIENT, max_examples=12)
@given(shapes(), st.sampled_from(NODES), st.integers(0, 3), st.sampled_from(["append", "overwrite"]))
def test_a_preview_is_what_saving_makes(shape, author, steps, mode):
    with SqliteSaver.from_conn_string(":memory:") as saver:
        session = DebugSession(Workspace([attach(build(shape).compile(), saver, About(example={"last": "x"}))]))
        session.new_run({"last": "x"}, thread="t")
        done(session)
        for _ in range(steps):
            if session.abilities().step.allowed:
                session.step()
                done(session)
        edits = [Edit("log", '["edit"]', mode), Edit("total", "5", mode)]
        rows = session.timeline().total
        preview = session.preview_edit(edits, author)
        assert session.timeline().total == rows
        saved = session.save_edit(edits, author)
        assert saved.next == preview.next
        after = {entry.key: entry.value for entry in session.checkpoint().entries}
        assert {outcome.key: outcome.after for outcome in preview.outcomes} == {
            key: after[key] for key in ("log", "total")
        }
