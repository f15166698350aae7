"""What is told of tasks and values: how a Send started a task, that nobody wrote what a channel starts with."""

import operator
from typing import Annotated

from typing_extensions import TypedDict

from tests.session.nests import at, start


class State(TypedDict, total=False):
    text: str
    seeds: list[int]
    notes: Annotated[list[str], operator.add]
    total: Annotated[int, operator.add]


def fan_out(kit, open_graph):
    builder = kit.StateGraph(State)
    builder.add_node("plan", lambda state: {"seeds": [1, 2], "notes": ["planned"]})
    builder.add_node("work", lambda n: {"total": n})
    builder.add_edge(kit.START, "plan")
    builder.add_conditional_edges("plan", lambda state: [kit.Send("work", n) for n in state["seeds"]], ["work"])
    return start(open_graph, builder)


def test_a_task_that_was_sent_is_not_woken_by_a_channel(kit, open_graph):
    session = at(fan_out(kit, open_graph), "work")
    assert [(task.name, task.sent, task.triggers) for task in session.tasks()] == [("work", True, ())] * 2
    at(session, "plan")
    assert [(task.name, task.sent, task.triggers) for task in session.tasks()] == [("plan", False, ("branch:to:plan",))]


def test_nobody_wrote_what_a_channel_starts_with(kit, open_graph):
    session = fan_out(kit, open_graph)
    chain = [(hop.path, hop.kind, hop.node) for hop in session.why(("notes",))]
    assert chain == [(("notes",), "task", "plan"), (("text",), "input", "input")]
    at(session, "plan")
    assert session.why(("total",)) == ()
    assert session.last_change(("total",)) is None


def test_what_came_with_the_input_is_called_that(kit, open_graph):
    session = at(fan_out(kit, open_graph), "plan")
    assert {entry.key: entry.writers for entry in session.checkpoint().entries if entry.changed} == {"text": ("input",)}
