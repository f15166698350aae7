"""What comes of a tool call: Commands, several outcomes at once, and wrappers around the call."""

import asyncio
from typing import Annotated

import pytest
from langchain_core.messages import RemoveMessage, ToolMessage
from langchain_core.tools import InjectedToolArg, tool

from runtime.graph.message import REMOVE_ALL_MESSAGES
from runtime.prebuilt import InjectedState, ToolNode, ToolRuntime
from runtime.prebuilt.tool_node import ToolCallRequest, ToolInvocationError
from runtime.types import Command, Send
from tests.prebuilt.models import add, asking, call

CALL = call("add", "c1", a=1, b=2)

# --- commands -------------------------------------------------------------------------------------


def returning(make):
    @tool
    def act(tool_call_id: Annotated[str, InjectedToolArg] = "c1") -> str:
        """Act."""
        return make(tool_call_id)

    return ToolNode([act])


def done(id="c1"):
    return ToolMessage("done", tool_call_id=id)


def test_commands_come_with_plain_results_beside_them(run_node):
    def act() -> Command:
        """Act."""
        return Command(update={"messages": [done("2")], "x": 1}, goto="n")

    node = ToolNode([add, act])
    result = run_node(node, {"messages": [asking(CALL, call("act", id="2"))]})
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
def test_a_call_that_would_stay_unanswered_is_refused(run_node, make, says):
    with pytest.raises(ValueError, match=says):
        run_node(returning(make), {"messages": [asking(call("act"))]})


def test_commands_that_need_no_answer(run_node):
    for command in (
        Command(update={"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES)]}),
        Command(goto="n"),
        Command(graph=Command.PARENT, update={"messages": []}),
    ):
        assert run_node(returning(lambda id, command=command: command), {"messages": [asking(call("act"))]}) == [
            command
        ]


def test_a_list_answers_once_and_may_hold_commands(run_node):
    node = returning(lambda id: [Command(update={"x": 1}), done(id)])
    command, answer = run_node(node, {"messages": [asking(call("act"))]})
    assert command.update == {"x": 1}
    assert answer["messages"][0].content == "done"


def test_the_tools_own_update_is_not_changed(run_node):
    update = {"messages": [done()]}
    run_node(returning(lambda id: Command(update=update)), {"messages": [asking(call("act"))]})
    assert update["messages"][0].name is None


def test_sends_to_the_parent_are_joined(run_node):
    def hand_off(target: str) -> Command:
        """Hand off."""
        return Command(graph=Command.PARENT, goto=[Send(target, {})])

    calls = [call("hand_off", id=str(n), target=f"n{n}") for n in range(3)]
    (command,) = run_node(ToolNode([hand_off]), {"messages": [asking(*calls)]})
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


def test_a_wrapper_may_try_again(run_node):
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

    assert run_node(ToolNode([flaky], wrap_tool_call=again), [asking(call("flaky"))])[0].content == "back"


def test_a_wrapper_may_put_in_a_tool_that_the_node_does_not_have(run_node):
    @tool
    def extra(x: int, user: Annotated[str, InjectedState("user")]) -> str:
        """Extra."""
        return f"{x} {user}"

    def wrapper(request, execute):
        assert request.tool is None
        return execute(request.override(tool=extra))

    state = {"messages": [asking(call("extra", x=1))], "user": "eve"}
    assert run_node(ToolNode([], wrap_tool_call=wrapper), state)["messages"][0].content == "1 eve"


def test_a_wrapper_may_change_the_state_that_tools_see(run_node):
    @tool
    def who(user: Annotated[str, InjectedState("user")], runtime: ToolRuntime) -> str:
        """Who."""
        return f"{user} {runtime.state['user']}"

    def wrapper(request, execute):
        return execute(request.override(state={**request.state, "user": "bob"}))

    state = {"messages": [asking(call("who"))], "user": "eve"}
    assert run_node(ToolNode([who], wrap_tool_call=wrapper), state)["messages"][0].content == "bob bob"


def test_what_a_wrapper_raises_is_handled_like_what_a_tool_raises(run_node):
    def wrapper(request, execute):
        raise ValueError("wrapped")

    with pytest.raises(ValueError, match="wrapped"):
        run_node(ToolNode([add], wrap_tool_call=wrapper), [asking(CALL)])
    handling = ToolNode([add], wrap_tool_call=wrapper, handle_tool_errors=(ValueError,))
    assert "wrapped" in run_node(handling, [asking(CALL)])[0].content
    other = ToolNode([add], wrap_tool_call=wrapper, handle_tool_errors=(KeyError,))
    with pytest.raises(ValueError, match="wrapped"):
        run_node(other, [asking(CALL)])


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
