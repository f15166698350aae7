"""Values as JSON with envelopes for objects: how `langgraph-checkpoint` stored values before it used msgpack.

Rule 1: an envelope is obeyed only if it names a class that `find` gives, and one of the few calls below. Nothing is
        looked up, imported or called because of what the text says.
Rule 2: every other envelope becomes an `Opaque` that keeps it.
"""

import json
from collections.abc import Callable
from datetime import date, datetime, time
from typing import Any

import ormsgpack
from langchain_core.load.mapping import SERIALIZABLE_MAPPING

from runtime.checkpoint.serde import codes
from runtime.checkpoint.serde.limits import check_arguments, items
from runtime.checkpoint.serde.opaque import Opaque

Find = Callable[[str, str], Any]

_FROM_TEXT = frozenset((datetime, date, time))


def read(data: bytes, find: Find) -> Any:
    """The value of some JSON.

    Raises:
        ValueError: it is no JSON.
    """
    return _opened(json.loads(data), find)


def sealed(tag: str, data: bytes, why: str, name: tuple[str, str] = ("", ""), shown: Any = None) -> Opaque:
    """A stored value that stays closed: its type tag and bytes, kept for whoever may open them."""
    return Opaque(*name, shown, why, codes.TAGGED, ormsgpack.packb([tag, data]))


def _opened(value: Any, find: Find) -> Any:
    if isinstance(value, list):
        return [_opened(item, find) for item in value]
    if not isinstance(value, dict):
        return value
    path = _path(value)
    if path is None:
        return {key: _opened(item, find) for key, item in value.items()}
    module, name = ".".join(path[:-1]), path[-1]
    try:
        return _made(find(module, name), value, find)
    except LookupError as error:
        why = str(error.args[0]) if error.args else "it is not there"
    except RecursionError:
        raise
    except Exception as error:  # a class that refuses its own old data is one more reason to keep it as it is
        why = f"the class refuses the stored data: {type(error).__name__}: {error}"
    text = json.dumps(value, separators=(",", ":")).encode()
    return sealed("json", text, why, (module, name), value.get("kwargs") or value.get("args"))


def _path(value: dict[str, Any]) -> list[str] | None:
    """The module and name of the class that an envelope is for, in parts; None for a dict that is no envelope."""
    path = value.get("id")
    if value.get("lc") not in (1, 2) or value.get("type") != "constructor" or not isinstance(path, list):
        return None
    if len(path) < 2 or not all(isinstance(part, str) for part in path):
        return None
    return list(SERIALIZABLE_MAPPING.get(tuple(path), path)) if value["lc"] == 1 else path


def _made(cls: Any, value: dict[str, Any], find: Find) -> Any:
    args, kwargs = _opened(items(value.get("args") or []), find), _opened(value.get("kwargs") or {}, find)
    method = value.get("method")
    if method == "fromisoformat" and cls in _FROM_TEXT:
        return cls.fromisoformat(*args)
    if method not in (None, [None, "construct"]):
        raise LookupError(f"the method {method!r} is never called for a stored value")
    check_arguments(cls, [*args, *kwargs.values()])
    return cls(*args, **kwargs)
