"""State values as JSON text for the editor, and back without losing types.

Rules:
- Whatever part of an edited text still says what the old value said *is* the old value: the object
  itself is kept, so untouched parts stay byte for byte as they were, whatever their type.
- A changed part takes the type of what stood there: tuples stay tuples, messages messages,
  dataclasses and models their class. A model validates, and its errors name the field.
- What JSON cannot say is written as `{"$type": ...}`; where not even that can be read back
  (an open file, a table), the part can stay or go but not be changed.
"""

import base64
import dataclasses
import datetime as dt
import json
import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from debugger_ui.session.messages import restore_message
from debugger_ui.session.problems import SessionError, describe, refuse
from debugger_ui.session.shape import MAX_BITS, fields_of, kind_of, ordered, safe_repr, type_name
from debugger_ui.session.text import json_safe, path_label
from runtime.errors import text_of

MARK = "$type"
MASKED_MARK = "masked"
MAX_DEPTH = 200
Path = tuple[str | int, ...]

READ: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "bytes": lambda plain: base64.b64decode(plain["base64"], validate=True),
    "bytearray": lambda plain: bytearray(base64.b64decode(plain["base64"], validate=True)),
    "int": lambda plain: int(plain["hex"], 16),
    "set": lambda plain: set(plain["items"]),
    "frozenset": lambda plain: frozenset(plain["items"]),
    "tuple": lambda plain: tuple(plain["items"]),
    "datetime": lambda plain: dt.datetime.fromisoformat(plain["value"]),
    "date": lambda plain: dt.date.fromisoformat(plain["value"]),
    "time": lambda plain: dt.time.fromisoformat(plain["value"]),
}
"""Marked values that can be typed, by the name after `$type`."""


def to_plain(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON-ready data.

    Raises:
        ValueError: it is nested deeper than the editor takes (or contains itself).
    """
    if depth > MAX_DEPTH:
        raise ValueError(f"It is nested deeper than {MAX_DEPTH} levels.")
    kind = kind_of(value)
    if kind in ("null", "bool", "str", "float"):
        return value
    if kind == "int":
        # Python neither writes nor reads longer ones in decimal.
        return int(value) if value.bit_length() <= MAX_BITS else {MARK: "int", "hex": hex(value)}
    if kind in ("list", "tuple"):
        return [to_plain(item, depth + 1) for item in value]
    if kind == "set":
        return [to_plain(item, depth + 1) for item in ordered(value)]
    if kind == "dict":
        return _plain_dict(value, depth)
    if kind in ("dataclass", "model", "message"):
        return {name: to_plain(item, depth + 1) for name, item in fields_of(value).items()}
    return _marked(value, kind)


def _plain_dict(value: Mapping[Any, Any], depth: int) -> Any:
    if all(isinstance(key, str) for key in value) and MARK not in value:
        return {key: to_plain(item, depth + 1) for key, item in value.items()}
    pairs = [[to_plain(key, depth + 1), to_plain(item, depth + 1)] for key, item in value.items()]
    return {MARK: "dict", "pairs": pairs}


def _marked(value: Any, kind: str) -> dict[str, Any]:
    if kind == "bytes":
        name = "bytearray" if isinstance(value, bytearray) else "bytes"
        return {MARK: name, "base64": base64.b64encode(bytes(value)).decode()}
    if kind == "datetime" and hasattr(value, "isoformat"):
        return {MARK: type(value).__name__, "value": value.isoformat()}
    if kind == "enum":
        return {MARK: type_name(value), "name": value.name}
    if kind == "masked":
        return {MARK: MASKED_MARK}
    return {MARK: type_name(value), "shown": safe_repr(value)[:2_000]}


def to_text(value: Any) -> str:
    """Return a value as indented JSON text that `restore` takes back.

    Raises:
        ValueError: it is nested too deep.
    """
    plain = to_plain(value)
    compact = json.dumps(plain, ensure_ascii=False)
    return json_safe(compact if len(compact) <= 60 else json.dumps(plain, ensure_ascii=False, indent=2))


Real = Callable[[Any], Any]


def itself(value: Any) -> Any:
    """Return the value: nothing of it was masked."""
    return value


def restore(plain: Any, old: Any, path: Path = (), real: Real = itself) -> Any:
    """Return the Python value that an edited `plain` stands for, where `old` stood before.

    Where `old` was shown with masked parts, `real` gives the original of a part of it.

    Raises:
        SessionError: a part cannot be made into what its place needs; the path says which.
    """
    if same(plain, old):
        return real(old)
    kind = kind_of(old)
    if isinstance(plain, list):
        return _restore_list(plain, old if kind in ("list", "tuple", "set") else [], path, real)
    if isinstance(plain, dict):
        return _restore_dict(plain, old, kind, path, real)
    if kind == "float" and type(plain) is int and abs(plain) <= 2**53:
        return float(plain)
    return plain


def same(plain: Any, old: Any) -> bool:
    """Whether an edited part still says exactly what the old value said."""
    try:
        return _equal(plain, to_plain(old))
    except ValueError:
        return False


def _equal(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, float):
        return (one == other and math.copysign(1, one) == math.copysign(1, other)) or (one != one and other != other)
    return bool(one == other)


def _restore_list(plain: Sequence[Any], old: Any, path: Path, real: Real) -> Any:
    before = list(ordered(old)) if kind_of(old) == "set" else list(old)
    unused = list(range(len(before)))
    items: list[Any] = []
    for index, item in enumerate(plain):
        match = _match(item, before, unused, index)
        if match in unused:
            unused.remove(match)
        model = before[match] if match >= 0 else _model(item, before)
        items.append(restore(item, model, (*path, index), real))
    if isinstance(old, (tuple, set, frozenset, deque)) and hasattr(old, "_fields") is False:
        try:
            return type(old)(items)
        except TypeError as error:
            raise refuse(f"{path_label(path)} is a {type(old).__name__}: {error}.", field=str(path[0])) from None
    return items


def _match(item: Any, before: Sequence[Any], unused: Sequence[int], index: int) -> int:
    """Return which old item an edited one is: the same content, the same id, or the same place."""
    if index in unused and same(item, before[index]):
        return index
    for place in unused:
        if same(item, before[place]):
            return place
    id_ = item.get("id") if isinstance(item, dict) else None
    if id_ is not None:
        return next((place for place in unused if identity(before[place]) == id_), -1)
    return index if index in unused else -1


def identity(value: Any) -> Any:
    """Return the id by which a record in a list is known, or None."""
    if isinstance(value, Mapping):
        found = value.get("id")
    elif kind_of(value) in ("dataclass", "model", "message"):
        found = fields_of(value).get("id")
    else:
        return None
    return found if isinstance(found, (str, int)) else None


def _model(item: Any, before: Sequence[Any]) -> Any:
    """Return an old item whose class a new one takes, or None: only where all are of one kind."""
    if not isinstance(item, dict) or not before:
        return None
    kinds = {kind_of(other) for other in before}
    return before[-1] if len(kinds) == 1 and kinds <= {"dataclass", "model", "message"} else None


def _restore_dict(plain: dict[str, Any], old: Any, kind: str, path: Path, real: Real) -> Any:
    if MARK in plain:
        return _restore_marked(plain, old, path, real)
    if kind in ("message", "dataclass", "model"):
        return _restore_fields(plain, old, kind, path, real)
    before = old if isinstance(old, Mapping) else {}
    return {key: restore(item, before.get(key), (*path, key), real) for key, item in plain.items()}


def _restore_fields(plain: Mapping[str, Any], old: Any, kind: str, path: Path, real: Real) -> Any:
    known = fields_of(old)
    parts = {key: restore(item, known.get(key), (*path, key), real) for key, item in plain.items()}
    if kind == "message":
        return restore_message(parts, old, path)
    where, cls = path_label(path), type(old)
    try:
        if kind == "model":
            return cls.model_validate(parts)
        names = {f.name for f in dataclasses.fields(old)}
        if unknown := sorted(set(parts) - names):
            raise refuse(
                f"{where}: {cls.__qualname__} has no field {unknown[0]!r}.", field=str(path[0] if path else "")
            )
        return _rebuilt(cls, old, parts)
    except SessionError:
        raise
    except Exception as error:  # the class is the user's code: whatever it raises is why it does not fit
        raise refuse(
            f"{where} does not fit {cls.__qualname__}: {first_error(error)}",
            field=str(path[0] if path else ""),
            details=describe(error),
        ) from None


def _rebuilt(cls: Any, old: Any, parts: Mapping[str, Any]) -> Any:
    given = {f.name: parts[f.name] for f in dataclasses.fields(old) if f.init and f.name in parts}
    return cls(**given)


def first_error(error: Exception) -> str:
    """Return the first thing that a validation found wrong, with its place; of any other exception its words."""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{path_label(tuple(first.get('loc', ())))}: {first.get('msg', '')}."
    return f"{text_of(error) or type(error).__name__}."


def _restore_marked(plain: dict[str, Any], old: Any, path: Path, real: Real) -> Any:
    name = plain[MARK]
    where = path_label(path)
    field = str(path[0]) if path else ""
    if name == MASKED_MARK:
        raise refuse(
            f"{where}: a masked value stands only for what is in its own place. Leave it there, take it out, "
            "or write a new value.",
            field=field,
        )
    if name == "dict" and isinstance(plain.get("pairs"), list):
        return _restore_pairs(plain["pairs"], old, path, real)
    if kind_of(old) == "enum" and name == type_name(old) and plain.get("name") in type(old).__members__:
        return type(old)[plain["name"]]
    if name not in READ:
        raise refuse(
            f"{where} is a {name}, which cannot be written as JSON. Leave it as it is, or take it out.", field=field
        )
    try:
        return READ[name](plain)
    except (KeyError, ValueError, TypeError) as error:
        raise refuse(f"{where} is not a {name} as it stands there: {error}.", field=field) from None


def _restore_pairs(pairs: Sequence[Any], old: Any, path: Path, real: Real) -> Any:
    before = old if isinstance(old, Mapping) else {}
    made: dict[Any, Any] = {}
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2:
            raise refuse(f"{path_label(path)}: each of the pairs is a list of a key and a value.")
        key = next((known for known in before if same(pair[0], known)), None)
        key = restore(pair[0], None, path, real) if key is None else key
        try:
            made[key] = restore(pair[1], before.get(key), (*path, str(key)), real)
        except TypeError:
            raise refuse(f"{path_label(path)}: {pair[0]!r} cannot be a key.") from None
    return made
