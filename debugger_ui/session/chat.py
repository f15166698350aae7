"""Lists of chat messages as a chat: langchain-core's objects, and dicts as LangChain and OpenAI write them.

Rules:
- What a message says is text. Nothing in it is read as markup, and no address in it is followed.
- A tool call and its result know each other by the call's id, over the whole list, also where only a
  part of the list is shown.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from debugger_ui.session.blocks import blocks_of, json_text, result_ids
from debugger_ui.session.shape import Masked, fields_of, is_message
from debugger_ui.session.text import literal
from debugger_ui.session.view_rich import PAGE, BlockView, CallView, ChatView, MessageView

ROLES = {
    "human": "human",
    "user": "human",
    "HumanMessageChunk": "human",
    "ai": "ai",
    "assistant": "ai",
    "model": "ai",
    "AIMessageChunk": "ai",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
    "remove": "remove",
}
WORDS = {"human": "user", "ai": "assistant", "HumanMessageChunk": "user", "AIMessageChunk": "assistant"}

Parts = Mapping[str, Any]


def is_chat(items: Sequence[Any]) -> bool:
    """Whether every item of a list is a message, and at least one is not masked."""
    if is_message(items[0]) and all(map(is_message, items)):
        return True
    return any(not isinstance(item, Masked) for item in items) and all(
        isinstance(item, Masked) or parts_of(item) is not None for item in items
    )


def parts_of(item: Any) -> Parts | None:
    """Return the fields of a message, with its role as `role`; None when it is no message."""
    if is_message(item):
        fields = fields_of(item)
        return {**fields, "role": fields.get("role", fields["type"])}
    if not isinstance(item, Mapping):
        return None
    role, data = item.get("role", item.get("type")), item.get("data")
    if not isinstance(role, str):
        return None
    if "role" not in item and role in ROLES and isinstance(data, Mapping) and "content" in data:
        return {**data, "role": role}
    if not ("content" in item or "tool_calls" in item):
        return None
    return {**item, "role": role} if "role" in item or role in ROLES else None


def chat_of(items: Sequence[Any], offset: int | None = None, page: int = PAGE, *, part: bool = False) -> ChatView:
    """Return a page of a chat, by default its end; `part` if the chat goes on elsewhere."""
    start = max(0, len(items) - page) if offset is None else max(0, min(offset, len(items) - 1))
    shown = range(start, min(len(items), start + page))
    pairs = Pairs(items, shown)
    return ChatView(tuple(_message(index, items[index], pairs) for index in shown), start, len(items), part)


class Pairs:
    """Which message calls a tool by which id, and which has its result, for the messages that are shown.

    Looked for outwards from those, in the whole chat: a result comes after its call, mostly close by.
    """

    def __init__(self, items: Sequence[Any], shown: range) -> None:
        self.asked: dict[str, tuple[int, str]] = {}
        self.answered: dict[str, int] = {}
        parts = [fields for index in shown if (fields := fields_at(items, index)) is not None]
        calls = {id_ for one in parts for id_, _, _, _ in calls_of(one)}
        results = {id_ for one in parts for id_ in _answers(one)}
        for index in range(shown.start, len(items)):
            if calls <= self.answered.keys():
                break
            for id_ in _answers(fields_at(items, index) or {}):
                self.answered.setdefault(id_, index)
        for index in range(shown.stop - 1, -1, -1):
            if results <= self.asked.keys():
                break
            for id_, name, _, _ in calls_of(fields_at(items, index) or {}):
                self.asked[id_] = (index, name)


def fields_at(items: Sequence[Any], index: int) -> Parts | None:
    """Return a message's fields; of an object those that are there, since a chat may have ten thousand."""
    item = items[index]
    return vars(item) if is_message(item) else parts_of(item)


def calls_of(parts: Parts) -> list[tuple[str, str, Any, str]]:
    """Return the tool calls of a message: id, name, arguments, and what is wrong with them."""
    found: dict[Any, tuple[str, str, Any, str]] = {}
    for field in ("tool_calls", "invalid_tool_calls"):
        for call in _list(parts.get(field)):
            if isinstance(call, Mapping):
                made = _call(call)
                found[made[0] or len(found)] = made
    for block in _list(parts.get("content")):
        if isinstance(block, Mapping) and block.get("type") in ("tool_use", "tool_call", "function_call"):
            made = _call(block)
            found.setdefault(made[0] or len(found), made)
    return list(found.values())


def _call(call: Mapping[str, Any]) -> tuple[str, str, Any, str]:
    inner = call.get("function") if isinstance(call.get("function"), Mapping) else call
    assert isinstance(inner, Mapping)
    given: Any = next((inner[key] for key in ("args", "arguments", "input") if key in inner), {})
    wrong = call.get("error")
    id_ = call.get("id") or call.get("call_id") or ""
    return str(id_), str(inner.get("name") or "?"), given, str(wrong) if wrong else ""


def _answers(parts: Parts) -> list[str]:
    direct = parts.get("tool_call_id")
    return ([str(direct)] if direct else []) + result_ids(parts.get("content"))


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else ()


def _message(index: int, item: Any, pairs: Pairs) -> MessageView:
    parts = parts_of(item)
    if parts is None:
        return MessageView(index, "other", "masked", "", "", (BlockView("masked", repr(item)),))
    role = str(parts["role"])
    answers = _answers(parts)
    asked = next((pairs.asked[id_] for id_ in answers if id_ in pairs.asked), None)
    return MessageView(
        index=index,
        role=ROLES.get(role, "other"),
        word=literal(WORDS.get(role, role))[:60],
        name=literal(str(parts.get("name") or ""))[:80],
        id=literal(str(parts.get("id") or ""))[:200],
        blocks=blocks_of(parts),
        calls=tuple(
            CallView(literal(id_)[:200], literal(name)[:120], json_text(given), pairs.answered.get(id_), literal(wrong))
            for id_, name, given, wrong in calls_of(parts)
        ),
        answers=literal(asked[1] if asked else answers[0])[:200] if answers else "",
        asked=asked[0] if asked else None,
        orphan=bool(answers) and asked is None,
        failed=parts.get("status") == "error",
    )
