"""What a run of a graph has around it besides its state: the context, keys of the config, and a store.

LangGraph's server gives every run a store and a context with its defaults. So does the debugger, or graphs that are
made to be served would fail at their first node. What has no default, the person gives.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from runtime.checkpoint.serde import allow_types
from runtime.graph.stored import stored_classes
from runtime.store.memory import InMemoryStore

RESERVED = ("thread_id", "checkpoint_id", "checkpoint_ns", "checkpoint_map")


class ContextError(ValueError):
    """The context that was given does not fit the graph; the message says why."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Goes into every run: `context` for `runtime.context`, `configurable` into the config."""

    context: Any = None
    configurable: Mapping[str, Any] = field(default_factory=dict)

    def within(self, config: dict[str, Any]) -> dict[str, Any]:
        """Return a config with the keys of `configurable` in it."""
        return {**config, "configurable": {**self.configurable, **config["configurable"]}}


NOTHING = Surroundings()


def surroundings(graph: Any, given: Mapping[str, Any] | None) -> Surroundings:
    """Return what the runs of a graph get: what was given, and defaults for what was not.

    One mapping serves both ways in which nodes ask for such values: fields of the graph's context, and
    `config["configurable"]`.

    Raises:
        ContextError: the context lacks something, holds something that it may not, or names a thread.
    """
    if reserved := sorted(set(given or ()) & set(RESERVED)):
        raise ContextError(f"{reserved[0]!r} belongs to the debugger, which opens the threads.")
    return Surroundings(context_of(getattr(graph, "context_schema", None), given), dict(given or {}))


def context_of(schema: Any, given: Mapping[str, Any] | None) -> Any:
    """Return an instance of the context's schema; None, as without a debugger, where it has no defaults.

    Raises:
        ContextError: what was given does not fit.
    """
    if schema is None:
        return None
    fields = getattr(schema, "__pydantic_fields__", None) or getattr(schema, "__dataclass_fields__", None)
    if fields is None:
        return dict(given or {})
    try:
        return schema(**{key: value for key, value in (given or {}).items() if key in fields})
    except Exception as error:  # the schema is the user's code, with validators of its own
        if given is None:
            return None
        raise ContextError(f"{schema.__name__} cannot be made of it: {error}") from error


def furnished(graph: Any) -> Any:
    """Return the graph with a store in memory, if it has none of its own."""
    return graph if getattr(graph, "store", None) is not None else graph.copy(update={"store": InMemoryStore()})


def allow_classes(graph: Any) -> None:
    """Let the classes that the schemas of a graph and its subgraphs name come back from a database of ours."""
    allow_types(*stored_classes(_schemas(graph)))


def _schemas(graph: Any) -> Iterator[Any]:
    for part in (graph, *(inner for _, inner in graph.get_subgraphs(recurse=True))):
        yield from getattr(getattr(part, "builder", None), "schemas", None) or ()
