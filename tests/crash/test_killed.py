"""`kill -9` at a sample of the points of every kind of story; `python -m tests.crash --all` takes every point.

After each kill another process opens what was left. Every checkpoint has the bytes that an unharmed twin saved, what
was promised is there, nothing hangs in the air; going on runs what is missing and nothing else, and ends where the twin
did.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crash.harness import COMBINATIONS, Combination

ROOT = Path(__file__).parents[2]
SAMPLE = {
    Combination("sqlite", "run", "sync", "sync"): 5,
    Combination("sqlite", "run", "async", "async"): 5,
    Combination("sqlite", "run", "sync", "exit"): 2,
    Combination("sqlite", "answer", "sync", "async"): 4,
    Combination("sqlite", "answer", "async", "sync"): 3,
    Combination("sqlite", "fork", "sync", "sync"): 3,
    Combination("sqlite", "fork", "async", "async"): 3,
    Combination("sqlite", "retry", "sync", "sync"): 3,
    Combination("sqlite", "retry", "async", "async"): 2,
    Combination("sqlite", "tidy", "sync", "sync"): 4,
    Combination("sqlite", "migrate", "sync", "sync"): 4,
    Combination("postgres", "run", "async", "async"): 2,
    Combination("postgres", "migrate", "sync", "sync"): 2,
}
"""How many kills for each."""

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork and no SIGKILL")


@pytest.fixture(scope="module")
def kill():
    """Kill at some points of a combination; how many points it has, how many kills there were, and what was wrong."""
    command = [sys.executable, "-m", "tests.crash", "--serve"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as mother:

        def kill(combination, most, server):
            mother.stdin.write(json.dumps([combination, most, server]) + "\n")
            mother.stdin.flush()
            return json.loads(mother.stdout.readline())

        yield kill
        mother.stdin.close()


@pytest.mark.parametrize("combination", SAMPLE, ids=str)
def test_whatever_is_left_is_whole_and_goes_on(kill, combination, record_property, request):
    server = request.getfixturevalue("postgres_server") if combination.database == "postgres" else ""
    points, kills, problems = kill(combination, SAMPLE[combination], server)
    record_property("crash", [points, kills])
    assert problems == []
    assert kills == SAMPLE[combination]


def test_the_sample_has_every_story_on_both_faces_and_databases():
    every = {(each.story, each.database) for each in COMBINATIONS}
    assert set(SAMPLE) <= set(COMBINATIONS)
    assert {each.story for each in SAMPLE} == {story for story, _ in every}
    assert {each.database for each in SAMPLE} == {database for _, database in every}
    assert {each.face for each in SAMPLE} == {"sync", "async"}
