"""The page by itself: what another process writes comes without a click, and a run at work tells what it does."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.ui.conftest import ROOT

WRITER = """
import sys
from live_project import gated
from runtime.checkpoint.sqlite import SqliteSaver
for line in sys.stdin:
    verb, thread = line.split()
    config = {"configurable": {"thread_id": thread}}
    with SqliteSaver.from_conn_string("project.sqlite") as saver:
        graph = gated.copy(update={"checkpointer": saver})
        if verb == "input":
            graph.invoke({"log": ["begun"]}, config, interrupt_before="*")
        elif verb == "run":
            graph.invoke({"log": ["begun"]}, config)
        else:
            first = sorted(one.config["configurable"]["checkpoint_id"] for one in graph.get_state_history(config))[0]
            place = {"configurable": {"thread_id": thread, "checkpoint_id": first}}
            graph.update_state(place, {"log": ["edited"]}, as_node="after")
    print("written", flush=True)
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory, start_server):
    """A server on a project's database, to which another process writes too."""
    folder = tmp_path_factory.mktemp("live")
    shutil.copy(Path(__file__).with_name("project.py"), folder / "live_project.py")
    return start_server(folder, "live_project:gated", "--db", "project.sqlite")


@pytest.fixture(scope="module")
def write(project):
    """Let the other process write: `write("run", thread)`."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER],
        cwd=project.folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )

    def write(verb, thread):
        process.stdin.write(f"{verb} {thread}\n")
        process.stdin.flush()
        assert process.stdout.readline() == "written\n"

    yield write
    process.communicate(timeout=60)


def test_what_another_process_writes_comes_by_itself_and_takes_nobody_along(project, desk_at, write):
    (project.folder / "live.gate").touch()
    write("run", "live")
    desk = desk_at(project)
    desk.open(thread="live")
    timeline, selected = desk.page.locator(".timeline"), desk.page.locator(".timeline .row.selected")
    before = desk.count()
    for _ in range(5):
        write("run", "live")
    desk.counts(6 * before)
    expect(selected).to_have_attribute("data-i", "0")
    desk.press("First")
    expect(selected.locator(".step")).to_have_text("-1")
    desk.settle()
    chosen, place = timeline.get_attribute("data-selected"), selected.bounding_box()["y"]
    write("edit", "live")
    news = timeline.locator(".news")
    expect(news).to_have_text(re.compile(r"^1 new checkpoint on edit 1"))
    desk.counts(6 * before + 1)
    expect(timeline).to_have_attribute("data-selected", chosen)
    assert abs(selected.bounding_box()["y"] - place) <= news.bounding_box()["height"] + 1
    desk.settle()
    news.click()
    expect(selected).to_contain_text("edit as after")
    expect(news).to_be_hidden()


def test_a_thread_that_another_process_begins_comes_into_the_list(project, desk_at, write):
    desk = desk_at(project)
    desk.page.goto(f"{project.url}/?page=Threads")
    desk.page.locator(".st-key-threads").wait_for()
    desk.settle()
    (project.folder / "newcomer.gate").touch()
    write("run", "newcomer")
    expect(desk.page.locator(".st-key-threads tr[data-key=newcomer]")).to_contain_text("finished")


def test_a_run_at_work_tells_what_runs_for_how_long_and_pauses(project, desk_at, write):
    write("input", "slow")
    desk = desk_at(project)
    desk.open(thread="slow")
    desk.press("Continue")
    desk.mark("gate", "running")
    told = desk.page.locator(".st-key-activity")
    expect(told).to_contain_text("superstep 1")
    expect(told.locator("[data-name=tasks]")).to_have_text(re.compile(r"gate \d+ s"))
    elapsed = told.locator("[data-name=elapsed]")
    expect(elapsed).not_to_have_text(elapsed.text_content())
    desk.button("do_pause").click()
    expect(told).to_contain_text("pausing after this superstep")
    expect(desk.page.locator(".st-key-do_pause button:visible")).to_be_disabled()
    (project.folder / "slow.gate").touch()
    desk.mark("after", "next")
    expect(desk.button("do_continue")).to_be_visible()
