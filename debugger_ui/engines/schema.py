"""What a graph's channels are: kind, reducer, and the type that the state declares for them."""

import copy
import warnings
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from typing_extensions import is_typeddict

from debugger_ui.engines import naming
from debugger_ui.engines.accounts import MOST_STEPS
from debugger_ui.engines.base import MISSING, ChannelSpec, Folding
from debugger_ui.engines.failures import without_codes
from runtime.errors import text_of


def channel_specs(graph: Any) -> Mapping[str, ChannelSpec]:
    """Return a spec for each channel of a compiled graph; managed values are left out."""
    hints = _hints(graph)
    keys = _state_keys(graph)
    return {
        name: ChannelSpec(
            name=name,
            kind=type(channel).__name__,
            reducer=_reducer(channel),
            annotation=_plain(hints.get(name, MISSING)),
            state_key=name in keys if keys else naming.is_state_key(name),
        )
        for name, channel in graph.channels.items()
        if hasattr(channel, "update")
    }


def _state_keys(graph: Any) -> set[str]:
    keys = getattr(graph, "stream_channels_asis", None)
    if isinstance(keys, str):
        return {keys}
    return set(keys) if keys else set()


def _hints(graph: Any) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    builder = getattr(graph, "builder", None)
    for schema in reversed(list(getattr(builder, "schemas", {}) or {})):
        found.update(hints_of(schema))
    return found


def hints_of(schema: Any) -> Mapping[str, Any]:
    """Return the types of a class's fields; none where they cannot be told."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return get_type_hints(schema, include_extras=True)
    except (NameError, TypeError):
        # A hint names something that only a type checker can see: the keys have no known type.
        return {}


def _plain(hint: Any) -> Any:
    while get_origin(hint) is Annotated or getattr(get_origin(hint), "__name__", "") in ("Required", "NotRequired"):
        hint = get_args(hint)[0]
    return hint


def _reducer(channel: Any) -> str:
    operator = getattr(channel, "operator", None)
    if operator is None:
        return ""
    name = str(getattr(operator, "__name__", type(operator).__name__))
    module = str(getattr(operator, "__module__", "") or "").removeprefix("_")
    if name == "<lambda>":
        return "a lambda"
    if name.startswith("_") and "messages" in name:
        return "add_messages"
    return f"operator.{name}" if module == "operator" else name


def input_schema(graph: Any) -> Mapping[str, Any]:
    """Return the JSON schema of a graph's input.

    Where the whole has none (one odd type is enough), each key is tried by itself, and a key without
    a schema takes any JSON. Only a class can refuse an input that lacks a key: the keys of a TypedDict are
    optional, whatever its totality says to a type checker.
    """
    declared = getattr(getattr(graph, "builder", None), "input_schema", None)
    schema = _declared_schema(graph, declared)
    return {**schema, "required": []} if is_typeddict(declared) else schema


def _declared_schema(graph: Any, declared: Any) -> Mapping[str, Any]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            schema = graph.get_input_jsonschema()
    except Exception:  # schemas of arbitrary user types fail in arbitrary ways
        schema = None
    if isinstance(schema, Mapping) and schema.get("properties"):
        return _unwrapped(schema)
    hints = hints_of(declared) if declared is not None else {}
    return {"type": "object", "properties": {key: _schema_of(_plain(hint)) for key, hint in hints.items()}}


def _unwrapped(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema that a model with nothing but a `root` stands for."""
    if set(schema["properties"]) != {"root"}:
        return schema
    inner = schema["properties"]["root"]
    name = str(inner.get("$ref", "")).removeprefix("#/$defs/")
    definitions = schema.get("$defs") or {}
    inner = definitions.get(name, inner)
    return {**inner, "$defs": definitions} if inner.get("properties") else schema


def _schema_of(hint: Any) -> Mapping[str, Any]:
    from pydantic import TypeAdapter

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return TypeAdapter(hint).json_schema()
    except Exception:  # as above: then the key takes any JSON
        return {}


def fold_writes(channel: Any, before: Any, writes: Sequence[Any]) -> Folding:
    """Return the channel's value after the first writes and after all of them, as far as it takes them.

    The channel itself is not touched: copies start from `before`. Some take each write alone, but not all of them.
    """
    if channel is None:
        return Folding()
    after: dict[int, Any] = {}
    given, last = copy.deepcopy(list(writes)), len(writes) - 1
    try:
        whole = _fresh(channel, before)
        whole.update(copy.deepcopy(given))
        refused, after[last] = "", copy.deepcopy(whole.get())
    except Exception as error:  # a reducer is the user's code; what it refuses has no value to show
        refused = without_codes(text_of(error)) or type(error).__name__
        given = given[:1]
    one_by_one = _fresh(channel, before)
    for place, write in enumerate(given[: MOST_STEPS - 1]):
        try:
            one_by_one.update([write])
            after.setdefault(place, copy.deepcopy(one_by_one.get()))
        except Exception:  # as above
            break
    return Folding(after, refused)


def _fresh(channel: Any, before: Any) -> Any:
    start = before if before is not MISSING else channel.copy().checkpoint()
    return channel.from_checkpoint(start)
