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


@pytest.fixture(params=["memory", "sqlite"])
def saver(request, run, tmp_path):
    """A saver that fits the face."""
    with opened(request.param, run.is_async, tmp_path / "checkpoints.db") as saver:
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
