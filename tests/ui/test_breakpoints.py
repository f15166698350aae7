"""Breakpoints on the page: set and taken away in the list, kept for other browser tabs, and Continue stops there."""

import json

import pytest
from playwright.sync_api import expect

from debugger_ui.panels import breakpoints, values, watches
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


def shown(page, key):
    """The rows of the last table in a sheet: key to all that is said there."""
    tables = [block for block in sent(page, "sheet", key)["blocks"] if block["kind"] == "table"]
    return {row["key"]: json.dumps(row["cells"]) for row in tables[-1]["rows"]}


def fill(page, point, condition, hit=1):
    """Choose where, type a condition and a hit, and press Set."""
    opened(page)
    page.session_state["_break_changed"] = point
    page.run()
    page.text_input(key="break_condition").set_value(condition)
    page.number_input(key="break_hit").set_value(hit)
    page.button(key="break_set").click()
    return page.run()


def test_the_form_sets_a_condition_and_a_hit_and_refuses_in_place(open_page):
    page = fill(open_page(thread="research-waiting"), "before:check", "len(findings) >")
    assert "not an expression" in text_of(page, "break_refused")
    assert page.text_input(key="break_condition").value == "len(findings) >"
    assert host(page).session.breakpoints() == ()
    fill(page, "before:check", "len(findings) > 1", 2)
    fill(page, "change:round", "")
    said = shown(page, "breakpoints")
    assert set(said) == {"before:check", "change:round"}
    assert "if len(findings) > 1" in said["before:check"]
    assert "stops from 2" in said["before:check"]
    assert "when round changes" in said["change:round"]
    assert page.text_input(key="break_condition").value == ""
    assert not page.exception


def test_a_condition_without_a_value_stops_and_says_why(open_page):
    page = begin(open_page(thread="research-waiting"), "unsure")
    host(page).session.set_breakpoint("plan", "after", condition="findings[0]['topic'] == 'cost'")
    page.button(key="do_continue").click().run()
    finish(page)
    assert "Breakpoint after plan" in text_of(page, "activity")
    assert "There is no item 0: the list has 0" in text_of(page, "message_sheet")
    assert not page.exception


def test_watches_are_cells_of_the_timeline_and_can_be_taken_away(open_page):
    page = opened(open_page(thread="research-waiting"))
    for text in ("len(findings)", "findings[0]['topic']"):
        page.text_input(key="watch_text").set_value(text)
        page.button(key="watch_add").click()
        page.run()
    drawn = sent(page, "timeline")
    assert drawn["watches"] == ["len(findings)", "findings[0]['topic']"]
    assert [row["cells"][0]["x"] for row in drawn["rows"]] == ["4", "4", "0", "0", "0"]
    assert drawn["rows"][0]["cells"][1]["x"] == "cost"
    assert "There is no item 0" in drawn["rows"][-1]["cells"][1]["e"]
    page.text_input(key="watch_text").set_value("findings.topic")
    page.button(key="watch_add").click()
    page.run()
    assert "no attributes here" in text_of(page, "watch_refused")
    watches.forget(host(page), {"expression": "len(findings)"})
    page.run()
    assert sent(page, "timeline")["watches"] == ["findings[0]['topic']"]
    assert not page.exception


def test_a_value_of_the_state_can_be_watched_from_where_it_stands(open_page):
    page = open_page(thread="research-waiting")
    host(page).forms['["findings"]'] = "tree"
    page.run()
    first = next(row for row in sent(page, "sheet", "state")["blocks"][0]["rows"] if row["key"] == "findings")
    path = first["value"]["c"][0][1]["w"]
    values.watch(host(page), path)
    page.run()
    assert sent(page, "timeline")["watches"] == ["findings[0]"]
    assert sent(page, "timeline")["rows"][0]["cells"][0]["x"].startswith("{topic: cost")


def test_a_conditional_breakpoint_and_a_watch_outlive_a_reload_of_the_page(desk):
    page = desk.page
    desk.open(thread="research-finished")
    page.get_by_role("button", name="Breaks").click()
    page.locator(".st-key-break_place select").select_option(label="after research")
    page.get_by_label("Only if").fill("len(findings) > 1")
    desk.settle()
    desk.button("break_set").click()
    row = page.locator("tr[data-key='after:research']")
    expect(row).to_contain_text("if len(findings) > 1")
    page.get_by_label("Expression", exact=True).fill("len(findings)")
    desk.settle()
    desk.button("watch_add").click()
    cell = page.locator(".timeline .row .cell")
    expect(cell.first).to_have_text("3")
    page.reload()
    page.locator(".graph[data-ready] g.node").first.wait_for()
    expect(page.locator(".watched .watch")).to_have_text(["len(findings)"])
    expect(page.locator(".timeline .row[data-source=input] .cell")).to_have_text("0")
    page.get_by_role("button", name="Breaks").click()
    expect(row).to_contain_text("if len(findings) > 1")
    row.get_by_role("button", name="remove").click()
    expect(row).to_have_count(0)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Stop watching len(findings)").click()
    expect(page.locator(".watched")).to_be_hidden()
