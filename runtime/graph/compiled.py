"""CompiledStateGraph: a graph that `StateGraph.compile` made, with what its builder knew."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Generic

from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel

from runtime.graph.arrows import arrows
from runtime.graph.compile import Compiled
from runtime.graph.jsonschema import json_schema, model_of
from runtime.graph.lint import Finding, findings
from runtime.graph.schema import Mapper, optional_mapper
from runtime.graph.spec import GraphSpec
from runtime.pregel.app import Pregel
from runtime.pregel.draw import Arrow
from runtime.pregel.model import listed
from runtime.typing import ContextT, InputT, OutputT, StateT

if TYPE_CHECKING:
    from runtime.graph.state import StateGraph


class CompiledStateGraph(Pregel[StateT, ContextT, InputT, OutputT], Generic[StateT, ContextT, InputT, OutputT]):
    """A runnable graph over a state.

    Attributes:
        builder: The StateGraph that it was compiled from; what was added to it since is not part of
            this graph.
        spec: The drawing as it was compiled.
        schema_to_mapper: For every schema that a node reads, what makes an instance of it; None for
            schemas whose instances are dicts.
        deferred: The nodes that wait until nothing else is left to run.
    """

    __module__ = "runtime.graph.state"

    builder: StateGraph[StateT, ContextT, InputT, OutputT]
    spec: GraphSpec
    schema_to_mapper: dict[Any, Mapper | None]
    deferred: frozenset[str]

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
        graph.spec = builder.spec.copy()
        graph.schema_to_mapper = parts.mappers
        graph.deferred = frozenset(name for name, node in builder.nodes.items() if node.defer)
        graph.output_mapper = optional_mapper(builder.output_schema, listed(parts.output_channels))
        graph.state_mapper = optional_mapper(builder.state_schema, listed(parts.stream_channels))
        return graph

    def arrows(self) -> Iterator[Arrow]:
        """Every declared way from node to node, for drawings."""
        return arrows(self.spec)

    def lint(self) -> list[Finding]:
        """What is allowed and still looks like a mistake, such as a node that nothing leads to."""
        return findings(self.spec)

    @property
    def InputType(self) -> Any:
        """The schema of the input."""
        return self.spec.input_schema

    @property
    def OutputType(self) -> Any:
        """The schema of the output."""
        return self.spec.output_schema

    def get_input_jsonschema(self, config: RunnableConfig | None = None) -> dict[str, Any]:
        """JSON schema of the input."""
        return json_schema(self.spec.input_schema, self.spec.schemas, self.get_name("Input"))

    def get_output_jsonschema(self, config: RunnableConfig | None = None) -> dict[str, Any]:
        """JSON schema of the output."""
        return json_schema(self.spec.output_schema, self.spec.schemas, self.get_name("Output"))

    def get_input_schema(self, config: RunnableConfig | None = None) -> type[BaseModel]:
        """The input as a Pydantic model."""
        return model_of(self.spec.input_schema, self.spec.schemas, self.get_name("Input"))

    def get_output_schema(self, config: RunnableConfig | None = None) -> type[BaseModel]:
        """The output as a Pydantic model."""
        return model_of(self.spec.output_schema, self.spec.schemas, self.get_name("Output"))
