"""The Inbox page: all that waits in all threads, answered without leaving, and told when it went."""

from debugger_ui.session.cursor import Cursor
from debugger_ui.session.session import DebugSession
from tests.ui.seen import digest, sent, text_of


def host(page):
    return page.session_state["_tab"]


def rows(page):
    """Thread and node of the questions in the list."""
    table = next(block for block in sent(page, "sheet", "inbox_list")["blocks"] if block["kind"] == "table")
    return [(row["cells"][1][0]["text"], row["cells"][0][0]["text"]) for row in table["rows"]]


def elsewhere(page, thread):
    """Somebody else's session in the same workspace."""
    session = DebugSession(host(page).session.workspace, Cursor())
    session.move(thread=thread)
    return session


def open_question(page, thread, node):
    question = next(q for q in host(page).session.inbox().rows if (q.thread, q.node) == (thread, node))
    page.session_state["_inbox_open"] = (thread, question.id)
    return page.run()


def option(page, label):
    return next(button for button in page.button if button.label == label and button.key.startswith("option_"))


def test_every_question_of_every_thread_is_listed(open_page, database):
    page = open_page(page="Inbox")
    before = digest(database)
    assert sorted(rows(page)) == [
        ("approvals-half", "legal"),
        ("approvals-waiting", "finance"),
        ("approvals-waiting", "legal"),
        ("research-forked", "review"),
        ("research-waiting", "review"),
        ("sections-waiting", "section"),
    ]
    page.run()
    assert not page.exception
    assert digest(database) == before


def test_a_question_comes_with_its_state_and_what_answering_runs_again(open_page):
    page = open_question(open_page(page="Inbox"), "approvals-half", "legal")
    shown = text_of(page, "inbox_detail")
    assert "Answering runs legal again from its first line. finance is saved and not run again." in shown
    assert "approvals-half" in shown
    assert "Ferry service 2031" in text_of(page, "inbox_state")


def test_an_answer_goes_to_its_thread_and_the_page_stays(open_page):
    page = open_page(page="Inbox", thread="research-waiting")
    open_question(page, "approvals-half", "legal")
    option(page, "yes").click().run()
    other = elsewhere(page, "approvals-half")
    other.wait(30)
    page.run()
    assert page.session_state["page"] == "Inbox"
    assert host(page).session.cursor.thread == "research-waiting"
    assert ("approvals-half", "legal") not in rows(page)
    assert other.checkpoint().status == "done"
    assert host(page).problem is None
    assert "Answered legal in approvals-half" in text_of(page, "message_sheet")
    assert not [e for e in page.get("bidi_component") if "inbox_moved_on" in e.proto.id]


def test_one_of_two_questions_is_answered_by_its_id(open_page):
    page = open_question(open_page(page="Inbox"), "approvals-waiting", "finance")
    option(page, "no").click().run()
    elsewhere(page, "approvals-waiting").wait(30)
    page.run()
    assert ("approvals-waiting", "finance") not in rows(page)
    assert ("approvals-waiting", "legal") in rows(page)


def test_a_question_that_was_answered_elsewhere_is_said_in_a_sentence(open_page):
    page = open_question(open_page(page="Inbox"), "approvals-half", "legal")
    other = elsewhere(page, "approvals-half")
    other.answer({question.id: '"yes"' for question in other.questions()})
    other.wait(30)
    page.run()
    assert ("approvals-half", "legal") not in rows(page)
    assert "No longer waiting: legal in approvals-half." in text_of(page, "inbox_moved_on")
    assert not page.exception


def test_no_other_question_takes_the_place_of_one_that_was_answered_elsewhere(open_page):
    page = open_question(open_page(page="Inbox"), "sections-waiting", "section")
    asked = page.session_state["_inbox_open"][1]
    page.session_state[f"box_{asked}"] = {"doc": {"rev": asked, "text": '"it costs 41 million"'}}
    page.run()
    other = elsewhere(page, "sections-waiting")
    other.answer({question.id: '"yes"' for question in other.questions()})
    other.wait(30)
    page.run().run()
    assert not [button for button in page.button if button.key.startswith(("option_", "send_"))]
    assert "section no longer waits" in text_of(page, "inbox_gone")
    assert "it costs 41 million" in text_of(page, "inbox_gone")
    open_question(page, "approvals-half", "legal")
    assert option(page, "yes")


def test_after_an_answer_the_next_question_opens(open_page):
    page = open_page(page="Inbox")
    after = rows(page)[rows(page).index(("approvals-waiting", "finance")) + 1]
    open_question(page, "approvals-waiting", "finance")
    option(page, "no").click().run()
    elsewhere(page, "approvals-waiting").wait(30)
    page.run()
    thread, node = after
    assert f"{node} asks" in text_of(page, "inbox_detail")
    assert thread in text_of(page, "inbox_detail")


def test_a_late_answer_is_refused_and_changes_nothing(open_page, database):
    page = open_question(open_page(page="Inbox"), "approvals-half", "legal")
    late = option(page, "no")
    other = elsewhere(page, "approvals-half")
    other.answer({question.id: '"yes"' for question in other.questions()})
    other.wait(30)
    before = digest(database)
    late.click().run()
    assert "Your answer was not used" in host(page).problem.message
    assert digest(database) == before


def test_an_inbox_without_questions_says_so(open_page):
    page = open_page(page="Inbox")
    for thread in sorted({thread for thread, _ in rows(page)}):
        other = elsewhere(page, thread)
        texts = {"review": "approve"}
        other.answer({question.id: f'"{texts.get(question.node, "yes")}"' for question in other.questions()})
        other.wait(30)
    page.run()
    assert "No question waits" in text_of(page, "inbox_empty")


def test_open_in_debug_goes_to_the_question(open_page):
    page = open_question(open_page(page="Inbox", thread="counter"), "research-forked", "review")
    page.button(key="inbox_debug").click().run()
    assert page.query_params["thread"] == "research-forked"
    assert "Write the report from these findings?" in text_of(page, "question_sheet")


def test_read_only_lists_the_questions_and_offers_no_answer(open_page):
    page = open_page(read_only=True, page="Inbox")
    assert len(rows(page)) == 6
    assert not [button for button in page.button if button.key.startswith(("option_", "send_"))]
    assert "ead-only" in text_of(page, "inbox_cannot")
