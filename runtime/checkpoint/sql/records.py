"""What a database says of its checkpoints without their values: plain records for tools that look at histories."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ThreadRecord:
    """A thread. `newest` is the newest checkpoint of its root namespace; `checkpoints` are counted in all of them."""

    thread_id: str
    checkpoints: int
    newest: str
    updated_at: str
    step: int | None
    source: str | None
    metadata: Mapping[str, Any]
    bytes: int | None = None


@dataclass(frozen=True, slots=True)
class NamespaceRecord:
    """The checkpoints of a subgraph's run inside a thread; `metadata` is that of the newest."""

    ns: str
    checkpoints: int
    newest: str
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CheckpointRecord:
    """A checkpoint. `folded` are the numbers of the parent's writes that made it (see `WriteRecord.number`)."""

    thread_id: str
    ns: str
    id: str
    parent: str | None
    step: int | None
    source: str | None
    created_at: str | None
    metadata: Mapping[str, Any]
    folded: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class WriteRecord:
    """A write on top of a checkpoint, of any attempt. `counts`: it is the newest of its task and index."""

    number: int
    task_id: str
    task_path: str
    attempt: int
    idx: int
    channel: str
    bytes: int
    counts: bool


@dataclass(frozen=True, slots=True)
class WriteDigest:
    """A write with a digest of its stored bytes: the same digest means the same value."""

    number: int
    task_id: str
    task_path: str
    idx: int
    channel: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class OutlineRecord:
    """A checkpoint with its versions and the writes on top of it."""

    checkpoint: CheckpointRecord
    channel_versions: Mapping[str, Any]
    versions_seen: Mapping[str, Mapping[str, Any]]
    updated_channels: tuple[str, ...] | None
    channels: tuple[str, ...] = ()
    writes: tuple[WriteRecord, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong in a database: where, and what. `checkpoint_id` is "" where it is not about one checkpoint."""

    thread_id: str
    ns: str
    checkpoint_id: str
    what: str


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many rows a thread, or a whole database, has, and the bytes in its frames and values."""

    checkpoints: int
    writes: int
    bytes: int
