"""What a user has drawn, as plain data: nodes, edges, joins, branches.

Rule: nothing here is checked. `validate` complains about a spec as a whole, `compile` turns it into
what the runtime runs, `draw` and `lint` show it; the builder only fills it in.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from runtime.graph.schema import Schemas
from runtime.pregel.body import Body
from runtime.types import CachePolicy, RetryPolicy, TimeoutPolicy, TracePolicy

RetryPolicies = RetryPolicy | Sequence[RetryPolicy] | None

HANDLER = "__error_handler__{}"
"""Name of the node that handles the errors of one node."""

DEFAULT_HANDLER = "__default_error_handler__"
"""Name of the node that handles the errors of every node without a handler of its own."""


@dataclass(slots=True, kw_only=True)
class NodeSpec:
    """A node as it was added.

    Attributes:
        runnable: The function, callable object or Runnable, read for what its signature asks for.
        input_schema: What it reads.
        ends: Where it says it may go by `Command(goto=...)`: names, or names with edge labels.
        defer: Whether it waits until nothing else is left to run.
        error_handler: Its handler's node, if it has one.
        handles_errors: Whether it is such a handler itself.
    """

    name: str
    runnable: Body
    input_schema: Any
    metadata: Mapping[str, Any] | None = None
    ends: tuple[str, ...] | Mapping[str, str] = ()
    defer: bool = False
    retry_policy: RetryPolicies = None
    cache_policy: CachePolicy[Any] | None = None
    timeout: TimeoutPolicy | None = None
    trace_policy: TracePolicy | None = None
    error_handler: str | None = None
    handles_errors: bool = False


@dataclass(slots=True, kw_only=True)
class BranchSpec:
    """A conditional edge as it was added.

    Attributes:
        path: The router.
        ends: From what the router may answer to the node that means; None if anything goes.
        input_schema: What the router's annotation says that it reads; None for what its node reads.
    """

    name: str
    path: Body
    ends: dict[Hashable, str] | None
    input_schema: Any = None


@dataclass(slots=True)
class NodeDefaults:
    """Policies for the nodes that have none of their own."""

    retry_policy: RetryPolicies = None
    cache_policy: CachePolicy[Any] | None = None
    error_handler: Callable[..., Any] | None = None
    timeout: TimeoutPolicy | None = None


@dataclass(slots=True, kw_only=True)
class GraphSpec:
    """A graph as it was drawn. Dicts with None as values are sets that keep their order."""

    state_schema: Any
    input_schema: Any
    output_schema: Any
    context_schema: Any = None
    schemas: Schemas = field(default_factory=Schemas)
    nodes: dict[str, NodeSpec] = field(default_factory=dict)
    edges: dict[tuple[str, str], None] = field(default_factory=dict)
    joins: dict[tuple[tuple[str, ...], str], None] = field(default_factory=dict)
    branches: dict[str, dict[str, BranchSpec]] = field(default_factory=dict)
    defaults: NodeDefaults = field(default_factory=NodeDefaults)

    def copy(self) -> GraphSpec:
        """The drawing as it is now, whatever is added to this one later."""
        return replace(
            self,
            schemas=self.schemas.copy(),
            nodes=dict(self.nodes),
            edges=dict(self.edges),
            joins=dict(self.joins),
            branches={source: dict(found) for source, found in self.branches.items()},
            defaults=replace(self.defaults),
        )

    def all_edges(self) -> list[tuple[str, str]]:
        """Every edge, joins taken apart."""
        joined = [(start, end) for starts, end in self.joins for start in starts]
        return [*self.edges, *joined]


def branch_channel(node: str) -> str:
    """The channel that wakes a node."""
    return f"branch:to:{node}"


def join_channel(starts: Sequence[str], end: str) -> str:
    """The channel that wakes `end` when all of `starts` have run."""
    return f"join:{'+'.join(starts)}:{end}"
