"""What kind of thing a Python value is, and its parts by name: asked by all who walk values.

Only fields are read; no property, method or `repr` of a user's class runs here.
"""

import dataclasses
import datetime as dt
import enum
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

MASKED = "•••"
MAX_BITS = 14_000
"""Larger integers are shown in hexadecimal: Python limits the length of decimal ones."""


class Masked:
    """Stands where a value is that is not shown; nothing of the value can be read off it by its `repr`."""

    __slots__ = ("hidden",)

    def __init__(self, hidden: Any) -> None:
        self.hidden = hidden

    def __repr__(self) -> str:
        return MASKED

    def __reduce__(self) -> str:
        raise TypeError("a masked value is not stored or sent")


TEMPORAL = (dt.datetime, dt.date, dt.time, dt.timedelta)


def kind_of(value: Any) -> str:
    """Return the kind as `ValueView.kind` names it."""
    if value is None:
        return "null"
    for types, kind in (
        (enum.Enum, "enum"),
        (bool, "bool"),
        (int, "int"),
        (float, "float"),
        (str, "str"),
        ((bytes, bytearray, memoryview), "bytes"),
        (Masked, "masked"),
    ):
        if isinstance(value, types):
            return kind
    return _kind_of_compound(value)


def _kind_of_compound(value: Any) -> str:
    if isinstance(value, tuple):
        return "tuple"
    if isinstance(value, (list, deque)):
        return "list"
    if isinstance(value, (set, frozenset)):
        return "set"
    if isinstance(value, Mapping):
        return "dict"
    if is_message(value):
        return "message"
    if is_opaque(value):
        return "opaque"
    if is_model(value):
        return "model"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return "dataclass"
    if isinstance(value, TEMPORAL):
        return "datetime"
    return "table" if _is_table(value) else "object"


def is_message(value: Any) -> bool:
    """Whether it is a chat message of langchain-core."""
    module = sys.modules.get("langchain_core.messages")
    return module is not None and isinstance(value, module.BaseMessage)


def is_model(value: Any) -> bool:
    """Whether it is an instance of a pydantic model."""
    module = sys.modules.get("pydantic")
    return module is not None and isinstance(value, module.BaseModel)


def is_opaque(value: Any) -> bool:
    """Whether it stands for a stored value that could not be decoded."""
    return type(value).__name__ == "Opaque" and type(value).__module__.startswith("runtime.")


def _is_table(value: Any) -> bool:
    module = sys.modules.get("pandas")
    return module is not None and isinstance(value, (module.DataFrame, module.Series))


def type_name(value: Any) -> str:
    """Return the type for people: bare for builtins, with its module otherwise."""
    if is_opaque(value):
        return ".".join(str(getattr(value, part, "") or "?") for part in ("module", "name"))
    cls = type(value)
    if cls is Masked:
        return "masked"
    if cls.__module__ in ("builtins", "datetime") or is_message(value):
        return cls.__qualname__
    return f"{cls.__module__}.{cls.__qualname__}"


def fields_of(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass, model, message or opaque value, in their order."""
    if is_message(value):
        return _message_fields(value)
    if is_model(value):
        return {**value.__dict__, **(value.__pydantic_extra__ or {})}
    if is_opaque(value):
        return {"data": getattr(value, "data", None)}
    known = vars_of(value)
    return {f.name: known[f.name] for f in dataclasses.fields(value) if f.name in known}


def vars_of(value: Any) -> Mapping[str, Any]:
    """Return an instance's attributes, also when its class has slots."""
    if hasattr(value, "__dict__"):
        return dict(vars(value))
    names = [f.name for f in dataclasses.fields(value)] if dataclasses.is_dataclass(value) else []
    return {name: getattr(value, name) for name in names if hasattr(value, name)}


def _message_fields(message: Any) -> dict[str, Any]:
    fields = {"type": message.type, **message.__dict__, **(message.__pydantic_extra__ or {})}
    always = ("type", "content", "tool_call_id")
    return {name: value for name, value in fields.items() if name in always or not blank(value)}


def blank(value: Any) -> bool:
    """Whether it says nothing: None, False, or an empty text, list, tuple, set or mapping."""
    return value is None or value is False or (isinstance(value, (str, list, tuple, set, dict)) and not value)


def items_of(value: Any) -> list[tuple[str | int, Any]]:
    """Return the parts of a container with the key that leads to each; [] for anything else."""
    kind = kind_of(value)
    if kind in ("list", "tuple"):
        return list(enumerate(value))
    if kind == "set":
        return list(enumerate(ordered(value)))
    if kind == "dict":
        return [(key if isinstance(key, str) else f"[{key!r}]", item) for key, item in value.items()]
    if kind in ("dataclass", "model", "message", "opaque"):
        return list(fields_of(value).items())
    return []


def ordered(values: Any) -> Sequence[Any]:
    """Return a set's items in an order that does not change from look to look."""
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=lambda item: (type(item).__name__, safe_repr(item)))


def safe_repr(value: Any) -> str:
    """Return `repr(value)`, or what went wrong in it."""
    try:
        return repr(value)
    except Exception as error:  # repr is the user's code: whatever it raises is its answer
        return f"<{type(value).__qualname__}; its repr raised {type(error).__name__}>"


def show_int(value: int) -> str:
    """Return an integer exactly: decimal, or hexadecimal beyond what Python prints in decimal."""
    return str(int(value)) if value.bit_length() <= MAX_BITS else hex(value)


def at_path(value: Any, path: tuple[str | int, ...]) -> Any:
    """Return what sits at a path.

    Raises:
        LookupError: the path leads nowhere.
    """
    for part in path:
        for key, item in items_of(value):
            if key == part and type(key) is type(part):
                value = item
                break
        else:
            raise LookupError(part)
    return value
