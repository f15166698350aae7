"""What only a browser can show: layout, keys, links, text that stays text, runs that outlive a tab."""

import json
import re
import shutil
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from runtime.checkpoint.sqlite import SqliteSaver
from tests.ui.project import large_builder, rich_builder
from tests.ui.seen import CLIPPED


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A project folder with two graphs of its own, and its database."""
    made = tmp_path_factory.mktemp("project")
    shutil.copy(Path(__file__).with_name("project.py"), made / "project.py")
    graphs = {
        name: f"./project.py:{name.replace('-', '_')}" for name in ("hostile", "gated", "rich", "large", "long-error")
    }
    with SqliteSaver.from_conn_string(made / "project.sqlite") as saver:
        # The newest thread is the one that a page opens by itself: not the one that has a table for a graph.
        for builder, stop in ((large_builder, "n0"), (rich_builder, "fail")):
            name = "rich" if stop == "fail" else "large"
            graph = builder.compile(checkpointer=saver, interrupt_before=[stop])
            graph.invoke({"note": "begun"}, {"configurable": {"thread_id": name}, "metadata": {"graph": name}})
    (made / "langgraph.json").write_text(json.dumps({"graphs": graphs, "dependencies": ["."]}))
    return made


@pytest.fixture(scope="module")
def project(folder, start_server):
    return start_server(folder, ".", "--db", "project.sqlite")


@pytest.fixture
def new_thread(request):
    """A thread id of the test's own."""
    return re.sub(r"\W+", "-", request.node.name).strip("-")


def begin(desk, graph, thread, *, run=False):
    """Start a run of one of the project's graphs in the page."""
    desk.settle()
    desk.button("new_run").click()
    select = desk.page.locator(".st-key-new_run_graph select")
    select.select_option(label=graph)
    expect(select).to_have_attribute("data-value", graph)
    fields = desk.page.locator(f".stDialog [class*=st-key-input_{graph}_]")
    fields.first.wait_for()  # until then the fields are those of the graph that was chosen before
    box = desk.page.locator(".st-key-new_run_thread input")
    expect(box).to_be_visible()
    desk.settle()
    box.fill(thread)
    if graph == "gated":
        desk.type_json("input_gated_log", '["begun"]')
    else:
        fields.locator("textarea").first.fill("begun")
    desk.page.locator(".st-key-start_note").click()  # leaves the field, so that what was typed is known
    desk.settle()
    start = desk.button("start_run" if run else "start")
    expect(start).to_have_count(1)
    start.click()
    desk.page.wait_for_url(lambda url: parse_qs(urlsplit(url).query).get("thread") == [thread])
    desk.settle()
    if not run:
        desk.counts(2)  # until then the timeline may be that of the thread before


def test_a_click_in_the_timeline_is_in_the_url_and_back_undoes_it(desk):
    desk.open(thread="research-finished")
    newest = desk.page.locator(".timeline").get_attribute("data-selected")
    row = desk.rows().nth(3)
    chosen = row.get_attribute("data-checkpoint")
    row.click()
    desk.page.wait_for_url(f"**checkpoint={chosen}**")
    expect(desk.page.locator(".graph")).to_have_attribute("data-ready", chosen)
    desk.page.reload()
    expect(desk.page.locator(".timeline")).to_have_attribute("data-selected", chosen)
    desk.settle()
    desk.page.go_back()
    expect(desk.page.locator(".timeline")).to_have_attribute("data-selected", newest)


def test_the_graph_is_laid_out_once_while_states_change(desk):
    desk.open(thread="research-finished")
    for _ in range(3):
        before = desk.page.locator(".graph").get_attribute("data-ready")
        desk.press("Back")
        expect(desk.page.locator(".graph")).not_to_have_attribute("data-ready", before)
        desk.settle()
    expect(desk.page.locator(".graph")).to_have_attribute("data-draws", "1")


def test_a_node_is_chosen_by_click_and_by_key_and_shows_its_tasks(desk):
    desk.open(thread="flaky-failed")
    desk.node("tide_table").click()
    expect(desk.page.locator(".st-key-tasks article.card")).to_have_count(1)
    expect(desk.page.locator(".st-key-tasks")).to_contain_text("ConnectionError")
    desk.settle()
    desk.node("wind_gauge").focus()
    desk.page.keyboard.press("Enter")
    expect(desk.page.locator(".st-key-tasks")).not_to_contain_text("ConnectionError")
    expect(desk.node("wind_gauge")).to_have_class(re.compile("selected"))


def test_the_graph_has_a_twin_in_words(desk):
    desk.open(thread="research-waiting")
    desk.page.locator(".graph [data-act=text]").click()
    row = desk.page.locator('.graph .twin tr[data-node="review"]')
    expect(row).to_contain_text("waiting for an answer")
    expect(desk.page.locator(".graph .legend")).to_contain_text("waiting for an answer")
    plan = desk.page.locator('.graph .twin tr[data-node="plan"]')
    expect(plan).to_contain_text("research? (taken)")
    plan.focus()
    desk.page.keyboard.press("Enter")
    expect(desk.page.get_by_role("tab", name="Tasks")).to_have_attribute("aria-selected", "true")
    expect(plan).to_be_focused()


def test_letters_drive_the_transport_but_not_while_typing(demo, desk):
    desk.open(thread="counter")
    desk.page.keyboard.press("b")
    expect(desk.page.locator(".timeline .row.selected")).to_have_attribute("data-i", "1")
    desk.settle()
    desk.page.keyboard.press("f")
    expect(desk.page.get_by_role("tab", name="Edit")).to_have_attribute("aria-selected", "true")
    count = desk.count()
    find = desk.page.locator(".timeline input")
    find.fill("")
    find.press_sequentially("sbgs")
    desk.settle()
    expect(desk.page.locator(".timeline")).to_have_attribute("data-count", str(count))
    expect(desk.page.locator(".timeline .count")).to_contain_text("0 of")


def test_arrow_keys_move_through_the_timeline(desk):
    desk.open(thread="research-finished")
    desk.page.locator(".timeline .list").focus()
    desk.page.keyboard.press("End")
    last = desk.rows().last.get_attribute("data-checkpoint")
    desk.page.wait_for_url(f"**checkpoint={last}**")
    desk.settle()
    desk.page.keyboard.press("ArrowUp")
    expect(desk.page.locator(".timeline .row.selected")).not_to_have_attribute("data-checkpoint", last)


def test_hostile_text_is_shown_as_text_and_runs_nothing(project, desk_at, new_thread):
    desk = desk_at(project)
    dialogs = []
    desk.page.on("dialog", lambda dialog: dialogs.append(dialog.message) or dialog.dismiss())
    desk.open()
    begin(desk, "hostile", f"{new_thread} </script>'\"&#%2F?\\{{x}} 😀 שלום", run=True)
    desk.page.reload()
    expect(desk.page.locator(".st-key-standing")).to_contain_text("waiting")
    node = desk.page.locator("g.node text", has_text="<img src=x onerror=alert(1)>")
    expect(node).to_have_count(1)
    for tab in ("State", "Diff", "Tasks", "Channels", "Edit"):
        desk.tab(tab)
        desk.settle()
        panel = desk.page.locator(".st-key-inspector")
        if tab != "Edit":
            expect(panel).to_contain_text("**bold**")
        assert panel.locator("img, script, strong, a, .katex").count() == 0
    desk.tab("State")
    expect(desk.page.locator(".st-key-state")).to_contain_text("9223372036854775809")
    expect(desk.page.locator(".st-key-state")).to_contain_text("\\u202e")
    expect(desk.page.locator('.st-key-state .top[data-key="chat"] .turn')).to_have_count(2)
    expect(desk.page.locator('.st-key-state .top[data-key="rows"] .grid tbody tr')).to_have_count(2)
    desk.settle()
    desk.button("do_answer").click()
    asked = desk.page.locator("[class*=st-key-question_]").first
    expect(asked).to_contain_text("<script>alert(1)</script>")
    asked.get_by_role("button", name="plain", exact=True).click()
    expect(desk.page.locator(".st-key-standing")).to_contain_text("finished")
    assert dialogs == []


def test_a_long_message_leaves_its_cross_on_the_page(project, desk_at, new_thread):
    desk = desk_at(project)
    desk.open()
    begin(desk, "long-error", new_thread, run=True)
    message = desk.page.locator(".st-key-message")
    message.locator("summary").click()
    cross = message.locator(".dismiss")
    expect(cross).to_be_in_viewport()
    cross.click()
    expect(message).to_have_count(0)


def test_values_take_their_form_and_keep_it(project, desk_at):
    desk = desk_at(project)
    desk.open(thread="rich", tab="State")
    state = desk.page.locator(".st-key-state")
    messages, rows, picture = (state.locator(f'.top[data-key="{name}"]') for name in ("messages", "rows", "picture"))
    expect(messages.locator(".turn")).to_have_count(40)
    expect(messages.locator(".call")).to_contain_text("answered (61)")
    expect(messages.locator(".turn.tool")).to_contain_text("result of search (60)")
    expect(rows.locator("tbody tr")).to_have_count(3)
    expect(picture.locator("figcaption")).to_contain_text("png · 32 \N{MULTIPLICATION SIGN} 20")
    assert picture.locator("img").evaluate("img => img.decode().then(() => img.naturalWidth)") == 32
    desk.settle()
    messages.get_by_role("button", name="First").click()
    expect(messages.locator(".turn").first).to_contain_text("no 0")
    desk.settle()
    rows.get_by_role("button", name="JSON").click()
    expect(rows.locator("pre")).to_contain_text('"topic": "topic 2"')
    desk.settle()
    desk.press("Back")
    expect(rows).to_have_count(0)
    desk.settle()
    desk.press("Last")
    expect(rows.locator("pre")).to_contain_text('"topic": "topic 2"')


def test_a_masked_value_never_comes_to_the_page(project, desk_at):
    desk = desk_at(project)
    frames = []
    desk.page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(frame)))
    desk.open(thread="rich", tab="State")
    shown = desk.page.locator('.st-key-state .top[data-key="api_key"]')
    expect(shown).to_contain_text("sk-never")
    desk.settle()
    desk.page.locator(".st-key-masks_button button:visible").click()
    desk.page.locator('.st-key-masks_list tr[data-key="api_key"] button').click()
    expect(desk.page.locator('.st-key-masks_list tr[data-key="api_key"]')).to_contain_text("masked")
    expect(shown).to_contain_text("•••")
    desk.page.keyboard.press("Escape")
    desk.settle()
    frames.clear()
    desk.page.locator(".st-key-do_step button:visible").click()
    expect(desk.page.locator(".st-key-message")).to_contain_text("refused: •••")
    for tab in ("Diff", "Tasks", "Channels", "Edit"):
        desk.tab(tab)
        desk.settle()
        assert "sk-never" not in desk.page.content()
    assert frames
    assert not [frame for frame in frames if b"sk-never" in (frame.encode() if isinstance(frame, str) else frame)]


def test_a_graph_of_very_many_nodes_is_a_table(project, desk_at):
    desk = desk_at(project)
    desk.page.goto(f"{desk.url}/?thread=large", wait_until="domcontentloaded")
    expect(desk.page.locator(".graph .twin")).to_contain_text("are too many to lay out here")
    expect(desk.page.locator('.graph .twin tr[data-node="n0"]')).to_contain_text("runs next")


def test_three_clicks_in_one_tick_are_one_step(project, desk_at, folder, new_thread):
    desk = desk_at(project)
    desk.open()
    begin(desk, "gated", new_thread)
    before = desk.count()
    button = desk.button("do_step")
    button.evaluate("button => { button.click(); button.click(); button.click() }")
    desk.mark("gate", "running")
    expect(desk.page.locator(".st-key-activity")).to_contain_text("running")
    expect(desk.page.locator(".st-key-do_step button:visible")).to_be_disabled()
    (folder / f"{new_thread}.gate").touch()
    desk.counts(before + 1)
    desk.mark("after", "next")
    expect(desk.page.locator(".timeline")).to_have_attribute("data-count", str(before + 1))


def test_a_run_outlives_the_tab_that_started_it(project, desk_at, folder, new_thread):
    desk = desk_at(project)
    desk.open()
    begin(desk, "gated", new_thread, run=True)
    desk.mark("gate", "running")
    desk.page.close()
    other = desk_at(project)
    other.open(thread=new_thread)
    other.mark("gate", "running")
    (folder / f"{new_thread}.gate").touch()
    expect(other.page.locator(".st-key-standing")).to_contain_text("finished")
    other.mark("after", "done")


def test_stop_gives_the_page_back_while_a_node_still_runs(project, desk_at, folder, new_thread):
    desk = desk_at(project)
    desk.open()
    begin(desk, "gated", new_thread, run=True)
    desk.mark("gate", "running")
    desk.press("Stop")
    desk.mark("gate", "next")
    expect(desk.button("do_step")).to_be_visible()
    (folder / f"{new_thread}.gate").touch()
    desk.step()
    desk.mark("after", "next")


def test_of_two_browsers_that_answer_one_question_one_is_heard(demo, desk_at):
    first, second = desk_at(demo), desk_at(demo)
    for desk in (first, second):
        desk.open(thread="approvals-half", tab="Tasks")
        expect(desk.page.locator("[class*=st-key-question_]").first).to_be_visible()
        desk.settle()
    handles = [
        desk.page.locator("[class*=st-key-option_] button:visible", has_text="yes").first.element_handle()
        for desk in (first, second)
    ]
    for handle in handles:
        handle.evaluate("button => button.click()")
    # Whether the second click still met the question or the page had already seen the answer: one run, no more.
    for desk in (first, second):
        expect(desk.page.locator(".st-key-standing")).to_contain_text("finished")
        desk.counts(4)
        assert desk.page.locator("[data-testid=stException]").count() == 0


def test_what_was_typed_last_is_what_is_saved(demo, desk_at):
    desk = desk_at(demo)
    desk.open(thread="research-finished", tab="Edit")
    desk.pill("question")
    before = desk.count()
    desk.type_json("editor_question", '"typed at the last moment"')
    desk.page.locator(".st-key-save_branch button:visible").click()
    desk.counts(before + 1)
    desk.tab("State")
    expect(desk.page.locator('.st-key-state .top[data-key="question"]')).to_contain_text("typed at the last moment")


def test_malformed_json_keeps_the_text_and_says_where(desk):
    desk.open(thread="research-finished", tab="Edit")
    desk.pill("findings")
    before = desk.count()
    desk.type_json("editor_findings", '[{"topic": "winter",}]')
    desk.page.locator(".st-key-save_branch button:visible").click()
    expect(desk.page.locator(".st-key-message [role=alert]")).to_contain_text("findings")
    assert desk.page.evaluate(CLIPPED) == []
    expect(desk.page.locator(".st-key-editor_findings .cm-content")).to_contain_text('[{"topic": "winter",}]')
    expect(desk.page.locator(".timeline")).to_have_attribute("data-count", str(before))
    desk.page.locator(".st-key-message .dismiss").click()
    expect(desk.page.locator(".st-key-message")).to_have_count(0)
