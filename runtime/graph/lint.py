"""What is allowed in a drawing and still looks like a mistake.

Rule: a finding is never an error. A router without a map may lead anywhere, and so may a node that
returns commands without saying where to; where either could be the way, nothing is said. A node
counts as one that returns commands if its annotation says so or, without one, if its own code names
`Command`, `Send` or `goto`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from runtime.constants import END, START
from runtime.graph.arrows import arrows
from runtime.graph.branch import function_of, hints_of
from runtime.graph.nodes import returns_commands
from runtime.graph.spec import GraphSpec

Rule = Literal["unreachable", "no-way-out", "dead-join"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that looks like a mistake.

    `rule` names the kind; `node` is the node it is about; `message` says what and why.
    """

    rule: Rule
    node: str
    message: str

    def __str__(self) -> str:
        return self.message


def findings(spec: GraphSpec) -> list[Finding]:
    """Every finding, in the order in which the nodes were added.

    - `unreachable`: no declared way leads from START to the node.
    - `no-way-out`: the node is in a circle that no declared way leaves.
    - `dead-join`: an edge waits for all of several nodes, and nothing leads to some of them.
    """
    ways = _Ways(spec)
    return [*_unreachable(ways), *_circles(ways), *_joins(ways)]


class _Ways:
    """The declared ways of a graph, and the nodes from which anything may be reached."""

    def __init__(self, spec: GraphSpec) -> None:
        self.spec = spec
        self.onward: dict[str, set[str]] = {name: set() for name in (START, *spec.nodes)}
        for arrow in arrows(spec):
            self.onward.setdefault(arrow.source, set()).add(arrow.target)
        self.open = {
            source for source, branches in spec.branches.items() if any(b.ends is None for b in branches.values())
        }
        self.open |= {name for name, node in spec.nodes.items() if not node.ends and may_command(node.runnable.target)}
        self.reached = reachable(START, self.onward)

    @property
    def anything_goes(self) -> bool:
        """Whether a node that is reached may lead to any other."""
        return bool(self.open & self.reached)

    def nodes(self) -> Iterator[str]:
        """The nodes that somebody drew; error handlers are run by the nodes that they belong to."""
        return (name for name, node in self.spec.nodes.items() if not node.handles_errors)


def may_command(target: object) -> bool:
    """Whether a node may return a Command or a Send, as far as its annotation or its code shows."""
    function = function_of(target)
    hint = hints_of(function).get("return")
    if hint is not None:
        return returns_commands(hint)
    names = getattr(getattr(function, "__code__", None), "co_names", None)
    return names is None or "Command" in names or "Send" in names or "goto" in names


def reachable(start: str, onward: Mapping[str, Iterable[str]]) -> set[str]:
    """Every node that a path from `start` reaches, itself included."""
    seen, todo = {start}, [start]
    while todo:
        for target in onward.get(todo.pop(), ()):
            if target not in seen:
                seen.add(target)
                todo.append(target)
    return seen


def _unreachable(ways: _Ways) -> Iterator[Finding]:
    if ways.anything_goes:
        return
    for name in ways.nodes():
        if name not in ways.reached:
            yield Finding(
                "unreachable",
                name,
                f"nothing leads to node {name!r}: no edge, no mapped conditional edge and no declared command "
                "reaches it from START",
            )


def _circles(ways: _Ways) -> Iterator[Finding]:
    for name in ways.nodes():
        if name not in ways.reached:
            continue
        ahead = reachable(name, ways.onward)
        if ahead & ways.open or END in ahead or any(not ways.onward.get(node) for node in ahead):
            continue
        circle = ", ".join(repr(node) for node in ways.spec.nodes if node in ahead)
        yield Finding(
            "no-way-out",
            name,
            f"no way leads from node {name!r} to END: it can only go round among {circle} until the recursion limit "
            "stops it",
        )


def _joins(ways: _Ways) -> Iterator[Finding]:
    for starts, end in ways.spec.joins:
        names = ", ".join(repr(start) for start in starts)
        missing = [start for start in starts if start not in ways.reached]
        if missing and not ways.anything_goes:
            never = ", ".join(repr(start) for start in missing)
            yield Finding("dead-join", end, f"node {end!r} waits for all of {names}, and nothing leads to {never}")
