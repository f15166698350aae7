"""Messages as state: the reducer `add_messages`, and states and tools made around it.

Rule: the lists and stored messages that come in are never changed. A newly written message without
an id is given one in place, so that streams and pending writes show the id that the state has.
"""

import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any, Final, Literal, TypeAlias, cast, overload
from warnings import warn

from langchain_core.messages import (
    AnyMessage,
    BaseMessage,
    BaseMessageChunk,
    MessageLikeRepresentation,
    RemoveMessage,
    convert_to_messages,
    convert_to_openai_messages,
    message_chunk_to_message,
)
from typing_extensions import TypedDict

from runtime._context import current
from runtime.graph.state import StateGraph
from runtime.warnings import DeprecatedSince10

__all__ = (
    "REMOVE_ALL_MESSAGES",
    "MessageGraph",
    "Messages",
    "MessagesState",
    "add_messages",
    "push_message",
)

Messages: TypeAlias = list[MessageLikeRepresentation] | MessageLikeRepresentation

REMOVE_ALL_MESSAGES: Final = "__remove_all__"
"""Id of a RemoveMessage that drops everything before it, in the state and in the same update."""

Format: TypeAlias = Literal["langchain-openai"] | None


@overload
def add_messages(left: Messages, right: Messages, *, format: Format = None) -> list[AnyMessage]: ...


@overload
def add_messages(*, format: Format = None) -> Callable[[Messages, Messages], list[AnyMessage]]: ...


def add_messages(
    left: Messages | None = None, right: Messages | None = None, *, format: Format = None
) -> list[AnyMessage] | Callable[[Messages, Messages], list[AnyMessage]]:
    """Merge messages by id: the reducer of a key that holds a conversation.

    A message of `right` replaces the one of `left` with the same id, in its place; the others are
    appended. A `RemoveMessage` removes the message with its id; with the id `REMOVE_ALL_MESSAGES`
    it removes every message before it. Either side may be one message or a list, as message
    objects or anything langchain-core makes messages of.

    With `format="langchain-openai"` contents are brought into OpenAI's form: text and image_url
    blocks, tool results as ToolMessages. Called with the format alone, it returns the reducer.

    Raises ValueError for a RemoveMessage whose id no message has, or an unknown format.
    """
    if format not in (None, "langchain-openai"):
        raise ValueError(f"format must be 'langchain-openai' or None, not {format!r}")
    if left is None and right is None:
        return partial(add_messages, format=format)
    if left is None or right is None:
        missing = "left" if left is None else "right"
        raise ValueError(f"add_messages() needs both sides, but {missing!r} is None")
    merged = _merge(_messages(left), _written(right))
    if format == "langchain-openai":
        merged = convert_to_messages(convert_to_openai_messages(merged))
    return cast("list[AnyMessage]", merged)


add_messages.__keeps_arguments__ = True  # type: ignore[attr-defined]  # see channels/_reducers.py


def _name_new(value: Any) -> None:
    """Give the messages of a write their ids, in place, before it is saved: folded again it says the same."""
    for message in value if isinstance(value, list | tuple) else (value,):
        if isinstance(message, BaseMessage) and message.id is None:
            message.id = _new_id()


add_messages.__completes__ = _name_new  # type: ignore[attr-defined]  # called on a write before it is saved


def _messages(value: Messages) -> list[BaseMessage]:
    """Return `value` as a list of whole messages; a list of such is returned as it is."""
    items = value if isinstance(value, list) else [value]
    # A long conversation has few message classes, so look at those.
    kinds = set(map(type, items))
    if all(issubclass(kind, BaseMessage) and not issubclass(kind, BaseMessageChunk) for kind in kinds):
        return cast("list[BaseMessage]", items)
    return [
        message_chunk_to_message(message) if isinstance(message, BaseMessageChunk) else message
        for message in convert_to_messages(items)
    ]


def _new_id() -> str:
    return str(uuid.uuid4())


def _written(value: Messages) -> list[BaseMessage]:
    messages = _messages(value)
    for message in messages:
        if message.id is None:
            message.id = _new_id()
    return messages


def _after_remove_all(
    stored: list[BaseMessage], written: list[BaseMessage]
) -> tuple[list[BaseMessage], list[BaseMessage]]:
    for index in range(len(written) - 1, -1, -1):
        if isinstance(written[index], RemoveMessage) and written[index].id == REMOVE_ALL_MESSAGES:
            return [], written[index + 1 :]
    return stored, written


def _merge(stored: list[BaseMessage], written: list[BaseMessage]) -> list[BaseMessage]:
    stored, written = _after_remove_all(stored, written)
    merged = stored.copy()
    place = {message.id: index for index, message in enumerate(merged)}
    if None in place:
        merged = [message if message.id else message.model_copy(update={"id": _new_id()}) for message in merged]
        place = {message.id: index for index, message in enumerate(merged)}
    removed: set[str | None] = set()
    for message in written:
        index = place.get(message.id)
        if isinstance(message, RemoveMessage):
            if index is None:
                raise ValueError(
                    f"Attempting to delete a message with an ID that doesn't exist: {message.id!r}; the ids "
                    f"are {_some([m.id for m in merged])}"
                )
            removed.add(message.id)
        elif index is None:
            place[message.id] = len(merged)
            merged.append(message)
        else:
            removed.discard(message.id)
            merged[index] = message
    if removed:
        merged = [message for message in merged if message.id not in removed]
    return merged


def _some(ids: Sequence[str | None]) -> str:
    shown = ", ".join(map(repr, ids[-8:]))
    return f"..., {shown}" if len(ids) > 8 else shown or "none at all"


def _messages_delta_reducer(state: list[AnyMessage], writes: Sequence[Any]) -> list[AnyMessage]:
    """Merge a batch of writes by id: `add_messages` for a DeltaChannel.

    Removing an unknown id does nothing and missing ids stay missing, because the same writes may
    be folded again, in larger batches, and must give the same list.
    """
    flat = [item for write in writes for item in (write if isinstance(write, list) else [write])]
    stored, written = _after_remove_all(_messages(cast(Messages, state)), convert_to_messages(flat))
    merged: list[BaseMessage | None] = [*stored]
    place = {message.id: index for index, message in enumerate(stored) if message.id is not None}
    for message in written:
        index = None if message.id is None else place.get(message.id)
        if isinstance(message, RemoveMessage):
            if index is not None:
                merged[index] = None
                del place[cast(str, message.id)]
        elif index is not None:
            merged[index] = message
        else:
            if message.id is not None:
                place[message.id] = len(merged)
            merged.append(message)
    return cast("list[AnyMessage]", [message for message in merged if message is not None])


_messages_delta_reducer.__keeps_arguments__ = True  # type: ignore[attr-defined]


class MessagesState(TypedDict):
    """A state with one key, `messages`, whose writes are merged by `add_messages`."""

    messages: Annotated[list[AnyMessage], add_messages]


class MessageGraph(StateGraph[Any, None, Any, Any]):
    """A graph whose whole state is one list of messages. Deprecated: use `StateGraph(MessagesState)`."""

    def __init__(self) -> None:
        warn(
            "MessageGraph is deprecated, use StateGraph(MessagesState), whose nodes return {'messages': [...]}",
            DeprecatedSince10,
            stacklevel=2,
        )
        super().__init__(cast(Any, Annotated[list[AnyMessage], add_messages]))


def push_message(
    message: MessageLikeRepresentation | BaseMessageChunk, *, state_key: str | None = "messages"
) -> AnyMessage:
    """Put a message on the `messages` stream, and write it to `state_key` unless that is None.

    Returns the message. Raises ValueError if it has no id, by which stream and state agree on it,
    and RuntimeError outside a running node.
    """
    context = current()
    if context is None:
        raise RuntimeError("push_message() was called outside a running node; call it in a node")
    pushed = convert_to_messages([message])[0]
    if pushed.id is None:
        raise ValueError("Message ID is required: give the message an id before it is pushed")
    if context.run.messages is not None:
        context.run.messages.push(context, pushed)
    if state_key:
        context.write(state_key, pushed)
    return cast(AnyMessage, pushed)
