"""Every difference that docs/differences.md claims is there, on this side and on the other."""

import re
import warnings
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.differential import claims_kept  # noqa: F401 - adds its claims to the others
from tests.differential.claims import CLAIMS, chain, library, seen

PAGE = (Path(__file__).parents[2] / "docs" / "differences.md").read_text(encoding="utf-8")
PEER = "1.2.24"

each = pytest.mark.parametrize("claim", CLAIMS, ids=[claim.show.__name__ for claim in CLAIMS])


@each
def test_this_runtime_does_what_the_page_says(claim):
    assert seen(claim.show, library("runtime")) == claim.ours


@each
@pytest.mark.skipif(version("langgraph") != PEER, reason=f"the page is about LangGraph {PEER}")
@pytest.mark.filterwarnings("ignore")
def test_langgraph_does_what_the_page_says(claim):
    assert seen(claim.show, library("langgraph")) == claim.peer


def told(name):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        chain(library(name), saver=None, a=lambda state: {"lgo": [1]}).invoke({"log": []})
    return [str(warning.message) for warning in caught]


def test_unknown_keys_are_told_here_and_not_there():
    (warning,) = told("runtime")
    assert "'a'" in warning
    assert "'lgo'" in warning
    if version("langgraph") == PEER:
        assert told("langgraph") == []


def test_the_page_and_the_claims_have_the_same_entries():
    entries = {" ".join(entry.split()) for entry in re.findall(r"^- \*\*(.*?)\*\*", PAGE, re.MULTILINE | re.DOTALL)}
    warned = "A key that the state does not have is told."
    assert entries == {*(claim.title for claim in CLAIMS), warned}
