"""Names, values and addresses that nobody would choose: every view still comes, and says what it cannot do."""

import json
import re
from typing import Any

import pytest
from typing_extensions import TypedDict

from debugger_ui.cli import main
from debugger_ui.engines.graph import About
from debugger_ui.engines.opening import attach
from debugger_ui.session.cursor import MAX_PARAM
from debugger_ui.session.problems import SessionError
from debugger_ui.session.session import DebugSession
from debugger_ui.session.views import Edit
from debugger_ui.session.workspace import Workspace
from runtime.checkpoint.sqlite import SqliteSaver
from runtime.graph import END, START, StateGraph
from tests.session.conftest import WAIT

LOOKS = (
    "overview",
    "abilities",
    "threads",
    "timeline",
    "branches",
    "checkpoint",
    "raw",
    "diff",
    "tasks",
    "graph",
    "plan",
    "update",
    "questions",
    "progress",
    "run_form",
    "edit_form",
    "inbox",
    "channels",
    "masked",
)


class State(TypedDict, total=False):
    note: str
    value: Any


def run(value="x", node="work", thread="t"):
    """A session on a finished thread of a graph with one node."""
    saver = SqliteSaver.from_conn_string(":memory:")
    builder = StateGraph(State)
    builder.add_node(node, lambda state: {"value": value})
    builder.add_edge(START, node)
    builder.add_edge(node, END)
    graph = builder.compile(checkpointer=saver)
    graph.invoke({"note": "x"}, {"configurable": {"thread_id": thread}})
    session = DebugSession(Workspace([attach(graph, None, About(example={"note": "go"}))]))
    session.move(thread=thread)
    return session


def looked_at(session):
    """Everything there is to see, sent as the page would send it."""
    for name in LOOKS:
        str(getattr(session, name)()).encode("utf-8")
    for what in ("state", "thread"):
        json.loads(session.export(what).data)
    return session


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("-inf"),
        2**64 + 1,
        2**20_000,
        {"__proto__": {"constructor": 1}, "": 2, "a.b": 3, "a/b": 4, "[0]": 5, 0: 6},
        {("t", 1): 2, None: 3, True: 4},
        {"$type": "tuple", "items": 3},
        {"$type": "masked"},
        [{"role": None, "content": object}, {"role": "user", "content": {"type": []}}],
        ["x" * 100_000, "\x00\x1b[31m\r\n", "\u202e" * 50, "e" + "\u0301" * 1_000],
        b"\x89PNG\r\n\x1a\n" + b"\xff" * 100,
        "data:image/png;base64,AAAA",
        set(),
        complex(1, 2),
    ],
    ids=lambda value: type(value).__name__,
)
def test_any_value_can_be_looked_at_and_stays_beside_an_edit(value):
    if isinstance(value, list) and isinstance(value[0], dict):
        value[0]["content"] = None
    session = looked_at(run(value))
    before = session.raw(("value",))
    session.save_edit([Edit("note", '"new"')])
    assert session.raw(("value",)) == before
    assert [entry.label for entry in session.diff().entries] == ["note"]


@pytest.mark.parametrize(
    "name",
    [
        "a'b\"c",
        "new\nline",
        "😀",
        "\u202ertl",
        "../../etc",
        "</script><script>",
        " ",
        "%00&thread=b",
        "null",
        "x" * 5_000,
    ],
)
def test_any_thread_id_can_be_opened_and_linked_to(name):
    session = looked_at(run(thread=name))
    other = DebugSession(session.workspace)
    assert other.load_params(session.cursor.to_params()) == []
    assert other.cursor == session.cursor
    assert re.fullmatch(r"thread-[\w.-]+\.json", session.export().filename)


@pytest.mark.parametrize(
    "name",
    ["</script><script>alert(1)</script>", "<b>", "new\nline", "n" * 3_000, "\u202e", "node;->", "digraph", "a\\"],
)
def test_any_node_name_is_drawn_and_explained(name):
    session = looked_at(run(node=name))
    session.set_breakpoint(name)
    assert name in [node.id for node in session.graph().nodes]


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"thread": "<script>"}, "There is no thread '<script>'"),
        ({"thread": "t" * (MAX_PARAM + 1)}, "The thread in the address"),
        ({"thread": "\ud800"}, "The thread in the address"),
        ({"thread": "t", "checkpoint": "\x00"}, "There is no checkpoint"),
        ({"thread": "t", "checkpoint": "' or 1=1 --"}, "There is no checkpoint"),
        ({"thread": "t", "branch": "x" * 1_000}, "There is no branch"),
        ({"thread": "t", "namespace": "zz"}, "There is no part 'zz'"),
        ({"thread": "t", "graph": "zz"}, "There is no graph 'zz'"),
        ({"thread": "t", "path": "[1"}, "The path in the address"),
        ({"thread": "t", "path": '[{"a": 1}]'}, "The path in the address"),
        ({"thread": "t", "path": "[" * 5_000}, "The path in the address"),
        ({"thread": "t", "path": '["value", 1e999]'}, "The path in the address"),
    ],
)
def test_an_address_that_means_nothing_is_told_and_runs_nothing(params, said):
    session = run()
    count = session.timeline().total
    other = DebugSession(session.workspace)
    assert said in " ".join(other.load_params({**params, "action": "run"}))
    looked = other.checkpoint()
    assert (looked is None) == (other.cursor.thread == "")
    assert session.timeline().total == count


def test_a_spec_that_leaves_while_it_is_imported_is_a_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, body in (("leaving", "raise SystemExit(3)"), ("held", "raise KeyboardInterrupt")):
        (tmp_path / f"{name}.py").write_text(f"print('hello')\n{body}\n")
        assert main([f"{name}.py:graph", "--no-browser"]) == 2
    said = capsys.readouterr().err
    assert "Importing leaving.py raised SystemExit: 3" in said
    assert "stopped while held.py:graph was being opened" in said


def test_a_log_without_its_database_and_an_empty_file_are_no_databases(tmp_path):
    (tmp_path / "gone.sqlite-wal").write_bytes(b"\x37\x7f\x06\x82" + b"\x00" * 28)
    (tmp_path / "empty.sqlite").touch()
    for name, said in (("gone", "There is no file"), ("empty", "is empty")):
        with pytest.raises(SessionError, match=said):
            Workspace.open(database=str(tmp_path / f"{name}.sqlite"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty.sqlite", "gone.sqlite-wal"]


class Unspeakable(Exception):
    """Raises when it is asked what it says."""

    def __str__(self):
        raise RuntimeError("no words")

    __repr__ = __str__


def failing(error):
    """A session on a thread whose second node raised."""

    def fail(state):
        raise error

    saver = SqliteSaver.from_conn_string(":memory:")
    builder = StateGraph(State)
    builder.add_node("work", lambda state: {"value": 1})
    builder.add_node("fail", fail)
    builder.add_edge(START, "work")
    builder.add_edge("work", "fail")
    session = DebugSession(
        Workspace([attach(builder.compile(checkpointer=saver), None, About(example={"note": "go"}))])
    )
    session.new_run({"note": "x"}, thread="t", run=True)
    assert session.wait(WAIT)
    return session


@pytest.mark.parametrize(
    "error",
    [
        SystemExit(3),
        KeyboardInterrupt("no"),
        GeneratorExit("x"),
        BaseExceptionGroup("g", [SystemExit(1)]),
        Unspeakable(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_whatever_a_node_raises_is_its_failure_in_words(error):
    session = failing(error)
    name = type(error).__name__
    assert session.progress().message.startswith(f"fail raised {name}")
    view = session.checkpoint()
    assert (view.status, view.next) == ("failed", ("fail",))
    assert [(task.name, task.error.type) for task in view.tasks] == [("fail", name)]
    looked_at(session)


def test_an_error_of_ten_million_characters_is_told_in_few():
    session = failing(ValueError("E" * 10_000_000))
    assert "9,999,400 characters left out" in session.progress().message
    assert "\n" not in session.progress().message
    assert "\\n" not in session.progress().message
    assert len(str(session.checkpoint())) < 50_000
    assert len(str(session.progress())) < 50_000
