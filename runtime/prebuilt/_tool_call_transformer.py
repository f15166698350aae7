"""ToolCallTransformer, by name."""

from typing import ClassVar

from runtime.stream import StreamTransformer


class ToolCallTransformer(StreamTransformer):
    """Would gather the events of each tool call; see `runtime.stream` for what becomes of it."""

    required_stream_modes: ClassVar[tuple[str, ...]] = ("tools",)
