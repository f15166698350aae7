"""Values to bytes.

Rule 1: what comes back is equal and of the same type, all the way down, or storing it is an error that says where
        the trouble is. (One exception, as everywhere in this field: an exception is stored as its `repr`.)
Rule 2: most values are packed in one go by ormsgpack. Only where that cannot be exact, or fails, is the value
        walked element by element.
"""

from typing import Any

import ormsgpack

from runtime.checkpoint.errors import SerializationError
from runtime.checkpoint.serde import codes
from runtime.checkpoint.serde.objects import represent

_OPTIONS = (
    ormsgpack.OPT_PASSTHROUGH_TUPLE
    | ormsgpack.OPT_PASSTHROUGH_SUBCLASS
    | ormsgpack.OPT_PASSTHROUGH_BIG_INT
    | ormsgpack.OPT_PASSTHROUGH_DATACLASS
    | ormsgpack.OPT_PASSTHROUGH_DATETIME
    | ormsgpack.OPT_PASSTHROUGH_ENUM
    | ormsgpack.OPT_PASSTHROUGH_UUID
)
# ormsgpack packs a bytearray as bytes. These three begin any bytes; without one of them there was none.
_BYTES_HEADERS = (b"\xc4", b"\xc5", b"\xc6")
_DEPTH = 64  # containers within containers before the inner ones are packed by themselves
_SMALL, _LARGE = -(2**63), 2**64


class Encoder:
    """Encodes one value. `own` tells whether it needed codes that only we know."""

    def __init__(self) -> None:
        self.own = False
        self._exact = False
        self._path: list[str] = []

    def encode(self, value: Any) -> bytes:
        """The value's bytes.

        Raises:
            SerializationError: it cannot be stored exactly.
        """
        try:
            packed = ormsgpack.packb(value, default=self._default, option=_OPTIONS)
        except (TypeError, SerializationError):
            pass  # walked below, which is exact or finds out where the trouble is
        else:
            if not any(header in packed for header in _BYTES_HEADERS):
                return packed
        self._exact = True
        self._path.clear()
        return self.pack(value)

    def pack(self, value: Any) -> bytes:
        """A part of the value, for the payload of an extension."""
        if not self._exact:
            return ormsgpack.packb(value, default=self._default, option=_OPTIONS)
        return ormsgpack.packb(self._walk(value, 0), option=_OPTIONS)

    def extension(self, code: int, payload: Any) -> ormsgpack.Ext:
        """An extension whose payload is a list of parts, packed."""
        if code in codes.OURS:
            self.own = True
        return ormsgpack.Ext(code, self._pack_list(payload) if isinstance(payload, list) else payload)

    def _pack_list(self, parts: list[Any]) -> bytes:
        if not self._exact:
            return ormsgpack.packb(parts, default=self._default, option=_OPTIONS)
        return ormsgpack.packb([self._walk(part, 0) for part in parts], option=_OPTIONS)

    def _default(self, value: Any) -> Any:
        kind = type(value)
        if kind is tuple:
            return self.extension(codes.TUPLE, list(value))
        if kind is int:
            return self.extension(codes.BIG_INT, str_of_int(value).encode())
        return represent(self, value)

    # --- element by element -------------------------------------------------------------------------

    def _walk(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind is str:
            return self._text(value)
        if value is None or kind is bool or kind is float or kind is bytes or kind is ormsgpack.Ext:
            return value
        if kind is int:
            return value if _SMALL <= value < _LARGE else self._default(value)
        if kind is bytearray:
            return self.extension(codes.BYTEARRAY, bytes(value))
        if kind is list or kind is dict:
            if depth < _DEPTH:
                return self._container(value, depth + 1)
            self.own = True
            return ormsgpack.Ext(codes.NESTED, ormsgpack.packb(self._container(value, 0), option=_OPTIONS))
        return self._found(value)

    def _container(self, value: Any, depth: int) -> Any:
        # Plain loops that call `_walk` directly: two frames of Python a level, so that deep values can be stored.
        path = self._path
        if type(value) is list:
            elements = []
            for at, element in enumerate(value):
                path.append(f"[{at}]")
                elements.append(self._walk(element, depth))
                path.pop()
            return elements
        if not all(type(key) is str for key in value):
            return self.extension(codes.PAIRS, [part for pair in value.items() for part in pair])
        items = {}
        for key, element in value.items():
            path.append(f"[{key!r}]")
            items[self._text(key)] = self._walk(element, depth)
            path.pop()
        return items

    def _found(self, value: Any) -> Any:
        self._path.append(f"<{type(value).__qualname__}>")
        found = self._default(value)
        self._path.pop()
        return found

    def _text(self, text: str) -> str:
        if not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError as error:
                at = error.start
                raise SerializationError(
                    f"{self.where()} holds half a surrogate pair, {text[at]!r} at position {at}, which is no "
                    "character and cannot be stored as UTF-8; text was probably cut in the middle of an emoji"
                ) from None
        return text

    def where(self) -> str:
        """Where in the value the encoder is, for messages."""
        path = "".join(self._path)
        return f"the value at {path}" if path else "the value"

    def refuse(self, value: Any, why: str) -> SerializationError:
        """The error for something that cannot be stored."""
        kind = type(value)
        return SerializationError(f"{self.where()} is a {kind.__module__}.{kind.__qualname__}: {why}")


def str_of_int(value: int) -> str:
    """Any integer in hexadecimal: unlike decimal, Python sets no limit to its length."""
    return hex(value)
