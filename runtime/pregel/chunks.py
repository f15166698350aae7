"""Events into the chunks that a caller of `stream` asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from runtime._constants import INTERRUPT
from runtime.types import GraphOutput

if TYPE_CHECKING:
    from runtime.pregel.app import Pregel
    from runtime.pregel.runs import Options

Event = tuple[tuple[str, ...], str, Any]


def shaper(graph: Pregel, options: Options) -> Callable[[Event], Iterator[Any]]:
    """A function from an event to the chunks it makes: none for one that is only printed."""
    modes = frozenset(options.modes)
    shape = _parts(graph) if options.version == "v2" else _tuples(options)

    def chunks(event: Event) -> Iterator[Any]:
        if options.printed and event[1] in options.printed:
            print(f"[{event[1]}] {event[2]!r}")
        if event[1] in modes:
            yield shape(event)

    return chunks


def _tuples(options: Options) -> Callable[[Event], Any]:
    many, subgraphs = options.many, options.subgraphs

    def shape(event: Event) -> Any:
        ns, mode, payload = event
        if subgraphs:
            return (ns, mode, payload) if many else (ns, payload)
        return (mode, payload) if many else payload

    return shape


def _parts(graph: Pregel) -> Callable[[Event], dict[str, Any]]:
    """Version 2: every chunk is a dict that says what it is."""

    def shape(event: Event) -> dict[str, Any]:
        ns, mode, payload = event
        part: dict[str, Any] = {"type": mode, "ns": ns, "data": payload}
        if mode == "values":
            interrupts: tuple[Any, ...] = ()
            if isinstance(payload, dict) and INTERRUPT in payload:
                interrupts = tuple(payload[INTERRUPT])
                payload = {key: value for key, value in payload.items() if key != INTERRUPT}
            part["data"] = _coerced(graph.output_mapper if not ns else None, payload)
            part["interrupts"] = interrupts
        elif not ns and graph.state_mapper is not None:
            part["data"] = _coerced_checkpoint(graph, mode, payload)
        return part

    return shape


def _coerced(mapper: Callable[[Any], Any] | None, value: Any) -> Any:
    return mapper(value) if mapper is not None and value is not None else value


def _coerced_checkpoint(graph: Pregel, mode: str, payload: Any) -> Any:
    if mode == "checkpoints":
        return {**payload, "values": _as_state(graph, payload["values"])}
    if mode == "debug" and payload.get("type") == "checkpoint":
        return {**payload, "payload": _coerced_checkpoint(graph, "checkpoints", payload["payload"])}
    return payload


def _as_state(graph: Pregel, values: Any) -> Any:
    """The state as its class, or as it is while it has not all that the class asks for."""
    try:
        return _coerced(graph.state_mapper, values)
    except ValueError:  # Pydantic's refusal: before the first node a state may still be incomplete
        return values


def as_output(graph: Pregel, output: Any, interrupts: tuple[Any, ...]) -> GraphOutput[Any]:
    """What `invoke(version="v2")` returns."""
    return GraphOutput(value=_coerced(graph.output_mapper, output), interrupts=interrupts)
