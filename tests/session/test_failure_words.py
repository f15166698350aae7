"""An exception is told in its own words: savers keep its repr, people read its message."""

import pytest

from debugger_ui.engines.base import Failure
from debugger_ui.engines.failures import LONGEST, failure_of


class Odd(Exception):
    def __repr__(self):
        return "Odd('unfinished, \\x)"


LINES = "429 Too Many Requests\nretry after 60 s\t(quota 'free')"


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (RuntimeError(LINES), "RuntimeError", LINES),
        (ValueError("it's"), "ValueError", "it's"),
        (ValueError(r"C:\new"), "ValueError", r"C:\new"),
        (ValueError(), "ValueError", ""),
        (ValueError("a", 3), "ValueError", "'a', 3"),
        (ValueError(3), "ValueError", "3"),
        (Odd(), "Odd", "'unfinished, \\x"),
        (ValueError("x" * LONGEST), "ValueError", repr("x" * LONGEST)),
    ],
)
def test_a_recorded_exception_reads_as_it_was_raised(error, kind, message):
    assert failure_of(repr(error)) == Failure(kind, message)


def test_an_exception_that_the_saver_gives_back_is_told_by_itself():
    assert failure_of(RuntimeError(LINES)) == Failure("RuntimeError", LINES)


def test_what_is_no_exception_is_told_as_it_stands():
    assert failure_of("1 validation error for Plan\nsteps\n  Field required") == Failure(
        "Error", "1 validation error for Plan\nsteps\n  Field required"
    )
