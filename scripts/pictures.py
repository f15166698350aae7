"""Take the pictures of the README, and pictures of every screen to look at, from the running demo.

    python scripts/pictures.py            the README's pictures, into docs/images
    python scripts/pictures.py --all DIR  every screen, at two sizes, light and dark, into DIR

Needs what the tests need: Playwright and a Chromium (see `scripts/chromium.py`).
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
SIZES = ((1440, 900), (1280, 720))
THEMES = ("light", "dark")
IDLE = """() => { const app = document.querySelector('[data-testid=stApp]');
  return app && app.dataset.testConnectionState === 'CONNECTED' && app.dataset.testScriptState === 'notRunning' }"""
UNFINISHED = (
    "[data-testid=stSkeleton]:visible",
    ".sheet:not([data-stamp])",
    ".graph.loading",
    ".editor:not(:has(.cm-editor))",
)
COLOURS = 128
"""Colours of a picture in the repository: enough for a screen, at a third of the size."""


@dataclass(frozen=True)
class Screen:
    """A picture: its file name, what the address says, and what is clicked before it is taken."""

    name: str
    params: dict[str, str]
    act: Callable[[Any], None] | None = None
    readme: bool = False


def at_row(node: str, nth: int = 0, then: Callable[[Any], None] | None = None) -> Callable[[Any], None]:
    """Go to a checkpoint of the timeline by the node that made it."""

    def act(page: Any) -> None:
        row = page.locator(".timeline .row").filter(has=page.locator(".who", has_text=node)).nth(nth)
        checkpoint = row.get_attribute("data-checkpoint")
        row.click()
        page.locator(f'.graph[data-ready="{checkpoint}"]').wait_for()
        settle(page)
        if then is not None:
            then(page)

    return act


def press(key: str, wait: str = "") -> Callable[[Any], None]:
    """Press a button by its key, and wait for what it opens."""

    def act(page: Any) -> None:
        page.locator(f".st-key-{key} button:enabled:visible").first.click()
        if wait:
            page.locator(wait).first.wait_for()
        settle(page)

    return act


def edit(page: Any) -> None:
    """Open an edit of the findings."""
    press("do_fork")(page)
    page.locator("[class*=st-key-edit_keys_]").get_by_role("button", name="findings", exact=True).click()
    page.locator(".st-key-edit_field_findings").wait_for()
    settle(page)


SCREENS = (
    Screen("debug", {"thread": "research-forked"}, readme=True),
    Screen("superstep", {"thread": "research-waiting", "tab": "Superstep"}, at_row("plan"), readme=True),
    Screen("edit", {"thread": "research-finished"}, at_row("plan", 1, edit), readme=True),
    Screen("answer", {"thread": "research-waiting"}, press("do_answer")),
    Screen("failed", {"thread": "flaky-failed", "tab": "Tasks"}),
    Screen("threads", {"page": "Threads"}),
    Screen("compare", {"page": "Compare", "thread": "research-forked"}, readme=True),
    Screen("inbox", {"page": "Inbox"}),
    Screen("state", {"thread": "react", "tab": "State"}),
    Screen("subgraph", {"thread": "sections-waiting"}, press("do_into")),
    Screen("breaks", {"thread": "research-finished"}, press("breakpoints_button", ".st-key-breakpoints")),
    Screen("branches", {"thread": "research-forked"}, press("branches_button", ".st-key-branches")),
    Screen("diff", {"thread": "research-finished", "tab": "Diff"}),
    Screen("channels", {"thread": "research-finished", "tab": "Channels"}),
    Screen("refused", {"thread": "conflict-failed", "tab": "Tasks"}),
    Screen("help", {"thread": "counter"}, press("help", "[role=dialog]")),
    Screen("new_run", {"thread": "counter"}, press("new_run", "[role=dialog]")),
)


def settle(page: Any) -> None:
    """Wait until the page is idle and all of it is drawn."""
    from playwright.sync_api import expect

    page.wait_for_function(IDLE)
    for unfinished in UNFINISHED:
        expect(page.locator(unfinished)).to_have_count(0, timeout=60_000)
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


@contextmanager
def demo() -> Iterator[str]:
    """The demo's address, while it runs."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "debugger_ui", "demo", "--db", f"{folder}/demo.sqlite", "--port", "0"]
        with subprocess.Popen([*command, "--no-browser"], cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                yield next(found[1] for line in server.stdout if (found := re.search(r"URL: (http://\S+)", line)))
            finally:
                server.terminate()


def take(page: Any, url: str, screen: Screen, file: Path) -> None:
    """Open the screen and take its picture."""
    page.goto(f"{url}/?{urlencode(screen.params)}", wait_until="domcontentloaded")
    page.locator(".st-key-header").wait_for()
    if "page" not in screen.params:
        page.locator(".graph[data-ready] g.node").first.wait_for()
    settle(page)
    if screen.act is not None:
        screen.act(page)
    page.mouse.move(2, 2)
    settle(page)
    page.screenshot(path=file)
    print(file)


def shrink(file: Path) -> None:
    """Store the picture with few colours."""
    from PIL import Image

    with Image.open(file) as picture:
        picture.convert("RGB").quantize(COLOURS).save(file, optimize=True)


def main() -> None:
    """Take what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", metavar="DIR", type=Path, help="every screen, at two sizes, light and dark")
    parser.add_argument("--only", metavar="NAME", action="append", default=[], help="only these screens")
    arguments = parser.parse_args()
    from playwright.sync_api import sync_playwright

    browser_path = subprocess.check_output([sys.executable, ROOT / "scripts" / "chromium.py"], text=True).strip()
    folder = arguments.all or IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    kinds = [(size, theme) for size in SIZES for theme in THEMES] if arguments.all else [(SIZES[0], "light")]
    with demo() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        for (width, height), theme in kinds:
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=theme)
            for screen in SCREENS:
                if (arguments.only and screen.name not in arguments.only) or not (arguments.all or screen.readme):
                    continue
                suffix = f"-{width}-{theme}" if arguments.all else ""
                file = folder / f"{screen.name}{suffix}.png"
                take(page, url, screen, file)
                if not arguments.all:
                    shrink(file)
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
