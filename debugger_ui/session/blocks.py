"""What a message says, block by block, in whichever way its model's provider writes blocks."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from debugger_ui.session.codec import to_plain
from debugger_ui.session.images import from_base64, image_of
from debugger_ui.session.shape import MASKED, Masked, safe_repr
from debugger_ui.session.text import clip, json_safe, literal
from debugger_ui.session.view_rich import BlockView

MAX_TEXT = 20_000
MAX_ARGUMENTS = 4_000
MAX_BLOCKS = 60
CALLS = ("tool_use", "tool_call", "function_call", "tool_call_chunk", "invalid_tool_call")
"""Blocks that say again what the message's tool calls say."""
REASONING = ("thinking", "reasoning", "reasoning_content", "redacted_thinking")
IMAGES = ("image", "image_url", "input_image", "output_image")
TEXTS = ("text", "input_text", "output_text", "text-plain")
RESULTS = ("tool_result", "function_call_output")


def blocks_of(parts: Mapping[str, Any]) -> tuple[BlockView, ...]:
    """Return the blocks of a message's content, its reasoning first where that is kept apart."""
    kept = parts.get("additional_kwargs")
    apart = kept.get("reasoning_content") if isinstance(kept, Mapping) else None
    made = [_text("reasoning", apart)] if isinstance(apart, str) and apart else []
    return tuple(made + content_blocks(parts.get("content")))


def content_blocks(content: Any) -> list[BlockView]:
    """Return the blocks of a content: one text, or a list of blocks."""
    if content is None or content == "":
        return []
    if isinstance(content, Masked):
        return [BlockView("masked", MASKED)]
    if isinstance(content, str):
        return [_text("text", content)]
    if not isinstance(content, (list, tuple)):
        return [_other(content, "")]
    made = [block for one in content[:MAX_BLOCKS] for block in _block(one)]
    if len(content) > MAX_BLOCKS:
        made.append(BlockView("other", f"{len(content) - MAX_BLOCKS} more blocks", "left out"))
    return made


def result_ids(content: Any) -> list[str]:
    """Return the ids of the calls whose results are among the blocks."""
    blocks = content if isinstance(content, (list, tuple)) else ()
    found = [
        block.get("tool_use_id") or block.get("call_id")
        for block in blocks
        if isinstance(block, Mapping) and block.get("type") in RESULTS
    ]
    return [str(id_) for id_ in found if id_]


def json_text(value: Any) -> str:
    """Return a tool call's arguments as JSON text; those that came as a text are read first."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return literal(clip(str(value), MAX_ARGUMENTS)[0], lines=True)
    try:
        text = json.dumps(to_plain(value), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        text = safe_repr(value)
    shown, left = clip(text, MAX_ARGUMENTS)
    return json_safe(shown) + (f"\n… {left} more characters" if left else "")


def _block(block: Any) -> list[BlockView]:
    if isinstance(block, Masked):
        return [BlockView("masked", MASKED)]
    if isinstance(block, str):
        return [_text("text", block)]
    if not isinstance(block, Mapping):
        return [_other(block, "")]
    kind = block.get("type")
    if kind in CALLS:
        return []
    if kind in TEXTS:
        return content_blocks(block.get("text"))
    if kind in REASONING:
        return _reasoning(block)
    if kind in IMAGES:
        return [_image(block)]
    if kind in RESULTS:
        inner = content_blocks(block.get("content", block.get("output")))
        return [BlockView("result", one.text, one.label, one.hidden, one.image) for one in inner]
    return [_other(block, str(kind or ""))]


def _text(kind: str, content: str) -> BlockView:
    text, hidden = clip(str(content), MAX_TEXT)
    return BlockView(kind, literal(text, lines=True), hidden=hidden)


def _reasoning(block: Mapping[str, Any]) -> list[BlockView]:
    given = next((block[key] for key in ("thinking", "reasoning", "text", "reasoning_content") if block.get(key)), None)
    if isinstance(given, str):
        return [_text("reasoning", given)]
    summary = block.get("summary")
    if isinstance(summary, Sequence) and not isinstance(summary, str):
        texts = [one.get("text") for one in summary if isinstance(one, Mapping)]
        return [_text("reasoning", text) for text in texts if isinstance(text, str) and text]
    return [BlockView("masked", MASKED)] if isinstance(given, Masked) else [BlockView("reasoning", "not readable")]


def _image(block: Mapping[str, Any]) -> BlockView:
    found, address = None, ""
    for given in _sources(block):
        if isinstance(given, Masked):
            return BlockView("masked", MASKED, "image")
        found = found or image_of(given) or (from_base64(given) if isinstance(given, str) else None)
        if isinstance(given, str) and "://" in given[:12]:
            address = literal(given)[:300]
    if found is not None:
        return BlockView("image", image=found)
    if address:
        return BlockView("other", address, "image at an address, not loaded")
    return BlockView("other", "not an image that can be drawn", "image")


def _sources(block: Mapping[str, Any]) -> list[Any]:
    """Return where a block may hold its image: providers nest it differently."""
    found = []
    for key in ("data", "base64", "url", "image_url", "source"):
        given = block.get(key)
        if isinstance(given, Mapping):
            found += [given[inner] for inner in ("data", "url") if inner in given]
        elif given is not None:
            found.append(given)
    return found


def _other(value: Any, kind: str) -> BlockView:
    return BlockView("other", json_text(value), literal(kind)[:60])
