"""What a node says about itself: its name, what it reads, and where it may go."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from typing import Any, Union, get_args, get_origin

from langchain_core.runnables import Runnable

from runtime.graph.branch import annotated_input, function_of, hints_of, literal_values
from runtime.graph.spec import HANDLER, NodeSpec
from runtime.pregel.body import Body
from runtime.types import Command, Send

_UNIONS = (Union, types.UnionType)


def node_name(action: Any) -> str:
    """The name that a node takes when it is given none.

    Raises TypeError for what cannot be a node.
    """
    if isinstance(action, Runnable):
        return action.get_name()
    name = getattr(action, "__name__", None)
    if isinstance(name, str):
        return name
    if callable(action):
        return type(action).__name__
    raise TypeError(f"a node has to be a function, a callable object or a Runnable; got {action!r}")


def node_spec(
    name: str,
    action: Any,
    *,
    state_schema: Any,
    input_schema: Any = None,
    destinations: Mapping[str, str] | Sequence[str] | None = None,
) -> NodeSpec:
    """A node, with what its annotations say where nothing was said otherwise."""
    function = function_of(action)
    ends: Mapping[str, str] | tuple[str, ...]
    if destinations is None:
        ends = command_targets(hints_of(function).get("return"))
    else:
        ends = dict(destinations) if isinstance(destinations, Mapping) else tuple(destinations)
    reads = input_schema if input_schema is not None else annotated_input(function)
    return NodeSpec(
        name=name,
        runnable=Body(action, name),
        input_schema=state_schema if reads is None else reads,
        ends=ends,
    )


def handler_spec(node: str, action: Any, input_schema: Any) -> NodeSpec:
    """The node that handles another one's errors; it reads what that one reads."""
    name = HANDLER.format(node)
    return NodeSpec(
        name=name,
        runnable=Body(action, name),
        input_schema=input_schema,
        ends=command_targets(hints_of(function_of(action)).get("return")),
        handles_errors=True,
    )


def command_targets(hint: Any) -> tuple[str, ...]:
    """The nodes that a return annotation names: `Command[Literal[...]]`, also as part of a union."""
    if get_origin(hint) in _UNIONS:
        return tuple(dict.fromkeys(target for part in get_args(hint) for target in command_targets(part)))
    if get_origin(hint) is Command:
        args = get_args(hint)
        return tuple(str(value) for value in literal_values(args[0])) if args else ()
    return ()


def returns_commands(hint: Any) -> bool:
    """Whether a return annotation allows for a Command or a Send, also in a list or a union."""
    if hint is Any or hint in (Command, Send) or get_origin(hint) is Command:
        return True
    return any(returns_commands(part) for part in get_args(hint))
