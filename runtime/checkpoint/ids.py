"""Checkpoint ids: time-ordered UUIDs of version 6, in increasing order along every branch.

Rule: a new id sorts after the id it follows, as text, whatever the clock says. The order of a thread's
history therefore never hangs on a clock that was stepped back, nor on several machines' clocks agreeing.
"""

import os
import random
import string
import time
from typing import Any

# 100-nanosecond intervals between 1582-10-15, where the timestamps of these UUIDs begin, and 1970-01-01.
_GREGORIAN_OFFSET = 0x01B21DD213814000
_HEX = frozenset(string.hexdigits)

# Its own generator, so that a program that seeds `random` does not make two processes choose alike.
_entropy = random.Random(os.urandom(16))
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _entropy.seed(os.urandom(16)))

_last = ("", 0)  # the id that was made last, and its timestamp


def next_checkpoint_id(after: str | None = None, clock_seq: int | None = None) -> str:
    """Return a new checkpoint id that sorts after `after` and after every id made here before.

    `clock_seq` (the step, usually) fills the 14 bits that UUIDs have for it; None chooses them at random.
    An `after` that is no UUID and sorts after every UUID is extended, since nothing else can follow it.
    """
    global _last
    last, floor = _last
    timestamp = max(time.time_ns() // 100 + _GREGORIAN_OFFSET, floor + 1)
    if after is not None and after != last:  # as along a run it nearly always is
        timestamp = max(timestamp, _timestamp(after) + 1)
    made = _format(timestamp, _entropy.getrandbits(14) if clock_seq is None else clock_seq)
    if after is not None and made <= after:
        made = f"{after.partition('~')[0]}~{made}"
    _last = (made, timestamp)
    return made


def next_version(current: Any) -> Any:
    """A channel's version that sorts after this one, of the same kind: numbers are ours, strings are LangGraph's."""
    if isinstance(current, str):
        return f"{int(current.partition('.')[0]) + 1:032}.0"
    return 1 if current is None else current + 1


def _format(timestamp: int, clock_seq: int) -> str:
    high, low = timestamp >> 12, timestamp & 0x0FFF
    tail = ((0x8000 | clock_seq & 0x3FFF) << 48) | _entropy.getrandbits(48)
    made = f"{(high << 80) | ((0x6000 | low) << 64) | tail:032x}"
    return f"{made[:8]}-{made[8:12]}-{made[12:16]}-{made[16:20]}-{made[20:]}"


def _timestamp(checkpoint_id: str) -> int:
    """The timestamp in an id; 0 if it is not shaped like a UUID, or lies past the last timestamp."""
    parts = checkpoint_id.rpartition("~")[2].split("-")
    if [len(part) for part in parts] != [8, 4, 4, 4, 12] or not _HEX.issuperset("".join(parts)):
        return 0
    timestamp = (int(parts[0], 16) << 28) | (int(parts[1], 16) << 12) | int(parts[2][1:], 16)
    return timestamp if timestamp < (1 << 60) - 1 else 0
