"""Filling in the arguments of a tool that the model must not choose.

Rule: whatever the model puts under the name of an injected argument is dropped before the real
value goes in, so a tool call cannot forge state, store or runtime.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from langchain_core.messages import ToolCall
from langchain_core.tools import BaseTool
from langchain_core.tools.base import _is_injected_arg_type, get_all_basemodel_annotations

from runtime._typing import MISSING
from runtime.prebuilt._requests import InjectedState, InjectedStore, ToolRuntime


@dataclass(frozen=True, slots=True)
class InjectedArguments:
    """Which arguments of a tool are injected.

    `state` maps arguments to state fields (None: the whole state), `optional` are those of them
    that have a default; `store` and `runtime` are argument names; `hidden` are all arguments that
    the model must not set, further kinds of InjectedToolArg included.
    """

    state: Mapping[str, str | None]
    optional: frozenset[str]
    store: str | None
    runtime: str | None
    hidden: frozenset[str]

    @property
    def filled(self) -> frozenset[str]:
        """The arguments that a ToolNode fills in."""
        return frozenset({*self.state, *filter(None, (self.store, self.runtime))})


def injected_arguments(tool: BaseTool) -> InjectedArguments:
    """Read a tool's schema and signature. Raises ValueError for an argument marked twice alike."""
    schema = tool.get_input_schema()
    function = getattr(tool, "func", None) or getattr(tool, "coroutine", None)
    hints = get_type_hints(function, include_extras=True) if function else {}
    # The schema wins: it is what the tool says about itself, the function may be a wrapper.
    hints.update(get_all_basemodel_annotations(schema))
    fields: Mapping[str, Any] = getattr(schema, "model_fields", {})
    state: dict[str, str | None] = {}
    optional = set()
    store = runtime = None
    for name, hint in hints.items():
        marker = _marker(hint, InjectedState)
        if marker is not None:
            state[name] = marker.field if isinstance(marker, InjectedState) else None
            info = fields.get(name)
            if state[name] and info is not None and not info.is_required():
                optional.add(name)
        if _marker(hint, InjectedStore) is not None:
            store = name
        if name == "runtime" or _marker(hint, ToolRuntime) is not None:
            runtime = name
    hidden = frozenset(name for name, hint in hints.items() if _is_injected_arg_type(hint))
    return InjectedArguments(state, frozenset(optional), store, runtime, hidden)


def _marks(hint: Any, kind: type) -> bool:
    if isinstance(hint, kind) or (isinstance(hint, type) and issubclass(hint, kind)):
        return True
    origin = get_origin(hint)
    if origin is Union or origin is Annotated:
        return any(_marks(part, kind) for part in get_args(hint))
    return isinstance(origin, type) and issubclass(origin, kind)


def _marker(hint: Any, kind: type) -> Any:
    """Return what marks an annotation as `kind` (an instance or the class), None if nothing does."""
    found = [part for part in get_args(hint) if _marks(part, kind)]
    if len(found) > 1:
        raise ValueError(f"a tool's argument has to be marked {kind.__name__} once, but {hint} does it twice")
    if found:
        return found[0]
    return kind if _marks(hint, kind) else None


def inject(
    call: ToolCall, injected: InjectedArguments, runtime: "ToolRuntime[Any, Any]", messages_key: str
) -> ToolCall:
    """Return the call with its injected arguments filled in.

    Raises ValueError if the graph has no store for a tool that wants one, or if a tool wants state
    fields of a graph whose state is a list; KeyError or AttributeError for a state field that is
    missing and has no default.
    """
    values: dict[str, Any] = {}
    if injected.state:
        values.update(_from_state(call["name"], injected, runtime.state, messages_key))
    if injected.store:
        if runtime.store is None:
            raise ValueError(
                f"tool {call['name']!r} wants the store, but the graph has none; compile it with one: "
                "graph.compile(store=InMemoryStore())"
            )
        values[injected.store] = runtime.store
    if injected.runtime:
        values[injected.runtime] = runtime
    chosen = {name: value for name, value in call["args"].items() if name not in injected.hidden}
    return {**call, "args": {**chosen, **values}}


def _from_state(tool: str, injected: InjectedArguments, state: Any, messages_key: str) -> dict[str, Any]:
    if isinstance(state, list):
        wanted = set(injected.state.values())
        if not wanted <= {None, messages_key}:
            raise ValueError(
                f"tool {tool!r} wants the state fields {sorted(map(str, wanted))}, but the ToolNode was given "
                f"a list of messages; give it the whole state, as a dict"
            )
        state = {messages_key: state}
    values = {}
    for argument, field in injected.state.items():
        value = state if field is None else _field(state, field)
        if value is not MISSING:
            values[argument] = value
        elif argument not in injected.optional:
            missing = f"the state has no field {field!r}, which argument {argument!r} of tool {tool!r} needs"
            raise KeyError(missing) if isinstance(state, dict) else AttributeError(missing)
    return values


def _field(state: Any, field: str) -> Any:
    return state.get(field, MISSING) if isinstance(state, dict) else getattr(state, field, MISSING)
