"""The model of an agent: its prompt, its tools, and what is behind a chain that holds it."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage
from langchain_core.runnables import Runnable, RunnableBinding, RunnableSequence
from langchain_core.tools import BaseTool

from runtime._internal._runnable import RunnableCallable
from runtime.errors import ErrorCode, create_error_message

Prompt: TypeAlias = SystemMessage | str | Callable[[Any], LanguageModelInput] | Runnable[Any, LanguageModelInput]
"""What stands before the conversation: a system message or its text, or a function or Runnable that makes
the model's whole input of the state."""

_PROMPT_NAME = "Prompt"


def state_value(state: Any, key: str, default: Any = None) -> Any:
    """Return a field of a state, which may be a dict or an object."""
    return state.get(key, default) if isinstance(state, dict) else getattr(state, key, default)


def prompt_runnable(prompt: Prompt | None) -> Runnable[Any, Any]:
    """Return what makes a model's input of the state. Raises ValueError for other kinds of prompt."""
    if isinstance(prompt, Runnable):
        return prompt
    if prompt is None or isinstance(prompt, str | SystemMessage):
        system = SystemMessage(content=prompt) if isinstance(prompt, str) else prompt
        before = [] if system is None else [system]
        return RunnableCallable(lambda state: [*before, *state_value(state, "messages")], name=_PROMPT_NAME)
    if inspect.iscoroutinefunction(prompt):
        return RunnableCallable(None, prompt, name=_PROMPT_NAME)
    if callable(prompt):
        return RunnableCallable(prompt, name=_PROMPT_NAME)
    raise ValueError(
        f"prompt has to be a string, a SystemMessage, a function of the state or a Runnable, not {prompt!r}"
    )


def load_model(name: str) -> BaseChatModel:
    """Return the chat model that `"<provider>:<model>"` names. Raises ImportError without langchain."""
    try:
        from langchain.chat_models import init_chat_model  # type: ignore[import-not-found, unused-ignore]
    except ImportError as error:
        raise ImportError(
            f"the model {name!r} is given by name, which needs the package langchain: pip install langchain, "
            "or pass a chat model"
        ) from error
    model: BaseChatModel = init_chat_model(name)
    return model


def _bound_part(model: Any) -> Any:
    if isinstance(model, RunnableSequence):
        parts = (step for step in model.steps if isinstance(step, RunnableBinding | BaseChatModel))
        return next(parts, model)
    return model


def underlying_model(model: Any) -> BaseChatModel:
    """Return the chat model inside a binding or a chain. Raises TypeError if there is none."""
    found = _bound_part(model)
    if isinstance(found, RunnableBinding):
        found = found.bound
    if not isinstance(found, BaseChatModel):
        raise TypeError(
            f"model has to be a chat model, or one with tools bound to it (model.bind_tools(...)), not {found!r}"
        )
    return found


def should_bind_tools(model: Any, tools: Sequence[BaseTool], num_builtin: int = 0) -> bool:
    """Whether the agent has to bind its tools to the model; False if they are bound already.

    Raises ValueError if other tools than the agent's are bound.
    """
    bound = _bound_part(model)
    if not isinstance(bound, RunnableBinding) or "tools" not in bound.kwargs:
        return True
    theirs = bound.kwargs["tools"]
    if len(tools) != len(theirs) - num_builtin:
        raise ValueError(
            f"the model has {len(theirs)} tools bound, but the agent has {len(tools) + num_builtin}; "
            "bind the same tools, or leave binding to the agent"
        )
    names = {_name_of_bound(tool) for tool in theirs}
    if missing := {tool.name for tool in tools} - names:
        raise ValueError(f"the model has no tools named {sorted(missing)} bound, which the agent has")
    return False


def _name_of_bound(tool: Any) -> str | None:
    if tool.get("type") == "function":  # as OpenAI writes them
        return str(tool["function"]["name"])
    return tool.get("name")  # type: ignore[no-any-return]


def check_history(messages: Sequence[BaseMessage]) -> None:
    """Raise ValueError if a tool call in the conversation is not answered."""
    answered = {message.tool_call_id for message in messages if isinstance(message, ToolMessage)}
    calls = [call for message in messages if isinstance(message, AIMessage) for call in message.tool_calls]
    open_calls = [call for call in calls if call["id"] not in answered]
    if open_calls:
        raise ValueError(
            create_error_message(
                message=f"the conversation has {len(open_calls)} tool calls without a ToolMessage that answers "
                f"them, which most models refuse; the first are {open_calls[:3]}",
                error_code=ErrorCode.INVALID_CHAT_HISTORY,
            )
        )
