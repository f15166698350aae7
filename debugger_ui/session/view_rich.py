"""Views of values in the form that fits what they are: a chat, a table, an image. Frozen, plain, literal text."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from debugger_ui.session.view_values import ValueView

PAGE = 40
"""Messages or rows that are shown at a time."""

Form = Literal["chat", "table", "image", "tree", "json"]


@dataclass(frozen=True, slots=True)
class ImageView:
    """An image that the value itself holds. Nothing is ever loaded from an address."""

    mime: str
    """image/png, image/jpeg, image/gif or image/webp: by the bytes, not by what the value says."""
    width: int
    height: int
    size: int
    """Bytes."""
    data: str = ""
    """The bytes in base64; empty when it is not drawn."""
    reason: str = ""
    """Why it is not drawn."""


@dataclass(frozen=True, slots=True)
class BlockView:
    """One part of a message's content."""

    kind: str
    """text, reasoning, image, result (of a tool), masked, other."""
    text: str = ""
    label: str = ""
    hidden: int = 0
    """Characters left out."""
    image: ImageView | None = None


@dataclass(frozen=True, slots=True)
class CallView:
    """A tool call that a message makes."""

    id: str
    name: str
    arguments: str
    """As JSON text."""
    answer: int | None = None
    """Position of the message with its result; None when there is none."""
    invalid: str = ""
    """Why the call could not be read, as the model's provider says."""


@dataclass(frozen=True, slots=True)
class MessageView:
    """One message of a chat."""

    index: int
    role: str
    """human, ai, system, tool, remove or other: what it is drawn as."""
    word: str
    """The role in words, as the message has it."""
    name: str
    id: str
    blocks: tuple[BlockView, ...]
    calls: tuple[CallView, ...] = ()
    answers: str = ""
    """For a tool's result: name of the tool that was called, or its call's id."""
    asked: int | None = None
    """Position of the message that made the call."""
    orphan: bool = False
    """A result whose call is nowhere in the chat."""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class ChatView:
    """Messages `offset .. offset + len(messages)` of `total`."""

    messages: tuple[MessageView, ...]
    offset: int
    total: int
    part: bool = False
    """Whether the chat goes on elsewhere: a message alone, or what a task wrote. Then no call or result is missed."""


@dataclass(frozen=True, slots=True)
class TableView:
    """Rows `offset .. offset + len(rows)` of `total`."""

    columns: tuple[str, ...]
    labels: tuple[str, ...]
    """Name of each row: its index."""
    rows: tuple[tuple["ValueView | None", ...], ...]
    """Cells; None where a record lacks the key."""
    offset: int
    total: int
    hidden_columns: int = 0


Rich = ChatView | TableView | ImageView


def form_of(rich: Rich) -> Form:
    """Return the name of the form."""
    return "chat" if isinstance(rich, ChatView) else "table" if isinstance(rich, TableView) else "image"
