"""The savers: the interface of `langgraph-checkpoint` over a `Store`, with both its faces.

Rule 1: a saver is thin, so that the copies that `with_allowlist` makes share the database and what is in memory.
Rule 2: an async method never blocks the event loop: it encodes, and hands the rest to the store's one worker.
Rule 3: both faces call the same functions of a connection. There is no second copy of anything.
"""

import copy
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Self, TypeVar

from langchain_core.runnables import RunnableConfig

from runtime.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    SerializerProtocol,
    get_checkpoint_metadata,
)
from runtime.checkpoint.ids import next_version
from runtime.checkpoint.serde import Serializer
from runtime.checkpoint.serde.encrypted import EncryptedSerializer
from runtime.checkpoint.sql import queries
from runtime.checkpoint.sql import store as storing
from runtime.checkpoint.sql.browse import pruned
from runtime.checkpoint.sql.configs import config_of, key_of, namespace_of, write_json
from runtime.checkpoint.sql.database import Database
from runtime.checkpoint.sql.filters import checked
from runtime.checkpoint.sql.jobs import Job, PutStep, PutWrites
from runtime.checkpoint.sql.listing import Wanted, list_tuples
from runtime.checkpoint.sql.looking import Looking
from runtime.checkpoint.sql.prepare import Step, TaskWrites
from runtime.checkpoint.sql.prune import delete_for_runs, prune
from runtime.checkpoint.sql.reader import get_tuple
from runtime.checkpoint.sql.records import Sizes
from runtime.checkpoint.sql.statements import Conn
from runtime.checkpoint.sql.store import Store
from runtime.checkpoint.sql.worker import Worker

T = TypeVar("T")


class DatabaseSaver(Looking, BaseCheckpointSaver[int]):
    """Saves checkpoints in a database. Use it as a context manager, plain or async, or call `close`."""

    serde: SerializerProtocol = Serializer()

    def __init__(self, database: Database, *, serde: SerializerProtocol | None = None) -> None:
        super().__init__(serde=serde)
        self._store = Store(database)
        self._worker = Worker(self._store)

    # --- life ---------------------------------------------------------------------------------------

    def setup(self) -> None:
        """Open the database and create or upgrade its tables. Otherwise the first use does it."""
        self._store.database.open()

    def close(self) -> None:
        """Finish what is still to be written and close the database. Calling it twice is harmless."""
        self._worker.close()
        self._store.database.close()

    def __enter__(self) -> Self:
        self.setup()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> Self:
        """A saver on the same database whose serializer also gives back these classes, as (module, name)."""
        serde = extended(self.serde, extra_allowlist)
        if serde is self.serde:
            return self
        clone = copy.copy(self)
        clone.serde = serde
        return clone

    # --- reading ------------------------------------------------------------------------------------

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that the config names; without a checkpoint id, the newest of its thread."""
        self._worker.flush()
        return self._get(config)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Checkpoints, newest first.

        `config` may name a thread, a namespace and a checkpoint id, each optional. `filter` are metadata keys
        (dots lead into nested ones) and the values that they must equal, type included.

        Raises:
            ValueError: a filter key or the limit makes no sense.
        """
        wanted = _wanted(config, filter, before)
        _check_limit(limit)
        self._worker.flush()
        return list_tuples(self._store, self.serde, wanted, limit)

    def has_children(self, config: RunnableConfig) -> bool:
        """Whether a checkpoint has been gone on from: whether another one names it as its parent."""
        self._worker.flush()
        return self._has_children(key_of(config))

    # --- writing ------------------------------------------------------------------------------------

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint as the child of the one that the config names, and return its own config."""
        return self._run(_step(config, checkpoint, metadata, new_versions))

    def put_step(  # noqa: PLR0913 - a step is that many things
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
        writes: Sequence[TaskWrites] = (),
        *,
        nodes: Sequence[str] | None = None,
        folded: Sequence[str] | None = None,
    ) -> RunnableConfig:
        """Store a whole superstep in one transaction: a checkpoint, and what tasks of its parent wrote.

        `writes` are the tasks of the parent that are not saved yet: id, path, and (channel, value) pairs.
        `new_versions` must name every channel whose version or value changed since the parent; the checkpoint's
        `channel_values` need not hold any other channel's, and those keep theirs. `nodes`, if given, must name every
        node whose entry in `versions_seen` changed. `folded` are the ids of the tasks whose writes made this
        checkpoint; by default all of them for a step of the loop, else those of `writes`.
        """
        return self._run(_whole_step(_step(config, checkpoint, metadata, new_versions), writes, nodes, folded))

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store what a task wrote on top of the checkpoint that the config names. Nothing is replaced."""
        self._do(PutWrites(key_of(config), (task_id, task_path, writes), self.serde))

    def submit_step(  # noqa: PLR0913 - as `put_step`
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
        writes: Sequence[TaskWrites] = (),
        *,
        nodes: Sequence[str] | None = None,
        folded: Sequence[str] | None = None,
    ) -> Future[None]:
        """`put_step`, encoded now and committed later, with whatever else waits. The future tells when, or why not.

        The dicts handed in may be changed once this returns. Steps are committed in the order of the calls. Where the
        parent is not in memory, the step is committed at once.
        """
        kept: Checkpoint = {
            **checkpoint,
            "channel_values": dict(checkpoint["channel_values"]),
            "channel_versions": dict(checkpoint["channel_versions"]),
            "versions_seen": {node: dict(seen) for node, seen in checkpoint["versions_seen"].items()},
        }
        step = _whole_step(_step(config, kept, metadata, dict(new_versions)), writes, nodes, folded)
        return self._submit(PutStep(step, self.serde))

    def submit_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> Future[None]:
        """`put_writes`, encoded now and committed later."""
        return self._submit(PutWrites(key_of(config), (task_id, task_path, writes), self.serde))

    def flush(self) -> None:
        """Wait until everything that was handed over is committed, or has failed."""
        self._worker.flush()

    def extend_thread(self, thread_id: str, work: Callable[[Conn], T]) -> T:
        """Call `work`, which appends rows to a thread, with a connection inside one transaction. For importing."""
        self._worker.flush()
        return self._store.extend_thread(thread_id, work)

    def get_next_version(self, current: Any, channel: None = None) -> Any:
        """The next version of a channel, of the kind that its thread has: imported ones have LangGraph's strings."""
        return next_version(current)

    def delete_thread(self, thread_id: str) -> None:
        """Remove a thread, in all its namespaces."""
        self._change(storing.delete_thread, thread_id)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread, in all its namespaces, with its whole history, to a thread id that has none."""
        self._change(storing.copy_thread, source_thread_id, target_thread_id)

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Remove the checkpoints that these runs made. What others need of their values is kept with those."""
        self._change(delete_for_runs, run_ids)

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Remove all checkpoints of these threads (`delete`), or all but the newest of each namespace."""
        self._change(prune, thread_ids, _strategy(strategy))

    def preview_prune(
        self, thread_ids: Sequence[str], *, strategy: str = "keep_latest"
    ) -> dict[str, tuple[Sizes, Sizes]]:
        """What each of these threads has, and what `prune` would leave it. Nothing is removed."""
        self._worker.flush()
        return self._store.rehearse(lambda conn: pruned(conn, thread_ids, _strategy(strategy)))

    # --- the async face -----------------------------------------------------------------------------

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """`get_tuple`, without blocking the event loop."""
        return await self._worker.call(self._get, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """`list`, without blocking the event loop."""
        wanted = _wanted(config, filter, before)
        _check_limit(limit)
        found = list_tuples(self._store, self.serde, wanted, limit)
        while (item := await self._worker.call(next, found, None)) is not None:
            yield item

    async def ahas_children(self, config: RunnableConfig) -> bool:
        """`has_children`, without blocking the event loop."""
        return await self._worker.call(self._has_children, key_of(config))

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """`put`, without blocking the event loop."""
        step = _step(config, checkpoint, metadata, new_versions)
        await self._worker.write(PutStep(step, self.serde))
        return config_of(step.thread_id, step.ns, checkpoint["id"])

    async def aput_step(  # noqa: PLR0913 - a step is that many things
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
        writes: Sequence[TaskWrites] = (),
        *,
        nodes: Sequence[str] | None = None,
        folded: Sequence[str] | None = None,
    ) -> RunnableConfig:
        """`put_step`, without blocking the event loop."""
        step = _whole_step(_step(config, checkpoint, metadata, new_versions), writes, nodes, folded)
        await self._worker.write(PutStep(step, self.serde))
        return config_of(step.thread_id, step.ns, checkpoint["id"])

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """`put_writes`, without blocking the event loop."""
        await self._worker.write(PutWrites(key_of(config), (task_id, task_path, writes), self.serde))

    async def adelete_thread(self, thread_id: str) -> None:
        """`delete_thread`, without blocking the event loop."""
        await self._worker.call(self._store.change, storing.delete_thread, thread_id)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """`copy_thread`, without blocking the event loop."""
        await self._worker.call(self._store.change, storing.copy_thread, source_thread_id, target_thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """`delete_for_runs`, without blocking the event loop."""
        await self._worker.call(self._store.change, delete_for_runs, run_ids)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """`prune`, without blocking the event loop."""
        await self._worker.call(self.prune, thread_ids, strategy=strategy)

    # --- inside -------------------------------------------------------------------------------------

    def _get(self, config: RunnableConfig) -> CheckpointTuple | None:
        thread_id, ns = namespace_of(config)
        with self._store.database.read() as session:
            checkpoint_id = config["configurable"].get("checkpoint_id")
            return get_tuple(self._store, session, self.serde, thread_id, ns, checkpoint_id)

    def _has_children(self, key: tuple[str, str, str]) -> bool:
        with self._store.database.read() as session:
            return session.conn.one(queries.CHILD, *key) is not None

    def _run(self, step: Step) -> RunnableConfig:
        self._do(PutStep(step, self.serde))
        return config_of(step.thread_id, step.ns, step.checkpoint["id"])

    def _do(self, job: Job) -> None:
        with self._store.turn(job.thread_id):
            self._worker.flush()
            job.prepare(self._store.heads)
            self._store.execute((job,))

    def _submit(self, job: PutStep | PutWrites) -> Future[None]:
        with self._store.turn(job.thread_id):
            job.prepare(self._store.heads)
            if job.ready:
                return self._worker.add(job)
            done: Future[None] = Future()
            self._worker.flush()
            self._store.execute((job,))
            done.set_result(None)
            return done

    def _change(self, work: Any, *arguments: Any) -> None:
        self._worker.flush()
        self._store.change(work, *arguments)


def extended(serde: SerializerProtocol, extra: Collection[tuple[str, ...]]) -> SerializerProtocol:
    """A serializer that also gives back these classes. One that knows no allow-list comes back as it is."""
    if isinstance(serde, EncryptedSerializer):
        inner = extended(serde.serde, extra)
        return serde if inner is serde.serde else EncryptedSerializer(serde.cipher, inner)
    extend = getattr(serde, "with_msgpack_allowlist", None)
    return serde if extend is None else extend(extra)


def _step(
    config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: Mapping[str, Any]
) -> Step:
    thread_id, ns = namespace_of(config)
    full: Mapping[str, Any] = get_checkpoint_metadata(config, metadata)
    text = write_json(full)
    parent = config["configurable"].get("checkpoint_id")
    return Step(thread_id, ns, parent, checkpoint, text, new_versions, step=full.get("step"), source=full.get("source"))


def _whole_step(
    step: Step, writes: Sequence[TaskWrites], nodes: Sequence[str] | None, folded: Sequence[str] | None
) -> Step:
    if writes and step.parent is None:
        raise ValueError("tasks wrote on top of a checkpoint, but the config names no checkpoint_id")
    step.writes, step.nodes, step.folded, step.complete = writes, nodes, folded, True
    return step


def _wanted(config: RunnableConfig | None, filter: Mapping[str, Any] | None, before: RunnableConfig | None) -> Wanted:
    configurable = (config or {}).get("configurable") or {}
    thread_id = configurable.get("thread_id")
    return Wanted(
        None if thread_id is None else str(thread_id),
        configurable.get("checkpoint_ns"),
        configurable.get("checkpoint_id"),
        before["configurable"].get("checkpoint_id") if before else None,
        checked(filter),
    )


def _strategy(strategy: str) -> str:
    if strategy not in ("keep_latest", "delete"):
        raise ValueError(f"strategy is {strategy!r}; it can be 'keep_latest' or 'delete'")
    return strategy


def _check_limit(limit: Any) -> None:
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 0):
        raise ValueError(f"limit is {limit!r}; it can be a number from 0 up, or None for all")
