"""Whatever is done to a thread, through whichever saver, every checkpoint reads as it was stored.

The model (`kit.Line`) stores everything whole. Two savers on one database stand for two processes: what one has in
memory must never hide what the other did.
"""

import random

import pytest

from runtime.checkpoint.sql import SqlSaver
from tests.checkpoint.kit import Line, at, check

EDITS = {
    "append": 8,
    "append one": 4,
    "change inside": 5,
    "drop front": 2,
    "remove": 2,
    "set": 4,
    "replace": 1,
    "same": 1,
    "scalar": 1,
    "vanish": 1,
}


def element(rng):
    return rng.choice([{"n": rng.randrange(4)}, {"n": rng.randrange(4)}, [rng.randrange(3)], rng.randrange(3), "text"])


def changed_inside(items, start):
    """The very objects that the node was given, changed in place."""
    for item in items[start:]:
        if isinstance(item, dict):
            item["n"] += 10
        elif isinstance(item, list):
            item.append("more")
    return items


def edited(rng, old):
    """A channel's next value, and what a task returned to get it, in the manner of the usual reducers."""
    items = list(old) if isinstance(old, list) else []
    at_ = rng.randrange(len(items) + 1)
    some, one = [element(rng) for _ in range(rng.randrange(4))], element(rng)
    outcomes = {
        "append": (items + some, some),
        "append one": ([*items, one], one),
        "drop front": (items[at_:], None),
        "remove": (items[:at_] + items[at_ + 1 :], None),
        "set": ([*items[:at_], one, *items[at_ + 1 :]], [one]),
        "replace": (some, some),
        "same": (old, old),
        "scalar": (one, one),
        "vanish": (None, None),
    }
    how = rng.choices(list(EDITS), list(EDITS.values()))[0]
    if how == "change inside":
        changed = changed_inside(items, at_)
        return changed, changed
    return outcomes[how]


def take(rng, line, number):
    """One step of the line, in one of the ways in which a step can be stored."""
    channel = rng.choice(["m", "m", "m", "n"])
    value, returned = edited(rng, line.values.get(channel))
    source = rng.choice(["loop", "loop", "loop", "loop", "input", "update"])
    whole = rng.random() < 0.3
    if value is None:
        line.put({}, removed=(channel,), whole=whole, source=source)
        return
    writes = []
    if line.id is not None and source == "loop":
        writes = [(f"task-{number}", "path", [(channel, returned), ("other", number)])]
        rng.random() < 0.2 and line.saver.put_writes(line.config, [("n", [number])], f"saved-{number}", "a")
    line.put({channel: value}, writes=writes, whole=whole, source=source)


@pytest.mark.parametrize(
    ("kind", "seed"), [*(("sqlite", seed) for seed in range(25)), *(("postgres", seed) for seed in range(2))]
)
def test_every_checkpoint_reads_as_it_was_stored(kind, seed, tmp_path, request):
    rng = random.Random(seed)
    where = request.getfixturevalue("postgres_schema") if kind == "postgres" else f"sqlite:///{tmp_path}/checkpoints.db"
    with SqlSaver(where) as one, SqlSaver(where) as two:
        line = Line(one, "t")
        for number in range(70):
            if line.expected and rng.random() < 0.06:
                line = line.fork(rng.choice(sorted(line.expected)))
            if rng.random() < 0.1:
                line.saver = rng.choice([one, two])
            if line.id and rng.random() < 0.2:
                line.saver.get_tuple(at("t", rng.choice([line.id, None])))
            take(rng, line, number)
        check(one, line)
        check(two, line)
    with SqlSaver(where, read_only=True) as third:
        check(third, line)
