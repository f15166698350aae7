"""Every test of the engine runs through both faces, and where it saves, on every saver."""

import threading
from collections import Counter
from types import SimpleNamespace

import pytest

from tests.kit.faces import Face, opened


@pytest.fixture(params=["sync", "async"])
def run(request):
    """A graph's methods through the blocking or the awaiting face."""
    return Face(request.param == "async")


ON_POSTGRES = {"test_durability", "test_edits", "test_replay"}
"""The tests that run on PostgreSQL too: those that save early or late, go back and fork."""


def pytest_generate_tests(metafunc):
    if "saver" in metafunc.fixturenames:
        more = ["postgres"] if metafunc.module.__name__.rpartition(".")[2] in ON_POSTGRES else []
        metafunc.parametrize("saver", ["memory", "sqlite", *more], indirect=True)


@pytest.fixture
def saver(request, run, tmp_path):
    """A saver that fits the face."""
    on_postgres = request.param == "postgres"
    where = request.getfixturevalue("postgres_schema") if on_postgres else tmp_path / "checkpoints.db"
    with opened(request.param, run.is_async, where) as saver:
        yield saver


@pytest.fixture
def calls():
    """How often each node ran."""
    return Counter()


@pytest.fixture
def gate():
    """A node's door: `inside` tells that it is in, `open` lets it out; opened at the end in any case."""
    gate = SimpleNamespace(inside=threading.Event(), open=threading.Event())
    yield gate
    gate.open.set()
