"""Breakpoints of a single call, given as a lone string: one node by its whole name, or `"*"` for all."""

from typing import Any

import pytest

from runtime.checkpoint.memory import InMemorySaver
from tests.kit.graphs import chain, thread


@pytest.mark.parametrize(
    ("given", "before", "after"),
    [("second", ("second",), ("third",)), ("*", ("first",), ("second",)), ("seconds", (), ())],
)
def test_a_lone_name_means_that_node(given: str, before: Any, after: Any) -> None:
    graph = chain("first", "second", "third").compile(checkpointer=InMemorySaver())
    graph.invoke({"log": []}, thread("before"), interrupt_before=given)
    assert graph.get_state(thread("before")).next == before
    for _ in graph.stream({"log": []}, thread("after"), interrupt_after=given):
        pass
    assert graph.get_state(thread("after")).next == after


def test_a_name_that_is_part_of_another_stops_nothing_else() -> None:
    graph = chain("a", "ab").compile(checkpointer=InMemorySaver())
    graph.invoke({"log": []}, thread(), interrupt_before="ab")
    assert graph.get_state(thread()).next == ("ab",)
