"""What every channel must do, whoever wrote it."""

import operator

import pytest

from runtime._typing import MISSING
from runtime.channels import (
    AnyValue,
    BaseChannel,
    BinaryOperatorAggregate,
    DeltaChannel,
    EphemeralValue,
    LastValue,
    LastValueAfterFinish,
    NamedBarrierValue,
    NamedBarrierValueAfterFinish,
    Topic,
    UntrackedValue,
)
from runtime.errors import EmptyChannelError


def extend(value, writes):
    for write in writes:
        value.extend(write)
    return value


CHANNELS = {
    "last": (lambda: LastValue(list), [[1]], [[2]]),
    "last_after_finish": (lambda: LastValueAfterFinish(list), [[1]], [[2]]),
    "any": (lambda: AnyValue(list), [[1], [1]], [[2]]),
    "ephemeral": (lambda: EphemeralValue(list), [[1]], [[2]]),
    "untracked": (lambda: UntrackedValue(list), [[1]], [[2]]),
    "binop": (lambda: BinaryOperatorAggregate(list, operator.add), [[1], [2]], [[3]]),
    "binop_in_place": (lambda: BinaryOperatorAggregate(list, operator.iadd), [[1], [2]], [[3]]),
    "delta_in_place": (lambda: DeltaChannel(extend, list), [[1], [2]], [[3]]),
    "topic": (lambda: Topic(int), [1, [2, 3]], [4]),
    "topic_accumulate": (lambda: Topic(int, accumulate=True), [1, [2, 3]], [4]),
    "barrier": (lambda: NamedBarrierValue(str, {"a", "b"}), ["a"], ["b"]),
    "barrier_after_finish": (lambda: NamedBarrierValueAfterFinish(str, {"a", "b"}), ["a"], ["b"]),
}
STORED = [name for name in CHANNELS if name != "untracked"]


def state_of(channel):
    """All that can be seen of a channel, as text, so that it cannot be aliased."""
    value = channel.get() if channel.is_available() else "empty"
    return repr((value, channel.stored()))


@pytest.fixture(params=CHANNELS)
def case(request):
    make, first, second = CHANNELS[request.param]
    return make().from_checkpoint(MISSING), first, second


def test_the_copy_goes_its_own_way(case):
    channel, first, second = case
    channel.key = "k"
    channel.update(first)
    before = state_of(channel)
    copy = channel.copy()
    assert (state_of(copy), copy.key, copy.typ) == (before, "k", channel.typ)
    copy.update(second)
    copy.finish()
    copy.consume()
    assert state_of(channel) == before
    assert state_of(copy) != before


def test_an_update_leaves_the_checkpoint_taken_before_as_it_was(case):
    channel, first, second = case
    channel.update(first)
    checkpoint = channel.stored()
    text = repr(checkpoint)
    channel.update(second)
    channel.finish()
    channel.consume()
    assert repr(checkpoint) == text


@pytest.mark.parametrize("name", STORED)
def test_a_restored_channel_behaves_like_the_original(name):
    make, first, second = CHANNELS[name]
    channel = make().from_checkpoint(MISSING)
    channel.update(first)
    restored = make().from_checkpoint(channel.stored())
    assert state_of(restored) == state_of(channel)
    for each in (channel, restored):
        each.update(second)
        each.finish()
    assert state_of(restored) == state_of(channel)


def test_restoring_from_a_value_does_not_change_that_value(case):
    channel, first, second = case
    channel.update(first)
    checkpoint = channel.stored()
    text = repr(checkpoint)
    restored = channel.from_checkpoint(checkpoint)
    restored.update(second)
    assert repr(checkpoint) == text


def test_from_nothing_it_is_as_new(case):
    channel, first, _ = case
    empty = state_of(channel)
    channel.update(first)
    assert state_of(channel.from_checkpoint(MISSING)) == empty


def test_is_available_agrees_with_get(case):
    channel, first, second = case
    for writes in ((), first, second, ()):
        channel.update(writes)
        if channel.is_available():
            channel.get()
        else:
            with pytest.raises(EmptyChannelError):
                channel.get()
        channel.finish()


def test_an_update_says_whether_anything_changed(case):
    channel, first, _ = case
    for writes in ((), first, (), ()):
        before = state_of(channel)
        assert channel.update(writes) == (state_of(channel) != before)


def test_an_unwanted_empty_update_would_change_nothing(case):
    channel, first, _ = case
    channel.update(first)
    before = state_of(channel)
    changed = channel.update([])
    if not type(channel).wants_empty_update:
        assert not changed
        assert state_of(channel) == before


def test_only_channels_that_empty_themselves_want_empty_updates():
    kinds = {type(make()) for make, _, _ in CHANNELS.values()}
    assert {kind for kind in kinds if kind.wants_empty_update} == {AnyValue, EphemeralValue, Topic}
    assert {kind for kind in kinds if kind.wants_finish} == {LastValueAfterFinish, NamedBarrierValueAfterFinish}
    assert {kind for kind in kinds if kind.wants_consume} == {
        LastValueAfterFinish,
        NamedBarrierValue,
        NamedBarrierValueAfterFinish,
    }


def test_channels_have_no_room_for_stray_attributes(case):
    channel, _, _ = case
    with pytest.raises(AttributeError):
        channel.valeu = 1


@pytest.mark.parametrize("name", CHANNELS)
def test_definitions_are_equal_whatever_they_hold(name):
    make, first, _ = CHANNELS[name]
    one, other = make(), make()
    other.update(first)
    assert one == other
    assert hash(one) == hash(other)


def test_channels_of_different_kinds_are_different():
    channels = [make() for name, (make, _, _) in CHANNELS.items() if "in_place" not in name]
    for index, one in enumerate(channels):
        for other in channels[index + 1 :]:
            assert one != other


class Counter(BaseChannel):
    """The least that a custom channel has to give."""

    __slots__ = ("count",)

    def __init__(self, typ, key=""):
        super().__init__(typ, key)
        self.count = 0

    @property
    def ValueType(self):
        return int

    @property
    def UpdateType(self):
        return self.typ

    def get(self):
        return self.count

    def update(self, values):
        self.count += len(values)
        return bool(values)

    def from_checkpoint(self, checkpoint):
        new = Counter(self.typ, self.key)
        new.count = 0 if checkpoint is MISSING else checkpoint
        return new


def test_a_custom_channel_is_called_whenever_it_might_change():
    assert Counter.wants_empty_update
    assert not Counter.wants_consume
    assert not Counter.wants_finish
    channel = Counter(str)
    channel.update(["x", "y"])
    assert channel.copy().get() == 2


def test_the_flags_follow_what_a_subclass_overrides():
    class Clearing(LastValue):
        def update(self, values):
            return super().update(values or [None])

        def consume(self):
            return False

    class Declared(LastValue):
        wants_empty_update = False

        def update(self, values):
            return super().update(values)

    class Renamed(LastValue):
        pass

    class Mixin:
        def finish(self):
            return False

    class Mixed(Mixin, LastValue):
        pass

    assert (Clearing.wants_empty_update, Clearing.wants_consume, Clearing.wants_finish) == (True, True, False)
    assert not Declared.wants_empty_update
    assert not Renamed.wants_empty_update
    assert Mixed.wants_finish
    assert not LastValue.wants_consume
    assert NamedBarrierValue.wants_consume
    assert LastValueAfterFinish.wants_finish


def test_a_copy_keeps_what_a_subclass_adds():
    class Noted(LastValue):
        def __init__(self, typ, note):
            super().__init__(typ)
            self.note = note

    channel = Noted(int, "why")
    channel.update([1])
    assert channel.copy().note == "why"
    assert channel.from_checkpoint(5).note == "why"
    assert channel.from_checkpoint(5).get() == 5
