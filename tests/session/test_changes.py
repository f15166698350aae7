"""The last and the next change of a value: what looking at every checkpoint would find, read from a few of them."""

import operator
from typing import Annotated

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver as TheirSaver
from typing_extensions import TypedDict

from debugger_ui.engines.base import MISSING
from debugger_ui.engines.graph import About
from debugger_ui.engines.opening import attach
from debugger_ui.session.changes import look, same
from debugger_ui.session.session import DebugSession
from debugger_ui.session.workspace import Workspace
from runtime.checkpoint.sqlite import SqliteSaver
from runtime.graph import END, START, StateGraph
from tests.session.conftest import PATIENT


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    last: str
    at: int


def script(writes):
    """A loop that writes one thing after the other; an empty list is written, and adds nothing."""
    builder = StateGraph(State)
    builder.add_node("act", lambda state: {**writes[state["at"]], "at": state["at"] + 1})
    builder.add_edge(START, "act")
    builder.add_conditional_edges("act", lambda state: "act" if state["at"] < len(writes) else END, ["act", END])
    return builder


def recorded(saver, writes):
    graph = script(writes).compile(checkpointer=saver)
    config = {"configurable": {"thread_id": "t"}, "recursion_limit": len(writes) + 5}
    graph.invoke({"at": 0}, config)
    session = DebugSession(Workspace([attach(graph, None, About())]))
    session.move(thread="t")
    return session


WRITES = st.lists(
    st.one_of(
        st.builds(lambda text: {"last": text}, st.sampled_from(["x", "y"])),
        st.builds(lambda log: {"log": log}, st.lists(st.sampled_from(["a", "b"]), max_size=2)),
    ),
    min_size=1,
    max_size=30,
)
PATHS = (("log",), ("log", 0), ("last",), ("at",), ("nothing",))


@settings(PATIENT, max_examples=15)
@given(WRITES, st.sampled_from(PATHS))
def test_changes_are_those_that_looking_at_every_checkpoint_finds(writes, path):
    with SqliteSaver.from_conn_string(":memory:") as saver:
        session = recorded(saver, writes)
        reading, spot = session.desk.reading, session.spot()
        line = reading.history("t").path(spot.id)
        records = [reading.record(spot, id_) for id_ in line]
        values = [look(record, path) for record in records]
        # What a reducer starts with is in the first state, and nobody wrote it.
        before = [MISSING if path[0] in records[0].versions else values[0], *values]
        changed = [id_ for id_, old, new in zip(line, before, values, strict=False) if not same(old, new)]
        for place, id_ in enumerate(line):
            session.move(checkpoint=id_)
            last, after = session.last_change(path), session.next_change(path)
            past = [one for one in changed if one in line[: place + 1]]
            future = [one for one in changed if one in line[place + 1 :]]
            assert (last.checkpoint if last else None) == (past[-1] if past else None)
            assert (after.checkpoint if after else None) == (future[0] if future else None)


@pytest.mark.parametrize("ask", ["last_change", "why"])
def test_writes_that_change_nothing_are_passed_without_reading_the_states(ask, monkeypatch):
    writes = [{"log": ["first"]}, *[{"log": []}] * 400]
    with SqliteSaver.from_conn_string(":memory:") as saver:
        session = recorded(saver, writes)
        read = []
        record = session.desk.engine.record
        monkeypatch.setattr(session.desk.engine, "record", lambda place: read.append(place.id) or record(place))
        found = getattr(session, ask)(("log",))
        assert (found.step if ask == "last_change" else found[0].step) == 1
        assert len(read) < 10


def keep_latest(saver):
    """Remove all but the newest checkpoint, as `forkpoint db prune` does, or a program that looks after its saver."""
    if isinstance(saver, SqliteSaver):
        saver.prune(["t"], strategy="keep_latest")
        return
    history = saver.storage["t"][""]
    for id_ in sorted(history)[:-1]:
        del history[id_]


@pytest.mark.parametrize("theirs", [False, True])
def test_what_is_removed_meanwhile_is_in_no_history_and_in_no_answer(theirs, tmp_path):
    with SqliteSaver.from_conn_string(str(tmp_path / "threads.sqlite")) as ours:
        saver = TheirSaver() if theirs else ours
        session = recorded(saver, [{"last": "x"}, {"log": ["a"]}, {"log": ["b"]}])
        before = session.why(("last",))
        assert len(session.timeline().rows) > 4
        assert {hop.checkpoint for hop in before} & {row.checkpoint for row in session.timeline().rows}
        keep_latest(saver)
        left = {row.checkpoint for row in session.timeline().rows}
        assert left == {session.spot().id}
        assert {hop.checkpoint for hop in session.why(("last",))} <= left
