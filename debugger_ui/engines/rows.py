"""What the rows of our own database tell, as its saver gives them for looking: no value is read."""

from collections.abc import Mapping, Sequence
from typing import Any

from debugger_ui.engines import naming
from debugger_ui.engines.base import Header, ThreadHead
from debugger_ui.engines.reader import AUTHOR


def thread_head(row: Any) -> ThreadHead:
    """Return a row of the list of threads."""
    step = row.step if row.step is not None else -2
    return ThreadHead(row.thread_id, row.newest, step, row.checkpoints, row.updated_at, row.metadata, row.bytes)


def header_in(row: Any) -> Header:
    """Return a row of the list of checkpoints."""
    return Header(
        id=row.id,
        parent=row.parent or "",
        step=row.step if row.step is not None else -2,
        source=row.source or "",
        created=row.created_at or "",
        metadata=row.metadata or {},
    )


def ran_nodes(record: Any, before: tuple[Any, Mapping[str, str]] | None, header: Header) -> tuple[str, ...]:
    """Return the nodes whose writes a checkpoint folded."""
    if before is None or header.source not in ("loop", "update"):
        return ()
    if header.source == "update" and header.metadata.get(AUTHOR):
        return (str(header.metadata[AUTHOR]),)
    folded = set(record.checkpoint.folded)
    parent, names = before
    ran = dict.fromkeys(
        names.get(write.task_id, "")
        for write in parent.writes
        if write.number in folded and naming.settles(write.channel)
    )
    return tuple(node for node in ran if node and node != naming.START)


def changed_keys(record: Any, before: tuple[Any, Mapping[str, str]] | None) -> tuple[str, ...]:
    """Return the state keys whose versions have moved since the parent."""
    old = before[0].channel_versions if before is not None else {}
    moved = [channel for channel, version in record.channel_versions.items() if version != old.get(channel)]
    return naming.keys_of(moved)


def still_open(writes: Sequence[Any], channel: str, settled: set[str]) -> tuple[str, ...]:
    """Return the tasks that wrote on a channel, such as an error, and are not among the settled."""
    tasks = dict.fromkeys(write.task_id for write in writes if write.channel == channel)
    return tuple(task for task in tasks if task not in settled)
