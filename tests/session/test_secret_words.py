"""Masked values in sentences of others: also where a text was cut in the middle of one, or brought onto one line."""

import pytest
from typing_extensions import TypedDict

from debugger_ui.engines.failures import without_codes
from debugger_ui.engines.graph import About
from debugger_ui.engines.opening import attach
from debugger_ui.session.problems import cut
from debugger_ui.session.secrets import MARK, SHORTEST, Secrets
from debugger_ui.session.session import DebugSession
from debugger_ui.session.workspace import Workspace
from runtime.checkpoint.memory import InMemorySaver
from runtime.graph import START, StateGraph
from tests.session.conftest import done

LETTERS = "".join(f"<{number}>" for number in range(100, 160))


@pytest.fixture
def known():
    secrets = Secrets()
    secrets.add({"inner": [LETTERS]})
    return secrets


def parts(text, length=SHORTEST):
    """The pieces of the secret that are in a text."""
    return [part for at in range(len(LETTERS)) if len(part := LETTERS[at : at + length]) == length and part in text]


@pytest.mark.parametrize("around", ["\n", " "])
def test_no_part_is_left_where_a_text_was_cut(known, around):
    told = 0
    for before in range(310):
        said = cut(f"{'x' * before}{LETTERS}{'y' * (310 - before)}", 200, around)
        cleaned = known.clean(said)
        assert not parts(cleaned)
        assert (MARK in cleaned) == bool(parts(said))
        assert "characters left out" in cleaned
        told += MARK in cleaned
    assert told > 100


def test_a_text_that_was_not_cut_keeps_what_only_begins_like_one(known):
    assert known.clean(f"{LETTERS[:9]} and {LETTERS}") == f"{LETTERS[:9]} and {MARK}"


@pytest.mark.parametrize("secret", ["first part\nsecond part\n", "\n\nsecond part", "x\n\n second part"])
def test_a_secret_of_several_lines_is_found_on_one_line(secret):
    secrets = Secrets()
    secrets.add(secret)
    assert "part" not in secrets.clean(without_codes(f"no use for {secret}"))
    assert secrets.clean("nothing") == "nothing"


class State(TypedDict, total=False):
    key: str


def test_the_words_of_a_failed_run_are_masked_where_they_are_cut():
    def act(state):
        raise ValueError(f"{'x' * 100}{state['key']}{'y' * 600}")

    builder = StateGraph(State)
    builder.add_node("act", act)
    builder.add_edge(START, "act")
    session = DebugSession(Workspace([attach(builder.compile(checkpointer=InMemorySaver()), None, About())]))
    session.mask("key")
    session.new_run({"key": LETTERS + LETTERS}, thread="t")
    done(session)
    session.step()
    done(session)
    progress = session.progress()
    assert "characters left out" in progress.message
    assert not parts(str(progress))
