"""Questions that a node puts to the caller: `interrupt()` and the `Interrupt` it leaves behind.

Rule: an id is made from the task's checkpoint namespace and the number of answers the task has,
so it is stable across reruns, and the same for every implementation that reads the thread.
"""

from dataclasses import dataclass
from typing import Any, Final, Generic, final, overload
from warnings import warn

from typing_extensions import TypeVar
from xxhash import xxh3_128_hexdigest

from runtime._constants import NS_SEP
from runtime._context import current
from runtime.warnings import DeprecatedSince10

ResponseT = TypeVar("ResponseT", default=Any)


def interrupt_id(ns: str, answered: int) -> str:
    """Return the id of the question that a task asks after `answered` answers: 32 hex digits.

    `ns` is the task's checkpoint namespace, so the id stays the same however often the task runs
    again, and is new after a fork.
    """
    # Namespace segments hold a ":", so a bare number is never another task's namespace.
    return xxh3_128_hexdigest((f"{ns}{NS_SEP}{answered}" if answered else ns).encode())


_NO_ID: Final = "placeholder-id"


@final
@dataclass(init=False, slots=True)
class Interrupt(Generic[ResponseT]):
    """A question that stopped a run: its `value`, and the `id` by which it can be answered.

    `response_schema` describes the expected answer: JSON Schema once the question has been asked.
    """

    __module__ = "runtime.types"

    value: Any
    id: str
    response_schema: type[ResponseT] | dict[str, Any] | None = None

    def __init__(
        self,
        value: Any,
        id: str = _NO_ID,
        *,
        response_schema: type[ResponseT] | dict[str, Any] | None = None,
        **older: Any,
    ) -> None:
        # Older releases passed ns, when and resumable; they stand in stored checkpoints.
        unknown = set(older) - {"ns", "when", "resumable"}
        if unknown:
            raise TypeError(f"Interrupt() got unknown arguments {sorted(unknown)}")
        self.value = value
        self.response_schema = response_schema
        ns = older.get("ns")
        self.id = interrupt_id(NS_SEP.join(ns), 0) if id == _NO_ID and ns else id

    @classmethod
    def from_ns(
        cls,
        value: Any,
        ns: str,
        *,
        response_schema: type[ResponseT] | dict[str, Any] | None = None,
    ) -> "Interrupt[ResponseT]":
        """Return the first question of the task with the checkpoint namespace `ns`."""
        return cls(value, interrupt_id(ns, 0), response_schema=response_schema)

    @property
    def interrupt_id(self) -> str:
        """Deprecated: the same as `id`."""
        warn("`Interrupt.interrupt_id` is deprecated, read `id`", DeprecatedSince10, stacklevel=2)
        return self.id


@overload
def interrupt(value: Any, *, response_schema: type[ResponseT]) -> ResponseT: ...


@overload
def interrupt(value: Any, *, response_schema: dict[str, Any] | None = None) -> Any: ...


def interrupt(value: Any, *, response_schema: dict[str, Any] | type | None = None) -> Any:
    """Stop the run with a question, and return the answer once the run is resumed with one.

    The caller sees `value` in an `Interrupt` and answers with `Command(resume=answer)`. The node
    then runs again from its beginning, and this call returns the answer; further calls in the same
    node ask further questions. A thread is needed to resume, so the graph needs a checkpointer.

    `response_schema` is JSON Schema for the caller's form, or a Pydantic model, TypedDict or
    dataclass, which the answer is then validated and converted to. An answer that does not fit
    raises `pydantic.ValidationError` (see `is_invalid_resume`), and the question stays open.

    Raises RuntimeError outside a node.
    """
    context = current()
    if context is None:
        raise RuntimeError(
            "interrupt() was called outside a running node; call it in a node or a task of a "
            "graph that has a checkpointer"
        )
    return context.ask(value, response_schema)
