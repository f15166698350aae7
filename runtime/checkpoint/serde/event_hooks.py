"""Listeners for refused and unknown classes, from `langgraph-checkpoint`."""

from langgraph.checkpoint.serde.event_hooks import (
    SerdeEvent,
    SerdeEventListener,
    emit_serde_event,
    register_serde_event_listener,
)

__all__ = ["SerdeEvent", "SerdeEventListener", "emit_serde_event", "register_serde_event_listener"]
