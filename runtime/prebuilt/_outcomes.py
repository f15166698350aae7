"""What tools return, checked and brought into the form that the graph takes.

Rule: every tool call that a model made has to be answered by one ToolMessage with its id, or the
next call of the model is refused by most providers. So an outcome without one is refused here.
"""

import json
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, Literal, TypeAlias, cast

from langchain_core.messages import RemoveMessage, ToolCall, ToolMessage, convert_to_messages
from langchain_core.tools.base import TOOL_MESSAGE_BLOCK_TYPES

from runtime.graph.message import REMOVE_ALL_MESSAGES
from runtime.prebuilt._requests import ToolOutcome
from runtime.types import Command, Send

InputKind: TypeAlias = Literal["list", "dict", "tool_calls"]
"""What a ToolNode was given: a list of messages, a state with a messages key, or bare tool calls."""


def msg_content_output(output: Any) -> str | list[Any]:
    """Return a tool's output as a message's content: text and content blocks as they are, else JSON.

    What JSON cannot say becomes `str(output)`.
    """
    if isinstance(output, str):
        return output
    if isinstance(output, list) and all(
        isinstance(block, dict) and block.get("type") in TOOL_MESSAGE_BLOCK_TYPES for block in output
    ):
        return output
    try:
        return json.dumps(output, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return str(output)


class OutcomeCheck:
    """Checks the outcomes of one ToolNode's calls: their kind, and that each call is answered."""

    def __init__(self, kind: InputKind, messages_key: str) -> None:
        self.kind = kind
        self.messages_key = messages_key

    def __call__(self, response: Any, call: ToolCall) -> ToolOutcome:
        """Return the outcome of `call`.

        Raises TypeError for anything but ToolMessages, Commands and lists of both, and ValueError
        for an update of the wrong form or a call that is not answered exactly once.
        """
        if isinstance(response, Command):
            return self._command(response, call, must_answer=response.graph is None)
        if isinstance(response, ToolMessage):
            return _with_content(response)
        if not isinstance(response, list) or not all(isinstance(r, ToolMessage | Command) for r in response):
            raise TypeError(
                f"tool {call['name']!r} has to return a ToolMessage, a Command or a list of these, "
                f"but returned {response!r}"
            )
        answers = sum(self._answers(item, call) for item in response)
        if answers != 1:
            raise ValueError(
                f"tool {call['name']!r} returned a list with {answers} messages bound to tool_call_id "
                f"{call['id']!r}; it needs exactly one, to answer the model's call"
            )
        return [
            self._command(item, call, must_answer=False) if isinstance(item, Command) else _with_content(item)
            for item in response
        ]

    def _answers(self, item: ToolMessage | Command[Any], call: ToolCall) -> int:
        if isinstance(item, ToolMessage):
            messages = [item]
        else:
            update = item.update
            messages = update.get(self.messages_key, []) if isinstance(update, dict) else update or []
        return sum(isinstance(m, ToolMessage) and m.tool_call_id == call["id"] for m in messages)

    def _command(self, command: Command[Any], call: ToolCall, *, must_answer: bool) -> Command[Any]:
        if not isinstance(command.update, dict | list):
            return command
        self._check_form(command.update, call)
        command = deepcopy(command)  # the messages in it are named below
        update = command.update or {}
        given = update.get(self.messages_key, []) if isinstance(update, dict) else update
        messages = convert_to_messages(given)
        if messages == [RemoveMessage(id=REMOVE_ALL_MESSAGES)]:
            return command  # no conversation, so nothing in it is left unanswered
        answered = False
        for message in messages:
            if isinstance(message, ToolMessage) and message.tool_call_id == call["id"]:
                message.name = call["name"]
                answered = True
        if must_answer and not answered:
            answer = f'[ToolMessage("done", tool_call_id={call["id"]!r}), ...]'
            form = answer if self.kind == "list" else f'{{"{self.messages_key}": {answer}}}'
            raise ValueError(
                f"tool {call['name']!r} returned a Command whose update has no matching ToolMessage for its call; "
                f"every tool call of a model must be answered: Command(update={form})"
            )
        return command

    def _check_form(self, update: dict[str, Any] | list[Any], call: ToolCall) -> None:
        wanted = list if self.kind == "list" else dict
        if not isinstance(update, wanted):
            raise ValueError(
                f"tool {call['name']!r} returned a Command with a {type(update).__name__} as update, but the "
                f"ToolNode was given a {'list of messages' if wanted is list else 'state'}, so it has to be a "
                f"{wanted.__name__}: {update!r}"
            )


def _with_content(message: ToolMessage) -> ToolMessage:
    message.content = msg_content_output(message.content)
    return message


def combine(outcomes: Sequence[ToolOutcome], kind: InputKind, messages_key: str) -> Any:
    """Return all outcomes as one result of a node.

    Without commands that is a list of messages, or a dict for a state. With commands it is a list
    of both; commands to the parent that only send are joined into one, so that they run together.
    """
    flat: list[ToolMessage | Command[Any]] = []
    for outcome in outcomes:
        flat.extend(outcome if isinstance(outcome, list) else [outcome])
    if not any(isinstance(outcome, Command) for outcome in flat):
        return flat if kind == "list" else {messages_key: flat}
    combined: list[Any] = []
    sends: list[Send] = []
    to_parent: Command[Any] | None = None
    for item in flat:
        if not isinstance(item, Command):
            combined.append([item] if kind == "list" else {messages_key: [item]})
        elif _only_sends_to_parent(item):
            sends.extend(cast("list[Send]", item.goto))
            to_parent = Command(graph=Command.PARENT, goto=sends)
        else:
            combined.append(item)
    return combined if to_parent is None else [*combined, to_parent]


def _only_sends_to_parent(command: Command[Any]) -> bool:
    return (
        command.graph == Command.PARENT
        and isinstance(command.goto, list)
        and all(isinstance(target, Send) for target in command.goto)
    )
