"""What savers promise beyond the conformance suite: newest, forks, attempts, filters, sizes, other processes."""

import operator
from functools import reduce

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from runtime.checkpoint.errors import CheckpointStorageError, SerializationError
from runtime.checkpoint.ids import next_checkpoint_id
from runtime.checkpoint.serde import Serializer
from runtime.checkpoint.serde.encrypted import EncryptedSerializer
from runtime.checkpoint.serde.types import ERROR, INTERRUPT, RESUME
from tests.checkpoint.conftest import ON_EACH_DATABASE
from tests.checkpoint.kit import Line, at, check, checkpoint, id_of
from tests.checkpoint.things import Point

# --- history -------------------------------------------------------------------------------------------


def test_two_forks_with_equal_versions_keep_their_own_values(saver):
    trunk = Line(saver, "t")
    start = trunk.put({"m": ["root"]})
    left, right = trunk.fork(start), trunk.fork(start)
    left.put({"m": ["root", "left"]}, writes=[("a", "p", [("m", ["left"])])])
    right.put({"m": ["root", "right"]}, writes=[("b", "p", [("m", ["right"])])])
    assert left.versions == right.versions
    left.put({"m": [*left.values["m"], "more left"]})
    right.put({"m": [*right.values["m"], "more right"]})
    check(saver, trunk)


def test_a_list_that_a_reducer_changed_after_it_was_written_is_stored_as_it_became(saver):
    line = Line(saver, "t")
    line.put({"m": []})
    message = HumanMessage("hello")
    saver.put_writes(line.config, [("m", [message])], "task", "path")
    message.id = "given by the reducer"
    line.put({"m": [message]})
    assert saver.get_tuple(line.config).checkpoint["channel_values"]["m"][0].id == "given by the reducer"


def test_an_element_changed_behind_the_back_of_its_channel_is_not_stored(saver):
    line = Line(saver, "t")
    first = {"n": 1}
    line.put({"m": [first]})
    first["n"] = "changed in place, returned by nobody"
    line.put({"m": [first, {"n": 2}]}, writes=[("task", "p", [("m", [{"n": 2}])])])
    found = saver.get_tuple(line.config).checkpoint["channel_values"]["m"]
    assert found == [{"n": 1}, {"n": 2}]


def test_what_is_handed_out_is_nobody_elses(saver):
    line = Line(saver, "t")
    line.put({"m": [{"n": 1}], "d": {"k": [1]}})
    for _ in range(2):
        found = saver.get_tuple(at("t"))
        found.checkpoint["channel_values"]["m"][0]["n"] = 99
        found.checkpoint["channel_values"]["d"]["k"].append(2)
        found.checkpoint["channel_versions"]["m"] = 99
        found.checkpoint["versions_seen"].clear()
        found.metadata["source"] = "spoilt"
    check(saver, line)
    assert saver.get_tuple(at("t")).metadata["source"] == "loop"


def test_channels_may_come_go_and_come_back(saver):
    line = Line(saver, "t")
    line.put({"a": 1, "b": [1]})
    line.put({}, removed=("b",))
    line.put({"b": [2]})
    line.put({"a": []}, removed=("b",), whole=True)
    check(saver, line)


def test_a_checkpoint_stored_twice_alike_is_stored_once_and_another_with_its_id_is_refused(saver):
    stored = checkpoint(next_checkpoint_id(), {"a": 1}, {"a": 1})
    saver.put(at("t"), stored, {"source": "input", "step": -1}, {"a": 1})
    saver.put(at("t"), stored, {"source": "input", "step": -1}, {"a": 1})
    assert len(saver.list(at("t"))) == 1
    other = {**stored, "ts": "another time"}
    with pytest.raises(CheckpointStorageError, match="never overwritten") as raised:
        saver.put(at("t"), other, {"source": "input", "step": -1}, {"a": 1})
    assert raised.value.reason == "conflict"
    assert saver.get_tuple(at("t")).checkpoint["ts"] == stored["ts"]


def test_a_value_that_cannot_be_stored_leaves_the_thread_as_it_was(saver):
    line = Line(saver, "t")
    line.put({"m": ["fine"]})
    good = line.config
    with pytest.raises(SerializationError, match=r"key 'm': .*function"):
        line.put({"m": ["fine", test_channels_may_come_go_and_come_back]})
    assert saver.get_tuple(at("t")).checkpoint["channel_values"] == {"m": ["fine"]}
    with pytest.raises(SerializationError, match=r"key 'm': .*object"):
        saver.put_writes(good, [("m", "stored by nobody"), ("m", object())], "task")
    saver.put_writes(good, [("m", "after all")], "task")
    assert saver.get_tuple(good).pending_writes == [("task", "m", "after all")]


def test_children_are_known(saver):
    line = Line(saver, "t")
    first = line.put({"a": 1})
    assert not saver.has_children(at("t", first))
    line.put({"a": 2})
    assert saver.has_children(at("t", first))


def test_the_newest_id_is_told_whoever_saved_it(open_saver):
    one, two = open_saver(), open_saver()
    assert one.newest_id(at("t")) is None
    line, inner = Line(one, "t"), Line(one, "t", "node:1")
    first, deeper = line.put({"a": 1}), inner.put({"a": 2})
    assert (one.newest_id(at("t", first)), one.newest_id(inner.config)) == (first, deeper)
    line.saver = two
    second = line.put({"a": 3})
    assert (one.newest_id(at("t")), one.newest_id(inner.config)) == (second, deeper)


def test_namespaces_of_a_thread_do_not_mix(saver):
    root, inner = Line(saver, "t"), Line(saver, "t", "node:1")
    root.put({"m": ["root"]})
    inner.put({"m": ["inner"]})
    check(saver, root)
    check(saver, inner)


@pytest.mark.parametrize("thread", ["'; DROP TABLE checkpoints; --", 'a"b', "../x", "線 1", "%", " ", "z" * 5000])
def test_any_thread_id_will_do(saver, thread):
    line = Line(saver, thread)
    line.put({"m": [thread]})
    Line(saver, "another").put({"m": []})
    check(saver, line)


# --- writes and attempts -----------------------------------------------------------------------------------


def test_every_attempt_stays_and_the_newest_counts(open_saver):
    face = open_saver()
    line = Line(face, "t")
    line.put({"a": 1})
    for write in [(ERROR, "it failed")], [(INTERRUPT, "which?")], [(RESUME, ["this"]), (INTERRUPT, "sure?")]:
        face.put_writes(line.config, write, "task", "path")
    face.put_writes(line.config, [("a", 2), ("b", 3)], "task", "path")
    face.put_writes(line.config, [("a", "a finished task's second result is ignored")], "task", "path")

    found = {(task, channel): value for task, channel, value in face.get_tuple(line.config).pending_writes}
    assert found == {
        ("task", ERROR): "it failed",
        ("task", INTERRUPT): "sure?",
        ("task", RESUME): ["this"],
        ("task", "a"): 2,
        ("task", "b"): 3,
    }
    records = open_saver().saver.writes(line.config)
    assert [(record.attempt, record.channel, record.counts) for record in records] == [
        (0, ERROR, True),
        (1, INTERRUPT, False),
        (2, RESUME, True),
        (2, INTERRUPT, True),
        (3, "a", True),
        (3, "b", True),
    ]


def test_a_checkpoint_names_the_writes_that_it_folded(saver):
    line = Line(saver, "t")
    first = line.put({"a": 1})
    saver.put_writes(line.config, [(INTERRUPT, "first question")], "task", "path")
    saver.put_writes(line.config, [(INTERRUPT, "asked again")], "task", "path")
    line.put({"a": 3}, writes=[("other", "path", [("a", 3)])])
    saver.put_writes(at("t", first), [("a", "too late")], "late", "path")
    made = saver.saver.checkpoints("t", limit=1)[0]
    assert made.folded == (1, 2)
    assert saver.saver.write_value(at("t", first), 1) == "asked again"


def test_pending_writes_come_in_the_order_in_which_a_run_applies_them(saver):
    line = Line(saver, "t")
    line.put({"a": 1})
    for task, path in ("x", "b"), ("y", "a"), ("z", "a"):
        saver.put_writes(line.config, [("a", path), ("c", 1)], task, path)
    writes = saver.get_tuple(line.config).pending_writes
    assert [(task, channel) for task, channel, _ in writes] == [
        (task, channel) for task in "yzx" for channel in "ac"
    ]  # fmt: skip


@pytest.mark.parametrize("whole", [False, True])
def test_writes_that_come_before_their_checkpoint_are_not_lost(saver, whole):
    line = Line(saver, "t")
    line.put({"n": 0})
    for n in range(1, 4):
        coming = next_checkpoint_id(line.id, line.step + 1)
        saver.put_writes(at("t", coming), [("n", n)], "early")
        saver.put(line.config, checkpoint(coming, {"n": n}, {"n": n + 1}), {"source": "loop", "step": n}, {"n": n + 1})
        assert saver.get_tuple(at("t")).pending_writes == [("early", "n", n)]
        saver.put_writes(at("t", coming), [("n", -n)], "later")
        line.config, line.versions, line.values = at("t", coming), {"n": n + 1}, {"n": n}
        found = saver.get_tuple(at("t"))
        assert found.pending_writes == [("early", "n", n), ("later", "n", -n)]
        line.put({"n": n}, writes=[] if whole else [("last", "p", [("n", n)])], whole=whole)
        assert saver.get_tuple(at("t", coming)).pending_writes[:2] == found.pending_writes
    assert [*saver.saver.audit()] == []


def test_writes_of_another_process_on_the_same_checkpoint_are_not_lost(open_saver):
    one, two = open_saver(), open_saver()
    line = Line(one, "t")
    first = line.put({"m": ["root"]})
    two.put_writes(line.config, [("m", ["two"])], "task-two", "b")
    line.put({"m": ["root", "one"]}, writes=[("task-one", "a", [("m", ["one"])])])
    line.put({"m": ["root", "one", "then"]}, writes=[("task-three", "a", [("m", ["then"])])])
    check(two, line)
    check(one, line)
    assert one.get_tuple(at("t", first)).pending_writes == [("task-one", "m", ["one"]), ("task-two", "m", ["two"])]


def test_the_newest_checkpoint_is_found_whoever_made_it(open_saver):
    one, two = open_saver(), open_saver()
    line = Line(one, "t")
    line.put({"a": 1})
    assert id_of(two.get_tuple(at("t")).config) == line.id
    line.put({"a": 2})
    assert id_of(two.get_tuple(at("t")).config) == line.id
    line.saver = two
    line.put({"a": 3})
    assert id_of(one.get_tuple(at("t")).config) == line.id


def test_a_thread_that_another_process_deleted_is_gone_and_can_begin_again(open_saver):
    one, two = open_saver(), open_saver()
    line = Line(one, "t")
    line.put({"m": ["old"]})
    two.delete_thread("t")
    assert one.get_tuple(at("t")) is None
    again = Line(one, "t")
    again.put({"m": ["new"]})
    again.put({"m": ["new", "er"]})
    check(two, again)


# --- removing ----------------------------------------------------------------------------------------------


def test_pruning_keeps_what_the_newest_needs(open_saver):
    face = open_saver()
    line = Line(face, "t")
    for n in range(30):
        line.put({"m": [*line.values.get("m", []), n], "n": n}, writes=[(f"t{n}", "p", [("m", [n])])] if n else [])
    face.put_writes(line.config, [("m", ["pending"])], "last", "p")
    face.prune(["t"])
    for reader in face, open_saver():
        found = reader.list(at("t"))
        assert len(found) == 1
        assert found[0].checkpoint["channel_values"] == {"m": list(range(30)), "n": 29}
        assert found[0].pending_writes == [("last", "m", ["pending"])]
    line.put({"m": [*line.values["m"], "after"]}, writes=[("next", "p", [("m", ["after"])])])
    assert open_saver().get_tuple(at("t")).checkpoint["channel_values"]["m"] == [*range(30), "after"]


def test_removing_a_run_leaves_the_runs_before_and_after_readable(open_saver):
    face = open_saver()
    line = Line(face, "t")
    for n in range(12):
        line.put({"m": [*line.values.get("m", []), n]}, metadata={"run_id": f"run-{n // 4}"})
    face.delete_for_runs(["run-1"])
    kept = {id_: was for id_, was in line.expected.items() if len(was["channel_values"]["m"]) not in range(5, 9)}
    line.expected = kept
    check(open_saver(), line)


def test_a_copied_thread_lives_on_by_itself(open_saver):
    face = open_saver()
    line = Line(face, "from")
    for n in range(5):
        line.put({"m": [*line.values.get("m", []), n]})
    face.copy_thread("from", "to")
    face.delete_thread("from")
    copied = Line(face, "to")
    copied.expected = line.expected
    check(face, copied)


# --- sizes -------------------------------------------------------------------------------------------------


def size(line):
    return line.saver.saver.thread_bytes(line.thread)


@ON_EACH_DATABASE
def test_a_growing_conversation_takes_bytes_in_line_with_its_length(saver):
    line = Line(saver, "t")
    line.put({"m": []})
    sizes = []
    for turn in range(400):
        message = HumanMessage(f"message {turn}", id=str(turn))
        line.put({"m": [*line.values["m"], message]}, writes=[(f"task-{turn}", "p", [("m", [message])])])
        line.expected.clear()
        sizes.append(size(line)) if turn % 100 == 99 else None
    grown = [b - a for a, b in zip([0, *sizes], sizes, strict=False)]
    assert max(grown) < 2.5 * min(grown), sizes
    assert sizes[-1] < 400 * 700


@ON_EACH_DATABASE
def test_one_channel_of_a_thousand_costs_as_much_as_one_of_ten(saver):
    costs = []
    for width in 10, 1000:
        line = Line(saver, f"wide-{width}")
        line.put({f"channel-{n}": n for n in range(width)})
        before = size(line)
        for n in range(50):
            line.put({"channel-5": n}, writes=[(f"t{n}", "p", [("channel-5", n)])])
        costs.append((size(line) - before) / 50)
    assert costs[1] < 1.5 * costs[0], costs


def test_a_value_that_a_task_wrote_is_stored_once(saver):
    line = Line(saver, "t")
    line.put({"a": 0})
    before = size(line)
    big = "x" * 100_000
    line.put({"a": big, "m": [big]}, writes=[("task", "p", [("a", big), ("m", [big])])])
    assert 200_000 < size(line) - before < 201_000
    assert saver.saver.channel_bytes(line.config) == pytest.approx({"a": 100_000, "m": 100_000}, rel=0.01)


@ON_EACH_DATABASE
def test_a_list_written_piece_by_piece_is_read_in_few_pieces(saver):
    line = Line(saver, "t")
    line.put({"m": []})
    for n in range(200):
        line.put({"m": [*line.values["m"], n]}, writes=[(f"t{n}", "p", [("m", [n])])])
    check(saver, line)


# --- the rest ---------------------------------------------------------------------------------------------------


def test_the_copies_that_an_allow_list_makes_share_the_database(open_saver):
    face = open_saver()
    line = Line(face, "t")
    line.put({"p": Point(1)})
    assert type(face.get_tuple(at("t")).checkpoint["channel_values"]["p"]).__name__ == "Opaque"
    wider = face.saver.with_allowlist([(Point.__module__, "Point")])
    assert wider.get_tuple(at("t")).checkpoint["channel_values"]["p"] == Point(1)
    assert type(face.get_tuple(at("t")).checkpoint["channel_values"]["p"]).__name__ == "Opaque"


def test_an_opaque_value_is_written_back_as_it_was(open_saver):
    face = open_saver()
    line = Line(face, "t")
    line.put({"p": Point(3), "m": [Point(4)]})
    values = face.get_tuple(at("t")).checkpoint["channel_values"]
    made = next_checkpoint_id(line.id)
    face.put(line.config, checkpoint(made, values, {"p": 2, "m": 2}), {"source": "update"}, {"p": 2, "m": 2})
    wider = face.saver.with_allowlist([Point])
    assert wider.get_tuple(at("t", made)).checkpoint["channel_values"] == {"p": Point(3), "m": [Point(4)]}


def test_encryption_works_around_the_serializer(open_saver):
    class Reversing:
        def encrypt(self, plaintext):
            return "reversed", plaintext[::-1]

        def decrypt(self, name, ciphertext):
            assert name == "reversed"
            return ciphertext[::-1]

    face = open_saver()
    face.saver.serde = EncryptedSerializer(Reversing(), Serializer())
    line = Line(face, "t")
    for n in range(5):
        line.put({"m": [*line.values.get("m", []), {"secret": n, "t": (n,)}]})
    check(face, line)
    plain = open_saver()
    with pytest.raises(CheckpointStorageError, match="reversed"):
        plain.get_tuple(at("t"))


def test_conversations_of_messages_come_back_equal(saver):
    line = Line(saver, "t")
    turns = [HumanMessage("hi", id="1"), AIMessage("yes", id="2"), HumanMessage("bye", id="3")]
    for turn in turns:
        line.put({"m": [*line.values.get("m", []), turn]})
    assert saver.get_tuple(at("t")).checkpoint["channel_values"]["m"] == reduce(operator.iadd, [turns], [])


def test_a_config_without_a_thread_says_so(saver):
    with pytest.raises(ValueError, match="names no thread"):
        saver.get_tuple({"configurable": {}})
    with pytest.raises(ValueError, match="checkpoint_id"):
        saver.put_writes(at("t"), [("a", 1)], "task")
