"""The graphs that a node runs or can reach: for `get_subgraphs` and drawings, not for running.

A graph is found if it is the node itself, a part of a sequence, captured by the node's function, or
reached from it by a path of attributes that its code loads (`module.graph`, `holder.inner.graph`).
What sits in a list, behind `self`, or is only named by a function defined inside is not looked for.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Iterator
from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from langchain_core.runnables import Runnable, RunnableLambda, RunnableParallel, RunnableSequence

from runtime._typing import MISSING
from runtime.pregel.described import Described

_LOADS_GLOBAL = frozenset({"LOAD_GLOBAL", "LOAD_NAME"})
_LOADS_CAPTURED = frozenset({"LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"})
_LOADS_ATTRIBUTE = frozenset({"LOAD_ATTR", "LOAD_METHOD"})

# Values of these hold no graph under an attribute.
_LEAVES = (str, bytes, int, float, complex, bool, type(None), FunctionType, type(len))
_CONTAINERS = frozenset({list, tuple, dict, set, frozenset})


def is_graph(value: Any) -> bool:
    """Whether a value is a compiled graph."""
    return isinstance(value, Described)


def graphs_in(target: Any) -> tuple[Any, ...]:
    """The graphs that a node's function or Runnable can be seen to use, each once."""
    found: list[Any] = []
    for graph in _search(target, 0):
        if not any(graph is known for known in found):
            found.append(graph)
    return tuple(found)


def _search(target: Any, depth: int) -> Iterator[Any]:
    if depth > 8:  # wrappers around wrappers; a cycle of them would have no end
        return
    if is_graph(target):
        yield target
        return
    for part in _parts(target):
        yield from _search(part, depth + 1)
    function = target.__func__ if isinstance(target, MethodType) else target
    if isinstance(function, FunctionType):
        yield from filter(is_graph, _reached(function))


def _parts(target: Any) -> Iterator[Any]:
    """What a composite is made of."""
    if isinstance(target, dict):
        yield from target.values()
    elif isinstance(target, RunnableSequence):
        yield from target.steps
    elif isinstance(target, RunnableParallel):
        yield from target.steps__.values()
    elif isinstance(target, RunnableLambda):
        yield getattr(target, "func", None) or getattr(target, "afunc", None)
    elif isinstance(target, Runnable):
        yield from (vars(target).get(name) for name in ("func", "afunc", "bound") if vars(target).get(name) is not None)
    elif isinstance(target, partial):
        yield target.func
    elif isinstance(target, FunctionType):
        wrapped = getattr(target, "__wrapped__", None)
        if wrapped is not None:
            yield wrapped
    elif not isinstance(target, type) and inspect.isroutine(getattr(type(target), "__call__", None)):  # noqa: B004
        yield getattr(type(target), "__call__", None)  # noqa: B004 - an object that is called as a function


def _reached(function: FunctionType) -> Iterator[Any]:
    captured = _captured(function)
    yield from captured.values()
    code, scope = function.__code__, function.__globals__
    if any(_may_hold(value) for value in captured.values()) or any(_may_hold(scope.get(n)) for n in code.co_names):
        yield from _paths(code, captured, scope)
        for inner in _codes_inside(code):
            yield from _paths(inner, captured, {})


def _captured(function: FunctionType) -> dict[str, Any]:
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # a variable that was not assigned yet
            continue
    return found


def _may_hold(value: Any) -> bool:
    return not isinstance(value, _LEAVES) and type(value) not in _CONTAINERS


def _codes_inside(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes_inside(constant)


def _paths(code: CodeType, captured: dict[str, Any], scope: dict[str, Any]) -> Iterator[Any]:
    """The value of every global or captured name that the code loads, and of attributes from there on."""
    value: Any = MISSING
    for instruction in dis.get_instructions(code):
        if instruction.opname in _LOADS_GLOBAL:
            value = scope.get(instruction.argval, MISSING)
        elif instruction.opname in _LOADS_CAPTURED:
            value = captured.get(instruction.argval, MISSING)
        elif instruction.opname in _LOADS_ATTRIBUTE:
            value = _attribute(value, instruction.argval)
        elif instruction.opname in ("CACHE", "PRECALL", "PUSH_NULL", "EXTENDED_ARG"):
            continue
        else:
            value = MISSING
        if value is not MISSING:
            yield value


def _attribute(value: Any, name: str) -> Any:
    """An attribute that is simply there: no property or `__getattr__` is run for the sake of a drawing."""
    if value is MISSING or not _may_hold(value):
        return MISSING
    if isinstance(value, ModuleType):
        return vars(value).get(name, MISSING)
    return inspect.getattr_static(value, name, MISSING)
