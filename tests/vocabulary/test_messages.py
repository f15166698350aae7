"""add_messages: merging a conversation by id."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, RemoveMessage, ToolMessage

from runtime.graph import START
from runtime.graph.message import REMOVE_ALL_MESSAGES, MessageGraph, _messages_delta_reducer, add_messages
from runtime.warnings import DeprecatedSince10


def shape(messages):
    return [(m.id, m.content) for m in messages]


def test_new_messages_are_appended_and_known_ones_replaced_in_place():
    left = [HumanMessage("a", id="1"), AIMessage("b", id="2")]
    merged = add_messages(left, [AIMessage("A", id="1"), HumanMessage("c", id="3")])
    assert shape(merged) == [("1", "A"), ("2", "b"), ("3", "c")]
    assert isinstance(merged[0], AIMessage)
    assert shape(left) == [("1", "a"), ("2", "b")]


def test_everything_langchain_makes_messages_of_is_taken():
    merged = add_messages("hi", [("ai", "yes"), {"role": "user", "content": "no"}, AIMessageChunk("bit", id="4")])
    assert [m.content for m in merged] == ["hi", "yes", "no", "bit"]
    assert type(merged[3]) is AIMessage
    assert all(m.id for m in merged)


def test_a_written_message_gets_its_id_in_place_a_stored_one_does_not():
    stored, written = HumanMessage("a"), HumanMessage("b")
    merged = add_messages([stored], written)
    assert stored.id is None
    assert merged[0].id
    assert merged[1] is written
    assert written.id


def test_removing_and_writing_again_keeps_the_place():
    left = [HumanMessage("a", id="1"), HumanMessage("b", id="2")]
    assert shape(add_messages(left, [RemoveMessage(id="1"), HumanMessage("A", id="1")])) == [("1", "A"), ("2", "b")]
    assert shape(add_messages(left, [RemoveMessage(id="1"), RemoveMessage(id="1")])) == [("2", "b")]


def test_removing_an_unknown_id_names_it_and_the_known_ones():
    with pytest.raises(ValueError, match="doesn't exist: 'nope'; the ids are '1'"):
        add_messages([HumanMessage("a", id="1")], RemoveMessage(id="nope"))
    with pytest.raises(ValueError, match="none at all"):
        add_messages([], RemoveMessage(id="nope"))


def test_what_follows_remove_all_is_merged_like_anything_else():
    right = [
        AIMessage("dropped", id="9"),
        RemoveMessage(id=REMOVE_ALL_MESSAGES),
        AIMessage("first", id="1"),
        AIMessage("second", id="1"),
        HumanMessage("gone", id="2"),
        RemoveMessage(id="2"),
    ]
    assert shape(add_messages([HumanMessage("old", id="0")], right)) == [("1", "second")]
    with pytest.raises(ValueError, match="'0'"):
        add_messages([HumanMessage("old", id="0")], [RemoveMessage(id=REMOVE_ALL_MESSAGES), RemoveMessage(id="0")])


def test_the_openai_format():
    to_openai = add_messages(format="langchain-openai")
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "1234"}}
    result = {"type": "tool_result", "tool_use_id": "t", "is_error": False, "content": [image]}
    merged = to_openai([], [HumanMessage([{"type": "text", "text": "see", "cache_control": {}}, image]),
                            HumanMessage([result])])  # fmt: skip
    assert merged[0].content[0] == {"type": "text", "text": "see"}
    assert merged[0].content[1]["image_url"] == {"url": "data:image/jpeg;base64,1234"}
    assert isinstance(merged[1], ToolMessage)
    assert merged[1].tool_call_id == "t"
    after = to_openai(
        [HumanMessage("old", id="0")], [RemoveMessage(id=REMOVE_ALL_MESSAGES), HumanMessage([image], id="1")]
    )
    assert after[0].content[0]["type"] == "image_url"
    with pytest.raises(ValueError, match="'other'"):
        add_messages([], [], format="other")


def test_one_side_alone_is_refused():
    with pytest.raises(ValueError, match="'right' is None"):
        add_messages([])
    with pytest.raises(ValueError, match="'left' is None"):
        add_messages(right=[])


ids = st.sampled_from("abcd")
writes = st.lists(
    st.one_of(
        st.builds(lambda i, n: HumanMessage(str(n), id=i), ids, st.integers(0, 9)),
        st.builds(lambda i: RemoveMessage(id=i), ids | st.just(REMOVE_ALL_MESSAGES)),
    ),
    max_size=6,
)


@given(writes, st.lists(writes, max_size=4))
def test_the_batch_reducer_does_not_care_how_writes_are_batched(start, batches):
    state = _messages_delta_reducer([], [start])
    stepwise = state
    for batch in batches:
        stepwise = _messages_delta_reducer(stepwise, [batch])
    assert shape(_messages_delta_reducer(state, batches)) == shape(stepwise)


@given(st.lists(st.builds(lambda i, n: HumanMessage(str(n), id=i), ids, st.integers(0, 9)), max_size=8))
def test_both_reducers_agree_where_nothing_is_removed(messages):
    assert shape(add_messages([], messages)) == shape(_messages_delta_reducer([], messages))


def test_a_graph_of_messages_alone_still_works_with_a_warning():
    with pytest.warns(DeprecatedSince10, match="MessagesState"):
        builder = MessageGraph()
    builder.add_node("bot", lambda messages: [AIMessage(f"you said {messages[-1].content}", id="2")])
    builder.add_edge(START, "bot")
    result = builder.compile().invoke(HumanMessage("hi", id="1"))
    assert shape(result) == [("1", "hi"), ("2", "you said hi")]
