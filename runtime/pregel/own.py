"""A saver as our graphs use it: it gives back `Send`, `Interrupt` and their like as the runtime's own classes.

They are stored under the names that LangGraph has for them. In a program that has LangGraph loaded too, a saver gives
back LangGraph's classes to everybody who does not ask for ours, since its graphs take no others.
"""

import sys
from typing import Any
from weakref import WeakKeyDictionary

from langgraph.checkpoint.base import BaseCheckpointSaver

from runtime.checkpoint.serde.allow import GRAPH_TYPES
from runtime.checkpoint.serde.serializer import Serializer
from runtime.types import Command, Interrupt, Overwrite, PregelTask, Send, StateSnapshot, TimeoutPolicy

OWN = (Command, Interrupt, Overwrite, PregelTask, Send, StateSnapshot, TimeoutPolicy)
"""What the runtime itself stores, besides what is in a state."""

_savers: WeakKeyDictionary[BaseCheckpointSaver[Any], BaseCheckpointSaver[Any]] = WeakKeyDictionary()


def own(saver: BaseCheckpointSaver[Any]) -> BaseCheckpointSaver[Any]:
    """The saver itself where there is nothing to confuse, otherwise a copy on the same database."""
    if GRAPH_TYPES not in sys.modules:
        return saver
    serde = getattr(saver.serde, "serde", saver.serde)  # encrypted or not
    if not isinstance(serde, Serializer):
        return saver
    if saver not in _savers:
        _savers[saver] = saver.with_allowlist(OWN)  # type: ignore[arg-type]  # ours takes classes too
    return _savers[saver]
