"""A graph that is no longer the one that made the record."""

import operator
from typing import Annotated

import pytest
from typing_extensions import TypedDict

from debugger_ui.engines.graph import About
from debugger_ui.engines.opening import attach
from debugger_ui.session.problems import SessionError
from debugger_ui.session.session import DebugSession
from debugger_ui.session.workspace import Workspace
from tests.session.conftest import done, step


class Before(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    draft: str


class After(TypedDict, total=False):
    log: Annotated[list[str], operator.add]


def graph(kit, state, *names):
    builder = kit.StateGraph(state)
    for name in names:
        builder.add_node(name, lambda state, name=name: {"log": [name]})
    for one, other in zip([kit.START, *names], [*names, kit.END], strict=True):
        builder.add_edge(one, other)
    return builder


@pytest.fixture
def drifted(kit):
    """A thread made by one graph and paused before `polish`, opened with a graph without that node and a key."""
    saver = kit.saver()

    def session(state, *names):
        compiled = graph(kit, state, *names).compile(checkpointer=saver)
        return DebugSession(Workspace([attach(compiled, None, About(example={"log": []}))]))

    first = session(Before, "write", "polish")
    first.new_run('{"log": [], "draft": "x"}', thread="t")
    done(first)
    step(first)
    second = session(After, "write", "finish")
    second.move(thread="t")
    return second


def test_old_steps_stay_readable_and_the_difference_is_told(drifted):
    drift = drifted.overview().drift
    assert drift.missing_nodes == ("polish",)
    assert drift.missing_channels == ("draft",)
    assert "no longer has nodes polish and state keys draft" in drift.message
    for row in drifted.timeline().rows:
        drifted.move(checkpoint=row.checkpoint)
        assert drifted.checkpoint().id == row.checkpoint
        assert drifted.graph().nodes
        assert drifted.channels()
    drifted.last()
    assert [(e.key, e.value.size) for e in drifted.checkpoint().entries if e.key == "log"] == [("log", 1)]


def test_running_on_says_which_node_is_gone_and_runs_nothing(drifted):
    view = drifted.checkpoint()
    assert view.status == "ready"
    assert view.next == ("polish",)
    ability = drifted.abilities().step
    assert not ability.allowed
    assert "polish" in ability.reason
    rows = drifted.timeline().total
    with pytest.raises(SessionError, match="polish"):
        drifted.step()
    assert drifted.timeline().total == rows


def test_an_earlier_step_that_the_graph_still_knows_runs(drifted):
    drifted.first()
    drifted.forward()
    assert drifted.checkpoint().next == ("write",)
    assert step(drifted).state == "paused"
    assert drifted.checkpoint().next == ("finish",)
