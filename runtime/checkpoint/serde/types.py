"""The reserved write channels and the protocols of stored things, from `langgraph-checkpoint`."""

from langgraph.checkpoint.serde.types import (
    ERROR,
    INTERRUPT,
    RESUME,
    SCHEDULED,
    TASKS,
    ChannelProtocol,
    SendProtocol,
)

__all__ = ["ERROR", "INTERRUPT", "RESUME", "SCHEDULED", "TASKS", "ChannelProtocol", "SendProtocol"]
