"""The nodes and the routes of a tool-calling agent.

A superstep of the model, one of the tools, and so on until the model asks for no more tools. Hooks
stand before and after the model; a structured response may follow the last message.
"""

import dataclasses
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Literal, cast

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolCall, ToolMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import BaseTool
from pydantic import BaseModel

from runtime.constants import END
from runtime.prebuilt._models import (
    Prompt,
    check_history,
    load_model,
    prompt_runnable,
    should_bind_tools,
    state_value,
    underlying_model,
)
from runtime.runtime import Runtime
from runtime.types import Send

OUT_OF_STEPS = "Sorry, need more steps to process this request."


class Agent:
    """What the nodes of one agent share: its model, its tools and its choices."""

    def __init__(  # noqa: PLR0913 - the agent's choices, each of its own kind
        self,
        model: Any,
        tools: Sequence[BaseTool],
        builtin_tools: Sequence[dict[str, Any]],
        *,
        prompt: Prompt | None,
        response_format: Any,
        name: str | None,
        version: Literal["v1", "v2"],
        before: bool,
        after: bool,
    ) -> None:
        self.prompt = prompt_runnable(prompt)
        self.choose: Callable[..., Any] | None = None
        self.model: Runnable[Any, Any] | None = None
        if callable(model) and not isinstance(model, Runnable):
            self.choose = model
        else:
            self.model = self._prompted(_with_tools(model, tools, builtin_tools))
        self.response_format = response_format
        self.name = name
        self.version = version
        self.after = after
        self.entry = "pre_model_hook" if before else "agent"
        self.ends_run = {tool.name for tool in tools if tool.return_direct}

    # --- the model --------------------------------------------------------------------------------

    def _model(self, state: Any, runtime: Runtime[Any]) -> Runnable[Any, Any]:
        if self.model is not None:
            return self.model
        assert self.choose is not None  # one of them is there
        if inspect.iscoroutinefunction(self.choose):
            raise RuntimeError(
                "the agent's model is chosen by an async function, so it cannot run under invoke() or stream(); "
                "use ainvoke() or astream(), or choose it with a plain function"
            )
        return self._prompted(self.choose(state, runtime))

    async def _amodel(self, state: Any, runtime: Runtime[Any]) -> Runnable[Any, Any]:
        if self.choose is None or not inspect.iscoroutinefunction(self.choose):
            return self._model(state, runtime)
        return self._prompted(await self.choose(state, runtime))

    def _prompted(self, model: Any) -> Runnable[Any, Any]:
        chain: Runnable[Any, Any] = self.prompt | model
        return chain

    def call_model(self, state: Any, runtime: Runtime[Any], config: RunnableConfig) -> dict[str, Any]:
        """Ask the model for the next message."""
        state = self._model_input(state)
        return self._answer(state, self._model(state, runtime).invoke(state, config))

    async def acall_model(self, state: Any, runtime: Runtime[Any], config: RunnableConfig) -> dict[str, Any]:
        """Ask the model for the next message."""
        state = self._model_input(state)
        model = await self._amodel(state, runtime)
        return self._answer(state, await model.ainvoke(state, config))

    def _model_input(self, state: Any) -> Any:
        """Return the state with the messages that the model should see, which a hook may have chosen."""
        messages = state_value(state, "llm_input_messages") or state_value(state, "messages")
        if messages is None:
            raise ValueError(
                f"the model needs 'messages' in the state, or 'llm_input_messages' from a hook; got {state!r}"
            )
        check_history(messages)
        if isinstance(state, dict):
            return {**state, "messages": messages}
        if isinstance(state, BaseModel):
            return state.model_copy(update={"messages": messages})
        return dataclasses.replace(state, messages=messages)

    def _answer(self, state: Any, response: BaseMessage) -> dict[str, Any]:
        if self.name is not None and response.name != self.name:
            response = response.model_copy(update={"name": self.name})
        if self._is_out_of_steps(state, response):
            response = AIMessage(content=OUT_OF_STEPS, id=response.id)
        return {"messages": [response]}

    def _is_out_of_steps(self, state: Any, response: BaseMessage) -> bool:
        remaining = state_value(state, "remaining_steps")
        if remaining is None or not isinstance(response, AIMessage) or not response.tool_calls:
            return False
        # This superstep, the tools, and the model again, unless the tools end the run.
        ends = all(call["name"] in self.ends_run for call in response.tool_calls)
        return bool(remaining < (2 if ends else 3))

    # --- the structured response ------------------------------------------------------------------

    def respond(self, state: Any, runtime: Runtime[Any], config: RunnableConfig) -> dict[str, Any]:
        """Ask the model to put the conversation's outcome into the response's schema."""
        model, messages = self._structured(state, self._model(state, runtime))
        return {"structured_response": model.invoke(messages, config)}

    async def arespond(self, state: Any, runtime: Runtime[Any], config: RunnableConfig) -> dict[str, Any]:
        """Ask the model to put the conversation's outcome into the response's schema."""
        model, messages = self._structured(state, await self._amodel(state, runtime))
        return {"structured_response": await model.ainvoke(messages, config)}

    def _structured(self, state: Any, model: Runnable[Any, Any]) -> tuple[Runnable[Any, Any], list[Any]]:
        messages = list(state_value(state, "messages"))
        schema = self.response_format
        if isinstance(schema, tuple):
            system, schema = schema
            messages.insert(0, SystemMessage(content=system))
        return underlying_model(model).with_structured_output(schema), messages

    # --- the routes -------------------------------------------------------------------------------

    @property
    def last(self) -> str:
        """Where a finished conversation goes."""
        return END if self.response_format is None else "generate_structured_response"

    def after_model(self, state: Any) -> str | list[Send]:
        """Go on with the tools that the last message asks for, or finish."""
        last = state_value(state, "messages")[-1]
        calls = last.tool_calls if isinstance(last, AIMessage) else []
        if self.version == "v1" and calls:
            return "tools"
        if self.after:
            return "post_model_hook"
        return _sends(calls) if calls else self.last

    def after_hook(self, state: Any) -> str | list[Send]:
        """Go on with the tool calls that are not answered yet, or with the model, or finish."""
        messages = state_value(state, "messages")
        answered = {message.tool_call_id for message in messages if isinstance(message, ToolMessage)}
        asking = next(message for message in reversed(messages) if isinstance(message, AIMessage))
        pending = [call for call in asking.tool_calls if call["id"] not in answered]
        if pending:
            return _sends(pending)
        return self.entry if isinstance(messages[-1], ToolMessage) else self.last

    def after_tools(self, state: Any) -> str:
        """End the run if one of the tools that ran returns directly, else ask the model again."""
        for message in reversed(state_value(state, "messages")):
            if isinstance(message, ToolMessage):
                if message.name in self.ends_run:
                    return END
                continue
            # Calls run as tasks of their own: the one that ends the run may be another task's.
            calls = message.tool_calls if isinstance(message, AIMessage) else []
            return END if any(call["name"] in self.ends_run for call in calls) else self.entry
        return self.entry


def _sends(calls: Sequence[ToolCall]) -> list[Send]:
    """Return one task for each call. A task reads the state itself, so it is not stored with every Send."""
    return [Send("tools", [call]) for call in calls]


def _with_tools(model: Any, tools: Sequence[BaseTool], builtin_tools: Sequence[dict[str, Any]]) -> Runnable[Any, Any]:
    if isinstance(model, str):
        model = load_model(model)
    if should_bind_tools(model, tools, len(builtin_tools)) and (tools or builtin_tools):
        model = model.bind_tools([*tools, *builtin_tools])
    return cast("Runnable[Any, Any]", model)
