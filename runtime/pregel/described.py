"""What a compiled graph can say about itself: its schemas, its drawing, its subgraphs, its faults."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast, get_type_hints
from warnings import warn

from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel, ConfigDict, RootModel, TypeAdapter, create_model

from runtime._constants import NS_SEP, RESERVED
from runtime.pregel.model import PregelNode, Topology, listed
from runtime.warnings import DeprecatedSince10

if TYPE_CHECKING:
    from langchain_core.runnables.graph import Graph


class Described:
    """The part of `Pregel` that describes and runs nothing."""

    topology: Topology
    name: str | None
    config: RunnableConfig | None
    context_schema: Any
    stream_channels: Any
    interrupt_before_nodes: Any
    interrupt_after_nodes: Any
    output_mapper: Callable[[Any], Any] | None = None
    state_mapper: Callable[[Any], Any] | None = None

    def get_name(self, suffix: str | None = None, *, name: str | None = None) -> str:
        """The graph's name, in traces and messages."""
        return (name or self.name or type(self).__name__) + (suffix or "")

    @property
    def stream_channels_list(self) -> Sequence[str]:
        """The channels that the state shows, as a list."""
        return list(listed(self.topology.stream_channels))

    @property
    def stream_channels_asis(self) -> str | Sequence[str]:
        """The channels that the state shows: one name, or several."""
        return self.topology.stream_channels

    def coerce_context(self, context: Any) -> Any:
        """`context` as an instance of the context schema, where it was given as a dict."""
        schema = self.context_schema
        if schema is None or not isinstance(context, dict) or not isinstance(schema, type):
            return context
        if hasattr(schema, "__pydantic_fields__") or hasattr(schema, "__dataclass_fields__"):
            return schema(**context)
        return context

    # --- subgraphs ------------------------------------------------------------------------------

    @property
    def subgraphs_by_node(self) -> Mapping[str, Any]:
        """The subgraph of each node that has one: the node itself, or a graph that it calls."""
        return dict(self.get_subgraphs())

    def get_subgraphs(self, *, namespace: str | None = None, recurse: bool = False) -> Iterator[tuple[str, Any]]:
        """Subgraphs with their namespace of node names, `outer|inner`.

        Args:
            namespace: Only the one at this path.
            recurse: Those inside subgraphs as well.
        """
        for name, node in self.topology.nodes.items():
            if namespace is not None and namespace != name and not namespace.startswith(f"{name}{NS_SEP}"):
                continue
            found = first_graph(node)
            if found is None:
                continue
            if namespace is None or name == namespace:
                yield name, found
                if name == namespace:
                    return
            if recurse:
                inner = None if namespace is None else namespace[len(name) + 1 :]
                for path, graph in found.get_subgraphs(namespace=inner, recurse=True):
                    yield f"{name}{NS_SEP}{path}", graph

    async def aget_subgraphs(
        self, *, namespace: str | None = None, recurse: bool = False
    ) -> AsyncIterator[tuple[str, Any]]:
        """As `get_subgraphs`, awaiting."""
        for item in self.get_subgraphs(namespace=namespace, recurse=recurse):
            yield item

    # --- drawing --------------------------------------------------------------------------------

    def get_graph(self, config: RunnableConfig | None = None, *, xray: int | bool = False) -> Graph:
        """The graph as langchain-core draws it (`draw_mermaid`, `draw_ascii`, `draw_png`).

        Args:
            config: Not used; there because every Runnable has it.
            xray: Draw subgraphs open; a number says how deep.
        """
        from runtime.pregel.draw import draw

        return draw(self, xray)

    async def aget_graph(self, config: RunnableConfig | None = None, *, xray: int | bool = False) -> Graph:
        """As `get_graph`, awaiting."""
        return self.get_graph(config, xray=xray)

    # --- schemas --------------------------------------------------------------------------------

    def get_input_jsonschema(self, config: RunnableConfig | None = None) -> dict[str, Any]:
        """JSON schema of the input."""
        return _json_schema(self.get_input_schema(config))

    def get_output_jsonschema(self, config: RunnableConfig | None = None) -> dict[str, Any]:
        """JSON schema of the output."""
        return _json_schema(self.get_output_schema(config))

    def get_context_jsonschema(self) -> dict[str, Any] | None:
        """JSON schema of the context, or None if the graph declares none."""
        return None if self.context_schema is None else TypeAdapter(self.context_schema).json_schema()

    def get_input_schema(self, config: RunnableConfig | None = None) -> type[BaseModel]:
        """The input as a Pydantic model."""
        return self._schema_of(self.topology.input_channels, "Input", "UpdateType")

    def get_output_schema(self, config: RunnableConfig | None = None) -> type[BaseModel]:
        """The output as a Pydantic model."""
        return self._schema_of(self.topology.output_channels, "Output", "ValueType")

    @property
    def InputType(self) -> Any:
        """The type of the input: its channel's, or a model of its channels."""
        channels = self.topology.input_channels
        known = self.topology.channels
        return known[channels].UpdateType if isinstance(channels, str) else self.get_input_schema()

    @property
    def OutputType(self) -> Any:
        """The type of the output, likewise."""
        channels = self.topology.output_channels
        known = self.topology.channels
        return known[channels].ValueType if isinstance(channels, str) else self.get_output_schema()

    def config_schema(self, *, include: Sequence[str] | None = None) -> type[BaseModel]:
        """The config's keys as a Pydantic model. Deprecated: see `get_context_jsonschema`."""
        _warn_of_config("config_schema")
        return self._config_model(include)

    def get_config_jsonschema(self, *, include: Sequence[str] | None = None) -> dict[str, Any]:
        """JSON schema of the config. Deprecated: see `get_context_jsonschema`."""
        _warn_of_config("get_config_jsonschema")
        return self._config_model(include).model_json_schema()

    def _config_model(self, include: Sequence[str] | None) -> type[BaseModel]:
        known = get_type_hints(RunnableConfig)
        fields: dict[str, Any] = {key: (known[key], None) for key in include or () if key in known}
        fields.pop("configurable", None)
        if self.context_schema is not None:
            fields["configurable"] = (self.context_schema, None)
        return create_model(self.get_name("Config"), __config__=ConfigDict(arbitrary_types_allowed=True), **fields)

    def _schema_of(self, channels: str | Sequence[str], suffix: str, kind: str) -> type[BaseModel]:
        known = self.topology.channels
        if isinstance(channels, str):
            # Subscripted at run time: the type is the channel's.
            model = RootModel.__class_getitem__(getattr(known[channels], kind))
            return type(self.get_name(suffix), (cast("type[BaseModel]", model),), {"__module__": __name__})
        fields: dict[str, Any] = {name: (getattr(known[name], kind), None) for name in channels if name in known}
        return create_model(self.get_name(suffix), **fields)

    # --- validation -----------------------------------------------------------------------------

    def validate(self) -> Any:
        """Check that everything named is defined. Raises ValueError with all complaints at once."""
        complaints = list(_complaints(self.topology, self.interrupt_before_nodes, self.interrupt_after_nodes))
        if complaints:
            lines = "\n".join(f"- {complaint}" for complaint in complaints)
            raise ValueError(f"graph {self.name!r} cannot be built:\n{lines}" if len(complaints) > 1 else complaints[0])
        return self


def _warn_of_config(method: str) -> None:
    warn(
        f"`{method}` is deprecated: what nodes are given is the context; ask `get_context_jsonschema` for its schema",
        DeprecatedSince10,
        stacklevel=3,
    )


def _json_schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()


def first_graph(node: PregelNode) -> Any:
    """The graph that a node is, or the first that it calls."""
    for candidate in node.subgraphs:
        if isinstance(candidate, Described):
            return candidate
    for body in node.bodies:
        if isinstance(body.target, Described):
            return body.target
    return None


def _complaints(topology: Topology, before: Any, after: Any) -> Iterator[str]:
    yield from _node_complaints(topology)
    yield from _channel_complaints(topology)
    yield from _entry_complaints(topology)
    for option, names in (("interrupt_before", before), ("interrupt_after", after)):
        for name in () if names == "*" else listed(names or ()):
            if name not in topology.nodes:
                yield f"{option} names node {name!r}, which is not defined"


def _node_complaints(topology: Topology) -> Iterator[str]:
    known = {*topology.channels, *topology.managed}
    listing = ", ".join(repr(name) for name in sorted(known) if not name.startswith("__"))
    for name in known:
        if name in RESERVED:
            yield f"channel name {name!r} is reserved"
    for name, node in topology.nodes.items():
        if name in RESERVED:
            yield f"node name {name!r} is reserved"
        for channel in (*listed(node.channels), *node.triggers):
            if channel not in known:
                yield f"node {name!r} reads channel {channel!r}, which is not defined; there are {listing}"


def _channel_complaints(topology: Topology) -> Iterator[str]:
    for what, channels in (("input", topology.input_channels), ("output", topology.output_channels)):
        for channel in listed(channels):
            if channel not in topology.channels:
                names = ", ".join(repr(name) for name in sorted(topology.channels) if not name.startswith("__"))
                yield f"{what} channel {channel!r} is not defined; there are {names}"


def _entry_complaints(topology: Topology) -> Iterator[str]:
    woken = {trigger for node in topology.nodes.values() for trigger in node.triggers}
    inputs = listed(topology.input_channels)
    if not any(channel in woken for channel in inputs):
        yield f"no node is woken by the input ({', '.join(inputs)})"
