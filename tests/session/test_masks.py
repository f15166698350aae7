"""Masked keys: their values are in nothing that a session returns, and are in the database as they were."""

import dataclasses
import json
import operator
from collections import deque
from typing import Annotated, Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from pydantic import BaseModel
from typing_extensions import TypedDict

from debugger_ui.cli import main
from debugger_ui.session.diff import equal
from debugger_ui.session.masks import Masks, beside, matcher, pattern_for
from debugger_ui.session.problems import SessionError
from debugger_ui.session.render import FULL, view
from debugger_ui.session.session import DebugSession
from debugger_ui.session.shape import MASKED, Masked
from debugger_ui.session.views import Edit
from debugger_ui.session.workspace import Workspace
from runtime.checkpoint.sqlite import SqliteSaver
from runtime.graph import END, START, StateGraph
from tests.session.conftest import PATIENT, answer, done, proceed, step

SECRET = "sk-never-shown-4711"
OTHER = "another-7331-secret"


@dataclasses.dataclass
class Account:
    owner: str
    token: str


class Vault(BaseModel):
    token: str
    place: str = "here"


class Safe:
    """Shown by its repr."""

    def __init__(self, token: str) -> None:
        self.token = token

    def __repr__(self) -> str:
        return f"Safe({self.token})"


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


def told(thing):
    """All texts in what a session returned."""
    if isinstance(thing, str):
        yield thing
    elif isinstance(thing, bytes):
        yield thing.decode()
    elif dataclasses.is_dataclass(thing):
        for field in dataclasses.fields(thing):
            yield from told(getattr(thing, field.name))
    elif isinstance(thing, dict):
        yield from told([*thing, *thing.values()])
    elif isinstance(thing, (list, tuple, set, frozenset)):
        for part in thing:
            yield from told(part)


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


@pytest.mark.parametrize("pattern", ["", "  ", ".", "*", "**", "x" * 500])
def test_a_pattern_that_names_nothing_is_refused(pattern):
    with pytest.raises(SessionError, match="Name the key to mask"):
        Masks([pattern])


@pytest.mark.parametrize(
    ("pattern", "masked", "shown"),
    [
        ("api_key", ["api_key", "user.api_key", "users.0.api_key"], ["api_keys", "api_key.x", "my_api_key"]),
        ("*_key", ["api_key", "user.some_key"], ["key", "keys.x"]),
        ("user.token", ["user.token", "state.user.token"], ["user.name", "token", "user.x.token"]),
        ("messages.*.content", ["messages.3.content", "messages.content"], ["messages.3.id", "content"]),
        ("user.*", ["user.name", "user.a.b"], ["user", "other.name"]),
        ("*.token", ["token", "a.token", "a.b.token"], ["tokens"]),
        ("a.b", ["a.b"], ["a", "ab", "a-b"]),
        ("k?y", ["key"], ["ky"]),
    ],
)
def test_a_pattern_masks_what_it_names(pattern, masked, shown):
    hides = matcher((pattern,))
    assert [path for path in masked if not hides(path)] == []
    assert [path for path in shown if hides(path)] == []


@PATIENT
@given(st.text(alphabet=st.sampled_from("ab*?[].()\\ $^|\n"), min_size=1).filter(lambda key: key.strip(".*")))
def test_a_key_of_any_characters_can_be_masked(key):
    masks = Masks([pattern_for(key)])
    assert masks.hides((key,))
    assert not masks.hides((f"{key}x",))


# --- what can be looked into ----------------------------------------------------------------------


def loop():
    found = [SECRET]
    found.append(found)
    return found


def deep():
    found = {"token": SECRET}
    for _ in range(3_000):
        found = [found]
    return found


@pytest.mark.parametrize(
    "value",
    [
        {"token": SECRET, 7: "seven"},
        [("x", {"token": SECRET})],
        deque([{"token": SECRET}], 5),
        Account("Ada", SECRET),
        Vault(token=SECRET),
        Safe(SECRET),
        [Safe(SECRET)],
        {frozenset([1]): {"token": [SECRET]}},
        AIMessage("x", tool_calls=[{"name": "f", "args": {"token": SECRET}, "id": "1"}]),
        HumanMessage("x", additional_kwargs={"token": SECRET}),
        pd.DataFrame({"token": [SECRET], "n": [1]}),
        json.dumps({"a": [{"token": SECRET}]}),
        {"token": loop()},
        deep(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_no_kind_of_value_shows_a_masked_part(value):
    veil = Masks(["token"]).veil(("key",), value)
    assert SECRET not in "".join(told(view(veil.shown, FULL)))
    assert SECRET not in repr(view(veil.shown, FULL))
    assert veil.real(veil.shown) is value


def test_what_has_no_masked_part_is_the_very_object():
    value = {"a": [Account("Ada", ""), loop(), {"token": None}], "b": pd.DataFrame({"n": [1]})}
    assert Masks(["nothing"]).apply(("key",), value["b"]) is value["b"]
    assert Masks(["token"]).apply(("key",), [{"token": None}, "x", Account("Ada", "")])[0] == {"token": None}
    plain = [{"a": 1}, ("x", {1, 2}), HumanMessage("hi")]
    assert Masks(["token"]).apply(("key",), plain) is plain


def test_masked_values_are_compared_and_never_stored():
    one, same, other = Masked([1, SECRET]), Masked([1, SECRET]), Masked([1, OTHER])
    assert equal(one, same)
    assert not equal(one, other)
    with pytest.raises(TypeError, match="not stored"):
        one.__reduce__()


def test_a_search_finds_nothing_masked_also_when_it_found_it_before(kit, open_graph):
    session = DebugSession(open_graph(agent(kit), EXAMPLE))
    session.new_run(json.dumps(EXAMPLE), thread="t")
    done(session)
    assert SECRET in "".join(told(session.threads(text=SECRET)))
    session.mask("api_key")
    session.mask("token")
    assert session.threads(text=SECRET).rows == ()
    assert [row.id for row in session.threads(text="api_key").rows] == ["t"]
