"""CompiledStateGraph: a graph that `StateGraph.compile` made, with what its builder knew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic

from runtime.graph.compile import Compiled
from runtime.graph.lint import Finding, findings
from runtime.graph.schema import Mapper, optional_mapper
from runtime.pregel.app import Pregel
from runtime.pregel.model import listed
from runtime.typing import ContextT, InputT, OutputT, StateT

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langchain_core.runnables.graph import Graph

    from runtime.graph.state import StateGraph


class CompiledStateGraph(Pregel, Generic[StateT, ContextT, InputT, OutputT]):
    """A runnable graph over a state.

    Attributes:
        builder: The StateGraph that it was compiled from.
        schema_to_mapper: For every schema that a node reads, what makes an instance of it; None for
            schemas whose instances are dicts.
    """

    builder: StateGraph[StateT, ContextT, InputT, OutputT]
    schema_to_mapper: dict[Any, Mapper | None]

    @classmethod
    def of(
        cls, builder: StateGraph[StateT, ContextT, InputT, OutputT], parts: Compiled, **options: Any
    ) -> CompiledStateGraph[StateT, ContextT, InputT, OutputT]:
        """A graph from the parts that `compile_spec` made."""
        graph = cls(
            nodes=parts.nodes,
            channels=parts.channels,
            input_channels=parts.input_channels,
            output_channels=parts.output_channels,
            stream_channels=parts.stream_channels,
            stream_mode="updates",
            context_schema=builder.context_schema,
            **options,
        )
        graph.builder = builder
        graph.schema_to_mapper = parts.mappers
        graph.output_mapper = optional_mapper(builder.output_schema, listed(parts.output_channels))
        graph.state_mapper = optional_mapper(builder.state_schema, listed(parts.stream_channels))
        return graph
