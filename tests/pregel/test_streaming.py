"""Streams: the modes alone and together, from inside subgraphs, in both versions, and left early."""

import threading

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from runtime.config import get_stream_writer
from runtime.graph import START, MessagesState, StateGraph
from runtime.types import Command, StreamWriter, interrupt
from tests.kit.graphs import builder, chain, thread


def test_values(run, saver):
    graph = chain("one", "two").compile(checkpointer=saver)
    chunks = run.stream(graph, {"log": []}, thread(), stream_mode="values")
    assert [chunk["log"] for chunk in chunks] == [[], ["one"], ["one", "two"]]


def test_updates(run, saver):
    graph = chain("one", "two").compile(checkpointer=saver)
    chunks = run.stream(graph, {"log": []}, thread(), stream_mode="updates")
    assert chunks == [{"one": {"log": ["one"]}}, {"two": {"log": ["two"]}}]


def test_updates_come_as_each_task_ends(run):
    seen = threading.Event()

    def slow(state):
        assert seen.wait(20)
        return {"log": ["slow"]}

    graph = builder((START, "fast"), (START, "slow"), slow=slow).compile()

    def note(chunk):
        if "fast" in chunk:
            seen.set()

    chunks = run.collect(graph, "stream", {"log": []}, None, stream_mode="updates", until=note)
    assert chunks == [{"fast": {"log": ["fast"]}}, {"slow": {"log": ["slow"]}}]


def test_tasks_tell_of_starts_and_results(run, saver):
    graph = chain("one").compile(checkpointer=saver)
    started, ended = run.stream(graph, {"log": ["in"]}, thread(), stream_mode="tasks")
    assert (started["name"], started["input"], started["triggers"]) == (
        "one",
        {"log": ["in"], "total": 0},
        ("branch:to:one",),
    )
    assert (ended["id"], ended["result"], ended["error"], ended["interrupts"]) == (
        started["id"],
        {"log": ["one"]},
        None,
        [],
    )


def test_tasks_tell_of_errors_and_questions(run, saver):
    def fails(state):
        raise KeyError("boom")

    graph = chain("ask", "fails", ask=lambda s: interrupt("q"), fails=fails).compile(checkpointer=saver)
    chunks = run.stream(graph, {"log": []}, thread(), stream_mode="tasks")
    assert [q["value"] for q in chunks[-1]["interrupts"]] == ["q"]
    seen = []
    with pytest.raises(KeyError):
        run.collect(
            graph,
            "stream",
            Command(resume={}),
            thread(),
            stream_mode="tasks",
            until=lambda chunk: seen.append(chunk) and False,
        )
    assert "boom" in str(seen[-1]["error"])


def test_checkpoints_are_those_that_are_saved(run, saver):
    graph = chain("one", "two").compile(checkpointer=saver)
    chunks = run.stream(graph, {"log": []}, thread(), stream_mode="checkpoints")
    history = run.history(graph, thread())
    assert [chunk["config"]["configurable"]["checkpoint_id"] for chunk in chunks] == [
        s.config["configurable"]["checkpoint_id"] for s in reversed(history)
    ]
    assert [(c["next"], c["values"], c["metadata"]["step"]) for c in chunks] == [
        (list(s.next), s.values, s.metadata["step"]) for s in reversed(history)
    ]


def test_debug_is_checkpoints_and_tasks(run, saver):
    graph = chain("one").compile(checkpointer=saver)
    chunks = run.stream(graph, {"log": []}, thread(), stream_mode="debug")
    assert [(c["type"], c["step"]) for c in chunks] == [
        ("checkpoint", -1),
        ("checkpoint", 0),
        ("task", 1),
        ("task_result", 1),
        ("checkpoint", 1),
    ]


@pytest.mark.parametrize("way", ["argument", "function"])
def test_custom(run, way):
    def by_argument(state, writer: StreamWriter):
        writer({"progress": 1})
        return {"log": ["one"]}

    def by_function(state):
        get_stream_writer()({"progress": 1})
        return {"log": ["one"]}

    graph = chain("one", one=by_argument if way == "argument" else by_function).compile()
    chunks = run.stream(graph, {"log": []}, stream_mode=["custom", "updates"])
    assert chunks == [("custom", {"progress": 1}), ("updates", {"one": {"log": ["one"]}})]
    assert run(graph, {"log": []})["log"] == ["one"]


def test_custom_arrives_while_the_node_runs(run, gate):
    def node(state, writer: StreamWriter):
        writer("inside")
        assert gate.open.wait(20)
        return {"log": ["one"]}

    graph = chain("one", one=node).compile()
    opened = []

    def release(chunk):
        opened.append(chunk)
        gate.open.set()

    run.collect(graph, "stream", {"log": []}, None, stream_mode="custom", until=release)
    assert opened == ["inside"]


def test_messages_token_by_token(run):
    model = GenericFakeChatModel(messages=iter([AIMessage("one two three")]))
    made = StateGraph(MessagesState)

    def answer(state):
        return {"messages": model.invoke(state["messages"])}

    made.add_node("answer", answer)
    made.add_edge(START, "answer")
    chunks = run.stream(made.compile(), {"messages": "hi"}, stream_mode="messages")
    tokens = [message.content for message, _ in chunks if message.content]
    assert tokens == ["one", " ", "two", " ", "three"]
    assert {metadata["langgraph_node"] for _, metadata in chunks} == {"answer"}


def test_several_modes_are_pairs(run):
    graph = chain("one").compile()
    chunks = run.stream(graph, {"log": []}, stream_mode=["values", "updates"])
    assert [mode for mode, _ in chunks] == ["values", "updates", "values"]
    assert [mode for mode, _ in run.stream(graph, {"log": []}, stream_mode=["values"])] == ["values", "values"]


def test_subgraphs_come_with_their_namespace(run, saver):
    graph = builder((START, "sub"), sub=chain("one").compile()).compile(checkpointer=saver)
    (inner_ns, inner), (outer_ns, outer) = run.stream(
        graph, {"log": []}, thread(), stream_mode="updates", subgraphs=True
    )
    assert (outer_ns, inner) == ((), {"one": {"log": ["one"]}})
    assert len(inner_ns) == 1
    assert inner_ns[0].startswith("sub:")
    assert list(outer) == ["sub"]


def test_subgraphs_with_several_modes_are_triples(run):
    graph = builder((START, "sub"), sub=chain("one").compile()).compile()
    chunks = run.stream(graph, {"log": []}, stream_mode=["values", "updates"], subgraphs=True)
    assert [(len(ns), mode) for ns, mode, _ in chunks] == [
        (0, "values"),
        (1, "values"),
        (1, "updates"),
        (1, "values"),
        (0, "updates"),
        (0, "values"),
    ]


def test_version_two_is_dicts(run, saver):
    graph = chain("one", "ask", ask=lambda s: {"log": [interrupt("q")]}).compile(checkpointer=saver)
    chunks = run.stream(graph, {"log": []}, thread(), stream_mode=["values", "updates"], version="v2")
    assert all(chunk["ns"] == () for chunk in chunks)
    assert [chunk["type"] for chunk in chunks] == ["values", "updates", "values", "updates", "values"]
    assert [q.value for q in chunks[-1]["interrupts"]] == ["q"]
    output = run(graph, Command(resume="a"), thread(), version="v2")
    assert (output.value["log"], output.interrupts) == (["one", "a"], ())


def test_output_keys_choose_what_is_shown(run):
    graph = chain("one", one=lambda s: {"log": ["x"], "value": 1}).compile()
    assert run.stream(graph, {"log": []}, output_keys=["value"], stream_mode="updates") == [{"one": {"value": 1}}]
    assert run(graph, {"log": []}, output_keys="value") == 1
    with pytest.raises(ValueError, match="nothing"):
        run(graph, {"log": []}, output_keys=["nothing"])


def test_leaving_early_stops_and_loses_nothing(run, saver, calls):
    def counted(name):
        def node(state):
            calls[name] += 1
            return {"log": [name]}

        return node

    graph = chain("a", "b", "c", **{n: counted(n) for n in "abc"}).compile(checkpointer=saver)
    chunks = run.collect(
        graph, "stream", {"log": []}, thread(), stream_mode="updates", until=lambda chunk: "a" in chunk
    )
    assert chunks == [{"a": {"log": ["a"]}}]
    assert calls["c"] == 0
    assert run(graph, None, thread())["log"] == ["a", "b", "c"]
    assert calls == {"a": 1, "b": 1, "c": 1}


def test_chunks_before_a_failure_arrive(run, saver):
    def fails(state):
        raise KeyError("boom")

    graph = chain("one", "fails", fails=fails).compile(checkpointer=saver)
    seen = []
    with pytest.raises(KeyError):
        run.collect(
            graph, "stream", {"log": []}, thread(), stream_mode="updates", until=lambda c: seen.append(c) and False
        )
    assert seen == [{"one": {"log": ["one"]}}]


def test_a_resume_does_not_show_finished_siblings_as_new(run, saver):
    graph = builder((START, "ask"), (START, "done"), ask=lambda s: {"log": [interrupt("q")]}).compile(
        checkpointer=saver
    )
    run(graph, {"log": []}, thread())
    chunks = run.stream(graph, Command(resume="a"), thread(), stream_mode="updates")
    assert {"ask": {"log": ["a"]}} in chunks
    again = [chunk for chunk in chunks if "done" in chunk]
    assert all(chunk.get("__metadata__", {}).get("cached") for chunk in again)
    assert len(again) <= 1


@pytest.mark.parametrize("wrong", ["value", ["updates", "nothing"]])
def test_an_unknown_mode_is_refused_by_name(run, wrong):
    with pytest.raises(ValueError, match=r"value|nothing"):
        run.stream(chain("one").compile(), {"log": []}, stream_mode=wrong)
