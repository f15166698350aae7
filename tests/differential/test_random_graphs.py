"""Random small graphs on this runtime and on LangGraph: same states, streams and histories.

What docs/differences.md lists is left out of the comparison, and nothing else.
"""

import logging
import random

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from tests.kit.differential import build, draw, drive, library

OURS, PEER = library("runtime"), library("langgraph")


@pytest.mark.parametrize("block", range(8))
def test_both_record_the_same(block, caplog):
    caplog.set_level(logging.ERROR)  # LangGraph's in-memory saver tells of classes that it was not told of
    for seed in range(block * 25, block * 25 + 25):
        plan = draw(random.Random(seed))
        ours = drive(build(plan, OURS, InMemorySaver()), OURS)
        peer = drive(build(plan, PEER, InMemorySaver()), PEER)
        assert ours == peer, (seed, plan)


def test_the_drawn_graphs_reach_what_they_should():
    """The comparison is worth something only if graphs pause, fail, fan out, join, loop and are refused."""
    plans = [draw(random.Random(seed)) for seed in range(200)]
    ends = [end for plan in plans for end in drive(build(plan, OURS, InMemorySaver()), OURS)["ends"]]
    kinds = [kind for plan in plans for kind in plan.kinds.values()]
    assert {"done", "Boom", "InvalidUpdateError"} <= set(ends)
    assert {"plain", "quiet", "value", "ask", "fails", "command"} == set(kinds)
    assert sum(bool(plan.joins) for plan in plans) > 15
    assert sum(bool(plan.sends) for plan in plans) > 15
    assert sum(bool(plan.routes) for plan in plans) > 15
    assert sum(bool(plan.before) for plan in plans) > 15
