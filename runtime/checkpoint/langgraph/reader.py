"""The reader of LangGraph's databases: the interface of a saver, of which only looking works.

Rule: each look is one transaction of its own. Whoever writes meanwhile is not held up, and is seen.
"""

import asyncio
from abc import abstractmethod
from collections.abc import AsyncIterator, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from types import TracebackType
from typing import Any, NoReturn, Protocol, Self

from langchain_core.runnables import RunnableConfig

from runtime.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    SerializerProtocol,
)
from runtime.checkpoint.errors import CheckpointStorageError
from runtime.checkpoint.ids import next_version
from runtime.checkpoint.langgraph.stored import Found, Key, Stored, StoredWrite, as_tuple, metadata_of, opened
from runtime.checkpoint.serde import Serializer
from runtime.checkpoint.serde.types import TASKS

_PAGE = 32

KeyRow = tuple[str, str, str, Any]  # a key, and the stored metadata


class Look(Protocol):
    """One look at a database."""

    def keys(self, wanted: Mapping[str, Any], limit: int | None) -> Sequence[KeyRow]:
        """Checkpoints, newest first. `wanted` may have thread_id, checkpoint_ns, checkpoint_id and before."""

    def read(self, keys: Sequence[Key]) -> Iterator[Stored]:
        """The rows of these checkpoints, in this order, without those that are gone."""

    def writes(self, key: Key, channel: str) -> Sequence[StoredWrite]:
        """What was written to a channel on top of a checkpoint, in the order in which a run applies it."""

    def threads(self) -> Sequence[str]:
        """The ids of all threads, sorted."""

    def lineage(self, thread_id: str) -> Sequence[tuple[str, str, str | None]]:
        """Namespace, id and parent of every checkpoint of a thread, by namespace and id."""


class LangGraphReader(BaseCheckpointSaver[Any]):
    """The checkpoints in a database that LangGraph's own saver wrote. It reads, and refuses to write.

    Usable from any thread.
    """

    serde: SerializerProtocol = Serializer()

    @property
    @abstractmethod
    def name(self) -> str:
        """What messages call the database."""

    @abstractmethod
    def data_version(self) -> Hashable:
        """Something that is different once anybody has written to the database. Asking costs next to nothing."""

    @abstractmethod
    def _look(self) -> AbstractContextManager[Look]:
        """Begin a look at it."""

    @abstractmethod
    def _with(self, serde: SerializerProtocol) -> Self:
        """A reader of the same database with this serializer."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give back what is held."""

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> Self:
        """A reader of the same database whose serializer also gives back these classes, as (module, name)."""
        extend = getattr(self.serde, "with_msgpack_allowlist", None)
        return self if extend is None else self._with(extend(extra_allowlist))

    # --- reading ------------------------------------------------------------------------------------

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that the config names; without a checkpoint id, the newest of its thread."""
        configurable = config["configurable"]
        wanted = {
            "thread_id": str(configurable["thread_id"]),
            "checkpoint_ns": configurable.get("checkpoint_ns") or "",
            "checkpoint_id": configurable.get("checkpoint_id") or None,
        }
        with self._look() as look:
            keys = [row[:3] for row in look.keys(wanted, 1)]
            return next(self._tuples(look, keys), None)

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
        return f"{1:032}.0" if current is None else next_version(current)

    # --- for who copies it --------------------------------------------------------------------------

    def thread_ids(self) -> Sequence[str]:
        """The ids of all threads, sorted."""
        with self._look() as look:
            return look.threads()

    def lineage(self, thread_id: str) -> Sequence[tuple[str, str, str | None]]:
        """Namespace, id and parent of every checkpoint of a thread, by namespace and id."""
        with self._look() as look:
            return look.lineage(thread_id)

    def read(self, keys: Sequence[Key], serde: SerializerProtocol) -> Sequence[Found]:
        """These checkpoints, decoded by this serializer, their writes as they are stored."""
        with self._look() as look:
            return [*self._found(look, keys, serde)]

    # --- what is refused ----------------------------------------------------------------------------

    def _refuse(self) -> NoReturn:
        raise CheckpointStorageError(
            f"{self.name} is LangGraph's and is only read here; nothing was changed. To go on from it, run the graph "
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

    def _keys(
        self, config: RunnableConfig | None, filter: Mapping[str, Any], before: RunnableConfig | None
    ) -> Sequence[Key]:
        from runtime.checkpoint.sql.filters import matches

        configurable = (config or {}).get("configurable") or {}
        wanted = {name: configurable.get(name) for name in ("thread_id", "checkpoint_ns", "checkpoint_id")}
        if wanted["thread_id"] is not None:
            wanted["thread_id"] = str(wanted["thread_id"])
        wanted["before"] = before["configurable"].get("checkpoint_id") if before else None
        with self._look() as look:
            rows = look.keys(wanted, None)
        return [
            row[:3]
            for row in rows
            if not filter or matches(metadata_of(row[3], f"checkpoint {row[2]!r} of {self.name}"), filter)
        ]

    def _pages(self, keys: Sequence[Key]) -> Iterator[CheckpointTuple]:
        for at in range(0, len(keys), _PAGE):
            with self._look() as look:
                found = [*self._tuples(look, keys[at : at + _PAGE])]
            yield from found

    def _tuples(self, look: Look, keys: Sequence[Key]) -> Iterator[CheckpointTuple]:
        return (as_tuple(found, self.serde, self.name) for found in self._found(look, keys, self.serde))

    def _found(self, look: Look, keys: Sequence[Key], serde: SerializerProtocol) -> Iterator[Found]:
        for stored in look.read(keys):
            yield opened(stored, serde, self.name, partial(_sends, look, stored))


def _sends(look: Look, stored: Stored) -> Sequence[StoredWrite]:
    thread_id, ns, _ = stored.key
    return look.writes((thread_id, ns, stored.parent), TASKS) if stored.parent else ()
