"""Text from data in Markdown places, and the times that the timeline shows."""

import re

import pytest

from debugger_ui.components.text import count, markdown, slug, visible
from debugger_ui.components.timeline import clock, duration, grouped


@pytest.mark.parametrize(
    "hostile",
    [
        "**b**",
        "_i_",
        ":red[x]",
        "$x$",
        "![i](http://evil/leak.png)",
        "[a](http://evil)",
        "<b>",
        "`c`",
        "# h",
        "__start__",
    ],
)
def test_every_mark_of_markdown_is_escaped(hostile):
    escaped = markdown(hostile)
    for i, character in enumerate(escaped):
        if character in "*_:$![]()<>`#":
            assert escaped[i - 1] == "\\"


@pytest.mark.parametrize("link", ["http://evil.example", "www.evil.example", "me@evil.example"])
def test_links_are_not_made_of_bare_addresses(link):
    assert "\N{WORD JOINER}" in markdown(link)


def test_characters_that_deceive_are_shown_as_escapes():
    assert visible("a\u202eb\x00c\u200bd") == "a\\u202eb\\u0000c\\u200bd"
    assert visible("lone \ud800") == "lone \\ud800"
    assert visible("soft\u00adhyphen \U000e0041") == "soft\\u00adhyphen \\U000e0041"


def test_a_pile_of_combining_marks_stays_within_its_line():
    assert visible("e" + "\u0301" * 6) == "e" + "\u0301" * 4 + "\\u0301" * 2
    assert "\u0301" * 5 not in markdown("e" + "\u0301" * 1_000)


def test_long_text_is_one_line_and_cut():
    assert visible("a\n b\tc") == "a b c"
    assert visible("x" * 500, 10) == "x" * 9 + "…"


def test_counts_agree_with_their_noun():
    assert count(1, "task") == "1 task"
    assert count(2, "branch", "branches") == "2 branches"


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (None, ""),
        (0, "0 ms"),
        (0.4, "<1 ms"),
        (27.2, "27 ms"),
        (1400, "1.4 s"),
        (150_000, "2 min"),
        (7_200_000, "2.0 h"),
    ],
)
def test_durations(milliseconds, text):
    assert duration(milliseconds) == text


def test_a_time_that_is_none_is_shown_as_recorded():
    assert clock("yesterday") == "yesterday"


def test_names_are_grouped_in_order():
    assert grouped(["research", "check", "research"]) == "research \N{MULTIPLICATION SIGN}2, check"


@pytest.mark.parametrize("name", ["__proto__", "_a", "a__b", "a_", "a b", "", "\ud800", "<b>", "x" * 100])
def test_odd_names_become_plain_parts_of_keys(name):
    assert re.fullmatch(r"[0-9a-f]{16}", slug(name))
    assert slug(name) == slug(name) != slug(name + "x")


def test_plain_names_stay_readable_in_keys():
    assert slug("findings") == "findings"
    assert slug("sub_query-2") == "sub_query-2"
