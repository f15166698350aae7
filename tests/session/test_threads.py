"""The list of threads: search over names, metadata, state, questions and errors; filters, sizes, the newest failure."""

import operator
from typing import Annotated

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from typing_extensions import TypedDict

from debugger_ui.engines.graph import About
from debugger_ui.engines.opening import attach
from debugger_ui.session.search import LETTERS
from debugger_ui.session.session import DebugSession
from debugger_ui.session.workspace import Workspace


class Talk(TypedDict, total=False):
    """A conversation and a note that is as deep as somebody likes."""

    messages: Annotated[list, operator.add]
    note: dict


@pytest.fixture
def graph(kit):
    """A reply, a question on "ask", an error on "break"."""

    def reply(state):
        said = state["messages"][-1].content
        if "break" in said:
            raise ConnectionError("the tide table is offline")
        if "ask" in said:
            kit.interrupt({"question": "Is the lighthouse lit?"})
        return {"messages": [AIMessage(f"heard {said}")]}

    builder = kit.StateGraph(Talk)
    builder.add_node("reply", reply)
    builder.add_edge(kit.START, "reply")
    return builder.compile(checkpointer=kit.saver())


@pytest.fixture
def session(graph):
    """Four threads: talked, waiting, failed, and one whose note is deep."""

    def say(thread, text, **more):
        config = {"configurable": {"thread_id": thread}, "metadata": {"customer": f"customer of {thread}"}}
        try:
            graph.invoke({"messages": [HumanMessage(text)], **more}, config)
        except ConnectionError:
            return

    say("harbour", "Ferries to the island")
    say("waiting", "ask me")
    say("failed", "break it")
    say("deep", "hello", note={"plan": [{"where": "north pier"}]})
    workspace = Workspace([attach(graph, None, About("g"))])
    yield DebugSession(workspace)
    workspace.close()


def found(session, text, **more):
    return {row.id: row.match for row in session.threads(text=text, **more).rows}


def test_a_text_is_found_wherever_it_stands(session):
    assert found(session, "harb") == {"harbour": ""}
    assert found(session, "customer OF failed") == {"failed": ""}
    assert found(session, "FERRIES to") == {"harbour": "messages[1].content: heard Ferries to the island"}
    assert found(session, "lighthouse") == {"waiting": "question of reply question: Is the lighthouse lit?"}
    assert "tide table is offline" in found(session, "offline")["failed"]
    assert found(session, "north pier") == {"deep": "note.plan[0].where: north pier"}
    assert found(session, "nowhere at all") == {}


def test_a_state_that_moved_on_is_searched_anew(session, graph):
    assert found(session, "second visit") == {}
    graph.invoke({"messages": [HumanMessage("second visit")]}, {"configurable": {"thread_id": "harbour"}})
    assert list(found(session, "second visit")) == ["harbour"]


def test_of_a_long_conversation_the_end_is_found(session, graph):
    config = {"configurable": {"thread_id": "harbour"}}
    graph.invoke({"messages": [HumanMessage("x" * LETTERS), HumanMessage("the very last words")]}, config)
    assert list(found(session, "very last words")) == ["harbour"]


def test_hostile_text_around_a_hit_is_literal(session, graph):
    graph.invoke({"messages": [HumanMessage("abc\u202edef\x00")]}, {"configurable": {"thread_id": "harbour"}})
    assert "\\u202e" in found(session, "abc")["harbour"]


def test_search_and_status_go_together_and_page(session):
    assert set(found(session, "customer of")) == {"harbour", "waiting", "failed", "deep"}
    assert set(found(session, "customer of", status="failed")) == {"failed"}
    first = session.threads(text="customer of", limit=3)
    rest = session.threads(text="customer of", offset=3, limit=3)
    assert first.more
    assert not rest.more
    assert {row.id for row in (*first.rows, *rest.rows)} == {"harbour", "waiting", "failed", "deep"}


def test_the_newest_failure_is_the_newest_thread_that_stands_at_one(session, graph, kit):
    assert session.newest_failure().id == "failed"
    assert session.newest_failure().error == "ConnectionError: the tide table is offline"
    with pytest.raises(ConnectionError):
        graph.invoke({"messages": [HumanMessage("break too")]}, {"configurable": {"thread_id": "harbour"}})
    assert session.newest_failure().id == "harbour"


def test_with_a_mask_only_the_kind_of_an_error_is_listed(session):
    session.workspace.masks.add("messages.*.content")
    assert session.newest_failure().error == "ConnectionError"


def test_sizes_are_told_where_the_database_tells_them(session, kit):
    sizes = [row.bytes for row in session.threads().rows]
    if kit.root == "runtime":
        assert all(size > 0 for size in sizes)
    else:
        assert sizes == [None] * 4
