"""From the classes that describe a state to channels, and from read values to their instances.

Rules:
1. A key's channel is decided by its annotation alone: a managed value, a channel, a reducer, and a
   LastValue if it is none of these.
2. Several schemas of one graph share the channels of the keys they share. Where they disagree, the
   disagreement is noted as a clash, for `validate` to report with everything else.
3. A channel given as an instance is copied: one annotation may serve any number of graphs.
"""

from __future__ import annotations

import dataclasses
import inspect
import typing
import warnings
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, NotRequired, Required, get_args, get_origin

from pydantic import BaseModel
from typing_extensions import ReadOnly

from runtime._constants import ROOT
from runtime.channels.base import BaseChannel
from runtime.channels.binop import BinaryOperatorAggregate
from runtime.channels.delta import DeltaChannel
from runtime.channels.last_value import LastValue
from runtime.managed.base import ManagedValueSpec, is_managed_value

Field = BaseChannel[Any, Any, Any] | ManagedValueSpec

_QUALIFIERS = (Required, NotRequired, ReadOnly)


class Schemas:
    """The schemas of one graph, and the channels and managed values that they add up to."""

    def __init__(self) -> None:
        self.by_schema: dict[Any, dict[str, Field]] = {}
        self.channels: dict[str, BaseChannel[Any, Any, Any]] = {}
        self.managed: dict[str, ManagedValueSpec] = {}
        self.clashes: list[str] = []

    def copy(self) -> Schemas:
        """The schemas as they are now."""
        twin = Schemas()
        twin.by_schema, twin.channels = dict(self.by_schema), dict(self.channels)
        twin.managed, twin.clashes = dict(self.managed), list(self.clashes)
        return twin

    def add(self, schema: Any, *, allow_managed: bool = True) -> None:
        """Take in a schema, unless it is known already.

        Raises ValueError for a reducer that cannot be one, NameError for an annotation that does
        not resolve.
        """
        if schema in self.by_schema:
            return
        fields = read_schema(schema)
        self.by_schema[schema] = fields
        for key, found in fields.items():
            if isinstance(found, BaseChannel):
                self._add_channel(schema, key, found)
                continue
            if not allow_managed:
                self.clashes.append(
                    f"{schema_name(schema)}.{key} is a managed value, which the run computes: it can be part of a "
                    "state, but not of an input or output schema"
                )
            if self.managed.setdefault(key, found) is not found:
                self.clashes.append(f"Managed value '{key}' already exists with a different type")

    def _add_channel(self, schema: Any, key: str, channel: BaseChannel[Any, Any, Any]) -> None:
        known = self.channels.setdefault(key, channel)
        if known is channel or known == channel or isinstance(channel, LastValue):
            return
        self.clashes.append(
            f"Channel '{key}' already exists with a different type: {schema_name(schema)} makes it a "
            f"{_described(channel)}, an earlier schema a {_described(known)}"
        )

    def keys(self, schema: Any) -> tuple[str, ...]:
        """The keys of a known schema, managed values among them."""
        return tuple(self.by_schema[schema])

    def channel_keys(self, schema: Any) -> tuple[str, ...]:
        """The keys of a known schema that hold a value of their own."""
        return tuple(key for key, found in self.by_schema[schema].items() if isinstance(found, BaseChannel))

    def reads(self, schema: Any) -> str | tuple[str, ...]:
        """What a node with this schema reads: all its keys, or the state itself if it has none."""
        return whole(self.keys(schema))


def whole(keys: tuple[str, ...]) -> str | tuple[str, ...]:
    """`keys`, or the name of the state itself where the state is one value without keys."""
    return ROOT if keys == (ROOT,) else keys


def schema_name(schema: Any) -> str:
    """What a schema is called in messages."""
    return str(getattr(schema, "__name__", schema))


def _described(channel: BaseChannel[Any, Any, Any]) -> str:
    operator = getattr(channel, "operator", None)
    name = type(channel).__name__
    return f"{name} with {getattr(operator, '__name__', operator)}" if operator is not None else name


# --- annotations --------------------------------------------------------------------------------


def read_schema(schema: Any) -> dict[str, Field]:
    """The channels and managed values of a schema, by key; `__root__` for a type without keys."""
    if not hasattr(schema_class(schema), "__annotations__"):
        channel = channel_for(ROOT, schema)
        if not isinstance(channel, BaseChannel):
            raise ValueError(f"a state cannot be a managed value as a whole, as {schema!r} is")
        warn_of_no_schema(schema)
        return {ROOT: channel}
    return {name: channel_for(name, hint) for name, hint in field_hints(schema).items()}


def schema_class(schema: Any) -> Any:
    """The class behind a schema: of `State[int]` that is `State`."""
    origin = get_origin(schema)
    if origin is Annotated or not isinstance(origin, type) or not hasattr(origin, "__annotations__"):
        return schema
    return origin


def warn_of_no_schema(schema: Any) -> None:
    """Warn if `schema` is a value instead of a type."""
    if not isinstance(schema, type) and not get_args(schema):
        warnings.warn(
            f"the state's schema should be a type, or Annotated[type, reducer]; got the value {schema!r}, "
            "which says nothing about what is written",
            UserWarning,
            stacklevel=2,
        )


def field_hints(schema: Any) -> dict[str, Any]:
    """The annotations of a schema's fields, bases first, class variables left out."""
    schema = schema_class(schema)
    try:
        hints = typing.get_type_hints(schema, include_extras=True)
    except NameError as error:
        error.add_note(
            f"in the annotations of {schema_name(schema)}: they have to resolve from the module that defines it, "
            "so a class defined inside a function cannot name others from there under "
            "`from __future__ import annotations`"
        )
        raise
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        return {name: hints.get(name, field.annotation) for name, field in schema.model_fields.items()}
    return {name: hint for name, hint in hints.items() if name != "__slots__" and not _is_class_var(hint)}


def _is_class_var(hint: Any) -> bool:
    return hint is ClassVar or get_origin(hint) is ClassVar


def channel_for(name: str, annotation: Any) -> Field:
    """The channel or managed value that an annotation asks for.

    Raises ValueError if the annotation ends in a callable that is no reducer.
    """
    while get_origin(annotation) in _QUALIFIERS:
        annotation = get_args(annotation)[0]
    found = managed_for(annotation) or _given_channel(annotation) or _reducer_channel(annotation)
    if found is None:
        found = LastValue(annotation)
    if isinstance(found, BaseChannel):
        found.key = name
    return found


def managed_for(annotation: Any) -> ManagedValueSpec | None:
    """The managed value named in an annotation's metadata, at any depth of qualifiers."""
    while True:
        metadata = getattr(annotation, "__metadata__", ())
        if metadata:
            last = get_origin(metadata[-1]) or metadata[-1]
            if is_managed_value(last):
                return last
        args = get_args(annotation)
        if get_origin(annotation) is None or not args:
            return None
        annotation = annotation.__origin__ if metadata else args[0]


def _given_channel(annotation: Any) -> BaseChannel[Any, Any, Any] | None:
    metadata = getattr(annotation, "__metadata__", ())
    for item in metadata:
        if isinstance(item, DeltaChannel):
            inner = _unqualified(annotation.__origin__)
            return type(item)(item.reducer, inner, snapshot_frequency=item.snapshot_frequency)
        if isinstance(item, BaseChannel):
            return item.copy()
        if inspect.isclass(item) and issubclass(item, BaseChannel):
            return item(_unqualified(annotation.__origin__))
    return None


def _unqualified(annotation: Any) -> Any:
    while get_origin(annotation) in _QUALIFIERS:
        annotation = get_args(annotation)[0]
    return annotation


def _reducer_channel(annotation: Any) -> BaseChannel[Any, Any, Any] | None:
    metadata = getattr(annotation, "__metadata__", ())
    if not metadata or not callable(metadata[-1]):
        return None
    reducer = metadata[-1]
    try:
        signature = inspect.signature(reducer)
    except ValueError:  # a builtin without a signature; what it takes shows when it is called
        return BinaryOperatorAggregate(annotation, reducer)
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if sum(parameter.kind in positional for parameter in signature.parameters.values()) != 2:
        name = getattr(reducer, "__name__", repr(reducer))
        raise ValueError(
            f"Invalid reducer signature: {name}{signature} in {annotation!r}. A reducer takes the value so far and "
            "one write, (a, b) -> c"
        )
    return BinaryOperatorAggregate(annotation, reducer)


# --- instances ----------------------------------------------------------------------------------

Mapper = Callable[[Any], Any]


def is_structured(schema: Any) -> bool:
    """Whether a schema has instances of its own: a dataclass or a Pydantic model."""
    found = schema_class(schema)
    return inspect.isclass(found) and (issubclass(found, BaseModel) or dataclasses.is_dataclass(found))


def mapper_for(schema: Any) -> Mapper | None:
    """What makes a schema's instance of the values read for it; None where a mapping will do."""
    if not is_structured(schema):
        return None

    def make(values: Mapping[str, Any]) -> Any:
        return schema(**values)

    return make


def optional_mapper(schema: Any, keys: tuple[str, ...]) -> Mapper | None:
    """`mapper_for(schema)`, or None for a state without keys."""
    return None if keys == (ROOT,) else mapper_for(schema)
