"""How `add_messages` takes a write: append, replace, remove.

A message with a new id is appended, one with a known id takes the place of the old one, and `RemoveMessage` takes one
out. So a correction or a replay leaves no duplicate, and old messages can be folded into a summary.
"""

from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage

from runtime.graph import END, START, MessagesState, StateGraph

shows = "add_messages appends by new id, replaces by known id, and removes on request."


def reply(state: MessagesState) -> dict[str, Any]:
    """Append: the id is new."""
    return {"messages": [AIMessage("The ferry leaves at 7.", id="reply")]}


def correct(state: MessagesState) -> dict[str, Any]:
    """Replace: the id is known, and the place stays."""
    return {"messages": [AIMessage("The ferry leaves at 7:40.", id="reply")]}


def fold(state: MessagesState) -> dict[str, Any]:
    """Remove the small talk, and put a summary at the end."""
    small_talk = [RemoveMessage(id=str(message.id)) for message in state["messages"][:1]]
    return {"messages": [*small_talk, AIMessage("Summary: departure at 7:40.", id="summary")]}


builder = StateGraph(MessagesState)
builder.add_node("reply", reply)
builder.add_node("correct", correct)
builder.add_node("fold", fold)
builder.add_edge(START, "reply")
builder.add_edge("reply", "correct")
builder.add_edge("correct", "fold")
builder.add_edge("fold", END)

graph = builder.compile(name="messages")
example_input: MessagesState = {
    "messages": [HumanMessage("Good morning!", id="hello"), HumanMessage("When is the ferry?", id="question")]
}
