"""ValidationNode: checks tool calls against schemas without running anything."""

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, create_schema_from_function
from pydantic import BaseModel, ValidationError
from pydantic.v1 import BaseModel as BaseModelV1
from pydantic.v1 import ValidationError as ValidationErrorV1

from runtime._internal._runnable import RunnableCallable

__all__ = ("ValidationNode",)


def _default_format_error(error: BaseException, call: ToolCall, schema: type[Any]) -> str:
    return f"{error!r}\n\nRespond after fixing all validation errors."


class ValidationNode(RunnableCallable):
    """Answers each tool call of the last message with its validated arguments, or with what is wrong.

    For models that fill in a schema: the tool messages hold JSON, or an error text and
    `additional_kwargs["is_error"]`. `schemas` are Pydantic models, tools or functions;
    `format_error` makes the text from the error, the call and the schema. The input is a list of
    messages or a state with `messages`, and so is the result.
    """

    def __init__(
        self,
        schemas: Sequence[BaseTool | type[BaseModel] | Callable[..., Any]],
        *,
        format_error: Callable[[BaseException, ToolCall, type[Any]], str] | None = None,
        name: str = "validation",
        tags: list[str] | None = None,
    ) -> None:
        super().__init__(self._func, name=name, tags=tags, trace=False)
        self._format_error = format_error or _default_format_error
        self.schemas_by_name: dict[str, type[Any]] = dict(map(_named_schema, schemas))

    def _func(self, input: Any, config: RunnableConfig) -> Any:
        messages = input if isinstance(input, list) else input.get("messages")
        if not messages:
            raise ValueError(f"No message found in input: {input!r}")
        if not isinstance(messages[-1], AIMessage):
            raise ValueError(f"Last message is not an AIMessage: {messages[-1]!r}")
        answers = [self._answer(call) for call in messages[-1].tool_calls]
        return answers if isinstance(input, list) else {"messages": answers}

    def _answer(self, call: ToolCall) -> ToolMessage:
        schema = self.schemas_by_name.get(call["name"])
        if schema is None:
            raise ValueError(f"no schema is named {call['name']!r}; there are {sorted(self.schemas_by_name)}")
        try:
            if issubclass(schema, BaseModel):
                content = schema.model_validate(call["args"]).model_dump_json()
            else:
                content = schema.validate(call["args"]).json()
        except (ValidationError, ValidationErrorV1) as error:
            return ToolMessage(
                content=self._format_error(error, call, schema),
                name=call["name"],
                tool_call_id=call["id"],
                additional_kwargs={"is_error": True},
            )
        return ToolMessage(content=content, name=call["name"], tool_call_id=call["id"])


def _named_schema(schema: Any) -> tuple[str, type[Any]]:
    if isinstance(schema, BaseTool):
        arguments = schema.args_schema
        if not isinstance(arguments, type) or not issubclass(arguments, BaseModel | BaseModelV1):
            raise ValueError(f"tool {schema.name!r} needs a Pydantic model as args_schema, not {arguments!r}")
        return schema.name, arguments
    if isinstance(schema, type) and issubclass(schema, BaseModel | BaseModelV1):
        return schema.__name__, schema
    if callable(schema) and not isinstance(schema, type):
        return schema.__name__, create_schema_from_function("Validation", schema)
    raise ValueError(f"schemas have to be Pydantic models, tools or functions, not {schema!r}")
