"""LangGraph's own SQLite checkpoint files, read as they are.

Rule 1: nothing is ever written: not to the file, and no side files next to it.
Rule 2: values are decoded by our serializer: what a stranger's file says never runs, and a class that is not allowed
        comes back as an `Opaque`.
Rule 3: each look opens the file anew and closes it. Whoever writes it meanwhile is not held up, and is seen.
"""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from os import PathLike, fspath
from types import TracebackType
from typing import Any, NoReturn, Self

from langchain_core.runnables import RunnableConfig

from runtime.checkpoint import files
from runtime.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    PendingWrite,
    SerializerProtocol,
    writes_sort_key,
)
from runtime.checkpoint.errors import CheckpointStorageError, undecoded
from runtime.checkpoint.serde import Serializer

_COLUMNS = {
    "checkpoints": {
        "thread_id",
        "checkpoint_ns",
        "checkpoint_id",
        "parent_checkpoint_id",
        "type",
        "checkpoint",
        "metadata",
    },
    "writes": {"thread_id", "checkpoint_ns", "checkpoint_id", "task_id", "idx", "channel", "type", "value"},
}
_PAGE = 64

_Writes = list[PendingWrite]  # a name, since in the class `list` is the method
_Key = tuple[str, str, str]  # thread id, namespace, checkpoint id


class LangGraphSqliteReader(BaseCheckpointSaver[Any]):
    """The checkpoints in a file that `langgraph-checkpoint-sqlite` wrote. It reads, and refuses to write.

    Files of versions that had no `task_path` yet are read too. Usable from any thread; there is nothing to close.

    Raises:
        CheckpointStorageError: the file is not there, is no SQLite database, or holds other tables.
    """

    serde: SerializerProtocol = Serializer()

    def __init__(self, path: str | PathLike[str], *, serde: SerializerProtocol | None = None) -> None:
        super().__init__(serde=serde)
        self.path = fspath(path)
        with closing(self._open()):
            pass

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Nothing stays open between two looks; this is here because savers have it."""

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> Self:
        """A reader of the same file whose serializer also gives back these classes, as (module, name)."""
        extend = getattr(self.serde, "with_msgpack_allowlist", None)
        return self if extend is None else type(self)(self.path, serde=extend(extra_allowlist))

    # --- reading ------------------------------------------------------------------------------------

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that the config names; without a checkpoint id, the newest of its thread."""
        configurable = config["configurable"]
        wanted = [str(configurable["thread_id"]), configurable.get("checkpoint_ns") or ""]
        where = "thread_id = ? AND checkpoint_ns = ?"
        if configurable.get("checkpoint_id"):
            where += " AND checkpoint_id = ?"
            wanted.append(configurable["checkpoint_id"])
        query = (
            f"SELECT thread_id, checkpoint_ns, checkpoint_id FROM checkpoints WHERE {where} "
            "ORDER BY checkpoint_id DESC LIMIT 1"
        )
        with closing(self._open()) as connection:
            rows = self._rows(connection, query, wanted)
            return self._read(connection, rows[0]) if rows else None

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Checkpoints, newest first; the arguments are those of our own savers.

        Raises:
            ValueError: a filter key makes no sense.
        """
        # Imported here: these bring SQLAlchemy, and looking at one checkpoint does not need it.
        from runtime.checkpoint.sql.filters import checked

        keys = self._keys(config, checked(filter), before)
        return self._pages(keys if limit is None else keys[: max(limit, 0)])

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """`get_tuple`, without blocking the event loop."""
        return await asyncio.to_thread(self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """`list`, without blocking the event loop."""
        found = await asyncio.to_thread(self.list, config, filter=filter, before=before, limit=limit)
        while (item := await asyncio.to_thread(next, found, None)) is not None:
            yield item

    def get_next_version(self, current: Any, channel: None = None) -> Any:
        """A version that sorts after this one, of the same kind: for what is worked out and never stored."""
        if isinstance(current, int | float):
            return current + 1
        return f"{int(current.partition('.')[0]) + 1 if current else 1:032}.0"

    # --- what is refused ----------------------------------------------------------------------------

    def _refuse(self) -> NoReturn:
        raise CheckpointStorageError(
            f"{self.path!r} is LangGraph's and is only read here; nothing was changed. To go on from it, run the graph "
            "with LangGraph's own saver, or on a database of ours",
            "read_only",
        )

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Refused."""
        self._refuse()

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Refused."""
        self._refuse()

    def delete_thread(self, thread_id: str) -> None:
        """Refused."""
        self._refuse()

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Refused."""
        self._refuse()

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Refused."""
        self._refuse()

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Refused."""
        self._refuse()

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Refused."""
        self._refuse()

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Refused."""
        self._refuse()

    async def adelete_thread(self, thread_id: str) -> None:
        """Refused."""
        self._refuse()

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Refused."""
        self._refuse()

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Refused."""
        self._refuse()

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Refused."""
        self._refuse()

    # --- inside -------------------------------------------------------------------------------------

    def _open(self) -> sqlite3.Connection:
        files.check(self.path, must_exist=True)
        # Where nobody is writing, SQLite is told so, and makes no side files.
        mode = "?mode=ro" if files.has_wal(self.path) else "?mode=ro&immutable=1"
        try:
            connection = sqlite3.connect(files.uri(self.path) + mode, uri=True, check_same_thread=False)
        except sqlite3.Error as error:
            raise self._error(error) from error
        try:
            self._check(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _check(self, connection: sqlite3.Connection) -> None:
        """Raise if the tables are not LangGraph's."""
        for table, columns in _COLUMNS.items():
            query = "SELECT name FROM pragma_table_info(?)"
            missing = columns - {row[0] for row in self._rows(connection, query, [table])}
            if missing:
                raise CheckpointStorageError(
                    f"{self.path!r} is not a checkpoint file of LangGraph: its table {table!r} is missing or has no "
                    f"{', '.join(sorted(missing))}",
                    "foreign",
                )

    def _rows(self, connection: sqlite3.Connection, query: str, values: Sequence[Any]) -> Sequence[tuple[Any, ...]]:
        try:
            return connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise self._error(error) from error

    def _error(self, error: sqlite3.Error) -> CheckpointStorageError:
        return files.storage_error(f"the checkpoint file {self.path!r}", error)

    def _keys(
        self, config: RunnableConfig | None, filter: Mapping[str, Any], before: RunnableConfig | None
    ) -> Sequence[_Key]:
        from runtime.checkpoint.sql.filters import matches

        wanted = (config or {}).get("configurable") or {}
        limits = {
            "thread_id = ?": str(wanted["thread_id"]) if "thread_id" in wanted else None,
            "checkpoint_ns = ?": wanted.get("checkpoint_ns"),
            "checkpoint_id = ?": wanted.get("checkpoint_id"),
            "checkpoint_id < ?": before["configurable"].get("checkpoint_id") if before else None,
        }
        chosen = {condition: value for condition, value in limits.items() if value is not None}
        where = f"WHERE {' AND '.join(chosen)} " if chosen else ""
        query = (
            f"SELECT thread_id, checkpoint_ns, checkpoint_id, metadata FROM checkpoints {where}"
            "ORDER BY checkpoint_id DESC, thread_id DESC, checkpoint_ns DESC"
        )
        with closing(self._open()) as connection:
            rows = self._rows(connection, query, list(chosen.values()))
        return [row[:3] for row in rows if not filter or matches(self._metadata(row[3], row[2]), filter)]

    def _pages(self, keys: Sequence[_Key]) -> Iterator[CheckpointTuple]:
        for at in range(0, len(keys), _PAGE):
            with closing(self._open()) as connection:
                found = [self._read(connection, key) for key in keys[at : at + _PAGE]]
            yield from (item for item in found if item is not None)

    def _read(self, connection: sqlite3.Connection, key: _Key) -> CheckpointTuple | None:
        query = (
            "SELECT parent_checkpoint_id, type, checkpoint, metadata FROM checkpoints "
            "WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?"
        )
        rows = self._rows(connection, query, key)
        if not rows:
            return None  # removed since its key was listed
        parent, kind, data, metadata = rows[0]
        checkpoint = self._decoded(kind, data, f"checkpoint {key[2]!r}")
        if not isinstance(checkpoint, dict):
            raise CheckpointStorageError(f"checkpoint {key[2]!r} of {self.path!r} is not a checkpoint", "corrupt")
        return CheckpointTuple(
            _config(*key),
            checkpoint,  # type: ignore[arg-type]
            self._metadata(metadata, key[2]),
            _config(key[0], key[1], parent) if parent else None,
            self._writes(connection, key),
        )

    def _writes(self, connection: sqlite3.Connection, key: _Key) -> _Writes:
        query = "SELECT * FROM writes WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?"
        names = [row[0] for row in self._rows(connection, "SELECT name FROM pragma_table_info('writes')", ())]
        rows = [dict(zip(names, row, strict=True)) for row in self._rows(connection, query, key)]
        rows.sort(key=lambda row: writes_sort_key(row.get("task_path", ""), row["task_id"], row["idx"]))
        return [
            (
                row["task_id"],
                row["channel"],
                self._decoded(
                    row["type"],
                    row["value"],
                    f"the write of task {row['task_id']!r} to {row['channel']!r} on checkpoint {key[2]!r}",
                ),
            )
            for row in rows
        ]

    def _decoded(self, kind: Any, data: Any, what: str) -> Any:
        try:
            return self.serde.loads_typed((kind, data))
        except Exception as error:
            raise undecoded(f"{what} of {self.path!r}", str(kind), error) from error

    def _metadata(self, text: Any, checkpoint_id: str) -> Any:
        try:
            return json.loads(text) if text is not None else {}
        except ValueError as error:
            raise CheckpointStorageError(
                f"the metadata of checkpoint {checkpoint_id!r} of {self.path!r} are not JSON: {error}", "corrupt"
            ) from error


def _config(thread_id: str, ns: str, checkpoint_id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ns, "checkpoint_id": checkpoint_id}}
