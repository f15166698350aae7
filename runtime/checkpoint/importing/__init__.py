"""LangGraph's checkpoints into a database of ours, so that its threads can be gone on from here.

Rule 1: a thread is imported in one transaction: whatever stops an import, there are whole threads or none of it.
Rule 2: importing again adds what is new. A checkpoint that is there already must be the same, or the thread is
        refused; nothing is ever overwritten.
Rule 3: no value is made an object, except for old JSON: extensions of stored values go through closed, byte for byte.
Rule 4: memory is bounded by a few checkpoints and the ids of one thread.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from runtime.checkpoint.errors import CheckpointStorageError
from runtime.checkpoint.importing.carrier import closed
from runtime.checkpoint.importing.order import parents_first
from runtime.checkpoint.importing.thread import Importing
from runtime.checkpoint.langgraph import LangGraphReader
from runtime.checkpoint.sql.saver import DatabaseSaver
from runtime.checkpoint.sql.statements import Conn

__all__ = ["Imported", "import_threads"]

PAGE = 8
"""Checkpoints read at once."""

Progress = Callable[[str, int, int], None]


class Imported(NamedTuple):
    """What an import did: how many threads it went through, and what it added to them."""

    threads: int = 0
    checkpoints: int = 0
    writes: int = 0
    present: int = 0
    """Checkpoints that were there already, and are the same."""


def import_threads(
    source: LangGraphReader,
    target: DatabaseSaver,
    threads: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Imported:
    """Import these threads, or all. `progress` is told a thread, how many of its checkpoints are done, of how many.

    Raises:
        CheckpointStorageError: a thread is not there; a checkpoint differs from the one of this id in the target
            (`conflict`), or cannot be read. The threads before it are imported, it and those after it are not.
    """
    known = source.thread_ids()
    for thread_id in threads or ():
        if thread_id not in known:
            raise CheckpointStorageError(f"there is no thread {thread_id!r} in {source.name}", "missing")
    total = Imported()
    for thread_id in known if threads is None else dict.fromkeys(threads):
        done = _import(source, target, thread_id, progress)
        total = Imported(*map(sum, zip(total, done, strict=True)))
    return total


def _import(source: LangGraphReader, target: DatabaseSaver, thread_id: str, progress: Progress | None) -> Imported:
    lineage = source.lineage(thread_id)
    keys = [(thread_id, ns, id_) for ns, id_ in parents_first(lineage, f"thread {thread_id!r} of {source.name}")]
    carrier = closed(source.serde)

    def work(conn: Conn) -> Imported:
        importing = Importing(conn, thread_id, source, target)
        for at in range(0, len(keys), PAGE):
            for found in source.read(keys[at : at + PAGE], carrier):
                importing.take(found)
            if progress is not None:
                progress(thread_id, min(at + PAGE, len(keys)), len(keys))
        return Imported(1, *importing.finish())

    return target.extend_thread(thread_id, work)
