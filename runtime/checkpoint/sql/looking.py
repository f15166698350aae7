"""The part of the savers that tools look at histories with.

No values are decoded, none even read, but by those that are asked for them: `write_value`, `channel_values`, `audit`.
"""

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig

from runtime.checkpoint.sql import browse, queries
from runtime.checkpoint.sql.audit import Progress, audit
from runtime.checkpoint.sql.columns import Columns
from runtime.checkpoint.sql.configs import key_of, namespace_of
from runtime.checkpoint.sql.listing import Wanted
from runtime.checkpoint.sql.records import (
    CheckpointRecord,
    Finding,
    NamespaceRecord,
    OutlineRecord,
    Sizes,
    ThreadRecord,
    WriteDigest,
    WriteRecord,
)
from runtime.checkpoint.sql.salvage import readable_threads
from runtime.checkpoint.sql.statements import Conn
from runtime.checkpoint.sql.store import Store, read_serialized
from runtime.checkpoint.sql.worker import Worker

T = TypeVar("T")

COLUMN_PAGE = 32
"""Checkpoints whose values are read in one transaction."""


class Looking:
    """Reads that a debugger needs. All of them may be called from any thread."""

    serde: Any
    _store: Store
    _worker: Worker

    def threads(self, *, limit: int = 100, offset: int = 0, with_bytes: bool = False) -> list[ThreadRecord]:
        """Threads, those with the newest checkpoints first. Sizes (`with_bytes`) take a look at every row."""
        return self._look(browse.threads, limit, offset, with_bytes)

    def readable_threads(self) -> list[ThreadRecord]:
        """`threads` of a damaged file: those that can be reached; one whose checkpoints cannot be has no newest."""
        return readable_threads(self._look)

    def namespaces(self, thread_id: str) -> list[NamespaceRecord]:
        """What subgraphs have saved inside a thread: each namespace but the root, the newest last."""
        return self._look(browse.namespaces, thread_id)

    def thread_bytes(self, thread_id: str) -> int:
        """How many bytes the frames and values of a thread take."""
        return self._look(browse.thread_bytes, thread_id)

    def checkpoints(
        self, thread_id: str, ns: str | None = "", *, before: str | None = None, limit: int = 100
    ) -> list[CheckpointRecord]:
        """Checkpoints of a thread, newest first; the next page is `before` the last one's id. `ns=None`: all."""
        return self._look(browse.records, Wanted(thread_id, ns, None, before), limit)

    def outlines(
        self, thread_id: str, ns: str | None = "", *, before: str | None = None, limit: int = 100
    ) -> list[OutlineRecord]:
        """`checkpoints`, with versions and the writes on top of each."""
        return self._look(browse.outlines, Wanted(thread_id, ns, None, before), limit)

    def outline(self, config: RunnableConfig) -> OutlineRecord | None:
        """The outline of one checkpoint; None if it is not there."""
        thread_id, ns, checkpoint_id = key_of(config)
        found = self._look(browse.outlines, Wanted(thread_id, ns, checkpoint_id), 1)
        return found[0] if found else None

    def writes(self, config: RunnableConfig) -> list[WriteRecord]:
        """Every write on top of a checkpoint, all attempts, in the order in which they were stored."""
        return self._look(browse.writes, *key_of(config))

    def write_value(self, config: RunnableConfig, number: int) -> Any:
        """The decoded value of one of `writes`. Raises KeyError for a number that is not among them."""
        key = key_of(config)
        row = self._look(lambda conn: conn.one(queries.WRITE_AT, *key, number))
        if row is None:
            raise KeyError(f"checkpoint {key[2]!r} has no write number {number}")
        return read_serialized(self.serde, row[0], row[1], f"write {number} of checkpoint {key[2]!r}")

    def step_digests(self, thread_id: str, ns: str, ids: Sequence[str]) -> dict[str, list[WriteDigest]]:
        """The parent's writes that made each of these checkpoints, with digests of their bytes, which are read."""
        return self._look(browse.step_digests, thread_id, ns, ids)

    def channel_values(
        self, thread_id: str, ns: str, checkpoint_ids: Sequence[str], channels: Collection[str]
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """The decoded values of some channels at some checkpoints, in the order of the ids; cheapest is oldest first.

        A channel without a value is left out, and so are all of a checkpoint that is not there. Elements of lists
        are shared between what is handed out: they are to be looked at only.
        """
        columns = Columns(self.serde, thread_id, ns, channels)
        for start in range(0, len(checkpoint_ids), COLUMN_PAGE):
            found, error = self._look(columns.read, checkpoint_ids[start : start + COLUMN_PAGE])
            yield from found
            if error is not None:
                raise error

    def newest_id(self, config: RunnableConfig) -> str | None:
        """The id of the newest checkpoint in the config's namespace, if there is any."""
        return self._look(queries.newest_id, *namespace_of(config))

    async def anewest_id(self, config: RunnableConfig) -> str | None:
        """`newest_id`, without blocking the event loop."""
        return await self._worker.call(self.newest_id, config)

    def channel_bytes(self, config: RunnableConfig) -> dict[str, int]:
        """How many stored bytes the value of each channel of a checkpoint takes."""
        return self._look(browse.channel_bytes, *key_of(config))

    def tables(self) -> tuple[int, dict[str, int]]:
        """The schema version, and how many rows each table has."""
        return self._look(browse.tables)

    def sizes(self, thread_id: str) -> Sizes:
        """How many checkpoints and writes a thread has, and the bytes that its frames and values take."""
        return self._look(browse.sizes, thread_id)

    def audit(self, progress: Progress | None = None) -> Iterator[Finding]:
        """What is wrong with the rows of the database; every frame is rebuilt and every value decoded."""
        self._worker.flush()
        return audit(self._store.database, self.serde, progress)

    def data_version(self) -> Hashable:
        """Something that is different once anybody has written to the database. Asking costs next to nothing."""
        self._worker.flush()
        return self._store.database.changes()

    def _look(self, function: Callable[..., T], *arguments: Any) -> T:
        self._worker.flush()
        with self._store.database.read() as session:
            conn: Conn = session.conn
            return function(conn, *arguments)
