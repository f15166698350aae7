"""The page's wiring, without a browser: what each control asks of the session, and what is sent to the components."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from debugger_ui.components import sheet
from debugger_ui.panels import edit, inspector, threads
from debugger_ui.server import shared
from debugger_ui.session.jobs import Job
from debugger_ui.session.session import DebugSession
from debugger_ui.session.views import Edit, EditField, EditForm, Problem
from sample_graphs.recorded import THREADS
from tests.ui.seen import digest, finish, sent, text_of

APP = Path(__file__).resolve().parents[2] / "debugger_ui" / "app.py"
TABS = ("State", "Diff", "Tasks", "Superstep", "Channels", "Edit")
HOSTILE = "<script>alert(1)</script> **bold** $x$ :red[x] ![i](http://evil.example/leak.png)"


def test_without_a_thread_in_the_url_the_launchers_thread_is_open(open_page):
    page = open_page()
    assert not page.exception
    assert page.query_params["thread"] == "research-waiting"
    graph = sent(page, "graph")
    assert graph["waiting"] == ["review"]
    assert {"plan", "research", "check"} <= set(graph["done"])
    assert sent(page, "timeline")["total"] == 5


@pytest.mark.parametrize("thread", [each.thread_id for each in THREADS])
def test_every_recorded_thread_can_be_looked_at_in_every_tab(open_page, thread):
    page = open_page(thread=thread)
    for tab in TABS:
        page.session_state["tab"] = tab
        page.run()
        assert not page.exception
        assert page.session_state["_tab"].problem is None
        assert sent(page, "timeline")["selected"]


def test_looking_writes_nothing(open_page, database):
    before = digest(database)
    for thread in ("research-forked", "flaky-failed", "approvals-waiting"):
        page = open_page(thread=thread)
        for tab in TABS:
            page.session_state["tab"] = tab
            page.run()
    assert digest(database) == before


def test_a_link_opens_its_checkpoint_and_an_unknown_one_falls_back(open_page):
    newest = open_page(thread="counter")
    oldest = sent(newest, "timeline")["rows"][-1]["id"]
    page = open_page(thread="counter", checkpoint=oldest)
    assert sent(page, "timeline")["selected"] == oldest
    page = open_page(thread="counter", checkpoint="no-such-checkpoint")
    assert not page.exception
    assert "no-such-checkpoint" in page.session_state["_tab"].problem.message
    page = open_page(thread=HOSTILE)
    assert not page.exception


def test_a_parameter_that_names_an_action_does_nothing(open_page, database):
    before = digest(database)
    page = open_page(thread="counter", action="run", do_step="true", step="1")
    assert not page.exception
    assert digest(database) == before


def test_back_first_and_last_move_the_cursor_and_the_url(open_page):
    page = open_page(thread="research-finished")
    rows = [row["id"] for row in sent(page, "timeline")["rows"]]
    page.button(key="do_back").click().run()
    assert sent(page, "timeline")["selected"] == rows[1]
    assert page.query_params["checkpoint"] == rows[1]
    page.button(key="do_first").click().run()
    assert sent(page, "timeline")["selected"] == rows[-1]
    assert page.button(key="do_back").disabled
    page.button(key="do_last").click().run()
    assert sent(page, "timeline")["selected"] == rows[0]
    assert "checkpoint" not in page.query_params


def test_step_in_the_past_makes_a_branch_and_keeps_what_was_there(open_page):
    page = open_page(thread="counter")
    before = [row["id"] for row in sent(page, "timeline")["rows"]]
    page.button(key="do_first").click().run()
    page.button(key="do_step").click().run()
    finish(page)
    after = sent(page, "timeline")
    assert set(before) < {row["id"] for row in after["rows"]}
    assert after["branches"] == 2
    assert not page.exception


def test_a_waiting_thread_offers_answer_and_not_step(open_page):
    page = open_page(thread="research-waiting")
    assert page.button(key="do_step").disabled
    assert not page.button(key="do_answer").disabled
    page.button(key="do_answer").click().run()
    assert "Write the report from these findings?" in text_of(page, "question_sheet")
    approve = next(button for button in page.button if button.label == "approve")
    approve.click().run()
    finish(page)
    assert sent(page, "timeline")["rows"][0]["status"] == "done"


def test_an_empty_answer_is_refused_in_a_sentence(open_page, database):
    page = open_page(thread="research-waiting", tab="Tasks")
    before = digest(database)
    send = next(button for button in page.button if button.label == "Answer" and button.key.startswith("send_"))
    send.click().run()
    assert "empty" in page.session_state["_tab"].problem.message
    assert not page.exception
    assert digest(database) == before


@pytest.mark.parametrize("typed", ['{"a": 1,}', "{'a': 1}", '"unclosed', "", "   ", "[1, 2"])
def test_malformed_json_is_refused_where_it_is_and_nothing_is_written(open_page, database, typed):
    page = open_page(thread="research-finished", tab="Edit")
    base = sent(page, "timeline")["selected"]
    page.pills(key=f"edit_keys_{base}").select("findings").run()
    before = digest(database)
    page.session_state["editor_findings"] = {"doc": {"rev": f"{base}:findings:overwrite", "text": typed}}
    page.run()
    assert "edit-problem" in text_of(page, "preview")
    page.button(key="save_branch").click().run()
    problem = page.session_state["_tab"].problem
    assert problem is not None
    assert "findings" in problem.message or problem.line is not None
    assert digest(database) == before
    assert not page.exception


def test_a_key_that_cannot_be_edited_is_looked_at_and_does_not_stand_in_the_way(monkeypatch):
    fields = (
        EditField("note", '"as it is"', "str", "", editable=True),
        EditField("lock", "", "threading.Lock", "", editable=False, reason="A lock cannot be written as JSON."),
    )
    form = EditForm(fields, ("n",), "n", "base")
    monkeypatch.setattr(edit.st, "session_state", {edit.keys_key(form): ["lock", "note"]})
    assert [field.key for field in edit.chosen_fields(form)] == ["note", "lock"]
    assert edit.edits_now(form) == [Edit("note", '"as it is"')]


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (Problem("Line 1, column 1: the text that begins here is not closed.", field="text", line=1, column=1), True),
        (Problem('The box is empty. Write "text", [] or {}.', field="text", line=1, column=1), True),
        (Problem("'text' holds a str, and this is an int.", field="text"), False),
        (Problem("A thread id is up to 5,000 printable characters.", field="thread"), False),
    ],
)
def test_a_problem_names_its_key_once(problem, said):
    assert sheet.problem_note(problem)["text"].startswith(f"{problem.field}: ") is said


def test_a_long_problem_is_one_short_message_with_the_rest_folded_away():
    block = sheet.problem_note(Problem("n raised ValueError: " + "x" * 5_000, details="Traceback"))
    assert len(block["text"]) == sheet.SENTENCE + 1
    assert block["details"] == "n raised ValueError: " + "x" * 5_000 + "\n\nTraceback"


def test_saving_a_branch_runs_nothing(open_page):
    page = open_page(thread="research-finished", tab="Edit")
    base = sent(page, "timeline")["selected"]
    total = sent(page, "timeline")["total"]
    page.pills(key=f"edit_keys_{base}").select("question").run()
    page.session_state["editor_question"] = {"doc": {"rev": f"{base}:question:overwrite", "text": '"And a tunnel?"'}}
    page.run()
    page.button(key="save_branch").click().run()
    timeline = sent(page, "timeline")
    assert timeline["total"] == total + 1
    assert timeline["rows"][0]["source"] == "update"
    assert page.session_state["_tab"].problem is None


def test_a_branch_is_named_where_it_is_saved(open_page):
    page = open_page(thread="research-finished", tab="Edit")
    assert not [box for box in page.text_input if box.key.startswith("edit_name_")]
    session = page.session_state["_tab"].session
    base = session.timeline().rows[2].checkpoint
    page = open_page(thread="research-finished", tab="Edit", checkpoint=base)
    page.text_input(key=f"edit_name_{base}").set_value("tunnel too").run()
    page.button(key="save_branch").click().run()
    assert page.session_state["_tab"].problem is None
    assert [branch.name for branch in session.branch_list()] == ["main", "tunnel too"]


def test_what_stop_gave_up_is_told_once(open_page):
    page = open_page(thread="counter")
    here = page.session_state["_tab"]
    said = "Stopped while count was running."
    job = Job("counter", "continue", "")
    here.session.workspace.board.start(job, lambda: None, lambda running: running.end("stopped", said))
    assert job.wait(30)
    page.run()
    assert said in text_of(page, "message_sheet")
    here.notice = ""
    page.run()
    assert here.notice == ""


def test_text_typed_for_another_checkpoint_is_not_used(open_page):
    page = open_page(thread="research-finished", tab="Edit")
    base = sent(page, "timeline")["selected"]
    page.pills(key=f"edit_keys_{base}").select("question").run()
    page.session_state["editor_question"] = {"doc": {"rev": "elsewhere:question:overwrite", "text": "nonsense"}}
    page.run()
    assert "edit-problem" not in text_of(page, "preview")


def test_read_only_says_so_and_offers_no_change(open_page):
    page = open_page(read_only=True, thread="counter", tab="Edit")
    assert "read-only" in text_of(page, "standing")
    for key in ("do_step", "do_continue", "do_fork", "do_answer", "new_run"):
        assert page.button(key=key).disabled
    assert "cannot be edited" in text_of(page, "cannot_edit")


def test_new_run_shows_the_example_and_starts_without_running(open_page):
    page = open_page(thread="research-waiting")
    page.session_state["_new_run_asked"] = True
    page.run()
    assert page.text_area(key="input_research_question").value == "Should Lindhaven replace its ferry with a bridge?"
    page.text_input(key="new_run_thread").set_value("mine")
    page.session_state["_new_run_asked"] = True
    page.button(key="start").click().run()
    finish(page)
    assert page.query_params["thread"] == "mine"
    assert sent(page, "graph")["next"] == ["plan"]
    assert "plan" not in sent(page, "graph")["done"]


def test_the_suggested_thread_follows_the_graph_until_one_is_typed(open_page):
    page = open_page(thread="counter")

    def chosen(graph):
        picked = {"rev": sent(page, "picker", "new_run_graph")["rev"], "value": graph, "serial": graph}
        page.session_state["new_run_graph"] = {"picked": picked}
        page.session_state["_new_run_asked"] = True
        return page.run().text_input(key="new_run_thread").value

    page.session_state["_new_run_asked"] = True
    assert page.run().text_input(key="new_run_thread").value.startswith("counter-")
    graphs = [value for value, _ in sent(page, "picker", "new_run_graph")["options"]]
    other = next(graph for graph in graphs if "flaky" in graph)
    assert chosen(other).startswith("flaky-")
    page.text_input(key="new_run_thread").set_value("mine")
    assert chosen(next(graph for graph in graphs if "counter" in graph)) == "mine"


def test_the_header_names_the_database_and_the_whole_path_is_its_title(open_page, database):
    items = sent(open_page(thread="counter"), "sheet", "standing")["blocks"][0]["items"]
    shown = next(item for item in items if item.get("name") == "database")
    assert (shown["text"], shown["title"]) == ("demo.sqlite", str(database))


def test_an_author_that_is_to_be_chosen_yet_is_no_error(open_page):
    page = open_page(thread="reducers", tab="Edit")
    note = sent(page, "sheet", "preview")["blocks"][0]
    assert (note["kind"], note["tone"]) == ("note", "info")
    assert note["text"].startswith("Choose the node")


def test_a_clicked_node_narrows_the_tasks(open_page):
    page = open_page(thread="flaky-failed", tab="Tasks")
    assert text_of(page, "tasks").count('"kind": "card"') >= 3
    page.session_state["_tab"].node = "tide_table"
    page.run()
    assert sent(page, "graph")["selected"] == "tide_table"
    assert "wind_gauge" not in text_of(page, "tasks")
    assert "ConnectionError" in text_of(page, "tasks")


def test_threads_are_filtered_by_status_and_text(open_page):
    page = open_page(page="Threads")
    assert len(sent(page, "sheet", "threads")["blocks"][0]["rows"]) == len(THREADS)
    said = {item["text"] for row in sent(page, "sheet", "threads")["blocks"][0]["rows"] for item in row["cells"][1]}
    options = {option.content for option in page.get("button_group")[-1].proto.options}
    assert {"finished", "waiting", "failed"} <= said & options  # a status has one word
    page.text_input(key="thread_search").set_value("flaky").run()
    assert [row["value"] for row in sent(page, "sheet", "threads")["blocks"][0]["rows"]] == ["flaky-failed"]
    page.text_input(key="thread_search").set_value("no such thread anywhere").run()
    assert "No thread matches" in text_of(page, "threads")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a\nb", "a\\nb"),
        ("  ", "'  '"),
        ("\u202edlo", "\\u202edlo"),
        ("x" * 20_000, "x" * threads.NAME_LIMIT + "…"),
        ("a plain one", "a plain one"),
    ],
)
def test_a_thread_is_named_in_one_short_line(name, shown):
    assert threads.name_word(name, "strong")["text"] == shown


def test_threads_are_found_by_what_their_state_says_and_the_newest_failure_by_a_button(open_page):
    page = open_page(page="Threads")
    page.text_input(key="thread_search").set_value("harbour log").run()
    shown = text_of(page, "threads")
    assert "research-finished" in shown
    assert "harbour log" in shown
    assert "counter" not in shown
    page.button(key="newest_failure").click().run()
    assert page.query_params["thread"] == "conflict-failed"  # recorded after flaky-failed
    assert "The update of this superstep was refused" in text_of(page, "tasks")


def test_at_a_damaged_checkpoint_the_page_still_leads_to_the_others(open_page, database):
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(
            "update checkpoints set frame = x'00' where checkpoint_id ="
            " (select max(checkpoint_id) from checkpoints where thread_id = 'counter')"
        )
    page = open_page(thread="counter")
    assert "is damaged in the database" in text_of(page, "message_sheet")
    assert "cannot be read" in text_of(page, "nothing_to_inspect")
    newest, *others = sent(page, "timeline")["rows"]
    assert (newest["title"], newest["status"]) == ("not readable", "damaged")
    page.session_state["timeline"] = {"selected": {"checkpoint": others[0]["id"], "serial": "1"}}
    page.session_state["_tab"].act(page.session_state["_tab"].session.move, checkpoint=others[0]["id"])
    page.run()
    assert page.query_params["checkpoint"] == others[0]["id"]
    assert sent(page, "timeline")["selected"] == others[0]["id"]
    assert not page.exception


def test_an_error_of_our_own_is_a_sentence_with_its_details_folded(open_page, monkeypatch):
    def broken(self):
        raise ZeroDivisionError("of the debugger")

    page = open_page(thread="counter")
    monkeypatch.setattr(DebugSession, "graph", broken)
    page.run()
    assert not page.exception
    shown = sent(page, "sheet", "fault_sheet")["blocks"][0]
    assert "Nothing was lost" in shown["text"]
    assert "ZeroDivisionError" in shown["details"]
    assert "ZeroDivisionError" not in shown["text"]


def test_without_anything_open_the_page_says_how_to_start():
    shared._opened.clear()
    page = AppTest.from_file(str(APP), default_timeout=60).run()
    assert not page.exception
    assert "forkpoint demo" in text_of(page, "nothing_open")


@pytest.mark.parametrize(("said", "then"), [("Edit", "Tasks"), ("Diff", "Diff")], ids=["late", "chosen"])
def test_only_a_late_word_of_the_browser_does_not_change_the_tab_that_was_opened(monkeypatch, said, then):
    state = {}
    monkeypatch.setattr(inspector.st, "session_state", state)
    inspector.show("Edit")
    inspector.show("Tasks")
    state[inspector.TAB_KEY] = said  # as a look from the timer brings it, on a page that was drawn with Tasks
    inspector.keep("Tasks")
    inspector.settle()
    assert inspector.open_tab() == then


def test_a_node_in_whose_name_the_state_was_edited_is_marked_so(open_page):
    drawn = sent(open_page(thread="research-forked"), "graph")
    assert (drawn["edited"], drawn["done"], drawn["waiting"]) == (
        ["research"],
        ["__start__", "plan", "check"],
        ["review"],
    )
