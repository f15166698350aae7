"""Branches on the page: the list, names, hiding, notes, another answer, and what is missing after a failure."""

from playwright.sync_api import expect

from tests.ui.seen import digest, finish, sent, text_of


def host(page):
    return page.session_state["_tab"]


def pick(page, act, branch):
    """Click in the list of branches, as its sheet reports it."""
    from debugger_ui.panels import branches

    page.session_state["branches_open"] = True
    page.run()
    session = host(page).session
    here = {"go": lambda: session.move(branch=branch), "hide": lambda: hide(session, branch)}
    if act == "edit":
        page.session_state[branches.CHOSEN] = branch
    else:
        here[act]()
    host(page).leading = True
    return page.run()


def hide(session, branch):
    now = next(one for one in session.branch_list() if one.id == branch)
    session.label_branch(branch, hidden=not now.hidden)


def shown(page, key="branch_picker"):
    return [label for _, label in sent(page, "picker", key)["options"]]


def test_a_hidden_branch_leaves_timeline_and_picker_and_a_click_shows_it(open_page):
    page = open_page(thread="research-forked")
    main, edit = host(page).session.branch_list()
    total = sent(page, "timeline")["total"]
    page = pick(page, "hide", edit.id)
    assert sent(page, "timeline")["total"] == total
    assert sent(page, "timeline")["hidden"] == ""
    page = pick(page, "go", main.id)
    assert sent(page, "timeline")["hidden"] == "1 hidden"
    assert sent(page, "timeline")["total"] == total - edit.checkpoints
    assert "hidden" in text_of(page, "branches")
    host(page).hidden = True
    page.run()
    assert sent(page, "timeline")["total"] == total
    assert sent(page, "timeline")["hidden"] == "hide 1"
    assert shown(page) == [main.name, edit.name]


def test_a_name_and_a_note_are_saved_and_shown_and_a_read_only_page_says_where_they_go(open_page, database):
    before = digest(database)
    page = open_page(thread="research-forked", read_only=True)
    _, edit = host(page).session.branch_list()
    page = pick(page, "edit", edit.id)
    assert "only as long as this program" in text_of(page, "branches")
    page.text_input(key=f"branch_name_{edit.id}").set_value("**bold** try")
    page.text_area(key=f"branch_note_{edit.id}").set_value("less rain")
    page.button(key="branch_save").click().run()
    assert "**bold** try" in shown(page)
    assert "less rain" in text_of(page, "branches")
    assert digest(database) == before
    assert not database.with_name(database.name + ".forkpoint.json").exists()


def test_another_answer_starts_a_branch_beside_the_first(open_page):
    page = open_page(thread="research-finished", tab="Tasks")
    session = host(page).session
    asked = next(
        row.checkpoint
        for row in session.timeline().rows
        if any(task.answered for task in session.tasks(row.checkpoint))
    )
    page = open_page(thread="research-finished", tab="Tasks", checkpoint=asked)
    (question,) = (one for task in host(page).session.tasks() for one in task.answered)
    assert "answered with" in text_of(page, f"answered_sheet_{question.id}")
    page.toggle(key=f"otherwise_{asked}_{question.id}").set_value(True).run()
    options = [button for button in page.button if (button.key or "").startswith(f"option_{question.id}")]
    options[-1].click().run()
    assert host(page).problem is None
    finish(page)
    assert [branch.origin for branch in host(page).session.branch_list()] == ["start", "answer"]


def test_a_failed_superstep_offers_to_retry_only_what_is_missing(open_page):
    page = open_page(thread="flaky-failed", tab="Tasks")
    found = host(page).session.missing()
    about = text_of(page, "retry_about")
    assert found.saved
    assert all(name in about for name in (*found.saved, *found.again))
    button = page.button(key="retry_missing")
    assert button.label == "Retry only the missing"
    runs = {task.name: task.attempts for task in host(page).session.tasks()}
    button.click().run()
    finish(page)
    again = {task.name: task.attempts for task in host(page).session.tasks(found.checkpoint)}
    assert all(again[name] == runs[name] for name in found.saved)
    assert all(again[name] == runs[name] + 1 for name in found.again)


def name_it(desk, row, name, note):
    """Name a branch of the list, and write a note on it."""
    row.locator("[data-act=edit]").click()
    desk.settle()
    desk.page.get_by_label("Name", exact=True).fill(name)
    desk.page.get_by_label("Note", exact=True).fill(note)
    desk.page.locator(".st-key-branch_save button:visible").click()
    expect(row).to_contain_text(name)
    expect(row).to_contain_text(note)
    desk.settle()


def note_it(desk, note):
    """Write a note on the checkpoint under the cursor."""
    desk.page.locator(".st-key-footer .stPopover button:visible").click()
    desk.page.get_by_label("Note on step", exact=False).fill(note)
    desk.page.locator(".st-key-note_save button:visible").click()
    expect(desk.page.locator(".timeline .row.selected")).to_contain_text(note)


def test_branches_are_named_noted_hidden_and_gone_to_in_the_browser(demo, desk_at):
    desk = desk_at(demo, viewport={"width": 1280, "height": 720})
    desk.open(thread="research-forked")
    page, total = desk.page, desk.count()
    page.locator(".st-key-branches_button button:visible").first.click()
    rows = page.locator(".st-key-branches table tbody tr")
    expect(rows).to_have_count(2)
    desk.settle()
    name_it(desk, rows.nth(1), "colder winter", "<b>what if</b>")
    rows.nth(1).locator("[data-act=fork]").click()
    expect(page.locator(".timeline .row.selected .step")).to_have_text("1")
    desk.settle()
    rows.nth(0).locator("td").first.click()
    expect(page.locator(".st-key-branch_picker select")).to_have_attribute("title", "Branch: main")
    desk.settle()
    rows.nth(1).locator("[data-act=hide]").click()
    hidden = page.locator(".timeline .hidden-branches")
    expect(hidden).to_have_text("1 hidden")
    desk.counts(total - 2)
    desk.settle()
    page.keyboard.press("Escape")
    hidden.click()
    desk.counts(total)
    expect(page.locator(".timeline .branch", has_text="colder winter")).to_be_visible()
    desk.settle()
    note_it(desk, "the turning point")
