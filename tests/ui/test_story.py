"""The whole story in a browser: run, step, answer, edit in the past, and nothing of it is ever lost."""

import json
import re
import sqlite3

from playwright.sync_api import expect

ONE_FINDING = json.dumps([{"topic": "winter", "source": "a person", "says": "ice stops the ferry on 14 days a year"}])


def start(desk, thread):
    """Start a run of the research graph on a new thread; nothing has run then."""
    desk.settle()
    desk.button("new_run").click()
    box = desk.page.locator(".st-key-new_run_thread input")
    box.fill(thread)
    desk.button("start").click()
    desk.counts(2)
    desk.settle()


def answer(desk, option):
    """Answer the pending question with one of its options.

    The card of the question that was answered before may still stand there, so it is looked past.
    """
    past = getattr(desk, "answered", "")
    desk.settle()
    card = desk.page.locator(f"[class*=st-key-question_]:has(button){past}").first
    choice = card.get_by_role("button", name=option, exact=True)
    desk.button("do_answer").click()
    choice.wait_for()
    desk.settle()
    asked = re.search(r"st-key-question_([0-9a-f]+)", card.get_attribute("class"))
    desk.answered = f"{past}:not(.st-key-question_{asked[1]})"
    choice.click()


def rows_of(database, thread):
    """Return every row of the thread in the database, of all tables that name a thread."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        tables = [name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")]
        found = {}
        for table in tables:
            columns = [column[1] for column in connection.execute(f"pragma table_info({table})")]
            if "thread_id" in columns:
                query = f"select {', '.join(columns)} from {table} where thread_id = ?"
                found[table] = set(connection.execute(query, (thread,)))
    return found


def edit_findings(desk, author):
    """At the checkpoint under the cursor, overwrite the findings as the author and save the branch."""
    desk.press("Fork")
    desk.pill("findings")
    desk.settle()
    desk.choose("edit_author", author)
    desk.settle()
    desk.type_json("editor_findings", ONE_FINDING)
    before = desk.count()
    desk.button("save_branch").click()
    desk.counts(before + 1)
    desk.settle()


def pick(desk, title, nth=0):
    """Go to a checkpoint of the timeline by the node that made it."""
    desk.settle()
    row = desk.rows().filter(has=desk.page.locator(".who", has_text=title)).nth(nth)
    checkpoint = row.get_attribute("data-checkpoint")
    row.click()
    expect(desk.page.locator(".timeline")).to_have_attribute("data-selected", checkpoint)
    expect(desk.page.locator(".graph")).to_have_attribute("data-ready", checkpoint)
    desk.settle()
    return checkpoint


def report(desk):
    return desk.page.locator('.st-key-state .top[data-key="report"]')


def channel(desk, name):
    return desk.page.locator(f'.st-key-channels tr[data-key="{name}"]')


def test_run_step_answer_edit_in_the_past(start_server, desk_at, tmp_path):
    database = tmp_path / "story.sqlite"
    desk = desk_at(start_server(tmp_path, "demo", "--db", database))
    desk.open()
    start(desk, "story")
    step_to_the_question(desk)
    revise_then_approve(desk)
    first, finished = rows_of(database, "story"), desk.count()

    fan_out = pick(desk, "plan", nth=1)
    desk.mark("research", "next")
    edit_as_the_worker(desk, finished)
    desk.page.goto(f"{desk.url}/?thread=story&checkpoint={fan_out}", wait_until="domcontentloaded")
    expect(desk.page.locator(".timeline")).to_have_attribute("data-selected", fan_out)
    edit_as_the_planner(desk)

    # All branches are there, and the first is in the database as it was, byte for byte.
    expect(desk.page.locator(".timeline .row .branch")).to_have_count(3)
    now = rows_of(database, "story")
    for table, rows in first.items():
        assert rows <= now[table], f"{table} lost or changed rows of the first branch"
    assert sum(map(len, now.values())) > sum(map(len, first.values()))


def step_to_the_question(desk):
    """Superstep by superstep: marks in the graph, versions, tasks and what they wrote."""
    desk.mark("plan", "next")
    desk.step()
    desk.mark("plan", "done")
    desk.mark("research", "next")
    expect(desk.node("research")).to_contain_text("3")
    desk.tab("Channels")
    expect(channel(desk, "findings")).to_have_class("changed")
    version = channel(desk, "findings").locator("[data-name=version]").inner_text()

    desk.tab("Tasks")
    cards = desk.page.locator(".st-key-tasks article.card")
    due = cards.and_(desk.page.locator("[data-status='to run']"))
    expect(due).to_have_count(3)
    desk.step()
    desk.mark("research", "done")
    desk.mark("check", "next")
    expect(due).to_have_count(1)
    desk.page.locator(".st-key-tasks summary", has_text="Made this checkpoint").click()
    expect(cards.and_(desk.page.locator("[data-status=saved]"))).to_have_count(3)
    desk.tab("Channels")
    expect(channel(desk, "findings").locator("[data-name=version]")).not_to_have_text(version)
    expect(channel(desk, "branch:to:check")).to_contain_text("check")

    desk.step()
    desk.mark("check", "done")
    desk.press("Step")
    desk.mark("review", "waiting")
    expect(desk.page.locator(".st-key-standing")).to_contain_text("waiting")


def revise_then_approve(desk):
    """Send the first round back, then approve the second: the report is written."""
    answer(desk, "revise")
    desk.counts(9)
    desk.mark("review", "waiting")
    answer(desk, "approve")
    desk.mark("report", "done")
    expect(desk.page.locator(".st-key-standing")).to_contain_text("finished")
    desk.tab("State")
    expect(report(desk)).to_contain_text("harbour log")


def edit_as_the_worker(desk, finished):
    """The edit stands for all workers: on to the check and the review, no worker runs again."""
    edit_findings(desk, "research")
    desk.mark("check", "next")
    desk.step()
    desk.mark("check", "done")
    desk.press("Step")
    desk.mark("review", "waiting")
    answer(desk, "approve")
    desk.mark("report", "done")
    desk.tab("State")
    expect(report(desk)).to_contain_text("14 days")
    expect(report(desk)).not_to_contain_text("harbour log")
    desk.counts(finished + 4)  # the edit, the check, the review and the report


def edit_as_the_planner(desk):
    """The edit stands for the plan: the workers run again."""
    edit_findings(desk, "plan")
    desk.mark("research", "next")
    desk.step()
    desk.mark("research", "done")
    desk.step()
    desk.mark("check", "done")
    desk.press("Step")
    desk.mark("review", "waiting")
    answer(desk, "approve")
    desk.mark("report", "done")


def test_the_box_for_a_result_comes_into_view(start_server, desk_at, tmp_path):
    server = start_server(tmp_path, "demo", "--db", tmp_path / "supply.sqlite")
    desk = desk_at(server, viewport={"width": 1280, "height": 720})
    desk.open(thread="research-waiting")
    start(desk, "supply")
    desk.step()
    desk.tab("Superstep")
    cards = desk.page.locator("[class*=st-key-superstep] article.card[data-status='to run']")
    expect(cards).to_have_count(3)
    for place in (2, 1):
        desk.settle()
        cards.nth(place).get_by_text("Supply a result").click()
        about = desk.page.locator(".st-key-supply_about")
        expect(about).to_contain_text(cards.nth(place).locator("header .mono").inner_text())
        expect(desk.button("supply_result")).to_be_in_viewport()
