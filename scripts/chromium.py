"""Find a Chromium for the browser tests, or get one.

Prints the browser's path and nothing else on standard output; every sentence for people goes to standard
error. The order is: `FORKPOINT_CHROMIUM`, a browser on PATH, the usual places of each system, one that
Playwright installed earlier, and then, with `--get`, apt (when this is root on Debian) or Playwright's
download.

Ends with 0 and a path, with 0 and no path when there is none, and with 1 when there is none although
`CI=true` says that the browser tests must run.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
PLACES = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "~/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/snap/bin/chromium",
    "/usr/lib/chromium/chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
)


def find() -> str | None:
    """Return the path of a Chromium that starts, or None."""
    return next((path for path in candidates() if starts(path)), None)


def candidates() -> Iterator[str]:
    """Yield the paths where a Chromium may be, best first."""
    chosen = os.environ.get("FORKPOINT_CHROMIUM")
    if chosen:
        yield chosen
        return
    yield from filter(None, map(shutil.which, NAMES))
    yield from filter(os.path.exists, map(os.path.expanduser, PLACES))
    bundled = playwright_path()
    if bundled and Path(bundled).exists():
        yield bundled


def starts(path: str) -> bool:
    """Tell whether the browser answers to --version (Ubuntu's package may be a stub that gives advice)."""
    try:
        found = subprocess.run([path, "--version"], capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        say(f"{path} does not start: {error}")
        return False
    if found.returncode:
        say(f"{path} does not start: it ended with {found.returncode}")
    return found.returncode == 0


def playwright_path() -> str | None:
    """Return where Playwright's own Chromium is or would be, or None without Playwright."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        return None
    try:
        with sync_playwright() as playwright:
            return playwright.chromium.executable_path
    except Error as error:
        say(f"Playwright does not start: {error}")
        return None


def get() -> None:
    """Try to install a Chromium: by apt when that can work, else by Playwright's download."""
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        command = ["apt-get", "install", "-y", "--no-install-recommends", "chromium"]
        say("no Chromium found: installing one with apt")
        if not attempt(command, environment):
            attempt(["apt-get", "update"], environment)
            attempt(command, environment)
    if find() is None and playwright_path():
        say("no Chromium found: downloading Playwright's")
        attempt([sys.executable, "-m", "playwright", "install", "chromium"], dict(os.environ))


def attempt(command: list[str], environment: dict[str, str]) -> bool:
    """Run a command with its output on standard error; tell whether it succeeded."""
    try:
        done = subprocess.run(command, env=environment, stdout=sys.stderr, timeout=300, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        say(f"{' '.join(command)}: {error}")
        return False
    return done.returncode == 0


def say(sentence: str) -> None:
    """Tell people something without touching standard output."""
    print(f"forkpoint: {sentence}", file=sys.stderr)


def main() -> int:
    """Print the path of a Chromium; see the module's docstring for the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--get", action="store_true", help="install one if there is none")
    arguments = parser.parse_args()
    path = find()
    if path is None and arguments.get:
        get()
        path = find()
    if path is not None:
        print(path)
        return 0
    if os.environ.get("CI", "").lower() in ("1", "true", "yes"):
        say("no Chromium, but CI=true wants the browser tests; install one (Debian: apt install chromium)")
        return 1
    say("there is no Chromium, so the browser tests (tests/ui) will be skipped; install one to run them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
