"""From a stored checkpoint to a frame, with what has to be asked of the saver for it."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple

from runtime.pregel.effects import Effect, Replay
from runtime.pregel.frame import Frame
from runtime.pregel.model import Topology


def load_frame(topology: Topology, saved: CheckpointTuple | None) -> Generator[Effect, Any, Frame]:
    """A frame at a stored checkpoint, or before the first one.

    Checkpoints of ours have the value of every channel. Those of LangGraph leave out a `DeltaChannel`'s, which is
    what its writes add up to.
    """
    frame = Frame.load(topology, saved)
    if saved is not None:
        unfolded = frame.unfolded()
        if unfolded:
            frame.replay((yield Replay(saved, unfolded)))
    return frame
