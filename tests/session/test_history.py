"""The tree of a thread: branches, lanes, damaged links."""

from hypothesis import given
from hypothesis import strategies as st

from debugger_ui.engines.base import Header
from debugger_ui.session.history import History
from tests.session.conftest import PATIENT


def headers(parents, sources=None):
    """Headers 00, 01, ... whose parents are given by position; None is a root, other text is an unknown id."""
    sources = sources or {}
    return [
        Header(
            id=f"{row:03}",
            parent="" if parent is None else parent if isinstance(parent, str) else f"{parent:03}",
            step=row,
            source=sources.get(row, "loop"),
            created="",
        )
        for row, parent in enumerate(parents)
    ]


def test_the_oldest_child_goes_on_and_later_ones_branch_off():
    history = History(headers([None, 0, 1, 1, 3, 0], {3: "update", 5: "fork"}))
    assert {b.name: b.members for b in history.branches.values()} == {
        "main": ["000", "001", "002"],
        "edit 1": ["003", "004"],
        "replay 1": ["005"],
    }
    assert history.branches["003"].forked_from == "001"
    assert history.branches["003"].parent == "000"


def test_a_branch_keeps_its_id_when_it_grows():
    before = History(headers([None, 0, 0]))
    after = History(headers([None, 0, 0, 2, 1]))
    assert set(before.branches) <= set(after.branches)
    assert after.branches["002"].head == "003"
    assert after.branches["000"].head == "004"


def test_forward_follows_the_branch_that_is_asked_for():
    history = History(headers([None, 0, 1, 1]))
    assert history.forward("001", "000") == "002"
    assert history.forward("001", "003") == "003"
    assert history.forward("000", "003") == "001"
    assert history.forward("003", "003") == ""


def test_an_unknown_parent_makes_a_marked_root():
    history = History(headers([None, "gone", 1]))
    assert history.marks == {"001": "orphan"}
    assert history.path("002") == ["001", "002"]
    assert [branch.name for branch in history.branches.values()] == ["main", "root 1"]


def test_a_cycle_is_cut_and_marked():
    history = History(headers([2, 0, 1, None]))
    assert history.marks == {"000": "cycle"}
    assert history.path("002") == ["000", "001", "002"]
    assert sorted(history.order) == ["000", "001", "002", "003"]


def test_a_lane_is_used_again_once_it_is_free():
    history = History(headers([None, 0, 0, 1, 3, 3]))
    lanes = {branch.id: branch.lane for branch in history.branches.values()}
    assert lanes == {"000": 0, "002": 1, "005": 1}
    assert history.lanes == 2


@st.composite
def forests(draw):
    size = draw(st.integers(1, 40))
    return [draw(st.none() | st.integers(0, row - 1)) if row else None for row in range(size)]


@PATIENT
@given(forests())
def test_every_checkpoint_has_one_place_and_lines_never_share_a_lane(parents):
    history = History(headers(parents))
    assert sorted(history.order) == sorted(history.by_id)
    assert sorted(id_ for branch in history.branches.values() for id_ in branch.members) == sorted(history.order)
    for row, id_ in enumerate(history.order):
        branch = history.branches[history.branch_of[id_]]
        lines = [branch.lane, *history.through(row)]
        assert len(set(lines)) == len(lines)
        assert max(lines) < history.lanes
        if history.parents[id_]:
            assert history.position[history.parents[id_]] < row


@PATIENT
@given(st.lists(st.integers(-1, 15), min_size=1, max_size=16))
def test_any_parent_links_end_in_a_tree(links):
    history = History(headers([None if link < 0 else link if link < len(links) else "gone" for link in links]))
    assert len(history.order) == len(links)
    for id_ in history.order:
        assert history.path(id_)[-1] == id_
        assert len(set(history.path(id_))) == len(history.path(id_))
