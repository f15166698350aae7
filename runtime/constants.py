"""Public constants: the two ends of a graph, and tags that keep things out of streams."""

from typing import Any, Final
from warnings import warn

from runtime import _constants
from runtime._constants import CONF, CONFIG_KEY_CHECKPOINTER, TASKS
from runtime.warnings import DeprecatedSince10

__all__ = (
    "CONF",
    "CONFIG_KEY_CHECKPOINTER",
    "END",
    "START",
    "TAG_HIDDEN",
    "TAG_NOSTREAM",
    "TASKS",
)

START: Final = "__start__"
"""The edge's source that is the graph's input."""

END: Final = "__end__"
"""The edge's target that is the end of the path."""

TAG_NOSTREAM: Final = "nostream"
"""Tag of a chat model whose tokens are kept out of `stream_mode="messages"`."""

TAG_HIDDEN: Final = "langsmith:hidden"
"""Tag of nodes and edges that tracers and streams leave out."""


def __getattr__(name: str) -> Any:
    if name in ("Send", "Interrupt"):
        from runtime import types

        warn(
            f"importing {name} from runtime.constants is deprecated, import it from runtime.types",
            DeprecatedSince10,
            stacklevel=2,
        )
        return getattr(types, name)
    if name.isupper() and hasattr(_constants, name):
        warn(
            f"{name} is private to the runtime; importing it from runtime.constants is deprecated",
            DeprecatedSince10,
            stacklevel=2,
        )
        return getattr(_constants, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
