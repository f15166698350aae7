"""What is saved, and where.

Rule: importing this package loads only the interface and the memory saver. The database savers
(`runtime.checkpoint.sqlite`, `runtime.checkpoint.sql`) bring SQLAlchemy and are imported by name.
"""

from runtime.checkpoint.base import BaseCheckpointSaver, Checkpoint, CheckpointMetadata, CheckpointTuple
from runtime.checkpoint.memory import InMemorySaver, MemorySaver

__all__ = [
    "BaseCheckpointSaver",
    "Checkpoint",
    "CheckpointMetadata",
    "CheckpointTuple",
    "InMemorySaver",
    "MemorySaver",
]
