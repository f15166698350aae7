"""Checkpoint ids increase along every branch, whatever the clock and other processes do."""

import time
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.checkpoint.ids import next_checkpoint_id

HOUR = 3600 * 10**9


def test_ids_are_uuids_of_version_6_that_carry_the_step():
    made = uuid.UUID(next_checkpoint_id(clock_seq=5))
    assert (made.version, made.variant, made.clock_seq) == (6, uuid.RFC_4122, 5)
    assert uuid.UUID(next_checkpoint_id(clock_seq=-1)).clock_seq == 0x3FFF


def test_ids_made_in_turn_are_in_order():
    made = [next_checkpoint_id() for _ in range(1000)]
    assert made == sorted(set(made))


def test_an_id_follows_its_parent_although_the_clock_stepped_back(monkeypatch):
    ahead = next_checkpoint_id()
    monkeypatch.setattr(time, "time_ns", lambda: 1_000_000_000 * HOUR // HOUR)
    after = ahead
    for _ in range(100):
        before, after = after, next_checkpoint_id(after)
        assert after > before


def test_an_id_follows_one_that_a_clock_running_ahead_made_elsewhere():
    future = str(uuid.UUID("2fffffff-ffff-6fff-bfff-ffffffffffff"))
    assert next_checkpoint_id(future) > future


@given(st.uuids().map(str))
def test_an_id_follows_any_uuid(after):
    assert next_checkpoint_id(after) > after


@pytest.mark.parametrize("after", ["1", "2-inner", "zzz", "ffffffff-ffff-ffff-ffff-ffffffffffff", "", "~"])
def test_an_id_follows_any_text(after):
    first = next_checkpoint_id(after)
    second = next_checkpoint_id(first)
    assert after < first < second
    assert len(second) <= len(after) + 37
