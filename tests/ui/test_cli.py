"""The command: a mistake is a sentence and an exit code before any server starts."""

import os
import sys

import pytest

from debugger_ui import cli

BROKEN = "def make(:\n"
PROJECT = """
from typing import TypedDict

from runtime.graph import START, StateGraph


class State(TypedDict):
    x: int


def node(state: State) -> dict[str, int]:
    return {"x": 1}


builder = StateGraph(State)
builder.add_node("node", node)
builder.add_edge(START, "node")
graph = builder.compile()
number = 7
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a project in it, in which the command is started; imports of it are forgotten after."""
    (tmp_path / "project_of_mine.py").write_text(PROJECT)
    (tmp_path / "broken_of_mine.py").write_text(BROKEN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in ("project_of_mine", "broken_of_mine"):
        sys.modules.pop(name, None)


@pytest.fixture
def refused(capsys, monkeypatch):
    """Run the command, which must not serve; return what it complained of."""

    def run(*arguments):
        def served(*_, **__):
            raise AssertionError("the server was started")

        monkeypatch.setattr(cli, "serve", served)
        assert cli.main(arguments) == 2
        said = capsys.readouterr().err
        assert said.startswith("forkpoint: ")
        assert "Traceback" not in said
        return said

    return run


def test_nothing_to_open(refused):
    assert "demo" in refused()


def test_a_database_that_is_not_there_is_not_made(refused, folder):
    assert "nowhere.sqlite" in refused("--db", "nowhere.sqlite")
    assert not (folder / "nowhere.sqlite").exists()


def test_a_file_that_is_no_database(refused, folder):
    (folder / "notes.txt").write_text("these are my notes, and quite some of them")
    assert "notes.txt" in refused("--db", "notes.txt")
    assert (folder / "notes.txt").read_text().startswith("these are my notes")


@pytest.mark.parametrize("path", ["", ".", "../../etc/passwd", "/dev/zero"])
def test_paths_that_are_no_files(refused, folder, path):
    refused("--db", path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs on this system")
def test_a_fifo_does_not_hang(refused, folder):
    os.mkfifo(folder / "pipe.sqlite")
    refused("--db", "pipe.sqlite")


def test_an_unknown_module(refused, folder):
    assert "no_such_module_of_mine" in refused("no_such_module_of_mine:graph", "--db", "x.sqlite")
    assert not (folder / "x.sqlite").exists()


def test_an_unknown_attribute_names_what_is_near(refused, folder):
    said = refused("project_of_mine:grahp", "--db", "x.sqlite")
    assert "grahp" in said
    assert "graph" in said.replace("grahp", "")


def test_what_is_no_graph_is_named_for_what_it_is(refused, folder):
    assert "int" in refused("project_of_mine:number", "--db", "x.sqlite")
    assert "compile" in refused("project_of_mine:builder", "--db", "x.sqlite")


def test_a_module_that_does_not_import(refused, folder):
    assert "broken_of_mine" in refused("broken_of_mine:make", "--db", "x.sqlite")


def test_a_folder_without_langgraph_json(refused, folder):
    assert "langgraph.json" in refused(".")


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_a_port_that_is_none(folder, capsys, port):
    with pytest.raises(SystemExit) as ended:
        cli.main(["demo", "--port", port])
    assert ended.value.code == 2
    assert "not a port" in capsys.readouterr().err


def test_a_right_spec_is_served_and_binds_this_machine_only(folder, monkeypatch):
    served = []
    monkeypatch.setattr(cli, "serve", lambda workspace, arguments, reporter: served.append((workspace, arguments)) or 0)
    assert cli.main(["project_of_mine:graph", "--db", "mine.sqlite"]) == 0
    workspace, arguments = served[0]
    workspace.close()
    assert (arguments.host, arguments.port) == ("127.0.0.1", cli.PORT)


def test_help_shows_each_way_to_start(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    said = capsys.readouterr().out
    for way in ("forkpoint demo", "--db agent.sqlite", "forkpoint ."):
        assert way in said


@pytest.mark.parametrize(
    ("context", "said"),
    [
        ("[1]", "--context takes an object {...}, not list"),
        ('{"a": 1,}', "--context: Line 1, column 9"),
        ("no_such_context.json", "no_such_context.json: No such file"),
        ('{"thread_id": "x"}', "'thread_id' belongs to the debugger"),
    ],
)
def test_a_context_that_is_none_is_a_sentence(folder, refused, context, said):
    assert said in refused("project_of_mine:graph", "--db", "new.sqlite", "--context", context)


@pytest.mark.parametrize("target", [("demo",), ("--db", "old.sqlite"), ("old.sqlite",)])
def test_a_context_without_a_graph_that_could_take_it_is_refused(folder, refused, target):
    (folder / "old.sqlite").touch()
    assert "A context is for the runs of a graph of your own" in refused(*target, "--context", "{}")


@pytest.mark.parametrize("content", [b"\xff\x00", b""])
def test_a_file_that_holds_no_context_is_a_sentence(folder, refused, content):
    (folder / "context.json").write_bytes(content)
    assert "--context" in refused("project_of_mine:graph", "--db", "new.sqlite", "--context", "context.json")


def test_a_context_may_stand_in_a_file(folder, monkeypatch):
    (folder / "context.json").write_text('{"user_id": "ada"}')
    assert cli.given_context("context.json") == {"user_id": "ada"} == cli.given_context(' {"user_id": "ada"}')
