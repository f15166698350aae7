"""`Pregel`: a compiled graph, as callers see it.

It holds what was compiled and forwards: runs go to the loop by way of `runs`, looking and editing to their
programs by way of a driver. The blocking and the awaiting methods differ in the driver alone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, Generic

from langchain_core.runnables import Runnable, RunnableConfig
from typing_extensions import TypeVar

from runtime.pregel import runs
from runtime.pregel.debugging import Debugging
from runtime.pregel.described import Described
from runtime.pregel.model import PregelNode, Topology
from runtime.pregel.parse import merge
from runtime.types import All, Durability, StateSnapshot, StateUpdate, StreamMode, ensure_valid_checkpointer

# Any by default, so that a Pregel made of channels and nodes needs no types.
StateT = TypeVar("StateT", default=Any)
ContextT = TypeVar("ContextT", default=Any)
InputT = TypeVar("InputT", default=Any)
OutputT = TypeVar("OutputT", default=Any)


class Pregel(Described, Debugging, Runnable[Any, Any], Generic[StateT, ContextT, InputT, OutputT]):
    """Nodes and channels, run in supersteps.

    Args:
        nodes: Nodes by name (see `NodeBuilder`).
        channels: Channels and managed values by name.
        input_channels: Where the input is written: one channel's name, or several.
        output_channels: What a run gives back.
        stream_channels: What the state shows; all channels by default.
        stream_mode: How `stream` reports when the call does not say.
        interrupt_before_nodes: Nodes (or `"*"`) to stop before.
        interrupt_after_nodes: Nodes (or `"*"`) to stop after.
        step_timeout: Seconds that a superstep may take.
        checkpointer: A saver; True, False or None for a graph inside another (see `Checkpointer`).
        store: Memory across threads, handed to nodes.
        cache: Where cached writes of nodes go.
        retry_policy: For nodes without one of their own.
        cache_policy: For nodes without one of their own.
        context_schema: The type of `context`.
        config: Laid under every call's config.
        name: The graph's name.
        executor: Any `concurrent.futures.Executor` for the tasks of a superstep; threads by default.

    Raises:
        ValueError: A name that is used but not defined; all complaints at once.
    """

    def __init__(
        self,
        *,
        nodes: Mapping[str, Any],
        channels: Mapping[str, Any] | None,
        input_channels: str | Sequence[str],
        output_channels: str | Sequence[str],
        auto_validate: bool = True,
        stream_mode: StreamMode = "values",
        stream_eager: bool = False,
        stream_channels: str | Sequence[str] | None = None,
        interrupt_after_nodes: All | Sequence[str] = (),
        interrupt_before_nodes: All | Sequence[str] = (),
        step_timeout: float | None = None,
        debug: bool | None = None,
        checkpointer: Any = None,
        store: Any = None,
        cache: Any = None,
        retry_policy: Any = (),
        cache_policy: Any = None,
        context_schema: Any = None,
        config: RunnableConfig | None = None,
        name: str = "LangGraph",
        executor: Any = None,
    ) -> None:
        from runtime._constants import TASKS
        from runtime.channels import Topic
        from runtime.types import RetryPolicy, Send

        self.name = name
        built = {key: node.build() if hasattr(node, "build") else node for key, node in nodes.items()}
        specs = {**(channels or {})}
        if TASKS not in specs:
            specs[TASKS] = Topic(Send, accumulate=False)
        self.topology = Topology(
            name=name,
            nodes=built,
            channels=specs,
            input_channels=input_channels,
            output_channels=output_channels,
            stream_channels=stream_channels,
        )
        self.channels = specs
        self.input_channels = input_channels
        self.output_channels = output_channels
        self.stream_channels = stream_channels
        self.stream_mode = stream_mode
        self.stream_eager = stream_eager
        self.interrupt_after_nodes = interrupt_after_nodes
        self.interrupt_before_nodes = interrupt_before_nodes
        self.step_timeout = step_timeout
        self.debug = bool(debug)
        self.checkpointer = ensure_valid_checkpointer(checkpointer)
        self.store = store
        self.cache = cache
        self.retry_policy = (retry_policy,) if isinstance(retry_policy, RetryPolicy) else tuple(retry_policy or ())
        self.cache_policy = cache_policy
        self.context_schema = context_schema
        self.config = config
        self.executor = executor
        if auto_validate:
            self.validate()

    @property
    def nodes(self) -> dict[str, PregelNode]:
        """The graph's nodes by name."""
        return self.topology.nodes

    # --- running --------------------------------------------------------------------------------

    def invoke(
        self,
        input: Any,
        config: RunnableConfig | None = None,
        *,
        stream_mode: StreamMode | Sequence[StreamMode] = "values",
        **options: Any,
    ) -> Any:
        """Run to the end or to a pause, and return the state.

        Args:
            input: The input; None goes on from where the thread stands; a `Command` answers or redirects.
            config: Names the thread (`configurable.thread_id`), and a checkpoint to go on from.
            stream_mode: With any mode but "values" the list of what would be streamed is returned.
            **options: As for `stream`.

        Returns:
            What the output channels hold; with `__interrupt__` where a node asked something.
        """
        return runs.invoke(self, input, config, stream_mode=stream_mode, **options)

    async def ainvoke(
        self,
        input: Any,
        config: RunnableConfig | None = None,
        *,
        stream_mode: StreamMode | Sequence[StreamMode] = "values",
        **options: Any,
    ) -> Any:
        """As `invoke`, awaiting."""
        return await runs.ainvoke(self, input, config, stream_mode=stream_mode, **options)

    def stream(  # type: ignore[override]  # LangGraph's signature, with its options named
        self,
        input: Any,
        config: RunnableConfig | None = None,
        *,
        context: Any = None,
        stream_mode: StreamMode | Sequence[StreamMode] | None = None,
        print_mode: StreamMode | Sequence[StreamMode] = (),
        output_keys: str | Sequence[str] | None = None,
        interrupt_before: All | Sequence[str] | None = None,
        interrupt_after: All | Sequence[str] | None = None,
        durability: Durability | None = None,
        control: Any = None,
        subgraphs: bool = False,
        debug: bool | None = None,
        version: str = "v1",
        **deprecated: Any,
    ) -> Iterator[Any]:
        """Run, and yield what happens while it does.

        Args:
            input: As for `invoke`.
            config: As for `invoke`.
            context: What nodes find in `runtime.context`.
            stream_mode: One mode, or several; then chunks are `(mode, chunk)`.
            print_mode: Modes to print as well.
            output_keys: What "values" and "updates" show, instead of the graph's own choice.
            interrupt_before: Nodes (or `"*"`) to stop before, in this call.
            interrupt_after: Nodes (or `"*"`) to stop after, in this call.
            durability: When checkpoints are saved: "sync", "async" (default) or "exit".
            control: A `RunControl`, to drain the run from outside.
            subgraphs: Whether runs inside are reported; then chunks begin with their namespace.
            debug: Print every step.
            version: "v1", or "v2" for chunks that are dicts with `type`, `ns` and `data`.
            **deprecated: Older names of options.

        Yields:
            Chunks. Closing the iterator stops the run after what is running now.
        """
        options = runs.Options.read(self, locals())
        yield from runs.stream(self, input, config, options)

    async def astream(  # type: ignore[override]  # as `stream`
        self,
        input: Any,
        config: RunnableConfig | None = None,
        *,
        context: Any = None,
        stream_mode: StreamMode | Sequence[StreamMode] | None = None,
        print_mode: StreamMode | Sequence[StreamMode] = (),
        output_keys: str | Sequence[str] | None = None,
        interrupt_before: All | Sequence[str] | None = None,
        interrupt_after: All | Sequence[str] | None = None,
        durability: Durability | None = None,
        control: Any = None,
        subgraphs: bool = False,
        debug: bool | None = None,
        version: str = "v1",
        **deprecated: Any,
    ) -> AsyncIterator[Any]:
        """As `stream`, awaiting."""
        options = runs.Options.read(self, locals())
        chunks = runs.astream(self, input, config, options)
        try:
            async for chunk in chunks:
                yield chunk
        finally:
            await chunks.aclose()

    # --- looking and editing --------------------------------------------------------------------

    def get_state(self, config: RunnableConfig, *, subgraphs: bool = False) -> StateSnapshot:
        """The state of a thread: at its head, or at the checkpoint that the config names.

        Raises:
            ValueError: there is no checkpointer, or the thread has no such checkpoint.
        """
        return runs.look(self, config, subgraphs)

    async def aget_state(self, config: RunnableConfig, *, subgraphs: bool = False) -> StateSnapshot:
        """As `get_state`, awaiting."""
        return await runs.alook(self, config, subgraphs)

    def get_state_history(
        self,
        config: RunnableConfig,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[StateSnapshot]:
        """The checkpoints of a thread, newest first; `filter` compares metadata."""
        yield from runs.history(self, config, filter, before, limit)

    async def aget_state_history(
        self,
        config: RunnableConfig,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[StateSnapshot]:
        """As `get_state_history`, awaiting."""
        async for snapshot in runs.ahistory(self, config, filter, before, limit):
            yield snapshot

    def update_state(
        self,
        config: RunnableConfig,
        values: dict[str, Any] | Any | None,
        as_node: str | None = None,
        task_id: str | None = None,
    ) -> RunnableConfig:
        """Make a new checkpoint as if a node had just returned `values`. Runs no node.

        Args:
            config: Names the thread, and the checkpoint to edit; the newest one if it names none.
            values: What the node would have returned.
            as_node: The node whose writers and edges are used; by default the one that wrote last.
            task_id: Record the writes under this task.

        Returns:
            The config of the new checkpoint.

        Raises:
            InvalidUpdateError: it is not clear which node, or a channel refuses the values.
        """
        return self.bulk_update_state(config, [[StateUpdate(values, as_node, task_id)]])

    async def aupdate_state(
        self,
        config: RunnableConfig,
        values: dict[str, Any] | Any | None,
        as_node: str | None = None,
        task_id: str | None = None,
    ) -> RunnableConfig:
        """As `update_state`, awaiting."""
        return await self.abulk_update_state(config, [[StateUpdate(values, as_node, task_id)]])

    def bulk_update_state(self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]) -> RunnableConfig:
        """Several edits in a row, one checkpoint for each superstep of them."""
        return runs.edit(self, config, supersteps)

    async def abulk_update_state(
        self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]
    ) -> RunnableConfig:
        """As `bulk_update_state`, awaiting."""
        return await runs.aedit(self, config, supersteps)

    # --- the rest -------------------------------------------------------------------------------

    def with_config(self, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """A copy of the graph with a config laid under every call's."""
        return self.copy({"config": merge(self.config, config, kwargs)})  # type: ignore[arg-type]

    def copy(self, update: Mapping[str, Any] | None = None) -> Any:
        """A copy of the graph, with some attributes changed."""
        twin = object.__new__(type(self))
        twin.__dict__ = {**self.__dict__, **(update or {})}
        return twin

    def clear_cache(self, nodes: Sequence[str] | None = None) -> None:
        """Forget cached writes of some nodes, or of all. Raises ValueError if there is no cache."""
        runs.cache_of(self).clear(runs.cache_namespaces(self, nodes))

    async def aclear_cache(self, nodes: Sequence[str] | None = None) -> None:
        """As `clear_cache`, awaiting."""
        await runs.cache_of(self).aclear(runs.cache_namespaces(self, nodes))
