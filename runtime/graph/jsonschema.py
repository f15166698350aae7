"""A state's input and output as JSON schemas and Pydantic models."""

from __future__ import annotations

import dataclasses
import sys
import types
from collections.abc import Iterable
from typing import Annotated, Any, NotRequired, Required, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, RootModel, TypeAdapter, create_model
from typing_extensions import is_typeddict

from runtime._constants import ROOT
from runtime.graph.schema import Schemas, schema_class

_CONFIG = ConfigDict(arbitrary_types_allowed=True)
_UNIONS = (Union, types.UnionType)


def json_schema(schema: Any, schemas: Schemas, name: str) -> dict[str, Any]:
    """The JSON schema of what a state class describes; `name` titles a class that gives no title."""
    if is_typeddict(schema) and _is_readable(schema):
        return TypeAdapter(schema).json_schema()
    return model_of(schema, schemas, name).model_json_schema()


def _is_readable(schema: Any) -> bool:
    """Before Python 3.12 Pydantic reads only the TypedDict of typing_extensions."""
    return sys.version_info >= (3, 12) or type(schema).__module__ != "typing"


def model_of(schema: Any, schemas: Schemas, name: str) -> type[BaseModel]:
    """A Pydantic model with the fields of a state class; the class itself if it is one."""
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        return schema
    keys = schemas.channel_keys(schema)
    if keys == (ROOT,):
        root: Any = schemas.channels[ROOT].UpdateType
        return create_model(name, __base__=RootModel[root])
    if is_typeddict(schema):
        name = schema.__name__
    return create_model(name, __config__=_CONFIG, **_fields(schema, keys, schemas))


def _fields(schema: Any, keys: Iterable[str], schemas: Schemas) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key in keys:
        hint = schemas.channels[key].UpdateType
        default = default_of(key, hint, schema)
        if key.startswith("_") or hasattr(BaseModel, key):  # no name for a field of a model
            fields[f"{key.strip('_')}_"] = (hint, Field(default, alias=key, title=key.strip("_").title()))
        else:
            fields[key] = (hint, default)
    return fields


def default_of(key: str, hint: Any, schema: Any) -> Any:
    """The default of a key, `...` if it has to be given.

    A key may be left out if it is not required, has a default, or may be None.
    """
    required = _required(hint)
    if required is None and key in getattr(schema, "__optional_keys__", ()):
        required = False
    if required is not None:
        return ... if required else None
    if dataclasses.is_dataclass(schema):
        for found in dataclasses.fields(schema_class(schema)):
            if found.name != key:
                continue
            if found.default is not dataclasses.MISSING and found.default is not ...:
                return found.default
            if found.default_factory is not dataclasses.MISSING:
                return found.default_factory()
    return None if may_be_none(hint) else ...


def _required(hint: Any) -> bool | None:
    """What `Required` or `NotRequired` says, at any depth of `Annotated`; None if neither is there."""
    while get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    if get_origin(hint) is Required:
        return True
    return False if get_origin(hint) is NotRequired else None


def may_be_none(hint: Any) -> bool:
    """Whether None is among the values that an annotation allows."""
    if hint is None or hint is type(None):
        return True
    origin = get_origin(hint)
    if origin is Annotated:
        return may_be_none(get_args(hint)[0])
    return origin in _UNIONS and any(may_be_none(part) for part in get_args(hint))
