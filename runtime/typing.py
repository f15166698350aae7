"""Type variables for states, inputs, outputs and contexts of graphs."""

from typing_extensions import TypeVar

from runtime._typing import StateLike

__all__ = (
    "ContextT",
    "ContextT_contra",
    "InputT",
    "NodeInputT",
    "NodeInputT_contra",
    "OutputT",
    "StateT",
    "StateT_co",
    "StateT_contra",
)

StateT = TypeVar("StateT", bound=StateLike)
"""State of a graph."""

StateT_co = TypeVar("StateT_co", bound=StateLike, covariant=True)
StateT_contra = TypeVar("StateT_contra", bound=StateLike, contravariant=True)

ContextT = TypeVar("ContextT", bound=StateLike | None, default=None)
"""Context of a run (`context_schema`); None when the graph has none."""

ContextT_contra = TypeVar("ContextT_contra", bound=StateLike | None, contravariant=True, default=None)

InputT = TypeVar("InputT", bound=StateLike, default=StateT)
"""Input of a graph; its state unless it has an `input_schema`."""

OutputT = TypeVar("OutputT", bound=StateLike, default=StateT)
"""Output of a graph; its state unless it has an `output_schema`."""

NodeInputT = TypeVar("NodeInputT", bound=StateLike)
"""What one node reads."""

NodeInputT_contra = TypeVar("NodeInputT_contra", bound=StateLike, contravariant=True)
