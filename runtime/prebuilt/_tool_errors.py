"""Errors of tools: which of them become a message to the model, and what it says."""

import inspect
from collections.abc import Callable, Sequence
from types import UnionType
from typing import Any, Final, TypeAlias, Union, get_args, get_origin, get_type_hints

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.tools.base import ToolException
from pydantic import ValidationError

from runtime.prebuilt._injection import InjectedArguments

INVALID_TOOL_NAME_ERROR_TEMPLATE: Final = "Error: {requested_tool} is not a valid tool, try one of [{available_tools}]."
TOOL_CALL_ERROR_TEMPLATE: Final = "Error: {error}\n Please fix your mistakes."
TOOL_EXECUTION_ERROR_TEMPLATE: Final = (
    "Error executing tool '{tool_name}' with kwargs {tool_kwargs} with error:\n {error}\n"
    " Please fix the error and try again."
)
TOOL_INVOCATION_ERROR_TEMPLATE: Final = (
    "Error invoking tool '{tool_name}' with kwargs {tool_kwargs} with error:\n {error}\n"
    " Please fix the error and try again."
)

ErrorHandling: TypeAlias = bool | str | Callable[..., str] | type[Exception] | tuple[type[Exception], ...]
"""What `handle_tool_errors` takes."""


class ToolInvocationError(ToolException):
    """The model called a tool with arguments that do not fit its schema.

    `message` is written for the model: it names only arguments that the model can set.
    """

    def __init__(
        self,
        tool_name: str,
        source: ValidationError,
        tool_kwargs: dict[str, Any],
        filtered_errors: Sequence[Any] | None = None,
    ) -> None:
        if filtered_errors is None:
            problems = str(source)
        else:
            problems = "\n".join(
                f"{'.'.join(map(str, error.get('loc', ())))}: {error.get('msg', 'does not fit')}"
                for error in filtered_errors
            )
        self.message = TOOL_INVOCATION_ERROR_TEMPLATE.format(
            tool_name=tool_name, tool_kwargs=tool_kwargs, error=problems
        )
        self.tool_name = tool_name
        self.tool_kwargs = tool_kwargs
        self.source = source
        self.filtered_errors = filtered_errors
        super().__init__(self.message)


def handle_invocation_errors(error: Exception) -> str:
    """Answer calls with wrong arguments, raise everything else: the default of a ToolNode."""
    if isinstance(error, ToolInvocationError):
        return error.message
    raise error


def visible_errors(error: ValidationError, injected: InjectedArguments | None) -> list[dict[str, Any]]:
    """Return the parts of a validation error that concern the model's own arguments.

    Injected values are taken out of the quoted input as well: the model must not read them.
    """
    hidden = frozenset() if injected is None else injected.filled
    visible = []
    for part in error.errors():
        if not part["loc"] or part["loc"][0] in hidden:
            continue
        shown: dict[str, Any] = {**part}
        if isinstance(shown.get("input"), dict):
            shown["input"] = {key: value for key, value in shown["input"].items() if key not in hidden}
        visible.append(shown)
    return visible


def handled_types(handling: ErrorHandling) -> tuple[type[Exception], ...]:
    """Return the exceptions that `handle_tool_errors` is for.

    Raises ValueError for a handler whose first argument is annotated with something else.
    """
    if not handling:
        return ()
    if isinstance(handling, tuple):
        return handling
    if isinstance(handling, type):
        return (handling,)
    if callable(handling):
        return _annotated_types(handling)
    return (Exception,)


def _annotated_types(handler: Callable[..., str]) -> tuple[type[Exception], ...]:
    parameters = list(inspect.signature(handler).parameters)
    if parameters[:1] in (["self"], ["cls"]) and len(parameters) == 2:
        del parameters[0]
    hint = get_type_hints(handler).get(parameters[0]) if parameters else None
    if hint is None:
        return (Exception,)
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    if not all(isinstance(kind, type) and issubclass(kind, Exception) for kind in kinds):
        raise ValueError(
            f"handle_tool_errors takes a function whose argument is annotated with an exception or a union of "
            f"exceptions, as in `def handler(error: ValueError | TypeError) -> str`; got {hint}"
        )
    return kinds


def error_message(call: ToolCall, error: Exception, handling: ErrorHandling) -> ToolMessage:
    """Return the message that tells the model what went wrong.

    What a handler function raises passes through.
    """
    if isinstance(handling, str):
        content = handling
    elif isinstance(handling, bool | tuple | type):
        content = TOOL_CALL_ERROR_TEMPLATE.format(error=repr(error))
    else:
        content = handling(error)
    return ToolMessage(content=content, name=call["name"], tool_call_id=call["id"], status="error")


def unknown_tool(call: ToolCall, known: Sequence[str]) -> ToolMessage:
    """Return the message for a call of a tool that the node does not have."""
    content = INVALID_TOOL_NAME_ERROR_TEMPLATE.format(requested_tool=call["name"], available_tools=", ".join(known))
    return ToolMessage(content, name=call["name"], tool_call_id=call["id"], status="error")
