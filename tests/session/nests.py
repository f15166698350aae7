"""Graphs inside graphs, and what a person does there, for the tests of sessions."""

import operator
from typing import Annotated

import pytest
from typing_extensions import TypedDict

from debugger_ui.session.session import DebugSession
from tests.session.conftest import done, proceed

on_runtime = pytest.mark.parametrize("kit", ["runtime"], indirect=True)
on_langgraph = pytest.mark.parametrize("kit", ["langgraph"], indirect=True)


class Outer(TypedDict, total=False):
    """State of the outer graph."""

    text: str
    log: Annotated[list[str], operator.add]


class Inside(TypedDict, total=False):
    """State inside: `text` is shared with the graph around it, `own` is not."""

    text: str
    own: str


def chain_of(kit, schema, **nodes):
    builder = kit.StateGraph(schema)
    names = list(nodes)
    for name, node in nodes.items():
        builder.add_node(name, node)
    for one, other in zip([kit.START, *names], [*names, kit.END], strict=True):
        builder.add_edge(one, other)
    return builder


def writer(calls, name):
    def node(state):
        calls[name] += 1
        return {"text": f"{state.get('text', '')}>{name}"}

    return node


def asker(kit, calls):
    def review(state):
        calls["review"] += 1
        return {"text": f"{state['text']}>review={kit.interrupt('good?')}", "own": "reviewed"}

    return review


def nested(kit, calls):
    """before, then sub (s1, review which asks, s3), then after."""
    w = {name: writer(calls, name) for name in ("before", "s1", "s3", "after")}
    inner = chain_of(kit, Inside, s1=w["s1"], review=asker(kit, calls), s3=w["s3"]).compile()
    return chain_of(kit, Outer, before=w["before"], sub=inner, after=w["after"])


def start(open_graph, builder, **values):
    """Run a graph on thread `t` until it asks or ends."""
    session = DebugSession(open_graph(builder, example={"text": "in"}))
    session.new_run({"text": "in"} | values, thread="t", run=True)
    done(session)
    return session


def answer_all(session, text):
    session.answer({question.id: text for question in session.questions()})
    return done(session)


def text(session):
    return session.value(("text",)).text


def at(session, node):
    """Go to the checkpoint of the cursor's graph at which a node is due."""
    row = next(row for row in session.timeline().rows if node in row.next)
    session.move(checkpoint=row.checkpoint)
    return session


def outer_rows(session):
    history = session.desk.reading.history("t")
    return [(id_, history.parents[id_], history.by_id[id_].source) for id_ in history.order]


def many(kit, calls):
    """fan out to `part` by Send, each running `deep` inside; then `twice`, which calls a graph two times."""
    deep = chain_of(kit, Inside, d1=writer(calls, "d1"), d2=writer(calls, "d2")).compile()
    part = chain_of(kit, Inside, p1=writer(calls, "p1"), deep=deep).compile()
    other = chain_of(kit, Inside, o1=writer(calls, "o1")).compile()

    def run_part(state):
        return {"log": [part.invoke({"text": state["text"]})["text"]]}

    def twice(state):
        return {"log": [other.invoke({"text": word})["text"] for word in ("x", "y")]}

    builder = kit.StateGraph(Outer)
    builder.add_node("part", run_part)
    builder.add_node("twice", twice)
    builder.add_conditional_edges(kit.START, lambda state: [kit.Send("part", {"text": t}) for t in "ab"], ["part"])
    builder.add_edge("part", "twice")
    builder.add_conditional_edges("twice", lambda state: kit.END, [kit.END])
    return builder


def picture(session):
    return {node.id: node.mark for node in session.picture().nodes if node.mark}


def due(session):
    return session.checkpoint().next


def path(session):
    return [crumb.label for crumb in session.nesting().crumbs][1:]


def opened(open_graph, builder, *points, **values):
    """A session at the input of thread `t`, with breakpoints before nodes."""
    session = DebugSession(open_graph(builder, example={"text": "in"}))
    for point in points:
        session.set_breakpoint(point)
    session.new_run({"text": "in"} | values, thread="t")
    done(session)
    return session


def held(session):
    """Go on to the next stop; return why it holds there."""
    return proceed(session).why


def two_levels(kit, calls):
    low = chain_of(kit, Inside, d1=writer(calls, "d1"), d2=writer(calls, "d2")).compile()
    inner = chain_of(kit, Inside, s1=writer(calls, "s1"), low=low, s3=writer(calls, "s3")).compile()
    return chain_of(kit, Outer, before=writer(calls, "before"), sub=inner, after=writer(calls, "after"))
