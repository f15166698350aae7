"""Chat messages of langchain-core as JSON, and back as the same classes.

A role is written in `type` (human, ai, system, tool, ...); a new message may also be written the way
that model providers do, with `role`.
"""

import sys
from collections.abc import Mapping
from typing import Any

from debugger_ui.session.problems import describe, refuse
from debugger_ui.session.shape import is_message
from debugger_ui.session.text import path_label

ROLES = {"user": "human", "assistant": "ai", "developer": "system"}


def message_classes() -> Mapping[str, Any]:
    """Return the message classes by their type; importing them is left to whoever has messages."""
    from langchain_core import messages

    names = {
        "human": messages.HumanMessage,
        "ai": messages.AIMessage,
        "system": messages.SystemMessage,
        "tool": messages.ToolMessage,
        "function": messages.FunctionMessage,
        "chat": messages.ChatMessage,
        "remove": messages.RemoveMessage,
        "AIMessageChunk": messages.AIMessageChunk,
        "HumanMessageChunk": messages.HumanMessageChunk,
    }
    return names


def restore_message(plain: Mapping[str, Any], old: Any, path: tuple[str | int, ...]) -> Any:
    """Return the message that an edited object stands for; `old` gives class and unseen fields.

    Raises:
        SessionError: no such type of message, or a field does not fit.
    """
    role = plain.get("type", plain.get("role"))
    role = ROLES.get(str(role), role) if role is not None else old.type
    field = str(path[0]) if path else ""
    classes = message_classes()
    kept = is_message(old) and old.type == role
    cls = type(old) if kept else classes.get(str(role))
    if cls is None:
        raise refuse(
            f"{path_label(path)}: there is no message of type {role!r}; use one of {', '.join(classes)}.", field=field
        )
    # Fields that the text leaves out because they were empty keep their empty values by default.
    given = {key: value for key, value in plain.items() if key not in ("type", "role")}
    try:
        return cls(**given)
    except (ValueError, TypeError) as error:
        raise refuse(
            f"{path_label(path)} is not a {cls.__name__} as it stands there: {str(error).splitlines()[0]}",
            field=field,
            details=describe(error),
        ) from None


def holds_messages(annotation: Any, old: Any) -> bool:
    """Whether a state key holds a list of messages, by its value or by what its type says."""
    if isinstance(old, list) and old:
        return all(map(is_message, old))
    return "langchain_core.messages" in sys.modules and "Message" in str(annotation)


def new_messages(plain: Any, path: tuple[str | int, ...]) -> Any:
    """Return a list with its message-like objects made into messages."""
    if not isinstance(plain, list):
        return plain
    from langchain_core.messages import HumanMessage

    blank = HumanMessage(content="")
    return [
        restore_message(item, blank, (*path, index))
        if isinstance(item, dict) and ("type" in item or "role" in item) and "content" in item
        else item
        for index, item in enumerate(plain)
    ]
