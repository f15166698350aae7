"""Subgraphs on the page: the ways in and out, the drawing opened in place, and going on from inside."""

import json

from debugger_ui.panels import breakpoints
from debugger_ui.session.views import Edit
from tests.ui.seen import digest, finish, sent, text_of


def session_of(page):
    return page.session_state["_tab"].session


def press(page, name):
    page.button(key=f"do_{name}").click().run()
    assert not page.exception
    return page


def words(page, key):
    (bar,) = sent(page, "sheet", key)["blocks"]
    return [item.get("text") for item in bar["items"]]


def test_into_and_out_go_between_the_levels_and_the_url_follows(open_page, database):
    page = open_page(thread="sections-waiting", tab="Tasks")
    before = digest(database)
    assert page.button(key="do_out").disabled
    press(press(page, "into"), "into")
    assert words(page, "crumbs") == ["inside", "section", "/", "check"]
    assert page.query_params["namespace"] == session_of(page).cursor.namespace
    assert {node["name"] for node in sent(page, "graph")["nodes"]} >= {"find_numbers", "confirm"}
    assert page.button(key="do_into").disabled
    assert "Answering runs superstep 2 of sections: section / check goes on from here." in text_of(page, "tasks")
    press(page, "out")
    assert words(page, "crumbs") == ["inside", "section"]
    assert sent(page, "graph")["selected"] == "check"
    press(page, "out")
    assert session_of(page).cursor.namespace == ""
    assert digest(database) == before


def test_of_several_finished_runs_the_tasks_let_one_be_chosen(open_page):
    page = open_page(thread="sections-waiting")
    tab = page.session_state["_tab"]
    tab.act(session_of(page).answer, {question.id: '"yes"' for question in session_of(page).questions()})
    finish(page)
    outermost = next(run for run in session_of(page).inner_runs().rows if not run.around)
    tab.act(session_of(page).move, checkpoint=outermost.parent)
    press(page.run(), "into")
    assert page.session_state["tab"] == "Tasks"
    assert "choose one" in tab.notice
    assert text_of(page, "tasks").count('"text": "Step into"') == 2
    listed = json.dumps(sent(page, "sheet", "tasks"))
    assert listed.count("section / check") == 2


def test_the_drawing_opens_subgraphs_with_their_marks(open_page):
    drawn = sent(open_page(thread="sections-waiting"), "graph")
    assert [cluster["name"] for cluster in drawn["clusters"]] == ["inside section", "inside check"]
    assert drawn["waiting"] == ["section", "section|check", "section|check|confirm"]
    assert "section|check|find_numbers" in drawn["done"]


def test_an_edit_inside_is_stepped_there_and_then_by_the_graph_around_it_and_the_original_stays(open_page):
    page = open_page(thread="subgraph")
    press(press(page, "back"), "into")
    session, tab = session_of(page), page.session_state["_tab"]
    outer = [row for row in session.desk.reading.history("subgraph").order]
    press(page, "back")
    assert "Step runs superstep 2 of edit on a new branch of subgraph." in text_of(page, "activity")
    saved = tab.act(session.save_edit, [Edit("cuts", '["small"]')], "find_fillers")
    assert saved.message.endswith("Next: cut_fillers. Step runs superstep 3 of edit on a new branch of subgraph.")
    press(page.run(), "step")
    finish(page)
    assert words(page, "crumbs") == ["inside", "edit"]
    assert "edit is at its end: Step runs superstep 3 of subgraph." in text_of(page, "activity")
    press(page, "step")
    finish(page)
    assert session.cursor.namespace == ""
    assert session.value(("text",)).text == "Lindhaven is really just a and very windy harbour"
    assert session.desk.reading.history("subgraph").order[: len(outer)] == outer
    assert not page.exception


def test_a_breakpoint_inside_is_set_on_the_page_and_leads_the_cursor_in(open_page):
    page = open_page(thread="sections-waiting")
    tab = page.session_state["_tab"]
    tab.act(session_of(page).new_run, {"topics": '["ferry"]'}, thread="one")
    finish(page)
    page.session_state["breakpoints_open"] = True
    page.run()
    listed = next(block for block in sent(page, "sheet", "breakpoints")["blocks"] if block["kind"] == "table")
    assert "section|check|confirm" in [row["key"] for row in listed["rows"]]
    breakpoints.toggle(tab, "before:section|check|confirm")
    press(page.run(), "continue")
    finish(page)
    assert "Breakpoint before section / check / confirm" in text_of(page, "activity")
    assert words(page, "crumbs") == ["inside", "section", "/", "check"]
    assert page.query_params["namespace"] == session_of(page).cursor.namespace


def test_a_subgraph_that_is_due_is_run_into_by_the_button_and_of_several_one_in_the_tasks(open_page):
    page = open_page(thread="subgraph")
    tab = page.session_state["_tab"]
    tab.act(session_of(page).new_run, {"text": '"Lindhaven"'}, thread="one")
    press(finish(page), "step")
    finish(page)
    press(page, "into")
    finish(page)
    assert (words(page, "crumbs"), sent(page, "graph")["next"]) == (["inside", "edit"], ["find_fillers"])
    page = open_page(thread="sections-waiting")
    tab = page.session_state["_tab"]
    tab.act(session_of(page).new_run, {"topics": '["bridge", "ferry"]'}, thread="two")
    press(finish(page), "step")
    press(finish(page), "into")
    assert (page.session_state["tab"], text_of(page, "tasks").count('"text": "Run into"')) == ("Tasks", 2)
    assert "run into one of them" in tab.notice


def test_read_only_looks_inside_and_runs_nothing(open_page):
    page = open_page(read_only=True, thread="sections-waiting")
    press(page, "into")
    assert session_of(page).cursor.namespace
    for name in ("step", "phase", "continue", "fork", "answer"):
        assert page.button(key=f"do_{name}").disabled


def new_run(desk, thread):
    """Give a thread of its own to the sections, and run it to its question."""
    desk.open(thread="sections-waiting", tab="Tasks")
    desk.button("new_run").click()
    desk.page.locator(".st-key-new_run_thread input").fill(thread)
    desk.button("start").click()
    desk.counts(2)
    desk.press("Continue")


def run_again_from_the_step_before(desk):
    """Go back inside, and step there, one superstep at a time, to the question on a branch of its own."""
    desk.press("Back")
    desk.mark("find_numbers", "next")
    desk.press("Step")
    desk.mark("confirm", "next")
    desk.press("Step")
    desk.mark("confirm", "waiting")
    desk.tab("Tasks")


def test_in_a_browser_a_question_two_levels_down_is_answered_inside(desk):
    from playwright.sync_api import expect

    new_run(desk, "two levels")
    desk.mark("section|check|confirm", "waiting")
    expect(desk.button("do_answer")).to_be_visible()
    desk.settle()
    desk.page.keyboard.press("i")
    crumbs = desk.page.locator(".st-key-crumbs")
    expect(crumbs).to_contain_text("section")
    desk.mark("check|confirm", "waiting")
    desk.press("Into")
    desk.mark("confirm", "waiting")
    expect(crumbs).to_contain_text("check")
    desk.settle()
    crumbs.get_by_role("button", name="section", exact=True).click()
    desk.mark("check|confirm", "waiting")
    desk.settle()
    desk.page.keyboard.press("o")
    desk.mark("section|check|confirm", "waiting")
    desk.press("Into")
    desk.mark("check|confirm", "waiting")
    desk.press("Into")
    desk.mark("confirm", "waiting")
    run_again_from_the_step_before(desk)
    expect(crumbs).to_contain_text("check")
    desk.page.get_by_role("button", name="no", exact=True).click()
    desk.counts(6)
    expect(crumbs).to_have_count(0)
    desk.mark("bind", "done")
    desk.tab("State")
    expect(desk.page.locator(".st-key-state")).to_contain_text("The bridge costs 40 million, they say.")
