"""The serializer: the protocol of `langgraph-checkpoint` over the encoder and decoder here."""

from collections.abc import Iterable
from typing import Any

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from ormsgpack import packb

from runtime.checkpoint.errors import SerializationError
from runtime.checkpoint.serde import codes, envelopes
from runtime.checkpoint.serde.allow import Key, find, keys_of
from runtime.checkpoint.serde.decode import Decoder
from runtime.checkpoint.serde.encode import Encoder

_SCALARS = frozenset((str, int, float, bool))
_ENCODED = frozenset((codes.COMPATIBLE, codes.OWN))


class Serializer(JsonPlusSerializer):
    """Exact and safe: msgpack with an allow-list, never pickle.

    `allow` are further classes, or (module, name) pairs, that stored values may come back as, next to the safe
    ones and those of `allow_types`. Reads what `JsonPlusSerializer` wrote. (It is one, so that code which extends
    the allow-list of such a serializer does so here too.)
    """

    def __init__(self, *, allow: Iterable[Any] = ()) -> None:
        super().__init__(allowed_msgpack_modules=None)
        self._names, self._known = keys_of(allow)
        self._decoder = Decoder(self._find)

    def with_msgpack_allowlist(self, extra_allowlist: Iterable[Any]) -> "Serializer":
        """A serializer that also allows these classes, or (module, name) pairs; this one if it does already."""
        names, known = keys_of(extra_allowlist)
        if names <= self._names and known.items() <= self._known.items():
            return self
        wider = Serializer()
        wider._names = self._names | names
        wider._known = {**self._known, **known}
        return wider

    with_allowlist = with_msgpack_allowlist

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """A value's type tag and bytes.

        Raises:
            SerializationError: it cannot be stored exactly; the message says where and why.
        """
        if obj is None:
            return "null", b""
        kind = type(obj)
        if kind is bytes:
            return "bytes", obj
        if kind is bytearray:
            return "bytearray", bytes(obj)
        if kind in _SCALARS:
            try:
                return codes.COMPATIBLE, packb(obj)
            except TypeError:
                pass  # a large integer, or half a surrogate pair: the encoder's business
        encoder = Encoder()
        try:
            data = encoder.encode(obj)
        except RecursionError:
            raise SerializationError("the value contains itself, or is nested too deeply to be stored") from None
        return codes.OWN if encoder.own else codes.COMPATIBLE, data

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value of a type tag and bytes. Classes that are not allowed come back as `Opaque`.

        Raises:
            ValueError: the bytes are no encoded value, or the tag is not one that is ever decoded, such as `pickle`.
        """
        kind, encoded = data
        if kind in _ENCODED:
            try:
                return self._decoder.decode(encoded)
            except RecursionError:
                raise ValueError("it is nested too deeply to be read here") from None
        if kind == "null":
            return None
        if kind == "bytes":
            return encoded
        if kind == "bytearray":
            return bytearray(encoded)
        if kind == "json":
            return envelopes.read(encoded, self._find)
        raise ValueError(f"values tagged {kind!r} are not decoded")

    def _find(self, module: str, name: str) -> Any:
        return find(module, name, self._names, self._known)

    @property
    def allowed(self) -> frozenset[Key]:
        """What this serializer allows beyond the safe classes and those of `allow_types`."""
        return self._names | frozenset(self._known)
