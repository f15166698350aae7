"""The Superstep tab and the Phase button: what is shown of a round, and that each phase runs alone."""

import json

import pytest

from tests.ui.seen import digest, finish, sent, text_of

HOSTILE = "<script>alert(1)</script> **bold** ![i](http://evil.example/leak.png)"


def session_of(page):
    return page.session_state["_tab"].session


def phase(page):
    """Press Phase and let it end."""
    page.button(key="do_phase").click().run()
    return finish(page)


def chips(page):
    """The phases in the tab's first row, by how they stand."""
    row = next(block for block in sent(page, "sheet", "superstep")["blocks"] if block.get("name") == "phases")
    return [(item["text"], item["title"]) for item in row["items"] if item["t"] == "chip"]


def part(page, key, title):
    return next(block for block in sent(page, "sheet", key)["blocks"] if block.get("title") == title)


def test_a_recorded_superstep_shows_its_four_parts(open_page):
    page = open_page(thread="research-finished", tab="Superstep")
    session = session_of(page)
    while not session.tasks() or session.tasks()[0].name != "research":
        page.button(key="do_back").click().run()
    plan, update = session.plan(), session.update()
    table = part(page, "superstep", "Plan")["blocks"][0]
    assert {row["key"] for row in table["rows"]} == {verdict.node for verdict in plan.verdicts}
    assert all(column["width"] for column in table["columns"]), "long names of channels must not push a column out"
    runs = [row["key"] for row in table["rows"] if row["cells"][1][0]["text"] == "runs"]
    assert runs == [verdict.node for verdict in plan.verdicts if verdict.runs]
    cards = part(page, "superstep", "Execute")["blocks"]
    assert [(card["title"], card["status"]) for card in cards] == [(t.name, t.status) for t in session.tasks()]
    assert f"{update.tasks_in} of {update.tasks} results in" in text_of(page, "superstep_update")
    folds = [block for block in part(page, "superstep_update", "Update")["blocks"] if block["kind"] == "card"]
    assert [fold["title"] for fold in folds] == [fold.channel for fold in update.folds if fold.state_key]
    findings = next(fold for fold in update.folds if fold.channel == "findings")
    assert len(findings.steps) > 1
    rows = next(fold for fold in folds if fold["title"] == "findings")["blocks"][0]["rows"]
    writers = [row["key"].split()[-1] for row in rows if row["key"].startswith("⊕")]
    assert writers == [step.node for step in findings.steps]
    assert (rows[0]["key"], rows[0]["value"]["x"]) == ("before", findings.before.text)
    assert (rows[-1]["key"], rows[-1]["value"]["x"]) == ("= after", findings.after.text)


def test_a_recorded_superstep_offers_nothing_to_run(open_page):
    page = open_page(thread="research-finished", tab="Superstep")
    page.button(key="do_back").click().run()
    assert page.button(key="do_phase").disabled
    assert "actions" not in text_of(page, "superstep")
    assert "recorded whole" in text_of(page, "superstep")


def test_phases_go_one_at_a_time_and_the_state_moves_only_at_the_end(open_page, database):
    page = open_page(thread="counter")
    page.session_state["_tab"].act(
        session_of(page).new_run, session_of(page).acting.form().example, thread="by phases", run=False
    )
    finish(page)
    total = sent(page, "timeline")["total"]
    before = digest(database)
    phase(page)
    assert page.session_state["tab"] == "Superstep"
    assert [title for _, title in chips(page)] == ["done", "comes next", "later"]
    assert digest(database) == before
    phase(page)
    assert [title for _, title in chips(page)] == ["done", "done", "comes next"]
    assert sent(page, "timeline")["total"] == total
    assert all(task.status == "saved" for task in session_of(page).tasks())
    phase(page)
    assert sent(page, "timeline")["total"] == total + 1
    assert [title for _, title in chips(page)] == ["comes next", "later", "later"]
    assert not page.exception


def test_only_what_has_no_result_runs_again(open_page):
    page = open_page(thread="flaky-failed", tab="Superstep")
    failed = next(task for task in session_of(page).tasks() if task.status == "failed")
    assert "1 of 3" not in text_of(page, "superstep")
    assert text_of(page, "superstep").count('"act": "run"') == 1
    page.button(key="run_all_tasks").click().run()
    finish(page)
    again = next(task for task in session_of(page).tasks() if task.name == failed.name)
    others = [task for task in session_of(page).tasks() if task.name != failed.name]
    assert again.attempts == failed.attempts + 1
    assert {task.attempts for task in others} == {1}


def test_a_supplied_result_is_used_and_is_called_supplied(open_page):
    page = open_page(thread="flaky-failed", tab="Superstep")
    base = sent(page, "timeline")["selected"]
    failed = next(task for task in session_of(page).tasks() if task.status == "failed")
    page.session_state["_supplying"] = (base, failed.id)
    page.run()
    typed = json.dumps({"readings": [HOSTILE]})
    page.session_state[f"supply_{failed.id}"] = {"doc": {"rev": f"{base}:{failed.id}", "text": typed}}
    page.button(key="supply_result").click().run()
    finish(page)
    assert page.session_state["_tab"].problem is None
    assert next(task.status for task in session_of(page).tasks() if task.id == failed.id) == "supplied"
    fold = next(block for block in part(page, "superstep_update", "Update")["blocks"] if block["kind"] == "card")
    assert HOSTILE in json.dumps(fold)
    assert "hand (supplied)" in json.dumps(fold)
    assert not any(HOSTILE in element.value for element in page.markdown)
    page.button(key="run_update").click().run()
    finish(page)
    assert sent(page, "graph")["next"] == ["advise"]
    assert HOSTILE in json.dumps(session_of(page).raw(("readings",)))


@pytest.mark.parametrize(("typed", "said"), [("[1]", "not list"), ('{"nobody": 1}', "no key"), ("{", "Line 1")])
def test_a_wrong_result_is_refused_and_the_box_stays(open_page, database, typed, said):
    page = open_page(thread="flaky-failed", tab="Superstep")
    base = sent(page, "timeline")["selected"]
    failed = next(task for task in session_of(page).tasks() if task.status == "failed")
    page.session_state["_supplying"] = (base, failed.id)
    page.run()
    before = digest(database)
    page.session_state[f"supply_{failed.id}"] = {"doc": {"rev": f"{base}:{failed.id}", "text": typed}}
    page.button(key="supply_result").click().run()
    assert said in page.session_state["_tab"].problem.message
    assert page.button(key="supply_result")
    assert digest(database) == before


def test_what_the_barrier_refuses_is_a_sentence_beside_the_writes(open_page):
    page = open_page(thread="conflict-failed")
    session = session_of(page)
    page.session_state["_tab"].act(session.new_run, session.acting.form().example, thread="conflict", run=False)
    finish(page)
    phase(page)
    phase(page)
    card = next(block for block in part(page, "superstep_update", "Update")["blocks"] if block["kind"] == "card")
    assert card["tone"] == "failed"
    assert "LastValue keeps one value" in card["blocks"][0]["text"]


def test_a_waiting_task_is_not_run_by_phases(open_page):
    page = open_page(thread="research-waiting", tab="Superstep")
    assert page.button(key="do_phase").disabled
    assert "It waits for an answer." in text_of(page, "superstep")
    assert '"act": "run"' not in text_of(page, "superstep")


def test_read_only_shows_the_parts_and_runs_nothing(open_page):
    page = open_page(read_only=True, thread="flaky-failed", tab="Superstep")
    assert page.button(key="do_phase").disabled
    assert '"act": "run"' not in text_of(page, "superstep")
    assert not [button for button in page.button if button.key == "run_all_tasks"]
    assert "2 of 3 results in" in text_of(page, "superstep_update")


def test_in_a_browser_tasks_run_one_by_one_and_phases_by_their_button(desk):
    from playwright.sync_api import expect

    desk.open(thread="research-finished", tab="Superstep")
    desk.button("new_run").click()
    desk.page.locator(".st-key-new_run_thread input").fill("one by one")
    desk.button("start").click()
    desk.counts(2)
    desk.step()
    run = desk.page.locator(".st-key-superstep button[data-act=run]")
    expect(run).to_have_count(3)
    run.last.click()
    expect(run).to_have_count(2)
    desk.press("Phase")
    expect(run).to_have_count(0)
    expect(desk.page.locator(".st-key-superstep_update")).to_contain_text("3 of 3 results in")
    desk.counts(3)
    desk.press("Phase")
    desk.counts(4)
    desk.mark("check", "next")
