"""Breakpoints on the page: set and taken away in the list, kept for other browser tabs, and Continue stops there."""

import json

import pytest

from debugger_ui.panels import breakpoints
from tests.ui.seen import finish, sent, text_of


def host(page):
    return page.session_state["_tab"]


def begin(page, thread):
    """Start a run of the research graph and stop at its input."""
    session = host(page).session
    host(page).act(session.new_run, session.acting.form().example, thread=thread, run=False)
    return finish(page)


def toggle(page, point):
    breakpoints.toggle(host(page), point)
    return page.run()


def opened(page):
    page.session_state["breakpoints_open"] = True
    return page.run()


def stops(page):
    """What the list says: node to the words of its two switches."""
    table = next(block for block in sent(page, "sheet", "breakpoints")["blocks"] if block["kind"] == "table")
    return {row["key"]: tuple(row["cells"][side][0]["text"] for side in (1, 2)) for row in table["rows"]}


def test_the_list_names_every_node_and_what_is_set(open_page):
    page = opened(open_page(thread="research-waiting"))
    assert set(stops(page)) == {"plan", "research", "check", "review", "report"}
    assert set(stops(page).values()) == {("off", "off")}
    toggle(page, "before:check")
    opened(page)
    assert stops(page)["check"] == ("stops", "off")
    toggle(page, "before:check")
    opened(page)
    assert stops(page)["check"] == ("off", "off")
    assert not page.exception


@pytest.mark.parametrize(("point", "due"), [("before:check", "check"), ("after:plan", "research")])
def test_continue_stops_there_says_so_and_counts_the_hit(open_page, point, due):
    page = begin(open_page(thread="research-waiting"), "halted")
    toggle(page, point)
    page.button(key="do_continue").click().run()
    finish(page)
    assert sent(page, "graph")["next"] == [due]
    assert f"Breakpoint {point.replace(':', ' ')}" in text_of(page, "activity")
    assert [one.hits for one in host(page).session.breakpoints()] == [1]
    page.button(key="do_continue").click().run()
    finish(page)
    assert sent(page, "graph")["waiting"] == ["review"]
    assert "Breakpoint" not in json.dumps(sent(page, "sheet", "activity"))


def test_a_reload_and_another_tab_keep_them(open_page):
    toggle(open_page(thread="research-waiting"), "after:plan")
    other = opened(open_page(thread="research-finished"))
    assert stops(other)["plan"] == ("off", "stops")


def test_an_unknown_node_is_refused_in_a_sentence(open_page):
    page = toggle(open_page(thread="research-waiting"), "before:nobody")
    assert "no node 'nobody'" in host(page).problem.message
    assert not page.exception
