"""What LangGraph stores of a checkpoint, and how it becomes a checkpoint in today's form. No IO here.

Rule 1: a checkpoint of an older format (its `v` below 4) kept the tasks that it sent apart: in a file next to the
        values, in a split database only as writes on its parent. They are put where they are kept now, in the
        channel of the tasks, so that what is due is seen.
Rule 2: a value that cannot be opened is kept closed; a checkpoint that cannot be opened is an error that names it.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from langchain_core.runnables import RunnableConfig

from runtime.checkpoint.base import CheckpointTuple, PendingWrite, SerializerProtocol, writes_sort_key
from runtime.checkpoint.errors import CheckpointStorageError, undecoded
from runtime.checkpoint.serde import Serializer
from runtime.checkpoint.serde.envelopes import sealed
from runtime.checkpoint.serde.opaque import Opaque
from runtime.checkpoint.serde.types import TASKS

Key = tuple[str, str, str]  # thread id, namespace, checkpoint id
Encoded = tuple[str, bytes]  # type tag, bytes

KNOWN_TAGS = frozenset(("msgpack", "forkpoint", "json", "null", "bytes", "bytearray"))
SENDS_IN_CHANNEL = 4  # the checkpoint format from which on


class StoredWrite(NamedTuple):
    """A row of the writes."""

    task_id: str
    task_path: str
    idx: int
    channel: str
    type: str
    value: bytes


class Stored(NamedTuple):
    """A checkpoint's rows. The `body` is encoded whole (SQLite), or plain but for the `blobs` of channels."""

    key: Key
    parent: str | None
    body: Encoded | Mapping[str, Any]
    blobs: Mapping[str, Encoded]
    metadata: Any
    writes: Sequence[StoredWrite]


class Found(NamedTuple):
    """A checkpoint, decoded; its writes are not, and in the order in which a run applies them."""

    key: Key
    parent: str | None
    checkpoint: dict[str, Any]
    metadata: dict[str, Any]
    writes: Sequence[StoredWrite]


def opened(stored: Stored, serde: SerializerProtocol, where: str, sends: Callable[[], Sequence[StoredWrite]]) -> Found:
    """A checkpoint out of its rows. `sends` reads what the parent's tasks sent; `where` names the database.

    Raises:
        CheckpointStorageError: it cannot be decoded.
    """
    _, _, checkpoint_id = stored.key
    name = f"checkpoint {checkpoint_id!r}"
    is_whole = isinstance(stored.body, tuple)
    if isinstance(stored.body, tuple):
        checkpoint = decoded(serde, stored.body, f"{name} of {where}")
    else:
        checkpoint = dict(stored.body)
        values = dict(checkpoint.get("channel_values") or {})
        for channel, blob in stored.blobs.items():
            if blob[0] != "empty":
                values[channel] = decoded(serde, blob, f"channel {channel!r} of {name} of {where}")
        checkpoint["channel_values"] = values
    if isinstance(checkpoint, Opaque):
        if isinstance(stored.body, tuple) and "+" in stored.body[0]:
            raise undecoded(f"{name} of {where}", stored.body[0], ValueError(checkpoint.why))
        raise CheckpointStorageError(f"{name} of {where} cannot be read: {checkpoint.why}", "corrupt")
    if not isinstance(checkpoint, dict) or not isinstance(checkpoint.get("channel_values"), dict):
        raise CheckpointStorageError(f"{name} of {where} is not a checkpoint", "corrupt")
    _modernize(checkpoint, serde, f"{name} of {where}", None if is_whole else sends)
    metadata = metadata_of(stored.metadata, f"{name} of {where}")
    return Found(stored.key, stored.parent, checkpoint, metadata, in_order(stored.writes))


def in_order(writes: Iterable[StoredWrite]) -> list[StoredWrite]:
    """Writes in the order in which a run applies them."""
    return sorted(writes, key=lambda write: writes_sort_key(write.task_path, write.task_id, write.idx))


def as_tuple(found: Found, serde: SerializerProtocol, where: str) -> CheckpointTuple:
    """A checkpoint in the shape that the saver interface has, its writes decoded."""
    thread_id, ns, checkpoint_id = found.key
    writes: list[PendingWrite] = []
    for write in found.writes:
        what = f"the write of task {write.task_id!r} to {write.channel!r} on checkpoint {checkpoint_id!r} of {where}"
        writes.append((write.task_id, write.channel, decoded(serde, (write.type, write.value), what)))
    return CheckpointTuple(
        config_of(*found.key),
        found.checkpoint,  # type: ignore[arg-type]
        found.metadata,  # type: ignore[arg-type]
        config_of(thread_id, ns, found.parent) if found.parent else None,
        writes,
    )


def decoded(serde: SerializerProtocol, encoded: Encoded, what: str) -> Any:
    """A stored value; one in an encoding that is never read, such as a pickle, stays closed."""
    tag, data = encoded
    if tag not in KNOWN_TAGS and (tag == "pickle" or isinstance(serde, Serializer)):
        return sealed(tag, data, f"values tagged {tag!r} are not decoded")
    try:
        return serde.loads_typed(encoded)
    except Exception as error:
        raise undecoded(what, tag, error) from error


def config_of(thread_id: str, ns: str, checkpoint_id: str) -> RunnableConfig:
    """The config that names a checkpoint."""
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ns, "checkpoint_id": checkpoint_id}}


def _modernize(
    checkpoint: dict[str, Any], serde: SerializerProtocol, name: str, sends: Callable[[], Sequence[StoredWrite]] | None
) -> None:
    version = checkpoint.get("v")
    if not isinstance(version, int) or version >= SENDS_IN_CHANNEL or TASKS in checkpoint["channel_values"]:
        return
    sent = checkpoint.get("pending_sends")
    if not sent and sends is not None:
        sent = [decoded(serde, (send.type, send.value), f"what was sent to {name}") for send in sends()]
    if not sent:
        return
    checkpoint.pop("pending_sends", None)
    versions = checkpoint["channel_versions"]
    checkpoint["channel_values"][TASKS] = sent
    checkpoint["channel_versions"] = {**versions, TASKS: max(versions.values()) if versions else 1}


def metadata_of(stored: Any, name: str) -> dict[str, Any]:
    """Stored metadata: text in a file, decoded by the driver on PostgreSQL."""
    try:
        found = json.loads(stored) if isinstance(stored, str | bytes) else stored
    except ValueError as error:
        raise CheckpointStorageError(f"the metadata of {name} are not JSON: {error}", "corrupt") from error
    if found is not None and not isinstance(found, dict):
        raise CheckpointStorageError(f"the metadata of {name} are not a JSON object: {found!r}", "corrupt")
    return found or {}
