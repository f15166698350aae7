"""A person edits the state of a paused run, and then answers: the answer goes to the question that is asked again."""

from typing import Any

import pytest
from typing_extensions import TypedDict

from runtime.checkpoint.memory import InMemorySaver
from runtime.graph import START, StateGraph
from runtime.types import Command, interrupt
from tests.kit.faces import Face
from tests.kit.graphs import questions, thread


class State(TypedDict, total=False):
    text: str


@pytest.fixture(params=["sync", "async"])
def run(request: pytest.FixtureRequest) -> Face:
    return Face(request.param == "async")


def asks(state: State) -> State:
    return {"text": state["text"] + interrupt(f"about {state['text']}?")}


def ends(state: State) -> State:
    return {"text": state["text"] + "."}


def draft(_state: State) -> State:
    return {"text": "draft"}


def paused(run: Face, name: str = "t", **options: Any) -> Any:
    made = StateGraph(State).add_sequence([draft, asks, ends]).add_edge(START, "draft")
    graph = made.compile(checkpointer=InMemorySaver())
    run(graph, {"text": ""}, thread(name), **options)
    return graph


@pytest.mark.parametrize("as_node", [None, "draft"])
def test_an_edit_then_an_answer(run: Face, as_node: str | None) -> None:
    graph = paused(run)
    run.edit(graph, thread(), {"text": "edited"}, as_node)
    assert run(graph, Command(resume="!"), thread()) == {"text": "edited!."}


def test_an_edit_and_an_answer_in_one_command(run: Face) -> None:
    graph = paused(run)
    assert run(graph, Command(resume="!", update={"text": "edited"}), thread()) == {"text": "edited!."}


def test_an_answer_ahead_of_its_question(run: Face) -> None:
    graph = paused(run, interrupt_before=["asks"])
    assert run(graph, Command(resume="!"), thread()) == {"text": "draft!."}


def test_an_answer_that_nobody_took_is_not_kept(run: Face) -> None:
    graph = paused(run, interrupt_before=["asks"])
    run(graph, Command(resume="lost"), thread(), interrupt_before=["asks"])
    run.edit(graph, thread(), {"text": "again"}, "draft")
    assert questions(run(graph, None, thread())) == ["about again?"]


def nested(run: Face) -> Any:
    inner = StateGraph(State).add_sequence([asks, ends]).add_edge(START, "asks").compile()
    made = StateGraph(State).add_node(draft).add_node("inner", inner).add_edge(START, "draft")
    graph = made.add_edge("draft", "inner").compile(checkpointer=InMemorySaver())
    run(graph, {"text": ""}, thread())
    return graph


@pytest.mark.parametrize("by_id", [False, True])
@pytest.mark.parametrize("edits", [1, 2])
def test_an_edit_inside_a_subgraph_then_an_answer(run: Face, by_id: bool, edits: int) -> None:
    graph = nested(run)
    question = run.state(graph, thread()).interrupts[0].id
    for number in range(edits):
        inside = run.state(graph, thread(), subgraphs=True).tasks[0].state.config
        run.edit(graph, inside, {"text": f"edited{number}"})
    resume = {question: "!"} if by_id else "!"
    assert run(graph, Command(resume=resume), thread()) == {"text": f"edited{edits - 1}!."}
