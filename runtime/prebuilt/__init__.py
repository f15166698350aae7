"""Ready-made nodes and graphs for models that call tools."""

from runtime.prebuilt._tool_call_transformer import ToolCallTransformer
from runtime.prebuilt.chat_agent_executor import create_react_agent
from runtime.prebuilt.tool_node import InjectedState, InjectedStore, ToolNode, ToolRuntime, tools_condition
from runtime.prebuilt.tool_validator import ValidationNode

__all__ = (
    "InjectedState",
    "InjectedStore",
    "ToolCallTransformer",
    "ToolNode",
    "ToolRuntime",
    "ValidationNode",
    "create_react_agent",
    "tools_condition",
)
