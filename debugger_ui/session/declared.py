"""What a state declares about a value: models and dataclasses that typed JSON is made into.

Only plain objects are looked at, where a type says which class belongs there; whatever has its class
already, or could be several, stays as it is.
"""

import dataclasses
import types
from collections.abc import Collection, Mapping
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from debugger_ui.session.codec import first_error
from debugger_ui.session.problems import describe, refuse
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
        classes = [one for one in inner if _is_class(one)]
        plain = any(
            isinstance(get_origin(one) or one, type) and _takes_objects(get_origin(one) or one) for one in inner
        )
        return as_declared(value, classes[0], path) if len(classes) == 1 and not plain else value
    if isinstance(value, list) and isinstance(origin, type) and issubclass(origin, Collection) and len(inner) == 1:
        return [as_declared(item, inner[0], (*path, at)) for at, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    if isinstance(origin, type) and issubclass(origin, Mapping) and len(inner) == 2:
        return {key: as_declared(item, inner[1], (*path, key)) for key, item in value.items()}
    return _made(value, annotation, path) if _is_class(annotation) else value


def _is_class(annotation: Any) -> bool:
    if not isinstance(annotation, type):
        return False
    return issubclass(annotation, BaseModel) or dataclasses.is_dataclass(annotation)


def _takes_objects(cls: type) -> bool:
    return issubclass(cls, Mapping) or cls is object


def _made(value: Mapping[str, Any], cls: type, path: Path) -> Any:
    try:
        return cls.model_validate(value) if issubclass(cls, BaseModel) else cls(**value)
    except (TypeError, ValueError) as error:
        raise refuse(
            f"{path_label(path)} does not fit {cls.__qualname__}: {first_error(error)}",
            field=str(path[0]),
            details=describe(error),
        ) from None
