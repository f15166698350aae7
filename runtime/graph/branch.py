"""Conditional edges: what a router may answer, and the writes that follow from it."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, Literal, get_args, get_origin

from langchain_core.runnables import RunnableLambda

from runtime._internal._runnable import RunnableCallable
from runtime.constants import END, START
from runtime.errors import InvalidUpdateError
from runtime.graph.spec import BranchSpec
from runtime.graph.writes import Targets
from runtime.pregel.body import Body
from runtime.pregel.model import Write
from runtime.types import Send

Route = Callable[[Any], list[Write]]


def branch_spec(path: Any, path_map: Mapping[Hashable, str] | Iterable[str] | None) -> BranchSpec:
    """A conditional edge from what `add_conditional_edges` was given.

    Without `path_map`, the targets are those of a `Literal` that the router's annotation says it
    returns, if it does.
    """
    body = Body(path)
    return BranchSpec(
        name=body.name,
        path=body,
        ends=_ends(path, path_map),
        input_schema=annotated_input(function_of(path)),
    )


def _ends(path: Any, path_map: Mapping[Hashable, str] | Iterable[str] | None) -> dict[Hashable, str] | None:
    if isinstance(path_map, Mapping):
        return dict(path_map)
    if path_map is not None:
        return {name: name for name in path_map}
    names = literal_values(hints_of(function_of(path)).get("return"))
    return {name: name for name in names} if names else None


def literal_values(hint: Any) -> tuple[Any, ...]:
    """The values of a `Literal`, also of a list of them or a union with other types."""
    if get_origin(hint) is Literal:
        return tuple(get_args(hint))
    return ()


def function_of(target: Any) -> Any:
    """The function whose annotations speak for a callable or Runnable, or None."""
    if isinstance(target, RunnableCallable | RunnableLambda):
        target = getattr(target, "func", None) or getattr(target, "afunc", None)
    if inspect.isfunction(target) or inspect.ismethod(target):
        return target
    call = getattr(target, "__call__", None)  # noqa: B004 - the bound method itself is wanted
    return call if inspect.ismethod(call) else None


def hints_of(function: Any) -> dict[str, Any]:
    """A function's annotations; none if they do not resolve, which is the function's own business."""
    if function is None:
        return {}
    try:
        return typing.get_type_hints(function)
    except (NameError, TypeError, AttributeError):
        return {}


def annotated_input(function: Any) -> Any:
    """The schema that a function's first parameter is annotated with, or None."""
    hints = hints_of(function)
    if not hints:
        return None
    try:
        first = next(iter(inspect.signature(function).parameters), None)
    except (ValueError, TypeError):
        return None
    hint = hints.get(first) if first is not None else None
    if isinstance(hint, type):
        try:
            return hint if typing.get_type_hints(hint) else None
        except (NameError, TypeError):
            return None
    return None


def router(source: str, spec: BranchSpec, targets: Targets) -> Route:
    """The function that turns a router's answer into writes.

    None, END and an empty list end this path. Raises InvalidUpdateError for an answer that is
    neither a target nor, where there is a map, one of its keys.
    """
    ends = spec.ends
    said = f"the router {spec.name!r} of node {source!r} answered"

    def write_for(answer: Any) -> Write | None:
        if isinstance(answer, Send):
            return targets.write(answer, said)
        mapped = _mapped(answer, ends)
        if mapped is not None:
            return targets.write(mapped, said)
        if answer is None or answer == END:
            return None
        if ends is not None:
            known = ", ".join(repr(key) for key in ends)
            raise InvalidUpdateError(f"{said} {answer!r}, which its map does not have; it knows {known}, and END")
        if answer == START:
            raise InvalidUpdateError(f"{said} START ({START!r}), to which nothing can go back; {targets.known()}")
        return targets.write(answer, said)

    def route(answer: Any) -> list[Write]:
        if not isinstance(answer, (list, tuple)):
            write = write_for(answer)
            return [] if write is None else [write]
        return [write for write in map(write_for, answer) if write is not None]

    return route


def _mapped(answer: Any, ends: Mapping[Hashable, str] | None) -> str | None:
    if not ends:
        return None
    try:
        return ends.get(answer)
    except TypeError:  # an unhashable answer is in no map
        return None
