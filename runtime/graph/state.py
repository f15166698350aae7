"""StateGraph: the builder of graphs whose nodes share a state. CompiledStateGraph: what it builds.

Rule: the builder only notes what was said. What can be seen to be wrong on the spot (a name taken
twice, an edge out of END) is refused on the spot; the rest is reported, all of it, by `compile`.
"""

from __future__ import annotations

import logging
from collections.abc import Hashable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Generic, Self, cast

from langchain_core.runnables import RunnableConfig
from langgraph.cache.base import BaseCache
from langgraph.store.base import BaseStore

from runtime.constants import END, START
from runtime.graph.branch import branch_spec
from runtime.graph.compile import compile_spec
from runtime.graph.compiled import CompiledStateGraph
from runtime.graph.lint import Finding, findings
from runtime.graph.nodes import handler_spec, node_name, node_spec
from runtime.graph.older import refuse_rest, renamed
from runtime.graph.schema import channel_for as _get_channel  # where LangGraph's own tests look for it
from runtime.graph.spec import BranchSpec, GraphSpec, NodeSpec, RetryPolicies
from runtime.graph.stored import allow_stored
from runtime.graph.validate import name_complaint, named_stops, stops, validate
from runtime.types import All, CachePolicy, Checkpointer, TimeoutPolicy, TracePolicy, ensure_valid_checkpointer
from runtime.typing import ContextT, InputT, OutputT, StateT
from runtime.warnings import DeprecatedSince05, DeprecatedSince10

__all__ = ("CompiledStateGraph", "RunnableConfig", "StateGraph", "_get_channel")

logger = logging.getLogger(__name__)

Action = Any
"""A node: a function of the state, or a Runnable."""

Router = Any
"""A function of the state, plain or async, or a Runnable, that answers where to go."""


class StateGraph(Generic[StateT, ContextT, InputT, OutputT]):
    """A graph of nodes that read a shared state and return updates of it.

    Each key of the state may carry a reducer, `Annotated[list, operator.add]`, that folds the writes
    of a superstep into its value; without one a key takes one write per superstep.

    Args:
        state_schema: The state: a TypedDict, a dataclass or a Pydantic model; or any other type,
            for a state that is one value without keys.
        context_schema: What callers pass as `context=`, and nodes find in `runtime.context`.
        input_schema: What `invoke` takes, if that is not the whole state.
        output_schema: What `invoke` returns, if that is not the whole state.

    Raises:
        ValueError: an annotation ends in something that cannot be a reducer.

    Example:
        builder = StateGraph(State)
        builder.add_node("greet", greet)
        builder.add_edge(START, "greet")
        graph = builder.compile()
        graph.invoke({"name": "Ada"})
    """

    def __init__(
        self,
        state_schema: type[StateT],
        context_schema: type[ContextT] | None = None,
        *,
        input_schema: type[InputT] | None = None,
        output_schema: type[OutputT] | None = None,
        **deprecated: Any,
    ) -> None:
        context_schema = renamed(deprecated, "config_schema", "context_schema", context_schema, DeprecatedSince10)
        input_schema = renamed(deprecated, "input", "input_schema", input_schema, DeprecatedSince05)
        output_schema = renamed(deprecated, "output", "output_schema", output_schema, DeprecatedSince05)
        refuse_rest(deprecated, "StateGraph()")
        self.spec = GraphSpec(
            state_schema=state_schema,
            input_schema=input_schema or state_schema,
            output_schema=output_schema or state_schema,
            context_schema=context_schema,
        )
        self.compiled = False
        self.spec.schemas.add(self.spec.state_schema)
        self.spec.schemas.add(self.spec.input_schema, allow_managed=False)
        self.spec.schemas.add(self.spec.output_schema, allow_managed=False)

    # --- what was drawn -------------------------------------------------------------------------

    @property
    def nodes(self) -> dict[str, NodeSpec]:
        """The nodes by name."""
        return self.spec.nodes

    @property
    def edges(self) -> set[tuple[str, str]]:
        """The edges as (start, end), those that wait for several starts left out."""
        return set(self.spec.edges)

    @property
    def waiting_edges(self) -> set[tuple[tuple[str, ...], str]]:
        """The edges that wait for all of several starts, as (starts, end)."""
        return set(self.spec.joins)

    @property
    def branches(self) -> dict[str, dict[str, BranchSpec]]:
        """The conditional edges, by source and name."""
        return self.spec.branches

    @property
    def channels(self) -> dict[str, Any]:
        """The state's channels by key."""
        return self.spec.schemas.channels

    @property
    def managed(self) -> dict[str, Any]:
        """The managed values of the state by key."""
        return self.spec.schemas.managed

    @property
    def schemas(self) -> dict[Any, dict[str, Any]]:
        """For every schema in use its channels and managed values."""
        return self.spec.schemas.by_schema

    @property
    def state_schema(self) -> type[StateT]:
        """The schema of the state."""
        return cast("type[StateT]", self.spec.state_schema)

    @property
    def input_schema(self) -> type[InputT]:
        """The schema of the input."""
        return cast("type[InputT]", self.spec.input_schema)

    @property
    def output_schema(self) -> type[OutputT]:
        """The schema of the output."""
        return cast("type[OutputT]", self.spec.output_schema)

    @property
    def context_schema(self) -> type[ContextT] | None:
        """The schema of the context, if there is one."""
        return cast("type[ContextT] | None", self.spec.context_schema)

    # --- nodes ----------------------------------------------------------------------------------

    def set_node_defaults(
        self,
        *,
        retry_policy: RetryPolicies = None,
        cache_policy: CachePolicy[Any] | None = None,
        error_handler: Action | None = None,
        timeout: float | timedelta | TimeoutPolicy | None = None,
    ) -> Self:
        """Set policies for all nodes that have none of their own, whenever they are added.

        Error handlers take the retry policy and the timeout, not the cache and the handler. A graph
        that is a node of this one keeps its own.
        """
        defaults = self.spec.defaults
        defaults.retry_policy = retry_policy if retry_policy is not None else defaults.retry_policy
        defaults.cache_policy = cache_policy if cache_policy is not None else defaults.cache_policy
        defaults.error_handler = error_handler if error_handler is not None else defaults.error_handler
        defaults.timeout = TimeoutPolicy.coerce(timeout) if timeout is not None else defaults.timeout
        return self

    def add_node(  # noqa: PLR0913 - one keyword per thing that a node can have
        self,
        node: str | Action,
        action: Action | None = None,
        *,
        defer: bool = False,
        metadata: dict[str, Any] | None = None,
        input_schema: type[Any] | None = None,
        retry_policy: RetryPolicies = None,
        cache_policy: CachePolicy[Any] | None = None,
        error_handler: Action | None = None,
        destinations: Mapping[str, str] | Sequence[str] | None = None,
        timeout: float | timedelta | TimeoutPolicy | None = None,
        trace_policy: TracePolicy | None = None,
        **deprecated: Any,
    ) -> Self:
        """Add a node.

        Args:
            node: Its name; or the function or Runnable itself, whose name it then takes.
            action: The function or Runnable. A function is given the state and may ask, by parameter,
                for `config`, `runtime`, `store`, `writer` and `previous`.
            defer: Run it only when nothing else is left to run.
            metadata: For tracers and `stream_mode="messages"`.
            input_schema: What it reads; by default what its first parameter's annotation says, else
                the state. Its keys become part of the state.
            retry_policy: When and how often it is tried again; of several the first that fits.
            cache_policy: Keep its writes for inputs that it has seen.
            error_handler: Runs instead, in the same superstep, when it fails for good; may have a
                parameter annotated with `NodeError`.
            destinations: Where it may go by `Command(goto=...)`, for drawings: names, or names with
                labels. By default what a return annotation `Command[Literal[...]]` says.
            timeout: Seconds or a timedelta for each attempt, or a `TimeoutPolicy`.
            trace_policy: What its run shows to tracers.
            **deprecated: `retry` and `input`, the older names of `retry_policy` and `input_schema`.

        Raises:
            ValueError: the name is taken or reserved.
            TypeError: it is no function and no Runnable.
        """
        retry_policy = renamed(deprecated, "retry", "retry_policy", retry_policy, DeprecatedSince05)
        input_schema = renamed(deprecated, "input", "input_schema", input_schema, DeprecatedSince05)
        refuse_rest(deprecated, "add_node()")
        name, action = (node, action) if isinstance(node, str) else (node_name(node), node)
        if action is None:
            raise TypeError(f"add_node({name!r}) has a name and no node: pass the function or Runnable as well")
        self._check_new(name)
        spec = node_spec(
            name,
            action,
            state_schema=self.spec.state_schema,
            input_schema=input_schema,
            destinations=destinations,
        )
        spec.metadata, spec.defer, spec.trace_policy = metadata, defer, trace_policy
        spec.retry_policy, spec.cache_policy = retry_policy, cache_policy
        spec.timeout = TimeoutPolicy.coerce(timeout)
        self._note_change("node")
        self.spec.schemas.add(spec.input_schema)
        if error_handler is not None:
            handler = handler_spec(name, error_handler, spec.input_schema)
            self._check_new(handler.name, ours=True)
            self.spec.nodes[handler.name] = handler
            spec.error_handler = handler.name
        self.spec.nodes[name] = spec
        return self

    def _check_new(self, name: str, *, ours: bool = False) -> None:
        complaint = None if ours else name_complaint(name)
        if complaint is None and name in self.spec.nodes:
            complaint = f"Node `{name}` already present."
        if complaint is not None:
            raise ValueError(complaint)

    def _note_change(self, what: str) -> None:
        if self.compiled:
            logger.warning("a graph that was compiled before got a new %s; compile it again to take that in", what)

    # --- edges ----------------------------------------------------------------------------------

    def add_edge(self, start_key: str | Sequence[str], end_key: str) -> Self:
        """Run `end_key` after `start_key`; after *all* of them if several are given.

        Raises ValueError for an edge out of END or into START.
        """
        starts = (start_key,) if isinstance(start_key, str) else tuple(start_key)
        if not starts:
            raise ValueError(f"add_edge([], {end_key!r}) has no start: name the nodes to wait for")
        if END in starts:
            raise ValueError(f"END cannot be a start node, as in the edge to {end_key!r}")
        if end_key == START:
            raise ValueError(f"START cannot be an end node, as in the edge from {start_key!r}")
        self._note_change("edge")
        if isinstance(start_key, str):
            self.spec.edges[(start_key, end_key)] = None
        else:
            self.spec.joins[(starts, end_key)] = None
        return self

    def add_conditional_edges(
        self,
        source: str,
        path: Router,
        path_map: Mapping[Hashable, str] | Sequence[str] | None = None,
    ) -> Self:
        """Ask `path` where to go whenever `source` has run.

        Args:
            source: The node, or START.
            path: Is given the state with this node's own writes, and answers with a node's name, END, a
                `Send`, a list of those, or None to end the path here.
            path_map: What its answers mean, `{answer: node}`, or the list of the nodes that it may
                name. By default what its return annotation `Literal[...]` says, else any node.

        Raises:
            ValueError: the source has a conditional edge of this name already.
        """
        branch = branch_spec(path, path_map)
        known = self.spec.branches.setdefault(source, {})
        if branch.name in known:
            raise ValueError(
                f"Branch with name `{branch.name}` already exists for node `{source}`; give the second router "
                "another name"
            )
        self._note_change("conditional edge")
        known[branch.name] = branch
        if branch.input_schema is not None:
            self.spec.schemas.add(branch.input_schema)
        return self

    def add_sequence(self, nodes: Sequence[Action | tuple[str, Action]]) -> Self:
        """Add nodes with an edge from each to the next; a node may be given as (name, node).

        Raises ValueError if there are none, or a name is taken.
        """
        if not nodes:
            raise ValueError("Sequence requires at least one node.")
        previous: str | None = None
        for item in nodes:
            name, action = item if isinstance(item, tuple) and len(item) == 2 else (node_name(item), item)
            if name in self.spec.nodes:
                raise ValueError(
                    f"Node names must be unique: {name!r} is taken; give one of the two a name of its own, as in "
                    "add_sequence([('first', step), ('second', step)])"
                )
            self.add_node(name, action)
            if previous is not None:
                self.add_edge(previous, name)
            previous = name
        return self

    def set_entry_point(self, key: str) -> Self:
        """Begin with node `key`: an edge from START."""
        return self.add_edge(START, key)

    def set_conditional_entry_point(
        self, path: Router, path_map: Mapping[Hashable, str] | Sequence[str] | None = None
    ) -> Self:
        """Begin where `path` says: a conditional edge from START."""
        return self.add_conditional_edges(START, path, path_map)

    def set_finish_point(self, key: str) -> Self:
        """End after node `key`: an edge to END."""
        return self.add_edge(key, END)

    # --- checks and compilation -----------------------------------------------------------------

    def validate(self, interrupt: Sequence[str] | None = None) -> Self:
        """Check the drawing. Raises ValueError with all complaints at once."""
        validate(self.spec, interrupt or ())
        self.compiled = True
        return self

    def lint(self) -> list[Finding]:
        """What is allowed and still looks like a mistake, such as a node that nothing leads to."""
        return findings(self.spec)

    def compile(  # noqa: PLR0913 - one keyword per thing that a compiled graph can have
        self,
        checkpointer: Checkpointer = None,
        *,
        cache: BaseCache[Any] | None = None,
        store: BaseStore | None = None,
        interrupt_before: All | Sequence[str] | None = None,
        interrupt_after: All | Sequence[str] | None = None,
        debug: bool = False,
        name: str | None = None,
        transformers: Sequence[Any] | None = None,
    ) -> CompiledStateGraph[StateT, ContextT, InputT, OutputT]:
        """Make the graph that can be run. The builder can be changed and compiled again.

        Args:
            checkpointer: Where checkpoints are saved; runs then need a `thread_id` in their config. As
                a node of another graph: None uses that graph's, True does so with a memory that
                outlives the call, False saves nothing.
            cache: Where nodes with a cache policy keep their writes.
            store: Memory across threads, handed to nodes.
            interrupt_before: Nodes (or `"*"`) to stop before.
            interrupt_after: Nodes (or `"*"`) to stop after.
            debug: Print every step.
            name: The graph's name, in traces and messages.
            transformers: Taken, so that agent packages compile, and not used (see `runtime.stream`).

        Raises:
            ValueError: with all complaints about the drawing.
            TypeError: the checkpointer is none.
        """
        checkpointer = ensure_valid_checkpointer(checkpointer)
        before, after = stops(interrupt_before), stops(interrupt_after)
        self.validate([*named_stops(before), *named_stops(after)])
        return CompiledStateGraph.of(
            self,
            compile_spec(self.spec, name or "LangGraph"),
            checkpointer=allow_stored(self.spec, checkpointer),
            cache=cache,
            store=store,
            interrupt_before_nodes=before,
            interrupt_after_nodes=after,
            debug=debug,
            name=name or "LangGraph",
        )
