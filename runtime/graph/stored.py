"""The classes that a graph's state may hold, so that stored values come back as instances of them.

Decoding a checkpoint makes objects only of classes that are allowed. Those which the graph's own
schemas name, at any depth, are allowed by compiling it.
"""

from __future__ import annotations

import typing
from collections.abc import Iterable, Iterator
from typing import Any, get_args, get_origin

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from runtime.checkpoint.serde.allow import allow_types
from runtime.checkpoint.serde.serializer import Serializer
from runtime.graph.schema import schema_class
from runtime.graph.spec import GraphSpec
from runtime.pregel.own import OWN
from runtime.types import Checkpointer

_NOT_STORED = frozenset({"builtins", "typing", "typing_extensions", "types", "collections.abc", "abc"})


def allow_stored(spec: GraphSpec, checkpointer: Checkpointer) -> Checkpointer:
    """Allow the classes of a graph's schemas to be decoded, by our own serializers and by the saver's.

    Returns the saver, or a copy of it that knows the classes where it keeps a list of its own.
    """
    classes = stored_classes(spec.schemas.by_schema)
    allow_types(*classes)
    if not isinstance(checkpointer, BaseCheckpointSaver) or not _keeps_a_list(checkpointer):
        return checkpointer
    # A saver that knows LangGraph's classes does not know ours.
    names = [(c.__module__, c.__name__) for c in (*classes, *OWN)]
    knowing: BaseCheckpointSaver[Any] = checkpointer.with_allowlist(names)
    return checkpointer if knowing.serde is checkpointer.serde else knowing


def _keeps_a_list(saver: BaseCheckpointSaver[Any]) -> bool:
    """Whether a saver decodes by langgraph-checkpoint's own serializer, encrypted or not."""
    serde = getattr(saver.serde, "serde", saver.serde)
    known = isinstance(serde, Serializer)  # which reads the list of the process
    return isinstance(serde, JsonPlusSerializer) and not known and hasattr(saver, "with_allowlist")


def stored_classes(schemas: Iterable[Any]) -> list[type]:
    """Every class that the schemas are or name, each once."""
    found: dict[type, None] = {}
    todo = list(schemas)
    seen: set[int] = set()
    while todo:
        hint = todo.pop()
        if id(hint) in seen:
            continue
        seen.add(id(hint))
        if isinstance(hint, type) and hint.__module__ not in _NOT_STORED:
            found[hint] = None
        todo.extend(_named_by(hint))
    return list(found)


def _named_by(hint: Any) -> Iterator[Any]:
    """What an annotation is made of: its arguments, the class behind it, and that class's fields."""
    if get_origin(hint) is typing.Literal:
        return
    for part in get_args(hint):
        yield from part if isinstance(part, list) else (part,)
    origin = schema_class(hint)
    if isinstance(origin, type) and "__annotations__" in vars(origin):
        package = origin.__module__.partition(".")[0]
        if origin.__module__ not in _NOT_STORED and package != "langchain_core":  # its classes are allowed anyway
            yield origin
            yield from _field_types(origin)


def _field_types(cls: type) -> Iterable[Any]:
    try:
        return typing.get_type_hints(cls, include_extras=False).values()
    except (NameError, TypeError, AttributeError):  # names that only type checkers see
        return ()
