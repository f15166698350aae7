"""An update of the state in any of the forms that nodes return, as (key, value) pairs."""

import inspect
import weakref
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from runtime._constants import ROOT
from runtime._typing import MISSING

_keys_by_class: weakref.WeakKeyDictionary[type[Any], tuple[str, ...]] = weakref.WeakKeyDictionary()


def annotated_keys(cls: type[Any]) -> tuple[str, ...]:
    """Return the annotated attributes of `cls` and its bases, the bases' first, each once."""
    known = _keys_by_class.get(cls)
    if known is None:
        names: dict[str, None] = {}
        for base in reversed(cls.__mro__):
            names.update(dict.fromkeys(inspect.get_annotations(base)))
        known = _keys_by_class[cls] = tuple(names)
    return known


def object_pairs(value: Any, keys: Sequence[str]) -> list[tuple[str, Any]]:
    """Return the attributes `keys` of a dataclass, model or annotated object as an update.

    A model's field that is None because nobody set it says nothing, so it is left out.
    """
    silent: set[str] = set()
    if isinstance(value, BaseModel):
        silent = {
            name
            for name, field in type(value).model_fields.items()
            if field.default is None and name not in value.model_fields_set
        }
    pairs = ((key, getattr(value, key, MISSING)) for key in keys)
    return [(key, item) for key, item in pairs if item is not MISSING and not (item is None and key in silent)]


def is_pairs(value: Any) -> bool:
    """Whether `value` is a list or tuple of (str, value) tuples, which may repeat a key."""
    return isinstance(value, list | tuple) and all(
        isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str) for pair in value
    )


def update_pairs(update: Any) -> list[tuple[str, Any]]:
    """Return `update` as (key, value) pairs; None is none, a value without keys is `__root__`'s."""
    if update is None:
        return []
    if isinstance(update, dict):
        return list(update.items())
    if is_pairs(update):
        return list(update)
    keys = annotated_keys(type(update))
    return object_pairs(update, keys) if keys else [(ROOT, update)]
