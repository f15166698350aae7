"""What the command line may name, and the sentence for each thing that it may not."""

import importlib
import json
import os
import socket
import sqlite3
import sys
import textwrap

import pytest

from debugger_ui.session.files import check_database
from debugger_ui.session.problems import SessionError
from debugger_ui.session.session import DebugSession
from debugger_ui.session.workspace import Workspace
from runtime.checkpoint.sqlite import SqliteSaver
from tests.session.conftest import done, proceed

GRAPHS = """
    from typing_extensions import TypedDict

    from runtime.checkpoint.memory import InMemorySaver
    from runtime.graph import END, START, StateGraph


    class State(TypedDict):
        total: int


    def add(state: State) -> dict:
        return {"total": state["total"] + 1}


    builder = StateGraph(State)
    builder.add_node("add", add)
    builder.add_edge(START, "add")
    builder.add_edge("add", END)
    graph = builder.compile()
    kept = builder.compile(checkpointer=InMemorySaver())
    example_input = {"total": 1}
    shows = "Adding one."
    number = 7


    def make_graph():
        return graph
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with a module of its own name, as the current folder."""
    name = f"project_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(textwrap.dedent(GRAPHS))
    (tmp_path / "broken.py").write_text("import nothing_of_the_kind\n")
    (tmp_path / "raising.py").write_text("raise ValueError('no key')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield name
    for module in (name, "broken", "raising"):
        sys.modules.pop(module, None)


@pytest.fixture
def opened():
    """Workspaces opened by a test, closed at its end."""
    workspaces = []

    def open_it(*arguments, **options):
        workspace = Workspace.open(*arguments, **options)
        workspaces.append(workspace)
        return workspace

    yield open_it
    for workspace in workspaces:
        workspace.close()


def refusal(*arguments, **options):
    with pytest.raises(SessionError) as refused:
        Workspace.open(*arguments, **options)
    return refused.value.problem.message


def test_a_graph_on_a_database_runs_and_is_found_again(project, opened, tmp_path):
    spec = f"{project}:graph"
    session = DebugSession(opened(spec, database="agent.sqlite"))
    overview = session.overview()
    assert (overview.graph, overview.engine, overview.shows) == ("graph", "runtime", "Adding one.")
    session.new_run({"total": "41"}, thread="t")
    done(session)
    assert proceed(session).state == "done"
    again = DebugSession(opened(spec, database=str(tmp_path / "agent.sqlite")))
    again.move(thread="t")
    assert again.checkpoint().entries[0].value.text == "42"


def test_the_current_folder_comes_last_on_the_import_path(project, opened, tmp_path):
    opened(f"{project}:kept")
    assert sys.path[-1] == str(tmp_path)


def test_a_graph_with_its_own_checkpointer_needs_no_database(project, opened):
    assert opened(f"{project}:kept").database == "the graph's own checkpointer"
    assert "no checkpointer" in refusal(f"{project}:graph")


@pytest.mark.parametrize(
    ("attribute", "said"),
    [
        ("builder", "a StateGraph that has not been compiled.*builder.compile"),
        ("make_graph", "the function make_graph.*call the function"),
        ("State", "the class State.*compiled graph is wanted"),
        ("number", "an int.*compiled graph is wanted"),
        ("grahp", "has no 'grahp'. Did you mean graph"),
        ("nothing", "has no 'nothing'.*It has the compiled graphs graph, kept"),
    ],
)
def test_an_object_that_is_no_graph_is_named(project, attribute, said):
    with pytest.raises(SessionError, match=said):
        Workspace.open(f"{project}:{attribute}", database="new.sqlite")
    assert not os.path.exists("new.sqlite")


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("nowhere.at.all:graph", "no module 'nowhere'"),
        ("just_a_word", "does not name a graph"),
        (":graph", "does not name a graph"),
        ("a-b:graph", "not the name of a module"),
        ("broken:graph", "Importing broken raised ModuleNotFoundError: No module named 'nothing_of_the_kind'"),
        ("raising:graph", "Importing raising raised ValueError: no key"),
        ("missing.py:graph", "no file"),
    ],
)
def test_a_spec_that_leads_nowhere_says_where_it_stopped(project, spec, said):
    with pytest.raises(SessionError, match=said):
        Workspace.open(spec)


def test_a_users_own_package_of_our_name_is_told_about(project, tmp_path):
    (tmp_path / "runtime").mkdir()
    (tmp_path / "runtime" / "__init__.py").write_text("tools = 1\n")
    (tmp_path / "app.py").write_text("from runtime import tools\n")
    sys.modules.pop("app", None)
    message = refusal("app:graph")
    assert "Importing app raised ImportError" in message
    assert "own 'runtime' at top level" in message


def test_a_project_folder_opens_the_graphs_of_its_langgraph_json(project, opened, tmp_path):
    (tmp_path / "langgraph.json").write_text(f'{{"graphs": {{"adder": "./{project}.py:graph"}}}}')
    assert DebugSession(opened(str(tmp_path), database="x.sqlite")).overview().graphs == ("adder",)


FILE_WITH_A_CLASS = """
from dataclasses import dataclass
from typing import TypedDict

from runtime.graph import START, StateGraph


@dataclass
class Found:
    text: str


class State(TypedDict):
    found: Found
    said: str


builder = StateGraph(State)
builder.add_node("find", lambda state: {"found": Found("{name}")})
builder.add_node("say", lambda state: {"said": state["found"].text})
builder.add_edge(START, "find")
builder.add_edge("find", "say")
graph = builder.compile()
"""


@pytest.fixture
def two_files(tmp_path, monkeypatch):
    """A project as templates are: packages in `src`, each with a file graph.py that has a class of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    names = [f"pack_{one}_{tmp_path.name.replace('-', '_')}" for one in "ab"]
    for name in names:
        (tmp_path / "src" / name).mkdir(parents=True)
        (tmp_path / "src" / name / "__init__.py").touch()
        (tmp_path / "src" / name / "graph.py").write_text(FILE_WITH_A_CLASS.replace("{name}", name))
    graphs = {name: f"./src/{name}/graph.py:graph" for name in names}
    (tmp_path / "langgraph.json").write_text(json.dumps({"graphs": graphs}))
    yield names
    for name in [name for name in sys.modules if name.startswith(("pack_", "forkpoint_user_"))]:
        del sys.modules[name]


def test_a_file_is_imported_by_the_name_that_the_projects_own_code_has_for_it(two_files, opened):
    session = DebugSession(opened(".", database="x.sqlite"))
    assert session.overview().graphs == tuple(two_files)
    graphs = [session.workspace.desk(name).engine.graph for name in two_files]
    classes = [graph.builder.state_schema.__annotations__["found"] for graph in graphs]
    assert [cls.__module__ for cls in classes] == [f"{name}.graph" for name in two_files]


def test_an_object_that_the_projects_own_program_saved_is_one_here(two_files, opened, tmp_path):
    monkey = str(tmp_path / "src")
    sys.path.append(monkey)
    graph = importlib.import_module(f"{two_files[0]}.graph").graph
    with SqliteSaver.from_conn_string("x.sqlite") as saver:
        own = graph.copy(update={"checkpointer": saver})
        own.invoke({"said": ""}, {"configurable": {"thread_id": "t"}}, interrupt_before=["say"])
    for name in [name for name in sys.modules if name.startswith("pack_")]:
        del sys.modules[name]
    sys.path.remove(monkey)
    session = DebugSession(opened(".", database="x.sqlite"))
    session.move(thread="t")
    session.step()
    assert (problem := session.wait(20).problem) is None, problem
    assert session.value(("said",)).text == two_files[0]


def test_files_that_have_no_name_of_their_own_do_not_get_each_others(two_files, opened, tmp_path):
    for one, name in zip("ab", two_files, strict=True):
        (tmp_path / f"part-{one}").mkdir()
        (tmp_path / f"part-{one}" / "graph.py").write_text(FILE_WITH_A_CLASS.replace("{name}", name))
    graphs = {one: f"./part-{one}/graph.py:graph" for one in "ab"}
    (tmp_path / "langgraph.json").write_text(json.dumps({"graphs": graphs}))
    workspace = opened(".", database="x.sqlite")
    modules = [workspace.desk(one).engine.graph.builder.state_schema.__module__ for one in "ab"]
    assert modules == ["forkpoint_user_graph", "forkpoint_user_graph_2"]


@pytest.mark.parametrize(
    ("text", "said"),
    [("{", "cannot be read"), ("{}", "names no graphs"), ('{"graphs": {"a": 3}}', "'a' has no path")],
)
def test_a_broken_langgraph_json_is_told(tmp_path, text, said):
    (tmp_path / "langgraph.json").write_text(text)
    assert said in refusal(str(tmp_path))


def test_a_folder_without_a_langgraph_json_is_told(tmp_path):
    assert "has no langgraph.json" in refusal(str(tmp_path))


# --- databases ------------------------------------------------------------------------------------


def test_looking_for_a_database_never_creates_one(tmp_path):
    path = tmp_path / "none.sqlite"
    assert "There is no file" in refusal(database=str(path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("database", "said"),
    [
        ("", "is empty"),
        ("   ", "is empty"),
        (":memory:", "in memory"),
        ("file:x?mode=rwc", "is a URI"),
        ("a\x00b", "NUL"),
        ("~", "only a shell knows"),
        ("~/agent.sqlite", "only a shell knows"),
        ("sqlite:///agent.sqlite", "is an address that is not known here"),
        ("mysql://me:secret@host/db", "mysql://me@host/db is an address"),
        (os.devnull, "is a device"),
        ("\\\\server\\share\\x.sqlite", "no file"),
        ("../" * 20 + "etc/passwd", "not a SQLite database"),
        ("x" * 5000, "cannot be looked at"),
    ],
)
def test_a_path_that_is_no_database_is_refused_in_a_sentence(database, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert said in refusal(database=database)
    assert list(tmp_path.iterdir()) == []


def test_folders_pipes_and_sockets_are_told_apart(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        for name, kind in (("", "a folder"), ("pipe", "a named pipe"), ("socket", "a socket")):
            assert f"is {kind}" in refusal(database=str(tmp_path / name))


def test_other_files_are_left_as_they_are(tmp_path):
    text, empty, foreign = (tmp_path / name for name in ("notes.txt", "empty.sqlite", "foreign.sqlite"))
    text.write_text("hello")
    empty.touch()
    with sqlite3.connect(foreign) as connection:
        connection.execute("create table people (name text)")
    connection.close()
    before = foreign.read_bytes()
    assert "not a SQLite database" in refusal(database=str(text))
    assert "is empty" in refusal(database=str(empty))
    assert "tables of something else (people)" in refusal(database=str(foreign))
    assert (text.read_text(), empty.stat().st_size, foreign.read_bytes()) == ("hello", 0, before)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty.sqlite", "foreign.sqlite", "notes.txt"]


def test_a_new_database_needs_its_folder(tmp_path):
    assert check_database(str(tmp_path / "new.sqlite"), may_be_new=True) == tmp_path / "new.sqlite"
    with pytest.raises(SessionError, match="no folder"):
        check_database(str(tmp_path / "no" / "new.sqlite"), may_be_new=True)


# --- a database alone -----------------------------------------------------------------------------


@pytest.fixture
def recorded(project, tmp_path):
    """A database with a finished thread, closed again."""
    sys.path.append(str(tmp_path))
    with SqliteSaver.from_conn_string(tmp_path / "left.sqlite") as saver:
        graph = importlib.import_module(project).builder.compile(checkpointer=saver)
        graph.invoke({"total": 1}, {"configurable": {"thread_id": "t"}})
    return tmp_path / "left.sqlite"


def test_a_database_alone_shows_its_record_and_runs_nothing(recorded, opened):
    before = recorded.read_bytes()
    session = DebugSession(opened(database=str(recorded)))
    assert session.overview().read_only
    assert [row.id for row in session.threads().rows] == ["t"]
    session.move(thread="t")
    view = session.checkpoint()
    assert [(e.key, e.value.text, e.changed) for e in view.entries] == [("total", "2", True)]
    assert view.nodes == ("add",)
    assert [node.id for node in session.graph().nodes if node.visits] == ["add"]
    assert session.graph().inferred
    assert [entry.label for entry in session.diff().entries] == ["total"]
    session.back()
    assert [(task.name, task.status) for task in session.tasks()] == [("add", "saved")]
    assert session.channels()
    abilities = session.abilities()
    assert not any((abilities.run.allowed, abilities.edit.allowed, abilities.new_run.allowed))
    assert "module:graph" in abilities.run.reason
    for act in (session.step, session.edit_form, session.run_form):
        with pytest.raises(SessionError, match="Only the database is open"):
            act()
    assert recorded.read_bytes() == before


def test_a_read_only_workspace_says_so_before_the_click(project, recorded, opened):
    session = DebugSession(opened(f"{project}:graph", database=str(recorded), read_only=True))
    session.move(thread="t")
    assert session.checkpoint().entries[0].value.text == "2"
    assert "Read-only" in session.abilities().edit.reason
    with pytest.raises(SessionError, match="Read-only") as refused:
        session.new_run({"total": "1"})
    assert refused.value.problem.kind == "read-only"


def test_a_file_that_may_not_be_written_opens_to_look_at(project, recorded, opened, monkeypatch):
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and access(path, mode))
    workspace = opened(f"{project}:graph", database=str(recorded))
    assert workspace.read_only
    assert "may not be written" in workspace.read_only_reason


def test_names_and_notes_lie_beside_the_database(project, recorded, opened):
    session = DebugSession(opened(f"{project}:graph", database=str(recorded)))
    session.move(thread="t")
    (branch,) = session.branches()
    session.label_branch(branch.id, name="the good one", note="ask Ada")
    session.note_checkpoint(session.checkpoint().id, "look here")
    again = DebugSession(opened(f"{project}:graph", database=str(recorded)))
    again.move(thread="t")
    assert [(b.name, b.note) for b in again.branches()] == [("the good one", "ask Ada")]
    assert again.timeline(text="look here").total == 1
    with SqliteSaver.from_conn_string(str(recorded), read_only=True) as saver:
        assert len(list(saver.list(None))) == 3
    with pytest.raises(SessionError, match="no branch"):
        again.label_branch("nothing", name="x")
