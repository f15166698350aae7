"""Fixtures for the page: AppTest for wiring, and a real Chromium for a few journeys.

Rules for the browser tests: no sleeps; settle before acting; assert with `expect`, which retries; after
a run wait for a fact (a checkpoint, a mark, an enabled button), never for a change of the script's state.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
START_TIMEOUT = 60
FAILED = pytest.StashKey[bool]()
IDLE = """() => { const app = document.querySelector('[data-testid=stApp]');
  return app && app.dataset.testConnectionState === 'CONNECTED' && app.dataset.testScriptState === 'notRunning' }"""
LOCAL = ("http://127.0.0.1", "ws://127.0.0.1", "data:", "blob:")


class Server:
    """The command, started as a person would start it, in a home of its own."""

    def __init__(self, arguments, folder):
        self.folder = folder
        self.log = folder / "server.log"
        home = folder / "home"
        home.mkdir(exist_ok=True)
        environment = {**os.environ, "HOME": str(home), "PYTHONUNBUFFERED": "1", "PYTHONPATH": str(ROOT)}
        self.output = self.log.open("w")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "debugger_ui", *arguments, "--port", "0", "--no-browser"],
            stdout=self.output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
        self.url = self.wait()

    def wait(self):
        """Return the address that it printed, once it answers there."""
        deadline = time.monotonic() + START_TIMEOUT
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                self.output.close()
                raise RuntimeError(f"the server ended with {self.process.returncode}:\n{self.log.read_text()}")
            printed = re.search(r"URL: (http://127\.0\.0\.1:\d+)", self.log.read_text())
            if printed and self.healthy(printed[1]):
                return printed[1]
            time.sleep(0.05)
        self.stop()
        raise TimeoutError(self.log.read_text())

    @staticmethod
    def healthy(url):
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2) as answer:
                return answer.status == 200
        except OSError:
            return False

    def stop(self):
        """Stop it as Ctrl-C does."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
        self.output.close()


class Desk:
    """What a person does on the page, and what is to be seen there."""

    def __init__(self, page, url):
        self.page = page
        self.url = url

    def open(self, **params):
        """Open the page at a cursor."""
        from urllib.parse import urlencode

        self.page.goto(f"{self.url}/?{urlencode(params)}", wait_until="domcontentloaded")
        self.page.locator(".graph[data-ready] g.node").first.wait_for()
        self.settle()

    def settle(self):
        """Wait until the page is idle."""
        self.page.wait_for_function(IDLE)

    def button(self, key):
        """Return the button with the key: not its hidden twin for help on touch screens, nor one about to go."""
        return self.page.locator(f".st-key-{key}:not([data-stale=true]) button:enabled:visible")

    def press(self, name):
        """Press a button of the transport."""
        self.settle()
        self.button(f"do_{name.lower()}").click()

    def tab(self, name):
        """Open a tab of the inspector."""
        self.settle()
        self.page.get_by_role("tab", name=name, exact=True).click()

    def node(self, name):
        return self.page.locator(f'g.node[data-node="{name}"]')

    def mark(self, name, state):
        """Wait for a node's mark."""
        from playwright.sync_api import expect

        expect(self.node(name)).to_have_attribute("data-state", state)

    def rows(self):
        return self.page.locator(".timeline .row")

    def count(self):
        """Return how many checkpoints the timeline says there are."""
        return int(self.page.locator(".timeline").get_attribute("data-count"))

    def counts(self, number):
        """Wait for the timeline to have so many checkpoints."""
        from playwright.sync_api import expect

        expect(self.page.locator(".timeline")).to_have_attribute("data-count", str(number))

    def step(self):
        """Press Step and wait for its checkpoint."""
        before = self.count()
        self.press("Step")
        self.counts(before + 1)
        self.settle()

    def choose(self, key, label):
        """Choose an option of a picker by its label."""
        self.settle()
        self.page.locator(f".st-key-{key} select").select_option(label=label)
        self.settle()

    def pill(self, key):
        """Take a state key into the edit."""
        self.settle()
        self.page.locator("[class*=st-key-edit_keys_]").get_by_role("button", name=key, exact=True).click()
        self.page.locator(f".st-key-edit_field_{key}").wait_for()

    def type_json(self, key, text):
        """Replace what stands in a JSON editor."""
        self.settle()
        editor = self.page.locator(f".st-key-{key} .cm-content")
        editor.click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(text)


def chromium():
    """Return the path of a Chromium, or None."""
    chosen = os.environ.get("FORKPOINT_CHROMIUM")
    if chosen is not None:
        return chosen or None
    return next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="session")
def recorded(tmp_path_factory):
    """The demo's database, recorded once."""
    from sample_graphs.recorded import record

    path = tmp_path_factory.mktemp("recorded") / "demo.sqlite"
    record(path)
    return path


@pytest.fixture
def database(recorded, tmp_path):
    return Path(shutil.copy(recorded, tmp_path / "demo.sqlite"))


def page_at(**params):
    """Open the page at a cursor, in an AppTest, on the workspace in use."""
    from streamlit import config
    from streamlit.testing.v1 import AppTest

    from debugger_ui.server import launch

    collecting = "runner.postScriptGC"
    config.set_option(collecting, launch.config("127.0.0.1", 0)[collecting])
    page = AppTest.from_file(str(ROOT / "debugger_ui" / "app.py"), default_timeout=60)
    for name, value in params.items():
        page.query_params[name] = value
    return page.run()


@pytest.fixture
def open_page(database):
    """Open the page at a cursor, on a copy of the demo, in an AppTest."""
    from debugger_ui.server import shared
    from debugger_ui.session.workspace import Workspace

    opened = []

    def make(*, read_only=False, **params):
        if not opened:
            workspace = Workspace.open("demo", database=str(database), read_only=read_only)
            opened.append(workspace)
            shared.use(workspace, thread="research-waiting")
        return page_at(**params)

    yield make
    for workspace in opened:
        workspace.close()
    shared._opened.clear()


@pytest.fixture
def page_on():
    """Open the page at a cursor on a compiled graph with a checkpointer of its own, in an AppTest."""
    from debugger_ui.engines.graph import About
    from debugger_ui.engines.opening import attach
    from debugger_ui.server import shared
    from debugger_ui.session.workspace import Workspace

    opened = []

    def make(graph, *, thread, **params):
        opened.append(Workspace([attach(graph, None, About(name="graph"))]))
        shared.use(opened[-1], thread=thread)
        return page_at(thread=thread, **params)

    yield make
    for workspace in opened:
        workspace.close()
    shared._opened.clear()


@pytest.fixture(scope="module")
def browser():
    """A Chromium for one module: while it runs, so does an event loop, in which others cannot start theirs."""
    path = chromium()
    if path is None:
        message = "no Chromium was found; name one in FORKPOINT_CHROMIUM"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=60_000)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, headless=True, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="session")
def start_server():
    """Start servers that are stopped at the end; none may print a traceback."""
    started = []

    def start(folder, *arguments):
        started.append(Server([str(argument) for argument in arguments], folder))
        return started[-1]

    yield start
    for server in started:
        server.stop()
    for server in started:
        assert "Traceback" not in server.log.read_text(), server.log.read_text()


@pytest.fixture(scope="session")
def demo(tmp_path_factory, start_server):
    """One server with the demo, for all tests that look, or work on threads of their own."""
    folder = tmp_path_factory.mktemp("demo")
    return start_server(folder, "demo", "--db", folder / "demo.sqlite")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report


@pytest.fixture
def new_page(browser, request, tmp_path):
    """Make pages that fail the test on any error in the console, failed request or request elsewhere.

    With the mark `loses_server` the console is not judged: the page complains there as long as nobody answers.
    """
    contexts, problems = [], []
    judged = "loses_server" not in request.keywords

    def make(**options):
        settings = {"viewport": {"width": 1440, "height": 900}, "reduced_motion": "reduce", "locale": "en-US"}
        context = browser.new_context(**{**settings, "timezone_id": "UTC", **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        if judged:
            page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on(
            "response",
            lambda answer: problems.append(f"{answer.status} {answer.url}") if answer.status >= 400 else None,
        )
        page.on(
            "request", lambda asked: None if asked.url.startswith(LOCAL) else problems.append(f"elsewhere: {asked.url}")
        )
        return page

    yield make
    if request.node.stash.get(FAILED, False):
        for number, page in enumerate(page for context in contexts for page in context.pages):
            page.screenshot(path=tmp_path / f"failed-{number}.png")
    for context in contexts:
        context.close()
    assert not problems, "\n".join(problems)


@pytest.fixture
def desk(demo, new_page):
    """A person at the demo."""
    return Desk(new_page(), demo.url)


@pytest.fixture
def desk_at(new_page):
    """A person at another server."""

    def make(server, **options):
        return Desk(new_page(**options), server.url)

    return make
