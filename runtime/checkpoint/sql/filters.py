"""Filters on metadata: equal keys and values, of the same type.

Rule 1: keys and values are bound parameters. A key that could not be a path of plain names is refused.
Rule 2: the database narrows down; `matches` decides, the same for every database.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Text, and_, cast, func, literal, or_
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.sql import ColumnElement

from runtime.checkpoint.sql.tables import checkpoints

_KEY = re.compile(r"[\w\-:/@ ]+(\.[\w\-:/@ ]+)*")
_MISSING = object()
_EXACT = 2**53  # integers beyond this may be rounded by a database's JSON functions


def checked(wanted: Mapping[str, Any] | None) -> dict[str, Any]:
    """A filter whose keys are safe and sensible. Raises ValueError for one that is not."""
    for key in wanted or ():
        if not isinstance(key, str) or not _KEY.fullmatch(key):
            raise ValueError(
                f"Invalid filter key {key!r}: a key is made of letters, digits, spaces and _ - : / @, "
                "with dots between the names of nested ones"
            )
    return dict(wanted or {})


def matches(metadata: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether metadata has every wanted key with an equal value of the same type. None also stands for absent."""
    return all(
        _same(metadata.get(key), value) or ("." in key and _same(_nested(metadata, key), value))
        for key, value in wanted.items()
    )


def conditions(wanted: Mapping[str, Any], dialect: str) -> list[ColumnElement[bool]]:
    """What to ask the database for: at least everything that matches."""
    found = []
    for key, value in wanted.items():
        whole = _condition([key], value, dialect)
        found.append(or_(whole, _condition(key.split("."), value, dialect)) if "." in key else whole)
    return found


def _condition(path: list[str], value: Any, dialect: str) -> ColumnElement[bool]:
    if dialect != "sqlite":
        stored = checkpoints.c.metadata.op("#>")(cast(literal(path, ARRAY(Text)), ARRAY(Text)))
        if value is None:
            return or_(stored.is_(None), cast(stored, Text) == "null")
        return cast(stored, JSONB) == cast(literal(json.dumps(value), Text), JSONB)
    at = literal("$" + "".join(f'."{name}"' for name in path))
    extracted = func.json_extract(checkpoints.c.metadata, at)
    kind = func.json_type(checkpoints.c.metadata, at)
    if value is None:
        return extracted.is_(None)
    if isinstance(value, bool):
        return kind == ("true" if value else "false")
    if isinstance(value, int | float):
        is_number = or_(kind == "integer", kind == "real")
        return is_number if abs(value) >= _EXACT else and_(is_number, extracted == literal(value))
    if isinstance(value, str):
        return and_(kind == "text", extracted == literal(value))
    return or_(kind == "object", kind == "array")


def _same(found: Any, wanted: Any) -> bool:
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    if isinstance(wanted, tuple):
        wanted = list(wanted)
    return bool(found == wanted)


def _nested(metadata: Any, key: str) -> Any:
    for name in key.split("."):
        if not isinstance(metadata, Mapping):
            return None
        metadata = metadata.get(name)
    return metadata
