"""Bytes to values.

Rule 1: nothing runs because of what the bytes say, but the construction of classes that are allowed.
Rule 2: what cannot be made an object again becomes an `Opaque` that keeps the bytes. Nothing is lost, and nothing
        turns into something else in silence.
"""

import re
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path, PurePath
from threading import get_ident
from typing import Any

import ormsgpack
from langgraph.checkpoint.serde.event_hooks import emit_serde_event
from langgraph.checkpoint.serde.types import _DeltaSnapshot

from runtime.checkpoint.serde import arrays, codes, envelopes
from runtime.checkpoint.serde.allow import GRAPH_TYPES
from runtime.checkpoint.serde.limits import check_arguments, held, items
from runtime.checkpoint.serde.opaque import Opaque

Find = Callable[[str, str], Any]

_LAST_CODE = 127  # those beyond, as signed bytes negative, are reserved, and cannot be written


class UnknownCodeError(ValueError):
    """A code that could not be written back."""


class Decoder:
    """Decodes values, with the classes that `find` gives it (or LookupError)."""

    def __init__(self, find: Find) -> None:
        self._find = find
        self._failed: dict[int, Exception] = {}  # by thread: why no value can be made, on its way through ormsgpack
        self._plain: dict[int, Callable[[bytes], Any]] = {
            codes.TUPLE: lambda data: tuple(self._parts(data)),
            codes.BIG_INT: lambda data: int(data, 16),
            codes.BYTEARRAY: bytearray,
            codes.PAIRS: self._pairs,
            codes.NESTED: self.decode,
            codes.DATETIME: self._datetime,
            codes.NUMPY_SCALAR: lambda data: arrays.scalar(*self._parts(data)),
            codes.NUMPY_ARRAY: lambda data: arrays.array(*self._parts(data)),
            codes.OBJECT_ARRAY: lambda data: arrays.object_array(*self._parts(data)),
            codes.PANDAS: lambda data: arrays.pandas_value(*self._parts(data)),
            codes.STDLIB: self._standard,
            codes.DELTA_SNAPSHOT: lambda data: _DeltaSnapshot(self.decode(data)),
            codes.TAGGED: self._tagged,
        }
        self._classes: dict[int, Callable[[Any, list[Any]], Any]] = {
            codes.ONE_ARGUMENT: _from_one,
            codes.ARGUMENTS: _from_several,
            codes.KEYWORDS: _from_keywords,
            codes.METHOD: _from_method,
            codes.PYDANTIC_1: _from_fields,
            codes.PYDANTIC_2: _from_fields,
            codes.MODEL: _from_model,
            codes.INSTANCE: _from_attributes,
            codes.SUBCLASS: _from_plain,
            codes.CLASS: lambda cls, parts: cls,
        }

    def decode(self, data: bytes) -> Any:
        """The value of some bytes.

        Raises:
            ValueError: they are no encoded value.
            RecursionError: it is nested too deeply.
        """
        try:
            return ormsgpack.unpackb(data, ext_hook=self._extension, option=ormsgpack.OPT_NON_STR_KEYS)
        except ValueError as error:
            failed = self._failed.pop(get_ident(), None)
            if failed is not None:
                raise failed from None
            if error.args == ("ext_hook failed",):  # before it could say why: there was no frame left for it
                raise RecursionError from None
            raise

    def _extension(self, code: int, data: bytes) -> Any:
        try:
            if not 0 <= code <= _LAST_CODE:
                raise UnknownCodeError(f"extension code {code} is msgpack's own, and means nothing here")
            plain = self._plain.get(code)
            return self._instance(code, data) if plain is None else plain(data)
        except (RecursionError, MemoryError, UnknownCodeError) as error:
            self._failed[get_ident()] = error  # ormsgpack raises another in its place
            raise
        except Exception as error:  # numpy is not installed here, say, or the bytes were damaged
            return Opaque("", "", None, f"{type(error).__name__}: {error}", code, data)

    def _instance(self, code: int, data: bytes) -> Any:
        build = self._classes.get(code)
        if build is None:
            return Opaque("", "", None, f"extension code {code} is not known to this version", code, data)
        module, name, *parts = self._parts(data)
        if code == codes.CLASS and module == "builtins" and name in _BUILT_IN:
            return _BUILT_IN[name]
        try:
            return build(self._find(module, name), parts)
        except LookupError as error:
            emit_serde_event({"kind": "msgpack_blocked", "module": module, "name": name})
            why = error.args[0] if error.args else ""
        except (RecursionError, MemoryError):
            raise
        except Exception as error:  # a class that refuses its own old data is one more reason to keep it as it is
            why = f"the class refuses the stored data: {type(error).__name__}: {error}"
        return Opaque(module, name, parts[0] if parts else None, str(why), code, data)

    def _parts(self, data: bytes) -> list[Any]:
        return items(self.decode(data))

    def _pairs(self, data: bytes) -> dict[Any, Any]:
        flat = self._parts(data)
        return dict(zip(flat[::2], flat[1::2], strict=True))

    def _datetime(self, data: bytes) -> datetime:
        parts, zone, fold = self._parts(data)
        return datetime(*items(parts)).replace(tzinfo=zone, fold=fold)

    def _tagged(self, data: bytes) -> Any:
        tag, inner = ormsgpack.unpackb(data)
        if tag == "json":
            return envelopes.read(inner, self._find)
        return envelopes.sealed(tag, inner, f"values tagged {tag!r} are not decoded")

    def _standard(self, data: bytes) -> Any:
        what, *arguments = self._parts(data)
        return _STANDARD[what](*arguments)


# Classes that may come back as themselves, but whose constructors are not called for stored values.
_BUILT_IN: dict[str, type] = {
    cls.__name__: cls
    for cls in (list, dict, set, frozenset, tuple, int, float, complex, bool, str, bytes, bytearray, object, type(None))
}

_STANDARD: dict[str, Callable[..., Any]] = {
    "deque": lambda elements, maxlen: deque(held(elements), maxlen),
    "defaultdict": lambda factory, pairs: defaultdict(factory, held(pairs)),
    "OrderedDict": lambda pairs: OrderedDict(held(pairs)),
    "Counter": lambda counts: Counter(held(counts)),
    "complex": complex,
    "range": range,
    "slice": slice,
    "...": lambda: ...,
    "NotImplemented": lambda: NotImplemented,
    "dtype": arrays.dtype_of,
}


def _from_one(cls: Any, parts: list[Any]) -> Any:
    check_arguments(cls, parts[:1])
    return cls(parts[0])


def _from_several(cls: Any, parts: list[Any]) -> Any:
    arguments = items(parts[0])
    check_arguments(cls, arguments)
    if cls is re.compile:
        return re.compile(*arguments)
    if cls.__module__ in (GRAPH_TYPES, "runtime.types") and cls.__name__ == "Send" and len(arguments) == 3:
        return cls(arguments[0], arguments[1], timeout=arguments[2])
    if isinstance(cls, type) and issubclass(cls, PurePath):
        return _path(cls, arguments)
    return cls(*arguments)


def _from_keywords(cls: Any, parts: list[Any]) -> Any:
    """A named tuple or data class. `langgraph-checkpoint` also names fields that a constructor does not take."""
    values, make = parts[0], cls
    check_arguments(cls, values.values())
    if not is_dataclass(cls):
        return make(**values)
    taken = {field.name for field in fields(cls) if field.init}
    if taken >= values.keys():
        return make(**values)
    made = make(**{name: value for name, value in values.items() if name in taken})
    for name in values.keys() - taken:
        object.__setattr__(made, name, values[name])
    return made


def _path(cls: type[PurePath], parts: list[str]) -> PurePath:
    if issubclass(cls, Path) and not isinstance(Path(), cls):
        return Path(*parts)  # a file written on Windows, read elsewhere, or the other way round
    return cls(*parts)


def _from_method(cls: Any, parts: list[Any]) -> Any:
    argument, method = parts
    if cls is not datetime or method != "fromisoformat":
        raise LookupError(f"the method {method!r} is never called for a stored value")
    return datetime.fromisoformat(argument)


def _from_fields(cls: Any, parts: list[Any]) -> Any:
    """A model as `langgraph-checkpoint` writes it: its fields, dumped."""
    values = parts[0]
    check_arguments(cls, values.values())
    try:
        return cls(**values)
    except Exception:  # a validator that no longer accepts what it accepted once
        construct = getattr(cls, "model_construct", None) or cls.construct
        return construct(**values)


@lru_cache(maxsize=4096)
def _model_shape(cls: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A model's fields and private attributes."""
    return dict(cls.model_fields), dict(cls.__private_attributes__)


_set = object.__setattr__


def _from_model(cls: Any, parts: list[Any]) -> Any:
    """A model as we write it: exactly as it was, without validating again."""
    values, given, extra, private = parts
    known, attributes = _model_shape(cls)
    if values.keys() != known.keys():
        values = _completed(values, known)
    made = cls.__new__(cls)
    _set(made, "__dict__", values)
    _set(made, "__pydantic_fields_set__", set(items(given)))
    _set(made, "__pydantic_extra__", extra)
    _set(made, "__pydantic_private__", _private(attributes, private) if attributes else private)
    return made


def _completed(values: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """The stored fields of a model whose class has gained or lost some since."""
    missing = [name for name in known if name not in values]
    required = [name for name in missing if known[name].is_required()]
    if required:
        raise ValueError(f"the stored data has no {', '.join(required)}")
    return {**values, **{name: known[name].get_default(call_default_factory=True) for name in missing}}


def _private(attributes: dict[str, Any], stored: dict[str, Any] | None) -> dict[str, Any]:
    private = dict(stored or {})
    for name, attribute in attributes.items():
        if name not in private:
            default = attribute.get_default()
            if type(default).__name__ != "PydanticUndefinedType":
                private[name] = default
    return private


def _from_attributes(cls: Any, parts: list[Any]) -> Any:
    made = object.__new__(cls)
    for name, value in parts[0].items():
        object.__setattr__(made, name, value)
    return made


def _from_plain(cls: Any, parts: list[Any]) -> Any:
    plain, attributes = parts
    base = type(plain)
    if not issubclass(cls, base):
        raise ValueError(f"the class is no {base.__name__} any more")
    if base in (list, dict, set):
        made = cls.__new__(cls)
        (made.update if base is not list else made.extend)(plain)
    else:
        made = base.__new__(cls, plain)
    for name, value in (attributes or {}).items():
        object.__setattr__(made, name, value)
    return made
