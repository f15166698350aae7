"""Runs that go on from the newest checkpoint are handed the messages of the run before, as they are stored."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from runtime.checkpoint.sql import handed
from runtime.checkpoint.sql.places import Part, Rope
from tests.checkpoint.kit import Line, at, check, checkpoint


def grow(line, *messages):
    added = list(messages)
    writes = [("task", "p", [("m", added)])] if line.id else []
    return line.put({"m": [*line.values.get("m", []), *added]}, writes=writes)


@pytest.fixture
def line(saver):
    made = Line(saver, "t")
    grow(made, HumanMessage("question", id="1"))
    grow(made, AIMessage("answer", id="2", additional_kwargs={"k": [1]}))
    return made


def newest(saver, **config):
    return saver.get_tuple(at("t", **config)).checkpoint["channel_values"]["m"]


def test_a_message_is_decoded_once_for_runs_that_follow_each_other(saver, line):
    before = newest(saver)
    grow(line, HumanMessage("more", id="3"))
    after = newest(saver)
    assert [message.content for message in after] == ["question", "answer", "more"]
    assert after[0] is before[0]
    assert after[1] is before[1]
    check(saver, line)


def test_lists_are_everybodys_own(saver, line):
    newest(saver).clear()
    newest(saver).append("mine")
    assert len(newest(saver)) == 2
    assert line.expected[line.id]["channel_values"]["m"] == newest(saver)


def change_text(messages):
    messages[0].content = "spoilt"


def change_inside(messages):
    messages[1].additional_kwargs["k"].append(2)


def add_attribute(messages):
    messages[0].extra = "not stored"


def add_incomparable(messages):
    class Incomparable:
        def __eq__(self, other):
            raise ValueError("compare me to nothing")

        __hash__ = None

    messages[1].additional_kwargs["k"] = Incomparable()


@pytest.mark.parametrize("change", [change_text, change_inside, add_attribute, add_incomparable])
def test_a_message_changed_in_place_and_returned_by_nobody_is_read_as_it_is_stored(saver, line, change):
    newest(saver)
    change(newest(saver))
    found = newest(saver)
    assert found == line.expected[line.id]["channel_values"]["m"]
    assert not hasattr(found[0], "extra")
    grow(line, HumanMessage("more", id="3"))
    assert newest(saver) == line.expected[line.id]["channel_values"]["m"]


def test_a_message_changed_in_place_and_returned_is_stored_as_it_became(saver, line):
    newest(saver)
    values = newest(saver)
    values[1].content = "corrected"
    line.values = {"m": values}
    line.put({"m": values}, writes=[("task", "p", [("m", [values[1]])])])
    assert newest(saver)[1].content == "corrected"
    check(saver, line)


def test_who_asks_by_id_or_lists_shares_with_nobody(saver, line):
    shared = newest(saver)
    by_id = newest(saver, checkpoint_id=line.id)
    listed = saver.list(at("t"))[0].checkpoint["channel_values"]["m"]
    change_text(shared)
    assert by_id[0].content == listed[0].content == "question"
    change_text(by_id)
    assert newest(saver)[0].content == "question"


def test_what_another_process_stored_is_seen(open_saver):
    saver = open_saver()
    line = Line(saver, "t")
    grow(line, HumanMessage("question", id="1"))
    newest(saver)
    elsewhere = line.fork(line.id)
    elsewhere.saver = open_saver()
    grow(elsewhere, AIMessage("from elsewhere", id="2"))
    assert [message.content for message in newest(saver)] == ["question", "from elsewhere"]
    elsewhere.put({"m": [HumanMessage("all new", id="9")]})
    assert [message.content for message in newest(saver)] == ["all new"]


@pytest.mark.parametrize("where", ["here", "elsewhere"])
def test_a_thread_removed_and_made_again_with_the_same_ids_is_read_anew(open_saver, where):
    saver = open_saver()
    other = saver if where == "here" else open_saver()
    for text in "first", "second":
        stored = checkpoint("1ef0-one-id", {"m": [HumanMessage(text, id="1")]}, {"m": 1})
        other.put(at("t"), stored, {"source": "input", "step": -1}, {"m": 1})
        assert newest(saver)[0].content == text
        other.delete_thread("t")


def test_what_is_kept_is_bounded_by_number_and_weight(monkeypatch):
    monkeypatch.setattr(handed, "_MOST_LISTS", 3)
    monkeypatch.setattr(handed, "_MOST_BYTES", 4 * handed._MESSAGE_BYTES)
    kept, serde = handed.Handed(), object()

    def stored(thread, messages):
        key, rope = kept.key(serde, thread, "", "m"), Rope([Part("owner", 0, 0, messages, 10)])
        kept.take(key, rope, 0)
        kept.keep(key, rope, 0, [HumanMessage("text") for _ in range(messages)], 0)
        return lambda: kept.take(key, rope, 0)[0]

    threads = [stored(str(n), 1) for n in range(5)]
    assert [thread() for thread in threads] == [0, 0, 1, 1, 1]
    heavy = stored("heavy", 3)
    assert (heavy(), sum(thread() for thread in threads)) == (1, 0)
    assert stored("too heavy", 5)() == 0
