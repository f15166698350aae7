"""The documentation is true: its Python blocks run, its links lead somewhere, its commands exist."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from debugger_ui.session.expression import MAX_CHARS, MAX_DEPTH, parse
from debugger_ui.session.functions import FUNCTIONS
from debugger_ui.session.plainly import BITS, ITEMS, STEPS

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)[^)]*\)")


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [page for page in PAGES if BLOCK.search(page.read_text(encoding="utf-8"))], ids=name)
def test_python_blocks_run_in_order_as_one_program(page, tmp_path):
    program = tmp_path / "page.py"
    program.write_text("\n".join(BLOCK.findall(page.read_text(encoding="utf-8"))), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = [sys.executable, "-W", "error", str(program)]
    done = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_to_files_lead_somewhere(page):
    links = [link for link in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_readme_has_runnable_blocks():
    assert len(BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))) >= 3


def test_the_commands_of_the_readme_are_targets_of_the_makefile():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    asked = set(re.findall(r"^make ([a-z]+)", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE))
    assert {"demo", "test"} <= asked <= targets


def test_the_functions_of_expressions_are_those_that_are_documented():
    page = (ROOT / "docs" / "expressions.md").read_text(encoding="utf-8").split("## Functions")[1].split("\n## ")[0]
    rows = "\n".join(line.split("|")[1] for line in page.splitlines() if line.startswith("|"))
    assert set(re.findall(r"`(\w+)\(", rows)) == set(FUNCTIONS)


def test_what_the_page_on_expressions_shows_can_be_written():
    page = (ROOT / "docs" / "expressions.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    shown = [text for row in rows for text in re.findall(r"`([^`]+)`", row) if text != "+ - * / // % **"]
    assert len(shown) > 30
    for text in shown:
        assert parse(text).text == text


def test_the_limits_of_expressions_are_those_that_are_documented():
    page = (ROOT / "docs" / "expressions.md").read_text(encoding="utf-8").split("## Limits")[1].split("\n## ")[0]
    said = {int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", page)}
    assert said == {MAX_CHARS, MAX_DEPTH, STEPS, ITEMS, BITS}


def test_the_layers_in_the_architecture_are_the_ones_that_are_checked():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    drawn = [[re.split(r" {2,}", line)[0] for line in block.splitlines()] for block in blocks]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    checked = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    assert len(checked) >= 3
    assert [layers for layers in checked if layers not in drawn] == []
