"""What a run is asked about the subgraphs inside it: where they halt, and which of them alone goes on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Made:
    """A checkpoint that a run of a subgraph has just made; nothing of it has run since.

    `ran` are the nodes that made it, `due` those that come next, `changed` the written state keys. `state` and
    `before` read the state there and at the checkpoint before it, {} at the first.
    """

    namespace: str
    id: str
    ran: tuple[str, ...]
    due: tuple[str, ...]
    changed: frozenset[str]
    state: Callable[[], Mapping[str, Any]]
    before: Callable[[], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Halting:
    """Where subgraphs halt while a superstep of the outermost graph runs.

    `reached` is asked at every checkpoint that one of them makes, from any thread, and answers whether it halts there.
    With `toward`, the namespace of a run, only the tasks around it run that lead to it, and no superstep around it
    ends. `moved` is filled in: for runs that go on from an older checkpoint, their namespace to the one on the new
    branch.
    """

    reached: Callable[[Made], bool]
    toward: str = ""
    moved: dict[str, str] = field(default_factory=dict)
