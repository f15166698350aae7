"""Filters, pages, and looking at histories without values."""

import pytest

from tests.checkpoint.conftest import ON_EACH_DATABASE
from tests.checkpoint.kit import Line, at

# --- filters -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"n": 1}, [1]),
        ({"n": 1.0}, [1]),
        ({"n": True}, [2]),
        ({"n": "1"}, [3]),
        ({"n": None}, [0]),
        ({"n": {"deep": [1, 2]}}, [4]),
        ({"n": [1]}, []),
        ({"inner.key": "v"}, [5]),
        ({"dotted.key": "w"}, [6]),
        ({"n": 2**70}, [7]),
        ({"absent": None, "n": 1}, [1]),
    ],
)
def test_filters_compare_values_and_types(saver, wanted, found):
    values = [None, 1, True, "1", {"deep": [1, 2]}, "x", "y", 2**70]
    extra = [{}, {}, {}, {}, {}, {"inner": {"key": "v"}}, {"dotted.key": "w"}, {}]
    for number, (value, more) in enumerate(zip(values, extra, strict=True)):
        Line(saver, f"t{number}").put({"a": number}, metadata={"n": value, **more})
    listed = saver.list(None, filter=wanted)
    assert sorted(item.checkpoint["channel_values"]["a"] for item in listed) == found


@pytest.mark.parametrize(
    "key", ["x') = 'y' OR 1=1 --", 'a"b', "$.source", "", "a..b", "a'); DROP TABLE checkpoints; --"]
)
def test_a_filter_key_that_is_no_path_is_refused(saver, key):
    with pytest.raises(ValueError, match="Invalid filter key"):
        saver.list(None, filter={key: 1})


@pytest.mark.parametrize("limit", [-1, "1; DROP TABLE checkpoints", 1.5, True])
def test_a_limit_that_is_no_number_is_refused(saver, limit):
    with pytest.raises(ValueError, match="limit"):
        saver.list(None, limit=limit)


@ON_EACH_DATABASE
def test_pages_meet_without_gap_or_overlap(saver):
    line = Line(saver, "t")
    for n in range(150):
        line.put({"n": n})
    listed, before = [], None
    while page := saver.list(at("t"), limit=20, before=before):
        listed += [item.checkpoint["channel_values"]["n"] for item in page]
        before = page[-1].config
    assert listed == list(range(149, -1, -1))


# --- without values ---


def test_threads_checkpoints_and_outlines_can_be_looked_at_without_values(open_saver):
    face = open_saver()
    for thread in "abc":
        line = Line(face, thread)
        for n in range(4):
            line.put({"m": [*line.values.get("m", []), n]}, writes=[(f"t{n}", "p", [("m", [n])])] if n else [])
    saver = open_saver().saver
    threads = saver.threads(with_bytes=True)
    assert [(found.thread_id, found.checkpoints, found.step) for found in threads] == [
        ("c", 4, 3),
        ("b", 4, 3),
        ("a", 4, 3),
    ]
    assert threads[0].newest == line.id
    assert threads[0].bytes == saver.thread_bytes("c") > 0
    assert [found.thread_id for found in saver.threads(limit=1, offset=1)] == ["b"]
    page = saver.checkpoints("c", limit=3)
    assert [(found.step, found.source) for found in page] == [(3, "loop"), (2, "loop"), (1, "loop")]
    assert [found.step for found in saver.checkpoints("c", before=page[-1].id)] == [0]
    outline = saver.outlines("c", limit=1)[0]
    assert outline.channel_versions == {"m": 4}
    assert outline.versions_seen == {"node": {"m": 4}}
    older = saver.outline(at("c", outline.checkpoint.parent))
    assert [(write.task_id, write.channel) for write in older.writes] == [("t3", "m")]


def test_the_digests_of_a_steps_writes_are_the_same_exactly_where_the_values_are(open_saver):
    face = open_saver()
    made = {}
    for thread, value in (("one", {"x": 1}), ("two", {"x": 1}), ("three", {"x": 1.0})):
        line = Line(face, thread)
        line.put({"m": 0})
        line.put({"m": value}, writes=[("task", "path", [("m", value), ("n", None)])])
        made[thread] = line.id
    saver = open_saver().saver
    found = {thread: saver.step_digests(thread, "", [id_, "no such id"]) for thread, id_ in made.items()}
    assert {thread: [len(rows) for rows in steps.values()] for thread, steps in found.items()} == {
        thread: [2, 0] for thread in made
    }
    one, two, three = (found[thread][id_] for thread, id_ in made.items())
    assert [(row.task_id, row.task_path, row.channel) for row in one] == [("task", "path", "m"), ("task", "path", "n")]
    assert [row.digest for row in one] == [row.digest for row in two]
    assert [a.digest == b.digest for a, b in zip(one, three, strict=True)] == [False, True]


def test_what_subgraphs_saved_can_be_listed(open_saver):
    face = open_saver()
    Line(face, "t").put({"a": 1})
    Line(face, "other").put({"a": 1})
    Line(face, "other", "sub:9").put({"a": 1})
    for ns in ("sub:1", "sub:1|deep:2"):
        line = Line(face, "t", ns)
        for n in range(3):
            line.put({"n": n}, metadata={"parents": {"": f"parent {n}"}})
    found = open_saver().saver.namespaces("t")
    assert [(one.ns, one.checkpoints) for one in found] == [("sub:1", 3), ("sub:1|deep:2", 3)]
    assert found[-1].newest == line.id
    assert {one.metadata["parents"][""] for one in found} == {"parent 2"}
    assert open_saver().saver.namespaces("nobody") == []


def test_a_change_shows_in_the_data_version(open_saver):
    one, two = open_saver(), open_saver()
    seen = [one.saver.data_version()]
    assert one.saver.data_version() == seen[0]
    line = Line(two, "t")
    line.put({"a": 1})
    seen.append(one.saver.data_version())
    line.saver = one
    line.put({"a": 2})
    seen.append(one.saver.data_version())
    assert len(set(seen)) == 3


def test_the_values_of_some_channels_are_read_along_a_history(open_saver):
    line = Line(open_saver(), "t")
    for n in range(120):
        log = [*line.values.get("log", []), f"entry {n}"] if n % 40 else []
        line.put({"n": n, "log": log, "rare": n // 50, "other": "x" * n})
    side = line.fork(list(line.expected)[60])
    side.put({"n": -1, "log": ["other"]})
    saver = open_saver().saver
    ids = sorted(line.expected)
    channels = ("log", "n", "rare")
    wanted = {id_: {channel: line.expected[id_]["channel_values"][channel] for channel in channels} for id_ in ids}
    assert dict(saver.channel_values("t", "", ids, (*channels, "absent"))) == wanted
    some = [ids[0], ids[90], side.id, ids[91], ids[3], ids[119]]
    assert list(saver.channel_values("t", "", some, channels)) == [(id_, wanted[id_]) for id_ in some]
    assert list(saver.channel_values("t", "", ["none"], ["n"])) == [("none", {})]
    assert list(saver.channel_values("other", "", ids[:1], ["n"])) == [(ids[0], {})]
