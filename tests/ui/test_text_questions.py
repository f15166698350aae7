"""A question that is only a text: shown once, however long, and answered with a text or with what JSON says."""

from typing import TypedDict

import pytest

from runtime.checkpoint.memory import InMemorySaver
from runtime.graph import END, START, StateGraph
from runtime.types import interrupt
from tests.ui.seen import finish, sent, text_of

SECTIONS = "\n\n".join(f"Section: {number}\nResearch needed: yes" for number in range(60))
LONG = f"Please look at this plan.\n\n{SECTIONS}\n\nPass 'true' to approve it, or say what to change."
CONFIG = {"configurable": {"thread_id": "one"}}


class State(TypedDict, total=False):
    ask: str
    said: list


def review(state: State):
    return {"said": [interrupt(state["ask"])]}


@pytest.fixture
def graph():
    builder = StateGraph(State)
    builder.add_node("review", review)
    builder.add_edge(START, "review")
    builder.add_edge("review", END)
    return builder.compile(checkpointer=InMemorySaver())


def said(graph):
    return graph.get_state(CONFIG).values.get("said")


def answer(page, text, *, json):
    asked = page.session_state["_tab"].session.questions()[0].id
    page.text_area(key=f"box_{asked}").set_value(text)
    page.toggle(key=f"json_{asked}").set_value(json)
    page.run()
    page.button(key=f"send_{asked}").click().run()
    return finish(page)


@pytest.mark.parametrize(
    ("text", "json", "given"),
    [
        ("true", True, True),
        ("true", False, "true"),
        ('{"grade": 3}', True, {"grade": 3}),
        ("add a map", False, "add a map"),
    ],
)
def test_a_text_is_given_as_it_is_and_json_where_that_is_asked_for(graph, page_on, text, json, given):
    graph.invoke({"ask": "Good enough?"}, CONFIG)
    page = answer(page_on(graph, thread="one", tab="Tasks"), text, json=json)
    assert not page.exception
    assert said(graph) == [given]


def test_what_is_no_json_is_refused_and_the_question_stays(graph, page_on):
    graph.invoke({"ask": "Good enough?"}, CONFIG)
    page = answer(page_on(graph, thread="one", tab="Tasks"), "yes, please", json=True)
    assert "JSON" in page.session_state["_tab"].problem.message
    assert said(graph) is None
    assert page.session_state["_tab"].session.questions()


def test_a_long_question_is_shown_once_and_under_its_chip(graph, page_on):
    graph.invoke({"ask": LONG}, CONFIG)
    page = page_on(graph, thread="one", tab="Tasks")
    blocks = sent(page, "sheet", "question_sheet")["blocks"]
    assert [block["text"] for block in blocks if block["kind"] == "text" and block["tone"] == "asked"] == [LONG]
    assert text_of(page, "question_sheet").count("Please look at this plan.") == 1


def test_in_the_list_of_the_inbox_a_long_question_is_clamped(graph, page_on):
    graph.invoke({"ask": LONG}, CONFIG)
    page = page_on(graph, thread="one", page="Inbox")
    table = sent(page, "sheet", "inbox_list")["blocks"][1]
    words = [item for row in table["rows"] for cell in row["cells"] for item in cell if "Section: 59" in str(item)]
    assert words, table
    assert all("clamp" in word["t"].split() for word in words)
