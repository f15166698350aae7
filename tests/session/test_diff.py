"""Differences: records by id or content, types told apart, nothing missed."""

import copy

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage

from debugger_ui.session.diff import diff_states, equal
from tests.session.conftest import PATIENT


def diff(before, after):
    found = diff_states(before, after, ("a", "b"), lambda key: ())
    return [(entry.op, entry.label) for entry in found.entries]


def test_records_are_matched_by_id_not_by_place():
    before = {"docs": [{"id": "a", "n": 1}, {"id": "b", "n": 2}]}
    after = {"docs": [{"id": "new", "n": 0}, {"id": "a", "n": 1}, {"id": "b", "n": 3}]}
    assert diff(before, after) == [("changed", "docs[id=b].n"), ("added", "docs[id=new]")]


def test_messages_are_matched_by_their_id():
    before = {"messages": [HumanMessage("hi", id="1"), HumanMessage("bye", id="2")]}
    after = {"messages": [HumanMessage("bye now", id="2")]}
    assert diff(before, after) == [("changed", "messages[id=2].content"), ("removed", "messages[id=1]")]


def test_a_record_that_only_moved_is_told_as_moved():
    before = {"docs": [{"id": "a"}, {"id": "b"}]}
    after = {"docs": [{"id": "b"}, {"id": "a"}]}
    assert {op for op, _ in diff(before, after)} == {"moved"}


def test_items_without_ids_are_matched_by_content():
    assert diff({"x": ["a", "b", "c"]}, {"x": ["b", "c"]}) == [("removed", "x[0]")]
    assert diff({"x": ["a", "c"]}, {"x": ["a", "b", "c"]}) == [("added", "x[1]")]


def test_types_are_told_apart():
    assert diff({"x": 1, "y": 1, "z": (1,)}, {"x": True, "y": 1.0, "z": [1]}) == [
        ("changed", "x"),
        ("changed", "y"),
        ("changed", "z"),
    ]


def test_keys_come_and_go():
    assert diff({"a": {"x": 1}}, {"a": {"y": 1}, "b": None}) == [
        ("removed", "a.x"),
        ("added", "a.y"),
        ("added", "b"),
    ]


def test_sets_are_compared_by_their_items():
    assert diff({"s": {1, 2}}, {"s": {2, 3}}) == [("removed", "s[1]"), ("added", "s[3]")]


def test_equal_keys_are_named_as_unchanged():
    found = diff_states({"a": 1, "b": [1]}, {"a": 2, "b": [1]}, ("x", "y"), lambda key: ("node",))
    assert found.unchanged == ("b",)
    assert found.entries[0].writers == ("node",)


def test_many_differences_are_cut_and_counted():
    found = diff_states({"x": list(range(2000))}, {"x": [-i - 1 for i in range(2000)]}, ("a", "b"), lambda key: ())
    assert (len(found.entries), found.truncated) == (400, 1600)


def test_values_nested_too_deep_are_still_compared():
    def deep(leaf):
        for _ in range(5000):
            leaf = [leaf]
        return leaf

    assert diff({"x": deep(1)}, {"x": deep(1)}) == []
    assert [op for op, _ in diff({"x": deep(1)}, {"x": deep(2)})] == ["changed"]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.text("ab", max_size=2),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["id", "x", "y"]), inner, max_size=3)
        | st.tuples(inner)
    ),
    max_leaves=10,
)
STATES = st.dictionaries(st.sampled_from(["k", "l"]), VALUES)


@PATIENT
@given(STATES)
def test_a_state_does_not_differ_from_its_copy(state):
    assert diff(state, copy.deepcopy(state)) == []


@PATIENT
@given(STATES, STATES)
def test_there_is_a_difference_exactly_when_states_are_unequal(one, other):
    assert bool(diff(one, other)) != equal(one, other)


@PATIENT
@given(STATES, STATES)
def test_swapping_the_sides_swaps_what_came_and_went(one, other):
    swap = {"added": "removed", "removed": "added", "changed": "changed", "moved": "moved"}
    there, back = (diff_states(*sides, ("a", "b"), lambda key: ()) for sides in ((one, other), (other, one)))

    def count(found, change=lambda op: op):
        keys = [(change(entry.op), entry.path[0]) for entry in found.entries]
        return sorted({key for key in keys if key[0] != "moved"})

    if {e.op for e in there.entries} <= {"added", "removed"}:
        assert count(there) == count(back, swap.__getitem__)
