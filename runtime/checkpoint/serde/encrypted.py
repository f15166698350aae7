"""Encryption around a serializer, from `langgraph-checkpoint`. It works around ours as around its own."""

from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

__all__ = ["EncryptedSerializer"]
