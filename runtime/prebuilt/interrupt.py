"""Shapes of the questions and answers that agent interfaces agree on for interrupts."""

from typing import Any, Literal

from typing_extensions import TypedDict

__all__ = ("ActionRequest", "HumanInterrupt", "HumanInterruptConfig", "HumanResponse")


class HumanInterruptConfig(TypedDict):
    """What a person may do about an action: leave it out, answer in words, change it, accept it."""

    allow_ignore: bool
    allow_respond: bool
    allow_edit: bool
    allow_accept: bool


class ActionRequest(TypedDict):
    """An action that waits for a person, by name, with its arguments."""

    action: str
    args: dict[str, Any]


class HumanInterrupt(TypedDict):
    """The question: the action, what may be done about it, and a text for the person."""

    action_request: ActionRequest
    config: HumanInterruptConfig
    description: str | None


class HumanResponse(TypedDict):
    """The answer. `args` is a text for "response", the changed action for "edit", else None."""

    type: Literal["accept", "ignore", "response", "edit"]
    args: str | ActionRequest | None
