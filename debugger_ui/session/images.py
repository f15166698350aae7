"""Images that a value holds: recognised by their first bytes, measured from their headers, never decoded here.

Only PNG, JPEG, GIF and WebP. SVG is a document with scripts, and is text here.
"""

import base64
import binascii
import re
import struct
from typing import Any

from debugger_ui.session.view_rich import ImageView

MAX_BYTES = 3_000_000
HEADER = 256 * 1024
"""Characters of a base64 text in which the header is looked for; a multiple of four."""
MAX_PIXELS = 40_000_000
"""A small file can unfold to more than a browser has memory for."""
DATA_URL = re.compile(r"data:image/(?:png|jpe?g|gif|webp);base64,", re.IGNORECASE)


def image_of(value: Any) -> ImageView | None:
    """Return the image that a value is: bytes, or a `data:` URL; None for anything else."""
    if isinstance(value, (bytes, bytearray)):
        return _view(bytes(value), len(value))
    if isinstance(value, str) and (start := DATA_URL.match(value)):
        return from_base64(value[start.end() :])
    return None


def from_base64(text: str) -> ImageView | None:
    """Return the image that a base64 text holds, or None."""
    size = len(text) * 3 // 4
    # Of what is too large to be drawn, only the header is of use.
    text = text if size <= MAX_BYTES else text[:HEADER]
    try:
        return _view(base64.b64decode(text, validate=True), size)
    except (binascii.Error, ValueError):
        return None


def _view(data: bytes, size: int) -> ImageView | None:
    found = measured(data)
    if found is None:
        return None
    mime, width, height = found
    reason = ""
    if size > MAX_BYTES:
        reason = f"larger than {MAX_BYTES // 1_000_000} MB"
    elif width * height > MAX_PIXELS:
        reason = f"more than {MAX_PIXELS // 1_000_000} megapixels"
    elif not width or not height:
        reason = "its header gives no size"
    return ImageView(mime, width, height, size, "" if reason else base64.b64encode(data).decode(), reason)


def measured(data: bytes) -> tuple[str, int, int] | None:
    """Return media type, width and height by an image's header; None when it is none that is drawn."""
    if data[:8] == b"\x89PNG\r\n\x1a\n" and data[12:16] == b"IHDR" and len(data) >= 24:
        return ("image/png", *struct.unpack(">II", data[16:24]))
    if data[:6] in (b"GIF87a", b"GIF89a") and len(data) >= 10:
        return ("image/gif", *struct.unpack("<HH", data[6:10]))
    if data[:3] == b"\xff\xd8\xff":
        return ("image/jpeg", *_jpeg(data))
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP" and len(data) >= 30:
        return ("image/webp", *_webp(data))
    return None


def _jpeg(data: bytes) -> tuple[int, int]:
    """Return width and height from the frame header, found by walking the segments."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        if marker == 0xFF:
            at += 1
            continue
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return 0, 0


def _webp(data: bytes) -> tuple[int, int]:
    kind = data[12:16]
    if kind == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if kind == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + ((bits >> 14) & 0x3FFF)
    if kind == b"VP8 ":
        width, height = struct.unpack("<HH", data[26:30])
        return width & 0x3FFF, height & 0x3FFF
    return 0, 0
