"""A chat model that answers as it is told: each call takes the next of its turns."""

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from pydantic import Field


class Scripted(BaseChatModel):
    """`turns` are texts, or lists of tool calls; the last one repeats. `heard` are the inputs."""

    turns: list[Any]
    heard: list[Any] = Field(default_factory=list)
    structured: Any = None
    said: int = 0

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        self.heard.append(list(messages))
        turn = self.turns[min(self.said, len(self.turns) - 1)]
        self.said += 1
        if isinstance(turn, str):
            message = AIMessage(turn)
        else:
            calls = [{**call, "id": f"{call['id']}-{self.said}"} for call in turn]
            message = AIMessage("", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def bind_tools(self, tools, **kwargs):
        names = [tool if isinstance(tool, dict) else {"name": tool.name} for tool in tools]
        return self.bind(tools=names)

    def with_structured_output(self, schema, **kwargs):
        def answer(messages):
            self.heard.append(messages)
            return self.structured

        return RunnableLambda(answer)


def call(name, id="c1", **args):
    return {"name": name, "args": args, "id": id, "type": "tool_call"}


def asking(*calls):
    return AIMessage("", tool_calls=list(calls))


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b
