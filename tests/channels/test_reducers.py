"""Channels that fold: reducers, topics, barriers."""

import itertools
import operator
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Annotated, NotRequired, Required

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.checkpoint.serde.types import _DeltaSnapshot

from runtime._typing import MISSING
from runtime.channels import (
    BinaryOperatorAggregate,
    DeltaChannel,
    NamedBarrierValue,
    NamedBarrierValueAfterFinish,
    Topic,
)
from runtime.errors import EmptyChannelError, InvalidUpdateError
from runtime.graph.message import add_messages
from runtime.types import Overwrite

SPELLINGS = [Overwrite, lambda v: {"__overwrite__": v}, lambda v: {"value": v, "type": "__overwrite__"}]


class NeedsArguments:
    def __init__(self, size):
        self.size = size


@pytest.mark.parametrize(
    ("typ", "start"),
    [
        (int, 0),
        (list[int], []),
        (Sequence[int], []),
        (Mapping[str, int], {}),
        (AbstractSet[int], set()),
        (Annotated[list, "note"], []),
        (Required[list[str]], []),
        (NotRequired[dict[str, int]], {}),
        (Counter, Counter()),
    ],
)
def test_the_value_starts_from_the_type(typ, start):
    channel = BinaryOperatorAggregate(typ, operator.add)
    assert channel.get() == start
    assert type(channel.get()) is type(start)


@pytest.mark.parametrize("typ", [NeedsArguments, list[int] | None])
def test_without_a_start_the_first_write_is_the_value(typ):
    channel = BinaryOperatorAggregate(typ, operator.add)
    with pytest.raises(EmptyChannelError):
        channel.get()
    assert channel.checkpoint() is MISSING
    channel.update([[1], [2], [3]])
    assert channel.get() == [1, 2, 3]


@pytest.mark.parametrize("spell", SPELLINGS)
@pytest.mark.parametrize("typ", [list, NeedsArguments])
def test_one_overwrite_discards_every_other_write_in_any_order(spell, typ):
    for writes in itertools.permutations([[1], spell([2]), [3]]):
        channel = BinaryOperatorAggregate(typ, operator.add)
        channel.update([[0]])
        channel.update(writes)
        assert channel.get() == [2]
        fresh = BinaryOperatorAggregate(typ, operator.add)
        fresh.update(writes)
        assert fresh.get() == [2]


def test_an_overwrite_with_none_stores_none():
    channel = BinaryOperatorAggregate(list, operator.add)
    channel.update([Overwrite(None)])
    assert channel.get() is None
    assert channel.from_checkpoint(None).get() is None


@pytest.mark.parametrize("make", [lambda: BinaryOperatorAggregate(list, operator.add), lambda: DeltaChannel(sum_lists)])
def test_two_overwrites_are_refused_and_nothing_is_applied(make):
    channel = make().from_checkpoint([0])
    channel.key = "log"
    with pytest.raises(InvalidUpdateError, match=r"At key 'log': Can receive only one Overwrite value per super-step"):
        channel.update([[1], Overwrite([2]), {"__overwrite__": [3]}])
    assert channel.get() == [0]


def test_a_reducer_that_raises_leaves_the_value_alone():
    channel = BinaryOperatorAggregate(list, operator.iadd)
    channel.update([[1]])
    with pytest.raises(TypeError):
        channel.update([[2], 3])
    assert channel.get() == [1]


def test_a_reducer_that_changes_its_argument_does_not_reach_what_others_hold():
    def extend(left, right):
        left.extend(right)
        return left

    channel = BinaryOperatorAggregate(list, extend)
    channel.update([[1]])
    held = channel.get()
    channel.update([[2], [3]])
    assert held == [1]
    assert channel.get() == [1, 2, 3]


def test_a_thread_stored_by_a_delta_channel_is_read():
    channel = BinaryOperatorAggregate(list, operator.add).from_checkpoint(_DeltaSnapshot([1]))
    assert channel.get() == [1]


def test_reducers_decide_whether_definitions_are_equal():
    add = BinaryOperatorAggregate(list, operator.add)
    assert add == BinaryOperatorAggregate(list, lambda a, b: a)  # a lambda may be the same one
    assert add != BinaryOperatorAggregate(list, operator.iadd)
    openai = [BinaryOperatorAggregate(list, add_messages(format="langchain-openai")) for _ in range(2)]
    assert openai[0] == openai[1]
    assert openai[0] != BinaryOperatorAggregate(list, add_messages)


def sum_lists(value, writes):
    return [*value, *itertools.chain.from_iterable(writes)]


def test_delta_channel_hands_the_whole_batch_to_its_reducer():
    batches = []

    def remember(value, writes):
        batches.append(list(writes))
        return sum_lists(value, writes)

    channel = DeltaChannel(remember, list)
    channel.update([[1], [2]])
    channel.update([[3]])
    assert batches == [[[1], [2]], [[3]]]
    assert channel.get() == [1, 2, 3]
    assert channel.checkpoint() is MISSING
    assert channel.stored() == _DeltaSnapshot([1, 2, 3])
    assert channel.from_checkpoint(channel.stored()).get() == [1, 2, 3]


@pytest.mark.parametrize("stored", [MISSING, None, [], _DeltaSnapshot([])])
def test_delta_channel_restored_from_nothing_is_the_empty_type(stored):
    assert DeltaChannel(sum_lists, Sequence[int]).from_checkpoint(stored).get() == []


def test_delta_channel_restores_values_and_snapshots():
    channel = DeltaChannel(sum_lists, list)
    assert channel.from_checkpoint([1]).get() == [1]
    assert channel.from_checkpoint(_DeltaSnapshot([1])).get() == [1]


def test_delta_channel_replays_stored_writes_from_the_last_overwrite():
    channel = DeltaChannel(sum_lists, list).from_checkpoint(MISSING)
    channel.replay_writes([("t1", "x", [1]), ("t2", "x", Overwrite([5])), ("t3", "x", [6])])
    assert channel.get() == [5, 6]
    channel.replay_writes([])
    assert channel.get() == [5, 6]


def test_delta_channel_overwrite_with_none_empties():
    channel = DeltaChannel(sum_lists, list).from_checkpoint([1])
    channel.update([[2], Overwrite(None)])
    assert channel.get() == []


@pytest.mark.parametrize("frequency", [0, -1])
def test_delta_channel_refuses_a_senseless_frequency(frequency):
    with pytest.raises(ValueError, match=f"at least 1, not {frequency}"):
        DeltaChannel(sum_lists, snapshot_frequency=frequency)


@given(st.lists(st.lists(st.lists(st.integers(), max_size=3), max_size=3), max_size=5))
def test_folding_is_the_same_step_by_step_and_through_checkpoints(supersteps):
    straight = BinaryOperatorAggregate(list, operator.add)
    through = BinaryOperatorAggregate(list, operator.add)
    batch = DeltaChannel(sum_lists).from_checkpoint(MISSING)
    for writes in supersteps:
        straight.update(writes)
        through = through.from_checkpoint(through.stored())
        through.update(writes)
        batch.update(writes)
    expected = [item for writes in supersteps for write in writes for item in write]
    assert straight.get() == through.get() == batch.get() == expected


def test_topic_flattens_lists_and_starts_anew_each_superstep():
    topic = Topic(str)
    assert topic.ValueType == Sequence[str]
    assert topic.UpdateType == str | list[str]
    topic.update(["a", ["b", "c"], []])
    assert topic.get() == ["a", "b", "c"]
    assert topic.update([])
    assert not topic.is_available()
    assert not topic.update([])


def test_topic_accumulates():
    topic = Topic(str, accumulate=True)
    topic.update(["a"])
    assert not topic.update([])
    assert not topic.update([[]])
    topic.update(["a"])
    assert topic.get() == ["a", "a"]


def test_topic_hands_out_a_list_of_its_own():
    topic = Topic(str)
    topic.update(["a"])
    topic.get().append("b")
    assert topic.get() == ["a"]


def test_topic_reads_the_older_form():
    assert Topic(str).from_checkpoint((set(), ["a"])).get() == ["a"]


def test_barrier_opens_once_for_all_names():
    barrier = NamedBarrierValue(str, {"a", "b"})
    assert barrier.update(["a"])
    assert not barrier.update(["a"])
    assert not barrier.consume()
    assert barrier.update(["b", "a"])
    assert barrier.get() is None
    assert barrier.consume()
    assert not barrier.is_available()
    assert barrier.checkpoint() == set()


def test_barrier_after_finish_waits_for_both():
    barrier = NamedBarrierValueAfterFinish(str, {"a", "b"})
    barrier.update(["a"])
    assert not barrier.finish()
    barrier.update(["b"])
    assert not barrier.is_available()
    assert barrier.finish()
    assert barrier.get() is None
    assert barrier.checkpoint() == ({"a", "b"}, True)
    assert barrier.consume()
    assert barrier.checkpoint() == (set(), False)


@pytest.mark.parametrize("kind", [NamedBarrierValue, NamedBarrierValueAfterFinish])
def test_barrier_names_the_stranger_and_notes_none_of_the_writes(kind):
    barrier = kind(str, {"a", "b"})
    barrier.key = "join"
    with pytest.raises(InvalidUpdateError, match=r"At key 'join': 'c'.*'a', .*'b'"):
        barrier.update(["a", "c"])
    assert barrier.update(["a"])
