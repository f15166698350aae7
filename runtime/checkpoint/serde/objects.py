"""How the objects that msgpack knows nothing of are represented: standard library, data classes, models, numpy.

Rule: a class is written as its module and qualified name. Nothing of a class is stored but its instances' data.
"""

import dataclasses
import datetime as dt
import re
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from uuid import UUID
from zoneinfo import ZoneInfo

import ormsgpack
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.store.base import Item
from pydantic import BaseModel, SecretBytes, SecretStr

from runtime.checkpoint.errors import SerializationError
from runtime.checkpoint.serde import arrays, codes
from runtime.checkpoint.serde.allow import GRAPH_TYPES, SHARED
from runtime.checkpoint.serde.opaque import Opaque
from runtime.errors import text_of

if TYPE_CHECKING:
    from runtime.checkpoint.serde.encode import Encoder

Representation = Callable[["Encoder", Any], Any]


def represent(encoder: "Encoder", value: Any) -> Any:
    """A value as an extension, or as a plainer value that comes back the same.

    Raises:
        SerializationError: there is no way to store it.
    """
    kind: Any = type(value)
    exact = _EXACT.get(type(value))
    return (exact or _for_class(kind))(encoder, value)


def name_of(cls: type) -> list[str]:
    """A class as module and qualified name; ours of the shared ones under the name they are known by."""
    if cls.__name__ in SHARED and cls.__module__.partition(".")[0] == "runtime":
        return [GRAPH_TYPES, cls.__name__]
    return [cls.__module__, cls.__qualname__]


@lru_cache(maxsize=4096)
def _for_class(cls: Any) -> Representation:
    """The representation of a class that is not exactly one of the well-known ones."""
    for fits, representation in _BY_KIND:
        if fits(cls):
            return representation
    return _refuse


def _refuse(encoder: "Encoder", value: Any) -> Any:
    raise encoder.refuse(
        value,
        "this cannot be stored in a checkpoint; keep it out of the state, or make it a dataclass, a Pydantic "
        "model or plain data",
    )


# --- standard library -----------------------------------------------------------------------------------


def _one(cls: type, argument: Callable[[Any], Any]) -> Representation:
    return lambda encoder, value: encoder.extension(codes.ONE_ARGUMENT, [*name_of(cls), argument(value)])


def _several(cls: type, arguments: Callable[[Any], list[Any]]) -> Representation:
    return lambda encoder, value: encoder.extension(codes.ARGUMENTS, [*name_of(cls), arguments(value)])


def _standard(what: str, arguments: Callable[[Any], list[Any]]) -> Representation:
    return lambda encoder, value: encoder.extension(codes.STDLIB, [what, *arguments(value)])


def _datetime(encoder: "Encoder", value: dt.datetime) -> Any:
    zone = value.tzinfo
    nameless = zone is None or (type(zone) is dt.timezone and len(zone.__getinitargs__()) == 1)  # type: ignore[attr-defined]
    if nameless and not value.fold:
        return encoder.extension(codes.METHOD, ["datetime", "datetime", value.isoformat(), "fromisoformat"])
    parts = [value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond]
    return encoder.extension(codes.DATETIME, [parts, zone, value.fold])


def _time(encoder: "Encoder", value: dt.time) -> Any:
    names = ("hour", "minute", "second", "microsecond", "tzinfo", "fold")
    fields = {name: getattr(value, name) for name in names}
    return encoder.extension(codes.KEYWORDS, ["datetime", "time", fields])


def _zone(encoder: "Encoder", value: ZoneInfo) -> Any:
    if value.key is None:
        raise encoder.refuse(value, "a time zone without a key cannot be found again")
    return encoder.extension(codes.ONE_ARGUMENT, ["zoneinfo", "ZoneInfo", value.key])


def _pattern(encoder: "Encoder", value: re.Pattern[Any]) -> Any:
    return encoder.extension(codes.ARGUMENTS, ["re", "compile", [value.pattern, value.flags]])


def _deque(encoder: "Encoder", value: deque[Any]) -> Any:
    if value.maxlen is None:
        return encoder.extension(codes.ONE_ARGUMENT, ["collections", "deque", list(value)])
    return encoder.extension(codes.STDLIB, ["deque", list(value), value.maxlen])


def _default_dict(encoder: "Encoder", value: defaultdict[Any, Any]) -> Any:
    return encoder.extension(codes.STDLIB, ["defaultdict", value.default_factory, dict(value)])


def _class(encoder: "Encoder", value: type) -> Any:
    return encoder.extension(codes.CLASS, name_of(value))


def _delta_snapshot(encoder: "Encoder", value: _DeltaSnapshot) -> Any:
    return ormsgpack.Ext(codes.DELTA_SNAPSHOT, encoder.pack(value.value))


def _opaque(encoder: "Encoder", value: Opaque) -> Any:
    return encoder.extension(value.code, value.raw)


_EXACT: dict[type, Representation] = {
    set: _one(set, list),
    frozenset: _one(frozenset, list),
    UUID: _one(UUID, lambda value: value.hex),
    Decimal: _one(Decimal, str),
    Fraction: _several(Fraction, lambda value: [value.numerator, value.denominator]),
    dt.datetime: _datetime,
    dt.time: _time,
    dt.date: _several(dt.date, lambda value: [value.year, value.month, value.day]),
    dt.timedelta: _several(dt.timedelta, lambda value: [value.days, value.seconds, value.microseconds]),
    dt.timezone: _several(dt.timezone, lambda value: list(value.__getinitargs__())),
    ZoneInfo: _zone,
    re.Pattern: _pattern,
    deque: _deque,
    defaultdict: _default_dict,
    OrderedDict: _standard("OrderedDict", lambda value: [list(map(list, value.items()))]),
    Counter: _standard("Counter", lambda value: [dict(value)]),
    complex: _standard("complex", lambda value: [value.real, value.imag]),
    range: _standard("range", lambda value: [value.start, value.stop, value.step]),
    slice: _standard("slice", lambda value: [value.start, value.stop, value.step]),
    type(...): _standard("...", lambda value: []),
    type(NotImplemented): _standard("NotImplemented", lambda value: []),
    Opaque: _opaque,
    _DeltaSnapshot: _delta_snapshot,
}
for _ip in (IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network):
    _EXACT[_ip] = _one(_ip, str)


# --- classes of users ------------------------------------------------------------------------------------


def _enum(encoder: "Encoder", value: Enum) -> Any:
    return encoder.extension(codes.ONE_ARGUMENT, [*name_of(type(value)), value.value])


def _send(encoder: "Encoder", value: Any) -> Any:
    timeout = getattr(value, "timeout", None)
    arguments = [value.node, value.arg] if timeout is None else [value.node, value.arg, timeout]
    return encoder.extension(codes.ARGUMENTS, [*name_of(type(value)), arguments])


def _item(encoder: "Encoder", value: Item) -> Any:
    fields = {name: getattr(value, name) for name in Item.__slots__}
    return encoder.extension(codes.KEYWORDS, [*name_of(type(value)), fields])


def _named_tuple(encoder: "Encoder", value: Any) -> Any:
    return encoder.extension(codes.KEYWORDS, [*name_of(type(value)), dict(zip(value._fields, value, strict=True))])


def _path(encoder: "Encoder", value: PurePath) -> Any:
    module = "pathlib" if type(value).__module__.startswith("pathlib") else type(value).__module__
    return encoder.extension(codes.ARGUMENTS, [module, type(value).__qualname__, list(value.parts)])


def _secret(encoder: "Encoder", value: Any) -> Any:
    return encoder.extension(codes.ONE_ARGUMENT, [*name_of(type(value)), value.get_secret_value()])


@lru_cache(maxsize=4096)
def _fields(cls: Any) -> tuple[tuple[str, ...], bool]:
    """A data class's fields, and whether its constructor, given all of them, makes an equal instance."""
    fields = dataclasses.fields(cls)
    own = "__post_init__" not in dir(cls) and all(field.init for field in fields)
    plain = own and cls.__dataclass_params__.init and len(fields) == len(cls.__dataclass_fields__)
    return tuple(field.name for field in fields), plain


def _data_class(encoder: "Encoder", value: Any) -> Any:
    kind: Any = type(value)
    names, plain = _fields(kind)
    attributes = getattr(value, "__dict__", None)
    try:
        fields = {name: getattr(value, name) for name in names}
    except AttributeError as error:
        raise encoder.refuse(value, f"it is incomplete: {error}") from None
    if name_of(type(value))[0] == GRAPH_TYPES:
        return encoder.extension(codes.KEYWORDS, [*name_of(type(value)), _without_defaults(type(value), fields)])
    if plain and (attributes is None or len(attributes) <= len(names)):
        return encoder.extension(codes.KEYWORDS, [*name_of(type(value)), fields])
    return encoder.extension(codes.INSTANCE, [*name_of(type(value)), {**fields, **(attributes or {})}])


def _without_defaults(cls: type, values: dict[str, Any]) -> dict[str, Any]:
    """Fewer fields are fewer that another version of the class may not know."""
    fields = {field.name: field for field in dataclasses.fields(cls)}
    return {
        name: value
        for name, value in values.items()
        if type(value) is not type(fields[name].default) or value != fields[name].default
    }


@lru_cache(maxsize=4096)
def _model_shape(cls: Any) -> tuple[str, str, frozenset[str]]:
    """A model's name, and the names of its fields."""
    module, name = name_of(cls)
    return module, name, frozenset(cls.model_fields)


def _model(encoder: "Encoder", value: BaseModel) -> Any:
    fields = value.__dict__
    kind: Any = type(value)
    module, name, known = _model_shape(kind)
    if len(fields) > len(known):  # cached properties live there too
        fields = {name: field for name, field in fields.items() if name in known}
    given, private = sorted(value.__pydantic_fields_set__), value.__pydantic_private__
    stored = _storable(encoder, private) if private else None
    return encoder.extension(codes.MODEL, [module, name, fields, given, value.__pydantic_extra__, stored])


def _storable(encoder: "Encoder", private: dict[str, Any]) -> dict[str, Any]:
    """Private attributes, less those that cannot be stored: clients, locks. They get their defaults again."""
    kept = {}
    for name, value in private.items():
        try:
            encoder.pack(value)
        except (TypeError, SerializationError):
            continue
        kept[name] = value
    return kept


def _model_1(encoder: "Encoder", value: Any) -> Any:
    return encoder.extension(codes.PYDANTIC_1, [*name_of(type(value)), dict(value.__dict__)])


# What an instance of a subclass is without the subclass, past anything that the subclass may override.
_PLAIN: dict[type, Callable[[Any], Any]] = {
    str: str.__str__,
    int: int.__int__,
    float: float.__float__,
    bytes: lambda value: bytes(memoryview(value)),
    list: lambda value: [*list.__iter__(value)],
    dict: lambda value: dict(dict.items(value)),
    tuple: lambda value: (*tuple.__iter__(value),),
    set: lambda value: {*set.__iter__(value)},
    frozenset: lambda value: frozenset(frozenset.__iter__(value)),
}


def _subclass(encoder: "Encoder", value: Any) -> Any:
    plain = next(convert for base, convert in _PLAIN.items() if isinstance(value, base))(value)
    attributes = getattr(value, "__dict__", None) or None
    return encoder.extension(codes.SUBCLASS, [*name_of(type(value)), plain, attributes])


def _exception(encoder: "Encoder", value: BaseException) -> Any:
    try:
        return repr(value)
    except Exception:  # the user's code; a run that failed has to be recorded as failed all the same
        return f"{type(value).__name__}({text_of(value)!r})"


def _is_model_1(cls: type) -> bool:
    return hasattr(cls, "__fields__") and hasattr(cls, "__fields_set__") and hasattr(cls, "construct")


def _subclasses(*bases: type) -> Callable[[type], bool]:
    return lambda cls: issubclass(cls, bases)


# In this order: the first that fits. A class may be several of these.
_BY_KIND: tuple[tuple[Callable[[type], bool], Representation], ...] = (
    (_subclasses(Enum), _enum),
    (_subclasses(BaseModel), _model),
    (_subclasses(SecretStr, SecretBytes), _secret),
    (_subclasses(BaseException), _exception),
    (lambda cls: cls.__name__ == "Send" and name_of(cls)[0] == GRAPH_TYPES, _send),
    (lambda cls: cls is Item, _item),
    (dataclasses.is_dataclass, _data_class),
    (lambda cls: issubclass(cls, tuple) and hasattr(cls, "_fields"), _named_tuple),
    (_subclasses(PurePath), _path),
    (arrays.is_array, arrays.represent),
    (_subclasses(type), _class),
    (_is_model_1, _model_1),
    (lambda cls: issubclass(cls, tuple(_PLAIN)), _subclass),
)
