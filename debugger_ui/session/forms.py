"""Forms from a JSON schema, and what was typed into them as values."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from debugger_ui.session.codec import to_text
from debugger_ui.session.parse import parse_json
from debugger_ui.session.problems import refuse
from debugger_ui.session.text import json_safe, literal
from debugger_ui.session.view_actions import FormField

KINDS = {"string": "text", "integer": "integer", "number": "number", "boolean": "boolean"}
CONTAINERS: Mapping[str, type] = {"array": list, "object": dict}


def schema_of(given: Any) -> Mapping[str, Any]:
    """Return a JSON schema: of a mapping itself, of a class what pydantic makes of it; else {}."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return given
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticUserError

    try:
        return TypeAdapter(given).json_schema()
    except (PydanticUserError, TypeError, NameError):
        # A type that no schema can say (a plain class, say): the answer is then free JSON.
        return {}


def fields_of_schema(schema: Mapping[str, Any], example: Any) -> tuple[FormField, ...]:
    """Return one field per property of an object schema, `example`'s values filled in."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return ()
    required = set(schema.get("required") or ())
    filled = example if isinstance(example, Mapping) else {}
    definitions = schema.get("$defs") or {}
    return tuple(
        _field(str(key), _resolved(part, definitions), key in required, filled)
        for key, part in properties.items()
        if isinstance(part, Mapping)
    )


def _resolved(part: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = part.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/$defs/"):
        found = definitions.get(reference.removeprefix("#/$defs/"))
        return {**found, **part} if isinstance(found, Mapping) else part
    options = [o for o in part.get("anyOf") or () if isinstance(o, Mapping) and o.get("type") != "null"]
    return {**_resolved(options[0], definitions), **part} if len(options) == 1 else part


def _field(key: str, part: Mapping[str, Any], required: bool, filled: Mapping[str, Any]) -> FormField:
    options = part.get("enum") if isinstance(part.get("enum"), list) else ()
    kind = "choice" if options else KINDS.get(str(part.get("type")), "json")
    start = filled[key] if key in filled else part.get("default")
    if kind == "text":
        text = json_safe(start) if isinstance(start, str) else ""
    else:
        text = to_text(start) if key in filled or "default" in part else ""
    return FormField(
        key=key,
        kind=kind,
        type=literal(_type(key, part)),
        required=required,
        text=text,
        options=tuple(json.dumps(option) for option in options or ()),
        description=literal(str(part.get("description") or "")),
    )


def _type(key: str, part: Mapping[str, Any]) -> str:
    """Return a field's type; a title that is made of the field's own name says nothing about it."""
    title = str(part.get("title") or "")
    return str(part.get("type") or ("" if title == key.replace("_", " ").title() else title) or "any value")


def parse_fields(fields: Sequence[FormField], texts: Mapping[str, str], original: Any = None) -> dict[str, Any]:
    """Return the values typed into a form; boxes left empty that need no value are left out.

    Raises:
        SessionError: a field is missing, unknown or does not parse; its name is in the problem.
    """
    known = {field.key: field for field in fields}
    if unknown := sorted(set(texts) - set(known)):
        raise refuse(f"The input has no field {unknown[0]!r}.", field=unknown[0])
    filled = original if isinstance(original, Mapping) else {}
    values: dict[str, Any] = {}
    for field in fields:
        text = texts.get(field.key, "")
        if text == field.text and field.key in filled:
            values[field.key] = filled[field.key]
        elif text.strip() or (field.kind == "text" and field.required):
            values[field.key] = _value(field, text)
        elif field.required:
            raise refuse(f"{field.key!r} is required and its box is empty.", field=field.key)
    return values


def _value(field: FormField, text: str) -> Any:
    if field.kind == "text":
        return text
    value = parse_json(text, field.key)
    if field.kind == "integer" and type(value) is not int:
        raise refuse(f"{field.key!r} needs a whole number, not {text.strip()[:40]}.", field=field.key)
    if field.kind == "number" and type(value) not in (int, float):
        raise refuse(f"{field.key!r} needs a number, not {text.strip()[:40]}.", field=field.key)
    if field.kind == "boolean" and type(value) is not bool:
        raise refuse(f"{field.key!r} needs true or false, not {text.strip()[:40]}.", field=field.key)
    if field.type in CONTAINERS and not isinstance(value, CONTAINERS[field.type]):
        wanted = "a list [...]" if field.type == "array" else "an object {...}"
        raise refuse(f"{field.key!r} needs {wanted}, not {type(value).__name__}.", field=field.key)
    return value
