"""The builder: states, nodes and edges into graphs that run."""

from runtime.constants import END, START
from runtime.graph.message import MessagesState, add_messages
from runtime.graph.state import StateGraph

__all__ = ("END", "START", "MessagesState", "StateGraph", "add_messages")
