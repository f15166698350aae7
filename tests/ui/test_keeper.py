"""The command keeps its server: lost ones are started anew under the old address, and none is left behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.ui.conftest import START_TIMEOUT, Server

pytestmark = pytest.mark.skipif(os.name != "posix", reason="elsewhere the command is the server itself")

DEADLY = """
import os
from typing import TypedDict

from runtime.graph import START, StateGraph


class State(TypedDict, total=False):
    note: str


builder = StateGraph(State)
builder.add_node("first", lambda state: {"note": "first was here"})
builder.add_node("deadly", lambda state: os._exit(3))
builder.add_edge(START, "first")
builder.add_edge("first", "deadly")
graph = builder.compile()
"""


@pytest.fixture
def server(tmp_path):
    """The command on a graph with a node that ends the process."""
    (tmp_path / "deadly.py").write_text(DEADLY)
    made = Server(["deadly:graph", "--db", "deadly.sqlite"], tmp_path)
    yield made
    made.stop()


def server_of(command):
    """The process id of the command's server."""
    found = subprocess.run(["pgrep", "-P", str(command.pid)], capture_output=True, text=True, check=True)
    (number,) = found.stdout.split()
    return int(number)


def until(wanted):
    """Wait for something that another process brings about."""
    deadline = time.monotonic() + START_TIMEOUT
    while not wanted():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def runs(number):
    return Path(f"/proc/{number}").exists() if Path("/proc").exists() else not os.kill(number, 0)


def test_a_server_that_was_killed_is_started_anew_at_the_old_address(server):
    first = server_of(server.process)
    os.kill(first, signal.SIGKILL)
    until(lambda: "was ended by SIGKILL; it is started anew" in server.log.read_text() and server.healthy(server.url))
    second = server_of(server.process)
    assert second != first
    server.stop()
    assert server.process.returncode == 0
    until(lambda: not runs(second))


def test_no_server_outlives_the_command(server):
    child = server_of(server.process)
    server.process.kill()
    server.process.wait()
    until(lambda: not runs(child))


@pytest.mark.loses_server
def test_a_page_comes_back_at_its_checkpoint_and_says_what_happened(server, desk_at):
    desk = desk_at(server)
    desk.page.goto(server.url)
    desk.button("new_run").click()
    desk.page.get_by_role("textbox", name="note").fill("go")
    desk.page.get_by_role("textbox", name="note").press("Tab")
    desk.settle()
    desk.button("start").click()
    desk.counts(2)
    desk.step()
    desk.press("Step")
    expect(desk.page.locator(".st-key-message")).to_contain_text("ended with code 3", timeout=START_TIMEOUT * 1000)
    expect(desk.page.locator(".st-key-message")).to_contain_text("What was saved is here")
    desk.counts(3)
    desk.mark("deadly", "next")
    assert "Traceback" not in server.log.read_text()


def kept(child, before=""):
    """Run a command whose server is a script; return what came of it. `before`: what the command does first."""
    keep = f"keeper.CHILD = {child!r}; sys.exit(keeper.Keeper(['x']).keep())"
    script = f"{before}import sys; from debugger_ui import keeper; {keep}"
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=START_TIMEOUT)


SAYS = "import os, socket; line = socket.socket(fileno=int(os.environ['FORKPOINT_LINE'])); "


def test_a_server_that_does_not_stay_up_is_given_up():
    found = kept(f"{SAYS} line.sendall(b'up 1\\n'); os._exit(7)")
    assert found.returncode == 1
    assert found.stderr.count("ended with code 7, without a word; it is started anew") == 4
    assert "again and again" in found.stderr


def test_a_server_that_never_was_up_or_leaves_ends_the_command_with_its_code():
    assert kept("import os; os._exit(2)").returncode == 2
    assert kept(f"{SAYS} line.sendall(b'up 1\\nleaves\\n'); os._exit(5)").returncode == 5


def test_under_nohup_it_outlives_its_terminal():
    hangs_up = "import signal, threading; os.kill(os.getppid(), signal.SIGHUP); "
    child = f"{SAYS} line.sendall(b'up 1\\nleaves\\n'); {hangs_up} threading.Event().wait({{}}); os._exit(5)"
    handles = "import signal; signal.signal(signal.SIGHUP, signal.{}); "  # the tests themselves may run under nohup
    ended = kept(child.format(START_TIMEOUT), before=handles.format("SIG_DFL"))
    assert ended.returncode == 128 + signal.SIGTERM
    assert kept(child.format(1), before=handles.format("SIG_IGN")).returncode == 5
