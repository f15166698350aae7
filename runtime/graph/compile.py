"""From what was drawn to what the runtime runs: PregelNodes, channels, and what goes in and out.

Channel names are a data format, shared with every checkpoint ever stored: a state's keys as they
are, `__start__` for the input, `branch:to:NODE` for what wakes a node, `join:A+B:NODE` for what
wakes it when all of several nodes have run, `__pregel_tasks` for Sends.

Rule: everything that a task needs is worked out here, once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runtime._constants import ROOT, TASKS
from runtime.channels.base import BaseChannel
from runtime.channels.binop import BinaryOperatorAggregate
from runtime.channels.delta import DeltaChannel
from runtime.channels.ephemeral_value import EphemeralValue
from runtime.channels.last_value import LastValueAfterFinish
from runtime.channels.named_barrier_value import NamedBarrierValue, NamedBarrierValueAfterFinish
from runtime.channels.topic import Topic
from runtime.constants import END, START, TAG_HIDDEN
from runtime.graph.branch import router
from runtime.graph.schema import Field, Mapper, optional_mapper, whole
from runtime.graph.spec import DEFAULT_HANDLER, BranchSpec, GraphSpec, NodeSpec, branch_channel, join_channel
from runtime.graph.writes import Returned, ReturnedRoot, Targets, outputs
from runtime.pregel.body import Body
from runtime.pregel.embedded import graphs_in, is_graph
from runtime.pregel.model import Branch, PregelNode, Write
from runtime.types import RetryPolicy, Send


@dataclass(slots=True, kw_only=True)
class Compiled:
    """What a graph is made of, by the names of `Pregel`'s arguments."""

    nodes: dict[str, PregelNode]
    channels: dict[str, Field]
    input_channels: str
    output_channels: str | tuple[str, ...]
    stream_channels: str | tuple[str, ...]
    mappers: dict[Any, Mapper | None]


def compile_spec(spec: GraphSpec, name: str) -> Compiled:
    """The parts of a graph that `validate` had nothing to say against."""
    return _Compiler(spec, name).run()


class _Compiler:
    def __init__(self, spec: GraphSpec, name: str) -> None:
        self.spec = spec
        self.schemas = spec.schemas
        self.specs = _with_defaults(spec)
        self.targets = Targets(self.specs, name)
        self.mappers: dict[Any, Mapper | None] = {}
        self.edges = _edge_writes(spec)

    def run(self) -> Compiled:
        nodes = {START: self._start()}
        for key, node in self.specs.items():
            nodes[key] = self._node(node)
        return Compiled(
            nodes=nodes,
            channels=self._channels(),
            input_channels=START,
            output_channels=whole(self.schemas.channel_keys(self.spec.output_schema)),
            stream_channels=whole(tuple(self.schemas.channels)),
            mappers=self.mappers,
        )

    # --- channels -------------------------------------------------------------------------------

    def _channels(self) -> dict[str, Field]:
        channels: dict[str, Field] = {**self.schemas.channels, **self.schemas.managed}
        channels[START] = EphemeralValue(self.spec.input_schema)
        channels[TASKS] = Topic(Send, accumulate=False)
        for key, node in self.specs.items():
            channels[branch_channel(key)] = (
                LastValueAfterFinish(Any) if node.defer else EphemeralValue(Any, guard=False)
            )
        for starts, end in self.spec.joins:
            if end != END:
                barrier = NamedBarrierValueAfterFinish if self.specs[end].defer else NamedBarrierValue
                channels[join_channel(starts, end)] = barrier(str, set(starts))
        for key, channel in channels.items():
            if isinstance(channel, BaseChannel):
                channel.key = key
        return channels

    # --- nodes ----------------------------------------------------------------------------------

    def _start(self) -> PregelNode:
        keys = self.schemas.channel_keys(self.spec.input_schema)
        returned = self._returned("", keys, warns=False)
        return PregelNode(
            triggers=(START,),
            channels=START,
            outputs=outputs(returned, self.edges.get(START, ())),
            branches=self._branches(START, self.spec.state_schema),
            tags=(TAG_HIDDEN,),
        )

    def _node(self, node: NodeSpec) -> PregelNode:
        keys = self.schemas.keys(node.input_schema)
        inside = graphs_in(node.runnable.target)
        # What comes from a graph inside has that graph's keys, which need not be ours.
        returned = self._returned(
            node.name, tuple(self.schemas.channels), warns=not inside, inner=is_graph(node.runnable.target)
        )
        joins = (join_channel(starts, end) for starts, end in self.spec.joins if end == node.name)
        return PregelNode(
            triggers=(branch_channel(node.name), *joins),
            channels=whole(keys),
            bodies=(node.runnable,),
            mapper=self._mapper(node.input_schema),
            outputs=outputs(returned, self.edges.get(node.name, ())),
            branches=self._branches(node.name, node.input_schema),
            metadata=dict(node.metadata or {}),
            retry_policy=_policies(node.retry_policy),
            cache_policy=node.cache_policy,
            timeout=node.timeout,
            subgraphs=inside,
            error_handler=node.error_handler,
            handles_errors=node.handles_errors,
            trace_policy=node.trace_policy,
        )

    def _returned(self, node: str, keys: Sequence[str], *, warns: bool, inner: bool = False) -> Returned:
        kind: Callable[..., Returned] = ReturnedRoot if tuple(keys) == (ROOT,) else Returned
        return kind(
            node,
            keys,
            ignored=self.schemas.managed,
            targets=self.targets,
            warns=warns,
            reducers=self._reducers() if inner else frozenset(),
        )

    def _reducers(self) -> frozenset[str]:
        folding = (BinaryOperatorAggregate, DeltaChannel)
        return frozenset(key for key, channel in self.schemas.channels.items() if isinstance(channel, folding))

    def _mapper(self, schema: Any) -> Mapper | None:
        if schema not in self.mappers:
            self.mappers[schema] = optional_mapper(schema, self.schemas.keys(schema))
        return self.mappers[schema]

    def _branches(self, source: str, schema: Any) -> tuple[Branch, ...]:
        found = self.spec.branches.get(source, {})
        return tuple(self._branch(source, branch, branch.input_schema or schema) for branch in found.values())

    def _branch(self, source: str, branch: BranchSpec, schema: Any) -> Branch:
        return Branch(
            name=branch.name,
            router=branch.path,
            reads=self.schemas.reads(schema),
            mapper=self._mapper(schema),
            route=router(source, branch, self.targets),
            passes_on=branch.input_schema is None and self._mapper(schema) is None,
        )


def _edge_writes(spec: GraphSpec) -> dict[str, tuple[Write, ...]]:
    """What each node writes for its edges, whatever it returned."""
    found: dict[str, list[Write]] = {}
    for start, end in spec.edges:
        if end != END:
            found.setdefault(start, []).append((branch_channel(end), None))
    for starts, end in spec.joins:
        if end != END:
            for start in starts:
                found.setdefault(start, []).append((join_channel(starts, end), start))
    return {node: tuple(writes) for node, writes in found.items()}


def _with_defaults(spec: GraphSpec) -> Mapping[str, NodeSpec]:
    """The nodes with the graph's default policies where they have none of their own.

    Handlers take the default retries and timeout, but neither a cache, whose key would not tell one
    failure from another, nor a handler.
    """
    defaults = spec.defaults
    nodes = {name: _completed(node, spec) for name, node in spec.nodes.items()}
    if defaults.error_handler is not None:
        handler = NodeSpec(
            name=DEFAULT_HANDLER,
            runnable=Body(defaults.error_handler, DEFAULT_HANDLER),
            input_schema=spec.state_schema,
            handles_errors=True,
        )
        nodes[DEFAULT_HANDLER] = _completed(handler, spec)
    return nodes


def _completed(node: NodeSpec, spec: GraphSpec) -> NodeSpec:
    defaults = spec.defaults
    cache, handler = node.cache_policy, node.error_handler
    if not node.handles_errors:
        cache = cache if cache is not None else defaults.cache_policy
        if handler is None and defaults.error_handler is not None:
            handler = DEFAULT_HANDLER
    return NodeSpec(
        name=node.name,
        runnable=node.runnable,
        input_schema=node.input_schema,
        metadata=node.metadata,
        ends=node.ends,
        defer=node.defer,
        retry_policy=node.retry_policy if node.retry_policy is not None else defaults.retry_policy,
        cache_policy=cache,
        timeout=node.timeout if node.timeout is not None else defaults.timeout,
        trace_policy=node.trace_policy,
        error_handler=handler,
        handles_errors=node.handles_errors,
    )


def _policies(given: RetryPolicy | Sequence[RetryPolicy] | None) -> tuple[RetryPolicy, ...]:
    if given is None:
        return ()
    return (given,) if isinstance(given, RetryPolicy) else tuple(given)
