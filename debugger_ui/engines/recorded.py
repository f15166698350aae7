"""What a database has recorded, in the debugger's own terms: threads, checkpoints, tasks, with live Python values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

MISSING: Any = type("Missing", (), {"__repr__": lambda self: "MISSING"})()
"""Stands for "no value" where None is a value."""


@dataclass(frozen=True, slots=True)
class Place:
    """One checkpoint: thread, id, and the namespace of a subgraph (empty for the graph itself)."""

    thread: str
    id: str = ""
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class ThreadHead:
    """A thread in the list, without values. `newest` is the id of its newest checkpoint."""

    id: str
    newest: str
    step: int
    checkpoints: int | None
    updated: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Header:
    """A checkpoint in a history, without values."""

    id: str
    parent: str
    step: int
    source: str
    created: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception of a task as recorded: its type and message; a traceback if one was kept."""

    type: str
    message: str
    traceback: str = ""


@dataclass(frozen=True, slots=True)
class Outline:
    """What happened around a checkpoint, without values.

    `ran` and `changed` tell how it was made; the rest (`asking`, `answered`: task ids) is the superstep that starts at
    it. Its failures are known as long as no superstep went on from it.
    """

    ran: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    due: tuple[str, ...] = ()
    failed: tuple[Failure, ...] = ()
    asking: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()
    damaged: str = ""
    """Why the record cannot be read (`encrypted`: for want of the key); then nothing else is known."""
    encrypted: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """A pending interrupt."""

    id: str
    value: Any
    schema: Any = None


@dataclass(frozen=True, slots=True)
class Task:
    """A node's run in the superstep that starts at a checkpoint; `input` may be MISSING."""

    id: str
    name: str
    path: tuple[Any, ...] = ()
    triggers: tuple[str, ...] = ()
    input: Any = MISSING
    writes: tuple[tuple[str, Any], ...] = ()
    done: bool = False
    supplied: bool = False
    refused: bool = False
    """Its writes are those of a result that the barrier refused: the task runs again."""
    failure: Failure | None = None
    questions: tuple[Question, ...] = ()
    asked: tuple[Question, ...] = ()
    answers: tuple[Any, ...] = ()
    """What the answered questions, `asked`, were answered with: in order, as far as it is recorded."""
    calls: tuple[Any, ...] = ()
    """Saved results of what its function called (`@task`): those calls do not run again."""
    attempts: int = 0
    milliseconds: float | None = None
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """One checkpoint: `state` is what a user calls the state, `channels` everything that is stored."""

    header: Header
    state: Mapping[str, Any]
    channels: Mapping[str, Any]
    versions: Mapping[str, Any]
    seen: Mapping[str, Mapping[str, Any]]
    tasks: tuple[Task, ...]
    problems: tuple[str, ...] = ()
