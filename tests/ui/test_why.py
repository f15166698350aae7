"""Why this value: the chain of writers beside State and Diff, its jumps, and the last and next change."""

import json

from debugger_ui.panels import why
from tests.ui.seen import digest, finish, sent, text_of

HOSTILE = "<script>alert(1)</script> **bold** ![i](http://evil.example/leak.png)"


def host(page):
    return page.session_state["_tab"]


def ask(page, *path):
    why.ask(host(page), why.encoded(path))
    return page.run()


def chain(page):
    """Checkpoints of the hops behind the value, and the rows that show them."""
    session = host(page).session
    hops = why.together(session.why())
    blocks = sent(page, "sheet", "why")["blocks"][0]["blocks"]
    tables = [
        block for block in [*blocks, *(b for s in blocks for b in s.get("blocks", []))] if block["kind"] == "table"
    ]
    return hops, [row for table in tables for row in table["rows"]]


def test_state_and_diff_offer_the_question_for_their_paths(open_page):
    page = open_page(thread="research-finished")
    rows = sent(page, "sheet", "state")["blocks"][-1]["rows"]
    assert [json.loads(row["value"]["w"]) for row in rows] == [[row["key"]] for row in rows]
    page.session_state["tab"] = "Diff"
    page.run()
    (row,) = sent(page, "sheet", "diff")["blocks"][0]["rows"]
    assert (row["act"], json.loads(row["value"])) == ("why", ["report"])


def test_the_chain_leads_from_the_value_to_the_input_and_each_hop_is_a_jump(open_page, database):
    page = open_page(thread="research-finished")
    before = digest(database)
    ask(page, "report")
    assert json.loads(page.query_params["path"]) == ["report"]
    hops, rows = chain(page)
    assert len(rows) == len(hops) > why.NEAR
    assert [row["value"] for row in rows] == [str(place) for place in range(len(hops))]
    assert hops[0].nodes == ("report",)
    assert "input" in {hop.first.kind for hop in hops}
    findings = next(hop for hop in hops if hop.first.path == ("findings",))
    assert len(findings.nodes) == 3
    why.jump(host(page), findings.first)
    page.run()
    assert sent(page, "timeline")["selected"] == findings.first.checkpoint
    assert json.loads(page.query_params["path"]) == ["findings"]
    assert sent(page, "sheet", "why")["blocks"][0]["title"] == "Why findings"
    assert digest(database) == before
    assert not page.exception


def test_last_and_next_change_go_through_all_changes_of_a_path(open_page):
    page = open_page(thread="counter")
    rows = [row["id"] for row in sent(page, "timeline")["rows"]]
    ask(page, "value")
    session = host(page).session
    met = []
    for _ in range(len(rows)):
        why.last(host(page), session.checkpoint())
        page.run()
        if host(page).notice:
            break
        met.append(sent(page, "timeline")["selected"])
    values = [session.value(("value",), checkpoint=id_).text for id_ in met]
    assert len(met) > 2
    assert len(set(values)) == len(values)
    assert "first time" in text_of(page, "message_sheet")
    back = []
    for _ in range(len(rows)):
        why.following(host(page))
        page.run()
        if host(page).notice:
            break
        back.append(sent(page, "timeline")["selected"])
    assert back == [*met[::-1][1:], rows[0]]
    assert "does not change again" in host(page).notice


def test_the_same_path_again_closes_the_card(open_page):
    page = ask(open_page(thread="research-finished"), "report")
    ask(page, "report")
    assert "path" not in page.query_params
    assert not [e for e in page.get("bidi_component") if "-why" in e.proto.id]


def test_a_path_that_leads_nowhere_is_said(open_page):
    page = open_page(thread="research-finished", path=json.dumps([HOSTILE, 3]))
    assert not page.exception
    assert "Nothing has been written there" in text_of(page, "why")
    assert not any("evil.example" in element.value for element in page.markdown)


def test_a_supplied_result_is_named_in_the_chain(open_page):
    page = open_page(thread="flaky-failed")
    session = host(page).session
    failed = next(task for task in session.tasks() if task.status == "failed")
    host(page).act(session.supply, failed.id, json.dumps({"readings": ["by hand"]}))
    finish(page)
    host(page).act(session.fold)
    finish(page)
    ask(page, "readings")
    assert "tide_table, supplied" in text_of(page, "why")
