"""Channels that hold one value: who may write, what stays."""

import json
from dataclasses import asdict

import pytest

from runtime._typing import MISSING
from runtime.channels import AnyValue, EphemeralValue, LastValue, LastValueAfterFinish, UntrackedValue
from runtime.errors import EmptyChannelError, InvalidUpdateError
from runtime.types import Overwrite


@pytest.fixture(params=["class", "key", "json"])
def overwrite(request):
    """An Overwrite in each of its spellings."""
    return {
        "class": Overwrite,
        "key": lambda value: {"__overwrite__": value},
        "json": lambda value: json.loads(json.dumps(asdict(Overwrite(value)))),
    }[request.param]


@pytest.mark.parametrize("falsy", [None, 0, "", [], False])
def test_falsy_values_are_values(falsy):
    channel = LastValue(object)
    assert channel.update([falsy])
    assert channel.is_available()
    assert channel.get() == falsy
    assert channel.from_checkpoint(channel.checkpoint()).get() == falsy


def test_two_writes_are_refused_with_the_key_the_number_and_the_way_out():
    channel = LastValue(int, "total")
    channel.update([1])
    with pytest.raises(InvalidUpdateError, match=r"At key 'total'.* 2 were.*Annotated\[") as refused:
        channel.update([2, 3])
    assert "INVALID_CONCURRENT_GRAPH_UPDATE" in str(refused.value)
    assert channel.get() == 1


def test_an_overwrite_is_stored_as_its_payload(overwrite):
    for channel in (LastValue(int), AnyValue(int), UntrackedValue(int)):
        channel.update([overwrite([7])])
        assert channel.get() == [7]


@pytest.mark.parametrize("order", [0, 1])
def test_an_overwrite_wins_over_a_plain_write_in_any_order(overwrite, order):
    for channel in (LastValue(int), AnyValue(int)):
        writes = [1, overwrite(2)]
        channel.update(writes[::-1] if order else writes)
        assert channel.get() == 2


def test_two_overwrites_are_refused(overwrite):
    channel = LastValue(int, "x")
    with pytest.raises(InvalidUpdateError, match=r"At key 'x'.*only one Overwrite"):
        channel.update([overwrite(1), overwrite(2)])
    assert not channel.is_available()


@pytest.mark.parametrize("plain", [{"value": 1}, {"type": "human", "value": 1}, {"__overwrite__": 1, "a": 2}])
def test_dicts_that_only_look_like_an_overwrite_are_values(plain):
    channel = LastValue(dict)
    channel.update([plain])
    assert channel.get() == plain


def test_any_value_is_empty_after_a_superstep_without_writes():
    channel = AnyValue(int)
    channel.update([1, 1])
    assert channel.get() == 1
    assert channel.update([])
    assert not channel.is_available()
    assert not channel.update([])


@pytest.mark.parametrize("kind", [EphemeralValue, UntrackedValue])
def test_guard_refuses_two_writes_and_its_absence_takes_the_last(kind):
    guarded = kind(int)
    guarded.key = "once"
    with pytest.raises(InvalidUpdateError, match=r"At key 'once'.*guard=False"):
        guarded.update([1, 2])
    loose = kind(int, guard=False)
    loose.update([1, 2])
    assert loose.get() == 2
    assert guarded != loose


def test_ephemeral_value_lasts_one_superstep():
    channel = EphemeralValue(int)
    channel.update([1])
    assert channel.get() == 1
    assert channel.update([])
    with pytest.raises(EmptyChannelError):
        channel.get()


def test_untracked_value_is_never_stored_but_survives_a_copy():
    channel = UntrackedValue(dict)
    channel.update([{"socket": 1}])
    assert channel.checkpoint() is MISSING
    assert channel.copy().get() == {"socket": 1}
    assert not channel.update([])
    assert channel.get() == {"socket": 1}
    assert not channel.from_checkpoint({"socket": 1}).is_available()


def test_after_finish_the_value_is_shown_once():
    channel = LastValueAfterFinish(int)
    assert not channel.finish()
    channel.update([1, 2])
    assert not channel.is_available()
    assert not channel.consume()
    assert channel.finish()
    assert not channel.finish()
    assert channel.get() == 2
    assert channel.checkpoint() == (2, True)
    assert channel.consume()
    assert channel.checkpoint() is MISSING


def test_after_finish_a_later_write_hides_the_value_again():
    channel = LastValueAfterFinish(int)
    channel.update([1])
    channel.finish()
    channel.update([2])
    assert not channel.is_available()
    restored = channel.from_checkpoint((2, True))
    assert restored.get() == 2
