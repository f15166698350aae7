"""The serializer of `langgraph-checkpoint`, for databases and savers that were made with it."""

from langgraph.checkpoint.serde.jsonplus import InvalidModuleError, JsonPlusSerializer

__all__ = ["InvalidModuleError", "JsonPlusSerializer"]
