"""Masked keys: their values are in nothing that a session returns, and are in the database as they were."""

import json
import operator
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from typing_extensions import TypedDict

from debugger_ui.cli import main
from debugger_ui.session.masks import Masks, beside
from debugger_ui.session.problems import SessionError
from debugger_ui.session.session import DebugSession
from debugger_ui.session.shape import MASKED
from debugger_ui.session.views import Edit
from debugger_ui.session.workspace import Workspace
from runtime.checkpoint.sqlite import SqliteSaver
from runtime.graph import END, START, StateGraph
from tests.kit.secrets import OTHER, SECRET, told
from tests.session.conftest import answer, done, proceed, step


class Kept(TypedDict, total=False):
    question: str
    api_key: str
    account: dict[str, Any]
    messages: Annotated[list[Any], operator.add]
    log: Annotated[list[str], operator.add]


def agent(kit):
    """A node that reads secrets, a fan-out that carries one, a question with one, an error that says one."""

    def plan(state):
        call = {"name": "fetch", "args": {"url": "x", "token": SECRET}, "id": "c1", "type": "tool_call"}
        raw = {"tool_calls": [{"function": {"arguments": json.dumps({"token": SECRET})}}]}
        said = [AIMessage("", tool_calls=[call], additional_kwargs=raw), ToolMessage(SECRET, tool_call_id="c1")]
        return {"messages": said, "account": {"owner": "Ada", "token": SECRET}}

    def fan_out(state):
        return [kit.Send("work", {"n": n, "token": SECRET}) for n in range(2)]

    def work(job):
        return {"log": [f"worked on {job['n']}"]}

    def ask(state):
        said = kit.interrupt({"question": "Go on?", "token": SECRET, "options": ["yes", "no"]})
        return {"log": [said]}

    def fail(state):
        raise ValueError(f"the server refused {state['api_key']}")

    builder = kit.StateGraph(Kept)
    for node in (plan, work, ask, fail):
        builder.add_node(node.__name__, node)
    builder.add_edge(kit.START, "plan")
    builder.add_conditional_edges("plan", fan_out, ["work"])
    builder.add_edge("work", "ask")
    builder.add_edge("ask", "fail")
    return builder


PATTERNS = ("api_key", "token", "messages.*.content")
EXAMPLE = {"question": "why?", "api_key": SECRET, "account": {"owner": "Ada", "token": SECRET}}


@pytest.fixture
def session(kit, open_graph):
    """A session on the agent with its secrets masked, nothing run yet."""
    return DebugSession(open_graph(agent(kit), EXAMPLE, masks=Masks(PATTERNS)))


def everything(session):
    """All that a session returns about the checkpoint under the cursor."""
    view_ = session.checkpoint()
    yield view_
    yield from (session.overview(), session.threads(), session.timeline(), session.branches(), session.graph())
    yield from (session.diff(), session.tasks(), session.channels(all_channels=True), session.plan(), session.update())
    yield from (session.questions(), session.inbox(), session.progress(), session.raw())
    yield from (session.branch_list(), session.missing(), session.catch_up(), session.newest_failure())
    if (sides := session.sides()) is not None:
        yield from (session.compare(*sides), session.compare_states(*sides))
    yield from (session.edit_form(), session.run_form(), session.export("state"), session.export("thread"))
    for entry in view_.entries if view_ else ():
        yield from walk(session, entry.value)
        if entry.value.rich is not None:
            yield session.rich((entry.key,))
        yield from (session.why((entry.key,)), session.last_change((entry.key,)), session.next_change((entry.key,)))
        yield session.preview_edit([Edit(entry.key, '"new"')])


def walk(session, shown):
    """The value at a path and at every path below, each asked for by itself, in full and raw."""
    yield session.value(shown.path, full=True)
    yield session.raw(shown.path)
    for child in shown.children:
        yield from walk(session, child.value)


def look_around(session):
    """Look at every checkpoint of the thread with everything there is."""
    seen = 0
    for row in session.timeline().rows:
        session.move(checkpoint=row.checkpoint)
        for thing in everything(session):
            for text in told(thing):
                seen += 1
                assert SECRET not in text, (type(thing).__name__, text[:200])
    session.last()
    return seen


def test_a_secret_is_in_nothing_that_a_session_returns(session):
    session.new_run(json.dumps({**EXAMPLE, "messages": [SECRET]}), thread="t")
    done(session)
    session.mask("messages.0")
    proceed(session)
    assert session.checkpoint().status == "waiting"
    assert look_around(session) > 1_000
    answer(session, '"yes"')
    progress = session.progress()
    assert progress.state == "failed"
    assert "ValueError" in progress.message
    assert SECRET not in progress.message + progress.problem.details
    assert [task.error.message for task in session.tasks()] == ["the server refused •••"]
    look_around(session)


def test_a_secret_is_in_no_watch_and_in_no_comparison(session):
    for expression in ("api_key", "account", 'account["token"]', "len(api_key)"):
        session.add_watch(expression)
    session.new_run(json.dumps(EXAMPLE), thread="t", run=True)
    done(session)
    session.first()
    session.forward()
    session.save_edit([Edit("api_key", json.dumps(f"{SECRET} too")), Edit("question", '"how?"')])
    assert session.sides() is not None
    assert look_around(session) > 500
    cells = [cell for row in session.timeline().rows for cell in row.cells]
    assert any(cell.text == MASKED for cell in cells)
    assert any("cannot be looked into" in cell.error for cell in cells)


def test_what_is_masked_reached_the_node_and_is_there_again_without_masks(kit, session):
    session.new_run({"question": "why?", "api_key": "", "account": "{}"}, thread="t")
    done(session)
    assert {entry.key: entry.value.text for entry in session.checkpoint().entries}["api_key"] == "•••"
    bare = DebugSession(Workspace([session.desk.engine]))
    bare.move(thread="t")
    assert json.loads(bare.raw())["api_key"] == SECRET


def test_an_edit_leaves_masked_values_as_they_are(session):
    session.new_run(json.dumps(EXAMPLE), thread="t")
    done(session)
    step(session)
    form = {field.key: field for field in session.edit_form().fields}
    assert form["api_key"].masked
    account = json.loads(form["account"].text)
    assert account == {"owner": "Ada", "token": {"$type": "masked"}}
    account["owner"] = "Grace"
    messages = json.loads(form["messages"].text)
    messages[0]["name"] = "Ada"
    edits = [
        Edit("account", json.dumps(account)),
        Edit("api_key", form["api_key"].text),
        Edit("messages", json.dumps(messages)),
    ]
    preview = session.preview_edit(edits, "plan")
    assert preview.problems == ()
    outcomes = {one.key: one.changed for one in preview.outcomes}
    assert (outcomes["account"], outcomes["api_key"]) == (True, False)
    session.save_edit(edits, "plan")
    bare = DebugSession(Workspace([session.desk.engine]), session.cursor)
    state = json.loads(bare.raw())
    assert state["account"] == {"owner": "Grace", "token": SECRET}
    assert state["api_key"] == SECRET
    assert state["messages"][0]["tool_calls"][0]["args"]["token"] == SECRET


def test_a_masked_value_can_be_overwritten_unseen(session):
    session.new_run(json.dumps(EXAMPLE), thread="t")
    done(session)
    step(session)
    edit = [Edit("api_key", json.dumps(OTHER))]
    (outcome,) = session.preview_edit(edit, "plan").outcomes
    assert (outcome.changed, outcome.before.text, outcome.after.text) == (True, "•••", "•••")
    session.save_edit(edit, "plan")
    assert [entry.label for entry in session.diff().entries] == ["api_key"]
    assert OTHER not in "".join(told(session.diff()))
    bare = DebugSession(Workspace([session.desk.engine]), session.cursor)
    assert json.loads(bare.raw())["api_key"] == OTHER


def test_a_mark_elsewhere_stands_for_nothing(session):
    session.new_run(json.dumps(EXAMPLE), thread="t")
    done(session)
    step(session)
    (problem,) = session.preview_edit([Edit("question", '{"$type": "masked"}')], "plan").problems
    assert "question: a masked value stands only for what is in its own place" in problem.message


def test_looking_forking_and_exporting_leave_the_stored_bytes(tmp_path):
    path = tmp_path / "runs.sqlite"
    builder = StateGraph(Kept)
    builder.add_node("note", lambda state: {"log": ["noted"]})
    builder.add_edge(START, "note")
    builder.add_edge("note", END)
    with SqliteSaver.from_conn_string(path) as saver:
        builder.compile(checkpointer=saver).invoke(EXAMPLE, {"configurable": {"thread_id": "t"}})
    before = path.read_bytes()
    workspace = Workspace.open(database=str(path), mask=["api_key", "token"])
    session = DebugSession(workspace)
    session.move(thread="t")
    assert SECRET not in session.export().data.decode()
    assert session.export().notes == ("Masked, and not in the file: api_key, token.",)
    workspace.close()
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("given", "shown"), [(["--mask", "api_key", "--mask", "account.*"], 0), (["--unmasked"], 2), ([], 1)]
)
def test_the_command_exports_with_masks(tmp_path, given, shown):
    path = tmp_path / "runs.sqlite"
    builder = StateGraph(Kept)
    builder.add_node("note", lambda state: {})
    builder.add_edge(START, "note")
    with SqliteSaver.from_conn_string(path) as saver:
        builder.compile(checkpointer=saver).invoke(EXAMPLE, {"configurable": {"thread_id": "t"}})
    beside(path).write_text('["api_key"]')
    assert main(["db", "export", str(path), "t", str(tmp_path / "out.json"), *given]) == 0
    rows = json.loads((tmp_path / "out.json").read_text())["checkpoints"]
    assert json.dumps(rows[-1]["state"]).count(SECRET) == shown


# --- where they are kept --------------------------------------------------------------------------


def test_masks_lie_beside_the_database_and_hold_for_whoever_opens_it(tmp_path):
    database = tmp_path / "runs.sqlite"
    masks = Masks(["given"], beside(database))
    masks.add(" token ")
    masks.add("token")
    assert [(one.pattern, one.fixed) for one in masks.views()] == [("given", True), ("token", False)]
    assert Masks((), beside(database), keep=False).patterns == ("token",)
    with pytest.raises(SessionError, match="--mask"):
        masks.remove("given")
    masks.remove("token")
    assert Masks((), beside(database)).patterns == ()


def test_masks_that_cannot_be_read_hold_everything_back(tmp_path):
    beside(tmp_path / "runs.sqlite").write_text("[1")
    with pytest.raises(SessionError, match="until then nothing is shown"):
        Masks((), beside(tmp_path / "runs.sqlite"))


def test_a_search_finds_nothing_masked_also_when_it_found_it_before(kit, open_graph):
    session = DebugSession(open_graph(agent(kit), EXAMPLE))
    session.new_run(json.dumps(EXAMPLE), thread="t")
    done(session)
    assert SECRET in "".join(told(session.threads(text=SECRET)))
    session.mask("api_key")
    session.mask("token")
    assert session.threads(text=SECRET).rows == ()
    assert [row.id for row in session.threads(text="api_key").rows] == ["t"]
