"""A ReAct loop: a model calls tools until it can answer.

    agent --tool calls--> tools --> agent ... --no more calls--> end

The model is scripted: what it says next depends only on the conversation so far, so a replay says the same. Its
messages carry fixed ids, which `add_messages` uses to replace instead of append when a step is run again.
"""

from typing import Any, Literal

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool

from runtime.graph import END, START, MessagesState, StateGraph

shows = "A model and its tools in a loop over one list of messages, with no network and no key."

DEPTHS = {"north quay": 4.2, "south quay": 6.8}


@tool
def water_depth(quay: str) -> float:
    """Look up the depth at a quay, in metres."""
    return DEPTHS[quay]


@tool
def subtract(minuend: float, subtrahend: float) -> float:
    """Subtract one number from another."""
    return round(minuend - subtrahend, 3)


TOOLS = {each.name: each for each in (water_depth, subtract)}


class ScriptedModel(BaseChatModel):
    """Asks for both depths at once, then for their difference, then answers."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        results = [message.content for message in messages if isinstance(message, ToolMessage)]
        reply = AIMessage(id=f"ai-{len(results)}", **self._next(results))
        return ChatResult(generations=[ChatGeneration(message=reply)])

    def _next(self, results: list[Any]) -> dict[str, Any]:
        match results:
            case []:
                calls = [call("water_depth", quay=quay) for quay in DEPTHS]
                return {"content": "I look up both depths.", "tool_calls": calls}
            case [north, south]:
                difference = call("subtract", minuend=float(south), subtrahend=float(north))
                return {"content": "Now the difference.", "tool_calls": [difference]}
            case _:
                return {"content": f"The south quay is {results[-1]} m deeper."}


def call(name: str, **arguments: Any) -> ToolCall:
    """Make a tool call whose id says what it asks."""
    return ToolCall(name=name, args=arguments, id="-".join([name, *map(str, arguments.values())]))


def agent(state: MessagesState) -> dict[str, Any]:
    """Let the model speak."""
    return {"messages": [ScriptedModel().invoke(state["messages"])]}


def tools(state: MessagesState) -> dict[str, Any]:
    """Run what the model asked for, in its order."""
    asked = state["messages"][-1]
    assert isinstance(asked, AIMessage)
    results = [(each, TOOLS[each["name"]].invoke(each["args"])) for each in asked.tool_calls]
    return {
        "messages": [
            ToolMessage(str(result), id=f"result-{each['id']}", name=each["name"], tool_call_id=str(each["id"]))
            for each, result in results
        ]
    }


def act_or_answer(state: MessagesState) -> Literal["tools", "__end__"]:
    """Go to the tools as long as the model calls some."""
    last = state["messages"][-1]
    return "tools" if isinstance(last, AIMessage) and last.tool_calls else END


builder = StateGraph(MessagesState)
builder.add_node("agent", agent)
builder.add_node("tools", tools)
builder.add_edge(START, "agent")
builder.add_conditional_edges("agent", act_or_answer)
builder.add_edge("tools", "agent")

graph = builder.compile(name="react")
example_input: MessagesState = {
    "messages": [HumanMessage("How much deeper is the south quay than the north quay?", id="question")]
}
