"""The default key of a cached node: a digest of its input's content.

Rule 1: equal content gives equal keys in every process (no hash(), no ids, no pickle; a mapping's
and a set's order does not count).
Rule 2: different content gives different keys: each value is written with its type and length.
Rule 3: what cannot be digested by content is refused; a wrong key would return another input's
result.
"""

import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import hashlib
import pathlib
import struct
import types
import uuid
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

from pydantic import BaseModel

_MAX_DEPTH = 200


def default_cache_key(*args: Any, **kwargs: Any) -> str:
    """Return a hex digest of the arguments' content.

    Raises TypeError for a value without digestible content, naming its type.
    """
    return hashlib.blake2b(_encode((args, kwargs), 0), digest_size=20).hexdigest()


def _frame(tag: str, *parts: bytes) -> bytes:
    head = tag.encode() + b"(%d)" % len(parts)
    return head + b"".join(struct.pack(">Q", len(part)) + part for part in parts)


def _type_name(value: object) -> str:
    kind = type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


def _encode(value: Any, depth: int) -> bytes:
    if depth > _MAX_DEPTH:
        raise TypeError(
            f"the default cache key cannot digest a value nested deeper than {_MAX_DEPTH} levels "
            "or one that contains itself; give CachePolicy a key_func"
        )
    writer = _scalar(value)
    if writer is not None:
        return writer
    return _compound(value, depth + 1)


_TEXT_TYPES = (
    datetime.date,
    datetime.time,
    datetime.timedelta,
    datetime.tzinfo,
    decimal.Decimal,
    fractions.Fraction,
    pathlib.PurePath,
    uuid.UUID,
    int,
    float,
    complex,
)


def _scalar(value: Any) -> bytes | None:
    if value is None or value is Ellipsis or isinstance(value, bool):
        return _frame("const", repr(value).encode())
    if isinstance(value, enum.Enum):
        return _frame("enum", _type_name(value).encode(), value.name.encode())
    if isinstance(value, str):
        return _frame(_type_name(value), value.encode("utf-8", "surrogatepass"))
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _frame(_type_name(value), bytes(value))
    if isinstance(value, _TEXT_TYPES):
        return _frame(_type_name(value), repr(value).encode())
    if isinstance(value, type | types.FunctionType | types.BuiltinFunctionType):
        bound = not isinstance(getattr(value, "__self__", None), types.ModuleType | None)
        if bound or "<" in value.__qualname__:  # a method, a lambda, or defined inside a function
            return None
        return _frame("name", f"{value.__module__}.{value.__qualname__}".encode())
    return None


def _compound(value: Any, depth: int) -> bytes:
    encode: Callable[[Any], bytes] = functools.partial(_encode, depth=depth)
    name = _type_name(value)
    if isinstance(value, Mapping):
        pairs = sorted((encode(key), encode(item)) for key, item in value.items())
        return _frame("map:" + name, *(part for pair in pairs for part in pair))
    if isinstance(value, Set):
        return _frame("set:" + name, *sorted(map(encode, value)))
    if isinstance(value, Sequence):
        return _frame("seq:" + name, *map(encode, value))
    if hasattr(value, "tobytes") and hasattr(value, "dtype"):
        if getattr(value.dtype, "hasobject", False):
            return _frame("array:" + name, encode(value.tolist()))
        shape = repr((str(value.dtype), getattr(value, "shape", ())))
        return _frame("array:" + name, shape.encode(), value.tobytes())
    return _frame("object:" + name, encode(_content(value)))


def _content(value: Any) -> Any:
    """Return what makes an object the same as another of its class."""
    if isinstance(value, type | types.FunctionType | types.BuiltinFunctionType | types.MethodType):
        raise _refusal(value)
    if isinstance(value, BaseModel):
        return {**value.__dict__, **(value.__pydantic_extra__ or {})}
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    # What the object itself says it is made of, also where that is hidden in C; nothing is pickled.
    try:
        made_of = value.__reduce_ex__(2)
    except TypeError as error:
        raise _refusal(value) from error
    if isinstance(made_of, str):
        return made_of
    function, arguments, state, items, pairs = (*made_of, None, None, None)[:5]
    plain = [argument for argument in arguments if argument is not type(value)]
    return [
        getattr(function, "__qualname__", ""),
        plain,
        state,
        list(items or ()),
        dict(pairs or ()),
    ]


def _refusal(value: Any) -> TypeError:
    return TypeError(
        f"the default cache key cannot tell one {_type_name(value)!r} from another ({value!r} is in the "
        "node's input); give CachePolicy a key_func that returns a str or bytes"
    )
