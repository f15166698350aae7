"""ToolNode outside a graph: what it takes, what it gives back, and what becomes of errors."""

import asyncio
import threading
from dataclasses import dataclass
from typing import Annotated

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import InjectedToolArg, ToolException, tool
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from pydantic import BaseModel

from runtime.errors import GraphInterrupt
from runtime.prebuilt import InjectedState, InjectedStore, ToolNode, ToolRuntime, tools_condition
from runtime.prebuilt.tool_node import msg_content_output
from tests.prebuilt.models import add, asking, call


def fail(kind: str) -> str:
    """Fail as asked."""
    raise {"value": ValueError, "key": KeyError, "tool": ToolException}[kind](kind)


@dataclass
class Data:
    messages: list


class Model(BaseModel):
    messages: list


CALL = call("add", a=1, b=2)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"messages": [HumanMessage("?"), asking(CALL)]}, "dict"),
        (Data([asking(CALL)]), "dict"),
        (Model(messages=[asking(CALL)]), "dict"),
        ([HumanMessage("?"), asking(CALL)], "list"),
        ([CALL], "dict"),
        ({"__type": "tool_call_with_context", "tool_call": CALL, "state": {}}, "dict"),
    ],
)
def test_every_form_of_input_is_answered_in_its_form(run_node, value, kind):
    result = run_node(ToolNode([add]), value)
    answers = result if kind == "list" else result["messages"]
    assert [(m.content, m.name, m.tool_call_id, m.status) for m in answers] == [("3", "add", "c1", "success")]


def test_another_key_for_messages(run_node):
    node = ToolNode([add], messages_key="chat")
    assert run_node(node, {"chat": [asking(CALL)]})["chat"][0].content == "3"


def test_calls_are_answered_in_their_order(run_node):
    calls = [call("add", id=str(n), a=n, b=n) for n in range(5)]
    answers = run_node(ToolNode([add]), [asking(*calls)])
    assert [(m.tool_call_id, m.content) for m in answers] == [(str(n), str(2 * n)) for n in range(5)]


def test_calls_of_one_message_run_side_by_side():
    together = threading.Barrier(2, timeout=10)

    def meet() -> str:
        """Wait for the other call."""
        together.wait()
        return "met"

    answers = ToolNode([meet]).invoke([asking(call("meet", id="1"), call("meet", id="2"))])
    assert [m.content for m in answers] == ["met", "met"]


def test_an_async_tool_needs_an_async_run():
    async def later() -> str:
        """Answer later."""
        return "now"

    node = ToolNode([later])
    assert asyncio.run(node.ainvoke([asking(call("later"))]))[0].content == "now"
    with pytest.raises(NotImplementedError):
        node.invoke([asking(call("later"))])


@pytest.mark.parametrize(
    ("value", "says"),
    [({}, "'messages'"), ({"messages": []}, "'messages'"), ([HumanMessage("?")], "No AIMessage"), ([], "No AIMessage")],
)
def test_an_input_without_tool_calls_to_run_is_refused(run_node, value, says):
    with pytest.raises(ValueError, match=says):
        run_node(ToolNode([add]), value)


def test_a_message_without_calls_gives_no_answers(run_node):
    assert run_node(ToolNode([add]), [AIMessage("hi")]) == []


@pytest.mark.parametrize(
    ("output", "content"),
    [
        ("text", "text"),
        ({"ü": [1, None]}, '{"ü": [1, null]}'),
        ([{"type": "text", "text": "hi"}], [{"type": "text", "text": "hi"}]),
        ([{"type": "other"}], '[{"type": "other"}]'),
        (["a"], '["a"]'),
        ({1}, "{1}"),
    ],
)
def test_outputs_become_content(output, content):
    assert msg_content_output(output) == content


# --- errors ---------------------------------------------------------------------------------------


def test_an_unknown_tool_is_answered_with_the_known_ones(run_node):
    (answer,) = run_node(ToolNode([add]), [asking(call("sub", a=1, b=2))])
    assert (answer.status, answer.name, answer.tool_call_id) == ("error", "sub", "c1")
    assert "sub" in answer.content
    assert "[add]" in answer.content


def test_wrong_arguments_are_answered_by_default_other_errors_are_raised(run_node):
    (answer,) = run_node(ToolNode([add]), [asking(call("add", a="x"))])
    assert answer.status == "error"
    assert "a: Input should be a valid integer" in answer.content
    assert "b: Field required" in answer.content
    with pytest.raises(ValueError, match="value"):
        run_node(ToolNode([fail]), [asking(call("fail", kind="value"))])


def value_or_key(error: ValueError | KeyError) -> str:
    return f"handled {error!r}"


class Handler:
    def handle(self, error: ValueError) -> str:
        return f"method {error}"


@pytest.mark.parametrize(
    ("handling", "kind", "says"),
    [
        (True, "value", "ValueError('value')"),
        ("Try again.", "key", "Try again."),
        (ValueError, "value", "ValueError('value')"),
        (ValueError, "key", None),
        ((ValueError, KeyError), "key", "KeyError('key')"),
        ((ValueError,), "tool", None),
        (value_or_key, "key", "handled KeyError('key')"),
        (value_or_key, "tool", None),
        (Handler().handle, "value", "method value"),
        (lambda error: f"any {error}", "tool", "any tool"),
        (False, "value", None),
    ],
)
def test_handle_tool_errors_says_what_is_answered(run_node, handling, kind, says):
    node = ToolNode([fail], handle_tool_errors=handling)
    if says is None:
        with pytest.raises((ValueError, KeyError, ToolException)):
            run_node(node, [asking(call("fail", kind=kind))])
    else:
        (answer,) = run_node(node, [asking(call("fail", kind=kind))])
        assert says in answer.content
        assert answer.status == "error"


def test_a_handler_for_no_exception_is_refused_when_the_node_is_made():
    def handler(error: int) -> str:
        return ""

    with pytest.raises(ValueError, match="annotated with an exception"):
        ToolNode([fail], handle_tool_errors=handler)


def test_interrupts_pass_through_every_handling(run_node):
    def ask() -> str:
        """Ask."""
        raise GraphInterrupt(())

    with pytest.raises(GraphInterrupt):
        run_node(ToolNode([ask], handle_tool_errors=True), [asking(call("ask"))])


# --- injection ------------------------------------------------------------------------------------


@tool
def look(
    x: int,
    everything: Annotated[dict, InjectedState],
    user: Annotated[str, InjectedState("user")],
    store: Annotated[BaseStore, InjectedStore()],
    runtime: ToolRuntime,
    nick: Annotated[str, InjectedState("nick")] = "nobody",
) -> str:
    """Look at what is injected."""
    noted = store.get(("notes",), "n").value["text"]
    return f"{x} {sorted(everything)} {user} {nick} {noted} {runtime.tool_call_id} {runtime.context}"


def store_with_note():
    store = InMemoryStore()
    store.put(("notes",), "n", {"text": "noted"})
    return store


def test_tools_get_state_store_and_runtime(run_node):
    state = {"messages": [asking(call("look", x=1))], "user": "eve"}
    (answer,) = run_node(ToolNode([look]), state, store=store_with_note(), context="ctx")["messages"]
    assert answer.content == "1 ['messages', 'user'] eve nobody noted c1 ctx"


def test_a_model_cannot_forge_injected_arguments(run_node):
    @tool
    def pay(amount: int, account: Annotated[str, InjectedState("account")],
            token: Annotated[str, InjectedToolArg] = "none") -> str:  # fmt: skip
        """Pay."""
        return f"{amount} from {account} with {token}"

    state = {"messages": [asking(call("pay", amount=1, account="theirs", token="forged"))], "account": "mine"}
    (answer,) = run_node(ToolNode([pay]), state)["messages"]
    assert answer.content == "1 from mine with none"
    context = {"__type": "tool_call_with_context", "tool_call": call("pay", amount=1), "state": state}
    assert run_node(ToolNode([pay]), context)["messages"][0].content == "1 from mine with none"


def test_a_model_does_not_see_injected_arguments(run_node):
    state = {"messages": [asking(call("look", x="no number"))], "user": "eve"}
    (answer,) = run_node(ToolNode([look]), state, store=store_with_note())["messages"]
    assert "x: Input should be" in answer.content
    assert "eve" not in answer.content
    assert "store" not in answer.content


@pytest.mark.parametrize(
    ("state", "runtime", "error", "says"),
    [
        ({"user": "eve"}, {}, ValueError, "compile it with one"),
        ({}, {"store": InMemoryStore()}, KeyError, "'user'"),
    ],
)
def test_what_cannot_be_injected_is_named(run_node, state, runtime, error, says):
    with pytest.raises(error, match=says):
        run_node(ToolNode([look]), {"messages": [asking(call("look", x=1))], **state}, **runtime)


def test_a_list_of_messages_is_a_state_of_messages_only(run_node):
    @tool
    def count(messages: Annotated[list, InjectedState("messages")], all: Annotated[dict, InjectedState]) -> str:
        """Count messages."""
        return f"{len(messages)} {list(all)}"

    @tool
    def other(user: Annotated[str, InjectedState("user")]) -> str:
        """Need another field."""
        return user

    assert run_node(ToolNode([count]), [HumanMessage("?"), asking(call("count"))])[0].content == "2 ['messages']"
    with pytest.raises(ValueError, match="'user'"):
        run_node(ToolNode([other]), [asking(call("other"))])


def test_an_argument_marked_twice_is_refused():
    def twice(x: Annotated[dict, InjectedState("a"), InjectedState("b")]) -> str:
        """Twice."""
        return ""

    with pytest.raises(ValueError, match="InjectedState once"):
        ToolNode([twice])


# --- routing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrap", [lambda m: m, lambda m: {"messages": m}, Data])
def test_tools_condition(wrap):
    assert tools_condition(wrap([asking(CALL)])) == "tools"
    assert tools_condition(wrap([asking(CALL), AIMessage("done")])) == "__end__"
    assert tools_condition(wrap([HumanMessage("?")])) == "__end__"
    with pytest.raises(ValueError, match="No messages"):
        tools_condition(wrap([]))
    assert tools_condition({"chat": [asking(CALL)]}, messages_key="chat") == "tools"
