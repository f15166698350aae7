"""The Compare page: what it opens with, what is chosen on it, and that a comparison is a link."""

import re

import pytest
from playwright.sync_api import expect

from debugger_ui.panels import compare
from debugger_ui.panels.compare_choice import Choice
from debugger_ui.session.views import Side
from tests.ui.seen import digest, sent, text_of
from tests.ui.test_browser import CLIPPED

HOSTILE = "<script>alert(1)</script> **bold** ![i](http://evil.example/leak.png)"
PARTING = "At superstep 2 they part: edit 1 has an edit by research that set findings; main ran research."


def host(page):
    return page.session_state["_tab"]


def chosen(page):
    return page.session_state["_compare"]


def sentence(page):
    return next(block for block in sent(page, "sheet", "compare_top")["blocks"] if block["kind"] == "note")["text"]


def table(page, key):
    return next(block for block in sent(page, "sheet", key)["blocks"] if block["kind"] == "table")


def link(page):
    """The comparison's part of the URL; the query of an AppTest keeps lists."""
    found = page.query_params.get("compare", "")
    return found[0] if isinstance(found, list) else found


def linked(left, right, at=("", "")):
    return Choice(left, right, at).to_param()


def branches(page):
    return {branch.name: branch.id for branch in host(page).session.branches()}


def test_it_opens_with_the_cursors_branch_against_the_one_that_it_left(open_page, database):
    page = open_page(page="Compare", thread="research-forked")
    before = digest(database)
    assert sentence(page) == f"Both share 3 checkpoints. {PARTING}"
    lanes = table(page, "compare_lanes")
    assert [column["label"] for column in lanes["columns"]] == ["edit 1", "main"]
    assert [row.get("span", False) for row in lanes["rows"]] == [False, True, False, False, False, False]
    assert [row["key"] for row in lanes["rows"] if "parts" in row.get("tone", "")] == [lanes["rows"][2]["key"]]
    assert "only right" in text_of(page, "compare_states")
    choice = Choice.from_param(link(page))
    assert (choice.left.branch, choice.right.branch) == (branches(page)["edit 1"], branches(page)["main"])
    page.run()
    assert not page.exception
    assert digest(database) == before


def test_the_entry_beside_the_branch_opens_it_and_is_off_for_a_single_branch(open_page):
    page = open_page(thread="counter")
    assert page.button(key="compare_branch").disabled
    page = open_page(thread="research-forked")
    host(page).session.move(branch=branches(page)["main"])
    page.button(key="compare_branch").click().run()
    assert page.session_state["page"] == "Compare"
    assert "main ran research; edit 1 has an edit" in sentence(page)
    assert page.button(key="compare_branch")  # it stays, so that what stands beside it does not move


def test_a_comparison_is_a_link_and_swaps_by_a_button(open_page):
    page = open_page(page="Compare", compare=linked(Side("research-finished"), Side("research-waiting")))
    assert "research-waiting waits for an answer" in sentence(page)
    page.button(key="compare_swap").click().run()
    assert sentence(page).endswith("they part: research-waiting waits for an answer; research-finished ran review.")
    choice = Choice.from_param(link(page))
    assert (choice.left.thread, choice.right.thread) == ("research-waiting", "research-finished")
    again = open_page(page="Compare", compare=link(page))
    assert sentence(again) == sentence(page)
    page.session_state["page"] = "Threads"
    page.run()
    assert link(page) == ""


def test_a_row_chooses_whose_states_are_compared(open_page):
    page = open_page(page="Compare", thread="research-forked")
    found = host(page).session.compare(chosen(page).choice.left, chosen(page).choice.right)
    pair = compare.aligned(found.rows)[1]
    chosen(page).choose(Choice(chosen(page).choice.left, chosen(page).choice.right, pair))
    page.run()
    assert "superstep 2 of edit 1 and superstep 2 of main" in text_of(page, "compare_states")
    assert Choice.from_param(link(page)).pair == pair
    assert [row["key"] for row in table(page, "compare_lanes")["rows"] if "selected" in row.get("tone", "")] == [
        "|".join(pair)
    ]
    again = open_page(page="Compare", compare=link(page))
    assert text_of(again, "compare_states") == text_of(page, "compare_states")


def test_every_step_is_a_way_to_its_checkpoint(open_page):
    page = open_page(page="Compare", thread="research-forked")
    found = host(page).session.compare(chosen(page).choice.left, chosen(page).choice.right)
    shown = text_of(page, "compare_lanes")
    steps = [("left", row.left) for row in found.rows] + [("right", row.right) for row in found.rows if row.right]
    wanted = [(side, step) for side, step in steps if step and step.checkpoint in shown]
    assert len(wanted) == len([each for each in steps if each[1]])
    for name, step in wanted:
        side = found.left.side if name == "left" else found.right.side
        host(page).session.move(thread="counter")
        place = {"thread": side.thread, "branch": side.branch, "checkpoint": step.checkpoint}
        host(page).session.move(**place)
        assert host(page).session.checkpoint().id == step.checkpoint


def test_siblings_are_one_click_away(open_page):
    page = open_page(thread="research-waiting")
    session = host(page).session
    at = session.questions()[0].checkpoint
    session.answer({session.questions()[0].id: '"approve"'})
    session.wait(30)
    for _ in range(2):
        session.move(thread="research-waiting", checkpoint=at)
        session.step()
        session.wait(30)
        session.answer({session.questions()[0].id: '"approve"'})
        session.wait(30)
    page.session_state["page"] = "Compare"
    page.run()
    assert [item["text"] for item in sent(page, "sheet", "compare_top")["blocks"][1]["items"]] == [
        "Compare replay 2 with",
        "replay 1",
    ]
    assert sentence(page) == "Both share 5 checkpoints, then come 2 equal steps. Nothing differs."
    assert "Same state" in text_of(page, "compare_states")


def empty_state(page):
    (block,) = sent(page, "sheet", "compare_empty")["blocks"]
    return block["title"], block["text"]


def test_what_cannot_be_compared_is_said(open_page):
    page = open_page(page="Compare", thread="counter")
    title, text = empty_state(page)
    assert title == "One branch only"
    assert "Step, answer or edit at an older checkpoint" in text
    page = open_page(page="Compare", compare=linked(Side("research-forked"), Side("research-forked")))
    assert empty_state(page)[0] == "The same on both sides"
    page = open_page(page="Compare", compare=linked(Side(HOSTILE), Side("counter", "none")))
    assert empty_state(page)[0] == "This cannot be compared"
    assert "There is no thread" in empty_state(page)[1]
    assert not page.exception
    assert not any("evil.example" in element.value for element in page.markdown)
    page = open_page(page="Compare", compare=linked(Side("counter"), Side("join"), ("gone", "gone")))
    assert "These states cannot be compared" in text_of(page, "compare_states")


def test_a_database_without_threads_says_what_to_do(tmp_path, monkeypatch):
    from streamlit.testing.v1 import AppTest

    from debugger_ui.server import shared
    from debugger_ui.session.workspace import Workspace
    from tests.ui.conftest import ROOT

    workspace = Workspace.open("sample_graphs.counter:graph", database=str(tmp_path / "empty.sqlite"))
    shared.use(workspace)
    page = AppTest.from_file(str(ROOT / "debugger_ui" / "app.py"), default_timeout=60)
    page.query_params["page"] = "Compare"
    page.run()
    assert not page.exception
    assert empty_state(page)[0] == "No thread yet"
    workspace.close()
    shared._opened.clear()


def test_a_choice_survives_its_url():
    choice = Choice(Side("a", "b", "c", "n", "g"), Side("d é 💥"), ("1", "2"))
    assert Choice.from_param(choice.to_param()) == choice


@pytest.mark.parametrize(
    "text", ["", "{", "[" * 9_000, "[1]", "{}", '{"left": 3, "right": {"thread": "t"}}', "x" * 20_000, '{"left": {}}']
)
def test_a_url_that_names_no_two_threads_chooses_nothing(text):
    assert Choice.from_param(text) is None


# --- in a browser ------------------------------------------------------------------------------


def fits(desk, width, height):
    """Both panels are whole inside the window, and nothing of the header is cut."""
    desk.page.set_viewport_size({"width": width, "height": height})
    for panel in ("compare_left", "compare_right"):
        box = desk.page.locator(f".st-key-{panel}").bounding_box()
        assert box["height"] > height / 2
        assert box["y"] + box["height"] <= height
        assert box["x"] + box["width"] <= width
    assert desk.page.evaluate(CLIPPED) == []


def test_a_branch_is_compared_with_its_parent_and_a_step_leads_back(desk):
    desk.open(thread="research-forked")
    desk.button("compare_branch").click()
    told = desk.page.locator('[data-name="sentence"]')
    expect(told).to_contain_text("edit 1 has an edit by research that set findings; main ran research.")
    desk.page.wait_for_url(re.compile("compare="))
    rows = desk.page.locator(".st-key-compare_lanes tr[data-act=pair]")
    rows.nth(2).click()
    expect(rows.nth(2)).to_have_class(re.compile("selected"))
    states = desk.page.locator(".st-key-compare_states")
    expect(states).to_contain_text("superstep 3 of edit 1 and superstep 3 of main")
    for width, height in ((1440, 900), (1280, 720)):
        fits(desk, width, height)
    desk.page.wait_for_url(re.compile(r"compare=.*%22at%22"))
    desk.settle()
    before = desk.page.url
    desk.button("compare_swap").click()
    expect(told).to_contain_text("main ran research; edit 1 has an edit by research that set findings.")
    expect(desk.page).not_to_have_url(before)
    desk.settle()
    step = desk.page.locator('.st-key-compare_lanes button[data-act="open"]', has_text="review")
    chosen = re.search(r"Open (\S+) ", step.get_attribute("title"))[1]
    step.click()
    expect(desk.page.locator(".timeline")).to_have_attribute("data-selected", chosen)
    desk.page.wait_for_url(re.compile(f"^(?!.*compare=).*checkpoint={chosen}"))
