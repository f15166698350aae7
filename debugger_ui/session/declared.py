"""What a state declares about a value: models and dataclasses that typed JSON is made into.

Only plain objects are looked at, where a type says which class belongs there; whatever has its class
already, or could be several, stays as it is.
"""

import dataclasses
import types
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from typing_extensions import is_typeddict

from debugger_ui.engines.schema import hints_of
from debugger_ui.session.codec import first_error
from debugger_ui.session.problems import SessionError, describe, refuse
from debugger_ui.session.text import path_label

Path = tuple[str | int, ...]


def as_declared(value: Any, annotation: Any, path: Path) -> Any:
    """Return a value with the plain objects in it made into the classes that a type names for their places.

    Raises:
        SessionError: an object does not fit its class; the path says which.
    """
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated or getattr(origin, "__name__", "") in ("Required", "NotRequired"):
        return as_declared(value, inner[0], path)
    if origin in (Union, types.UnionType):
        fitting = [one for one in inner if _may_hold(one, value)]
        return as_declared(value, fitting[0], path) if len(fitting) == 1 else value
    if isinstance(value, list):
        kinds = _items(origin, inner, len(value))
        return [as_declared(item, kind, (*path, at)) for at, (item, kind) in enumerate(zip(value, kinds, strict=True))]
    if not isinstance(value, dict):
        return value
    if isinstance(origin, type) and issubclass(origin, Mapping) and len(inner) == 2:
        return {key: as_declared(item, inner[1], (*path, key)) for key, item in value.items()}
    if is_typeddict(annotation):
        return _fields(value, annotation, path)
    return _made(value, annotation, path) if _is_class(annotation) else value


def _may_hold(annotation: Any, value: Any) -> bool:
    """Whether an object or a list may be of a type, as far as its looks tell; of other values nothing is made."""
    base = get_origin(annotation) or annotation
    if base is Annotated:
        return _may_hold(get_args(annotation)[0], value)
    if not isinstance(base, type) or base in (Any, object):
        return base is not Literal
    if isinstance(value, dict):
        return _is_class(base) or issubclass(base, Mapping)
    return isinstance(value, list) and issubclass(base, Collection) and not issubclass(base, (Mapping, str, bytes))


def _items(origin: Any, inner: tuple[Any, ...], count: int) -> Sequence[Any]:
    """Return the types of the items of a list or tuple."""
    if origin is tuple and len(inner) == 2 and inner[1] is Ellipsis:
        inner = inner[:1]
    elif origin is tuple:
        return inner if len(inner) == count else [Any] * count
    known = isinstance(origin, type) and issubclass(origin, Collection) and len(inner) == 1
    return [inner[0] if known else Any] * count


def _is_class(annotation: Any) -> bool:
    if not isinstance(annotation, type):
        return False
    return issubclass(annotation, BaseModel) or dataclasses.is_dataclass(annotation)


def _fields(value: Mapping[str, Any], cls: type, path: Path) -> dict[str, Any]:
    hints = hints_of(cls)
    return {key: as_declared(item, hints.get(key, Any), (*path, key)) for key, item in value.items()}


def _made(value: Mapping[str, Any], cls: type, path: Path) -> Any:
    try:
        return cls.model_validate(value) if issubclass(cls, BaseModel) else cls(**_fields(value, cls, path))
    except SessionError:
        raise
    except Exception as error:  # the class is the user's code: whatever it raises is why it does not fit
        raise refuse(
            f"{path_label(path)} does not fit {cls.__qualname__}: {first_error(error)}",
            field=str(path[0]),
            details=describe(error),
        ) from None
