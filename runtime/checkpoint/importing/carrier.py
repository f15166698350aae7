"""Values on their way from one database to another: looked at no further than is needed to find what changed.

Rule: lists and dicts are opened, because histories are stored by what changed in them. Whatever the bytes name a class
      for stays closed and is written as it was read, so that neither a class nor a package is needed.
"""

from typing import Any

import ormsgpack

from runtime.checkpoint.base import SerializerProtocol
from runtime.checkpoint.serde import Serializer
from runtime.checkpoint.serde.decode import Decoder
from runtime.checkpoint.serde.encrypted import EncryptedSerializer
from runtime.checkpoint.serde.opaque import Opaque

_CODES = range(128)


class Carrier(Serializer):
    """The serializer whose values keep every extension closed."""

    def __init__(self) -> None:
        super().__init__()
        self._decoder = _Closed(self._find)


class _Closed(Decoder):
    def decode(self, data: bytes) -> Any:
        return ormsgpack.unpackb(data, ext_hook=_opaque, option=ormsgpack.OPT_NON_STR_KEYS)


def _opaque(code: int, data: bytes) -> Opaque:
    if code not in _CODES:
        raise ValueError(f"extension code {code} is msgpack's own, and cannot be written back")
    return Opaque("", "", None, "", code, data)


def closed(serde: SerializerProtocol) -> SerializerProtocol:
    """The carrier that stands for a serializer. One of somebody else's stands for itself."""
    if isinstance(serde, EncryptedSerializer):
        return EncryptedSerializer(serde.cipher, closed(serde.serde))
    return Carrier() if isinstance(serde, Serializer) else serde
