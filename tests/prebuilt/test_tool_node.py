"""ToolNode outside a graph: what it takes, what it gives back, and what becomes of errors."""

import asyncio
import threading
from dataclasses import dataclass
from typing import Annotated

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.tools import InjectedToolArg, ToolException, tool
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from pydantic import BaseModel

from runtime.errors import GraphInterrupt
from runtime.graph.message import REMOVE_ALL_MESSAGES
from runtime.prebuilt import InjectedState, InjectedStore, ToolNode, ToolRuntime, tools_condition
from runtime.prebuilt.tool_node import ToolCallRequest, ToolInvocationError, msg_content_output
from runtime.runtime import Runtime
from runtime.types import Command, Send


@pytest.fixture(params=["sync", "async"])
def run(request):
    """Run a node, blocking or awaiting; `runtime` is what a graph would hand to it."""

    def run(node, value, **runtime):
        config = {"configurable": {"__pregel_runtime": Runtime(**runtime)}} if runtime else None
        if request.param == "sync":
            return node.invoke(value, config)
        return asyncio.run(node.ainvoke(value, config))

    return run


def call(name, id="c1", **args):
    return {"name": name, "args": args, "id": id, "type": "tool_call"}


def asking(*calls):
    return AIMessage("", tool_calls=list(calls))


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


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
def test_every_form_of_input_is_answered_in_its_form(run, value, kind):
    result = run(ToolNode([add]), value)
    answers = result if kind == "list" else result["messages"]
    assert [(m.content, m.name, m.tool_call_id, m.status) for m in answers] == [("3", "add", "c1", "success")]


def test_another_key_for_messages(run):
    node = ToolNode([add], messages_key="chat")
    assert run(node, {"chat": [asking(CALL)]})["chat"][0].content == "3"


def test_calls_are_answered_in_their_order(run):
    calls = [call("add", id=str(n), a=n, b=n) for n in range(5)]
    answers = run(ToolNode([add]), [asking(*calls)])
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
def test_an_input_without_tool_calls_to_run_is_refused(run, value, says):
    with pytest.raises(ValueError, match=says):
        run(ToolNode([add]), value)


def test_a_message_without_calls_gives_no_answers(run):
    assert run(ToolNode([add]), [AIMessage("hi")]) == []


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


def test_an_unknown_tool_is_answered_with_the_known_ones(run):
    (answer,) = run(ToolNode([add]), [asking(call("sub", a=1, b=2))])
    assert (answer.status, answer.name, answer.tool_call_id) == ("error", "sub", "c1")
    assert "sub" in answer.content
    assert "[add]" in answer.content


def test_wrong_arguments_are_answered_by_default_other_errors_are_raised(run):
    (answer,) = run(ToolNode([add]), [asking(call("add", a="x"))])
    assert answer.status == "error"
    assert "a: Input should be a valid integer" in answer.content
    assert "b: Field required" in answer.content
    with pytest.raises(ValueError, match="value"):
        run(ToolNode([fail]), [asking(call("fail", kind="value"))])


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
def test_handle_tool_errors_says_what_is_answered(run, handling, kind, says):
    node = ToolNode([fail], handle_tool_errors=handling)
    if says is None:
        with pytest.raises((ValueError, KeyError, ToolException)):
            run(node, [asking(call("fail", kind=kind))])
    else:
        (answer,) = run(node, [asking(call("fail", kind=kind))])
        assert says in answer.content
        assert answer.status == "error"


def test_a_handler_for_no_exception_is_refused_when_the_node_is_made():
    def handler(error: int) -> str:
        return ""

    with pytest.raises(ValueError, match="annotated with an exception"):
        ToolNode([fail], handle_tool_errors=handler)


def test_interrupts_pass_through_every_handling(run):
    def ask() -> str:
        """Ask."""
        raise GraphInterrupt(())

    with pytest.raises(GraphInterrupt):
        run(ToolNode([ask], handle_tool_errors=True), [asking(call("ask"))])


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


def test_tools_get_state_store_and_runtime(run):
    state = {"messages": [asking(call("look", x=1))], "user": "eve"}
    (answer,) = run(ToolNode([look]), state, store=store_with_note(), context="ctx")["messages"]
    assert answer.content == "1 ['messages', 'user'] eve nobody noted c1 ctx"


def test_a_model_cannot_forge_injected_arguments(run):
    @tool
    def pay(amount: int, account: Annotated[str, InjectedState("account")],
            token: Annotated[str, InjectedToolArg] = "none") -> str:  # fmt: skip
        """Pay."""
        return f"{amount} from {account} with {token}"

    state = {"messages": [asking(call("pay", amount=1, account="theirs", token="forged"))], "account": "mine"}
    (answer,) = run(ToolNode([pay]), state)["messages"]
    assert answer.content == "1 from mine with none"
    context = {"__type": "tool_call_with_context", "tool_call": call("pay", amount=1), "state": state}
    assert run(ToolNode([pay]), context)["messages"][0].content == "1 from mine with none"


def test_a_model_does_not_see_injected_arguments(run):
    state = {"messages": [asking(call("look", x="no number"))], "user": "eve"}
    (answer,) = run(ToolNode([look]), state, store=store_with_note())["messages"]
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
def test_what_cannot_be_injected_is_named(run, state, runtime, error, says):
    with pytest.raises(error, match=says):
        run(ToolNode([look]), {"messages": [asking(call("look", x=1))], **state}, **runtime)


def test_a_list_of_messages_is_a_state_of_messages_only(run):
    @tool
    def count(messages: Annotated[list, InjectedState("messages")], all: Annotated[dict, InjectedState]) -> str:
        """Count messages."""
        return f"{len(messages)} {list(all)}"

    @tool
    def other(user: Annotated[str, InjectedState("user")]) -> str:
        """Need another field."""
        return user

    assert run(ToolNode([count]), [HumanMessage("?"), asking(call("count"))])[0].content == "2 ['messages']"
    with pytest.raises(ValueError, match="'user'"):
        run(ToolNode([other]), [asking(call("other"))])


def test_an_argument_marked_twice_is_refused():
    def twice(x: Annotated[dict, InjectedState("a"), InjectedState("b")]) -> str:
        """Twice."""
        return ""

    with pytest.raises(ValueError, match="InjectedState once"):
        ToolNode([twice])


# --- commands -------------------------------------------------------------------------------------


def returning(make):
    @tool
    def act(tool_call_id: Annotated[str, InjectedToolArg] = "c1") -> str:
        """Act."""
        return make(tool_call_id)

    return ToolNode([act])


def done(id="c1"):
    return ToolMessage("done", tool_call_id=id)


def test_commands_come_with_plain_results_beside_them(run):
    def act() -> Command:
        """Act."""
        return Command(update={"messages": [done("2")], "x": 1}, goto="n")

    node = ToolNode([add, act])
    result = run(node, {"messages": [asking(CALL, call("act", id="2"))]})
    assert result[0]["messages"][0].content == "3"
    assert result[1].goto == "n"
    assert result[1].update["x"] == 1
    assert result[1].update["messages"][0].name == "act"


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda id: Command(update={"x": 1}), "no matching ToolMessage"),
        (lambda id: Command(update={"messages": [done("other")]}), "no matching ToolMessage"),
        (lambda id: Command(update=[done(id)]), "has to be a dict"),
        (lambda id: [done(id), done(id)], "2 messages bound to tool_call_id"),
        (lambda id: [Command(update={"x": 1})], "0 messages bound to tool_call_id"),
    ],
)
def test_a_call_that_would_stay_unanswered_is_refused(run, make, says):
    with pytest.raises(ValueError, match=says):
        run(returning(make), {"messages": [asking(call("act"))]})


def test_commands_that_need_no_answer(run):
    for command in (
        Command(update={"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES)]}),
        Command(goto="n"),
        Command(graph=Command.PARENT, update={"messages": []}),
    ):
        assert run(returning(lambda id, command=command: command), {"messages": [asking(call("act"))]}) == [command]


def test_a_list_answers_once_and_may_hold_commands(run):
    node = returning(lambda id: [Command(update={"x": 1}), done(id)])
    command, answer = run(node, {"messages": [asking(call("act"))]})
    assert command.update == {"x": 1}
    assert answer["messages"][0].content == "done"


def test_the_tools_own_update_is_not_changed(run):
    update = {"messages": [done()]}
    run(returning(lambda id: Command(update=update)), {"messages": [asking(call("act"))]})
    assert update["messages"][0].name is None


def test_sends_to_the_parent_are_joined(run):
    def hand_off(target: str) -> Command:
        """Hand off."""
        return Command(graph=Command.PARENT, goto=[Send(target, {})])

    calls = [call("hand_off", id=str(n), target=f"n{n}") for n in range(3)]
    (command,) = run(ToolNode([hand_off]), {"messages": [asking(*calls)]})
    assert command.graph == Command.PARENT
    assert [send.node for send in command.goto] == ["n0", "n1", "n2"]


# --- wrappers -------------------------------------------------------------------------------------


def awaiting(wrapper):
    async def awrapper(request, execute):
        pending = {}

        def collect(changed):
            pending["request"] = changed
            return "later"

        outcome = wrapper(request, collect)
        return await execute(pending["request"]) if outcome == "later" else outcome

    return awrapper


@pytest.mark.parametrize("form", ["wrap_tool_call", "awrap_tool_call"])
def test_a_wrapper_may_change_the_request_or_answer_itself(form):
    def wrapper(request, execute):
        if request.tool_call["args"]["a"] == 0:
            return ToolMessage("skipped", tool_call_id=request.tool_call["id"])
        changed = {**request.tool_call, "args": {"a": 40, "b": 2}}
        return execute(request.override(tool_call=changed))

    node = ToolNode([add], **{form: wrapper if form == "wrap_tool_call" else awaiting(wrapper)})
    calls = asking(CALL, call("add", id="c2", a=0, b=0))
    answers = asyncio.run(node.ainvoke([calls]))
    assert [m.content for m in answers] == ["42", "skipped"]
    if form == "wrap_tool_call":
        assert [m.content for m in node.invoke([calls])] == ["42", "skipped"]


def test_a_wrapper_may_try_again(run):
    attempts = []

    def flaky() -> str:
        """Fail once."""
        attempts.append(1)
        if len(attempts) == 1:
            raise ConnectionError("gone")
        return "back"

    def again(request, execute):
        try:
            return execute(request)
        except ConnectionError:
            return execute(request)

    assert run(ToolNode([flaky], wrap_tool_call=again), [asking(call("flaky"))])[0].content == "back"


def test_a_wrapper_may_put_in_a_tool_that_the_node_does_not_have(run):
    @tool
    def extra(x: int, user: Annotated[str, InjectedState("user")]) -> str:
        """Extra."""
        return f"{x} {user}"

    def wrapper(request, execute):
        assert request.tool is None
        return execute(request.override(tool=extra))

    state = {"messages": [asking(call("extra", x=1))], "user": "eve"}
    assert run(ToolNode([], wrap_tool_call=wrapper), state)["messages"][0].content == "1 eve"


def test_a_wrapper_may_change_the_state_that_tools_see(run):
    @tool
    def who(user: Annotated[str, InjectedState("user")], runtime: ToolRuntime) -> str:
        """Who."""
        return f"{user} {runtime.state['user']}"

    def wrapper(request, execute):
        return execute(request.override(state={**request.state, "user": "bob"}))

    state = {"messages": [asking(call("who"))], "user": "eve"}
    assert run(ToolNode([who], wrap_tool_call=wrapper), state)["messages"][0].content == "bob bob"


def test_what_a_wrapper_raises_is_handled_like_what_a_tool_raises(run):
    def wrapper(request, execute):
        raise ValueError("wrapped")

    with pytest.raises(ValueError, match="wrapped"):
        run(ToolNode([add], wrap_tool_call=wrapper), [asking(CALL)])
    handling = ToolNode([add], wrap_tool_call=wrapper, handle_tool_errors=(ValueError,))
    assert "wrapped" in run(handling, [asking(CALL)])[0].content
    other = ToolNode([add], wrap_tool_call=wrapper, handle_tool_errors=(KeyError,))
    with pytest.raises(ValueError, match="wrapped"):
        run(other, [asking(CALL)])


def test_a_request_is_changed_by_override_not_in_place():
    request = ToolCallRequest(tool_call=CALL, tool=None, state={}, runtime=None)
    assert request.override(state={"x": 1}).state == {"x": 1}
    assert request.state == {}
    with pytest.warns(DeprecationWarning, match=r"request\.override\(state="):
        request.state = {"y": 1}


def test_an_invocation_error_tells_the_model_what_to_mend():
    with pytest.raises(ToolInvocationError, match="Error invoking tool 'add'") as caught:
        ToolNode([add], handle_tool_errors=False).invoke([asking(call("add", a="x", b=1))])
    assert caught.value.tool_kwargs == {"a": "x", "b": 1}
    assert caught.value.source is caught.value.__cause__


# --- routing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrap", [lambda m: m, lambda m: {"messages": m}, Data])
def test_tools_condition(wrap):
    assert tools_condition(wrap([asking(CALL)])) == "tools"
    assert tools_condition(wrap([asking(CALL), AIMessage("done")])) == "__end__"
    assert tools_condition(wrap([HumanMessage("?")])) == "__end__"
    with pytest.raises(ValueError, match="No messages"):
        tools_condition(wrap([]))
    assert tools_condition({"chat": [asking(CALL)]}, messages_key="chat") == "tools"
