"""What is written: a checkpoint with its tasks' writes, or the writes of one task, each as one job.

Rule 1: a job is prepared outside the transaction whenever the parent is in memory, so that values are encoded on
        the calling thread and no lock of the database is held meanwhile.
Rule 2: inside the transaction it is checked that what it was prepared against still holds; if another process got
        in between, it is prepared again from the database.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from runtime.checkpoint.base import SerializerProtocol
from runtime.checkpoint.sql import queries
from runtime.checkpoint.sql.frames import State, read_state
from runtime.checkpoint.sql.heads import Heads
from runtime.checkpoint.sql.log import WriteLog, WriteRow
from runtime.checkpoint.sql.places import Rope, addresses, assemble
from runtime.checkpoint.sql.prepare import Head, NotInMemory, Rows, Step, encode_element, prepare
from runtime.checkpoint.sql.statements import Conn


class Job(Protocol):
    """One thing to write. The three are called in this order; `commit` may be called again after a failure."""

    thread_id: str

    @property
    def base(self) -> tuple[str, str, str | None]:
        """The checkpoint that it goes on from, or is on top of: thread, namespace, id."""

    def prepare(self, heads: Heads) -> None:
        """Encode, as far as memory allows."""

    def commit(self, conn: Conn, heads: Heads, foreign: bool) -> None:
        """Write, inside a transaction. `foreign`: another process has written since the last one."""

    def done(self, heads: Heads) -> None:
        """The transaction has been committed."""


class PutStep:
    """Store a checkpoint, and with it the writes of its parent's tasks that are not stored yet."""

    def __init__(self, step: Step, serde: SerializerProtocol) -> None:
        self.step = step
        self.thread_id = step.thread_id
        self.serde = serde
        self._rows: Rows | None = None
        self._head: Head | None = None
        self._epoch = -1
        self._unsure = True

    @property
    def base(self) -> tuple[str, str, str | None]:
        """The parent."""
        return self.step.thread_id, self.step.ns, self.step.parent

    @property
    def key(self) -> tuple[str, str, str]:
        """The checkpoint itself."""
        return self.step.thread_id, self.step.ns, self.step.checkpoint["id"]

    def prepare(self, heads: Heads) -> None:
        """Encode against the parent's head, if that is in memory."""
        step = self.step
        with heads.lock:
            self._epoch = heads.epoch
            self._head = heads.take(step.thread_id, step.ns, step.parent)
            if step.parent is None:
                self._head = Head(State(), WriteLog())
            if self._head is None:
                return
            self._unsure = self._head.log.stale
            try:
                self._rows = prepare(self._head, step, self.serde)
            except NotInMemory:
                self._head = None
                return
            self._keep(heads, self._head)

    @property
    def ready(self) -> bool:
        """Whether it is encoded, and only has to be committed."""
        return self._rows is not None

    def commit(self, conn: Conn, heads: Heads, foreign: bool) -> None:
        """Insert the rows."""
        step, rows = self.step, self._rows
        if rows is not None and not self._holds(conn, foreign):
            heads.forget()
        if rows is None or self._epoch != heads.epoch:
            rows = self._again(conn, heads)
        key = (step.thread_id, step.ns)
        if step.writes:
            conn.many(queries.INSERT_WRITE, [(*key, step.parent, *row) for row in rows.writes])
        if rows.values:
            conn.many(queries.INSERT_VALUE, [(*key, step.checkpoint["id"], *row) for row in rows.values])
        conn.run(
            queries.INSERT_CHECKPOINT,
            *(*key, step.checkpoint["id"], step.parent, step.step, step.source),
            *(step.checkpoint.get("ts"), step.metadata, rows.folded, rows.keyframe, rows.frame),
        )

    def done(self, heads: Heads) -> None:
        """The new checkpoint may be the newest of its thread."""
        with heads.lock:
            heads.found_newest(self.step.thread_id, self.step.ns, self.step.checkpoint["id"])

    def _holds(self, conn: Conn, foreign: bool) -> bool:
        if self.step.parent is None or not (foreign or self._unsure):
            return True
        row = conn.one(queries.WRITE_COUNT, self.step.thread_id, self.step.ns, self.step.parent)
        return row is not None and self._rows is not None and row[0] == self._rows.base

    def _again(self, conn: Conn, heads: Heads) -> Rows:
        step = self.step

        def recall(rope: Rope) -> list[bytes]:
            stored = queries.values_at(conn, step.thread_id, step.ns, addresses(rope))
            decoded = {address: self.serde.loads_typed(value) for address, value in stored.items()}
            return [encode_element(self.serde, element) for element in assemble(rope, decoded)]

        head = load_head(conn, step.thread_id, step.ns, step.parent)
        rows = prepare(head, step, self.serde, recall)
        with heads.lock:
            self._rows, self._epoch = rows, heads.epoch
            self._keep(heads, head)
        return rows

    def _keep(self, heads: Heads, head: Head) -> None:
        step = self.step
        head.log.stale = heads.has_early((step.thread_id, step.ns, step.checkpoint["id"]))
        heads.keep(step.thread_id, step.ns, head)


class PutWrites:
    """Store what one task wrote on top of a checkpoint."""

    def __init__(
        self, key: tuple[str, str, str], task: tuple[str, str, Sequence[tuple[str, Any]]], serde: SerializerProtocol
    ) -> None:
        self.key = key
        self.thread_id = key[0]
        self.task = task
        self.serde = serde
        self._rows: list[WriteRow] | None = None
        self._base = 0
        self._epoch = -1
        self._unsure = True

    @property
    def base(self) -> tuple[str, str, str | None]:
        """The checkpoint that the writes are on top of."""
        return self.key

    def prepare(self, heads: Heads) -> None:
        """Encode, and number the rows, if the checkpoint is in memory."""
        with heads.lock:
            head = heads.look(*self.key)
            self._epoch = heads.epoch
            if head is None:
                return
            self._unsure = head.log.stale
            self._base = head.log.count
            try:
                self._rows = head.log.add(*self.task, self.serde)
            except BaseException:
                heads.take(*self.key)  # its log counts rows that never were
                raise

    @property
    def ready(self) -> bool:
        """Whether it is encoded, and only has to be committed."""
        return self._rows is not None

    def commit(self, conn: Conn, heads: Heads, foreign: bool) -> None:
        """Insert the rows."""
        rows = self._rows
        if rows is not None and not self._holds(conn, foreign):
            heads.forget()
        if rows is None or self._epoch != heads.epoch:
            rows = load_log(conn, *self.key).add(*self.task, self.serde)
            absent = conn.one(queries.IDENTITY, *self.key) is None
            with heads.lock:
                heads.take(*self.key)
                if absent:
                    heads.came_early(self.key)
        if rows:
            conn.many(queries.INSERT_WRITE, [(*self.key, *row) for row in rows])

    def done(self, heads: Heads) -> None:
        """Nothing more to do."""

    def _holds(self, conn: Conn, foreign: bool) -> bool:
        if not (foreign or self._unsure):
            return True
        row = conn.one(queries.WRITE_COUNT, *self.key)
        return row is not None and row[0] == self._base


def load_head(conn: Conn, thread_id: str, ns: str, checkpoint_id: str | None, with_log: bool = True) -> Head:
    """A checkpoint from the database, as a head; an empty one if it is not there.

    Without its log, the head is only good to be looked at.
    """
    if checkpoint_id is None:
        return Head(State(), WriteLog())
    log = load_log(conn, thread_id, ns, checkpoint_id) if with_log else WriteLog()
    log.stale = not with_log
    chain = queries.lineage(conn, thread_id, ns, checkpoint_id)
    if not chain:
        return Head(State(), log)
    return Head(read_state(chain), log, metadata=chain[0][4], created_at=chain[0][5])


def load_log(conn: Conn, thread_id: str, ns: str, checkpoint_id: str) -> WriteLog:
    """The log of a checkpoint's stored writes."""
    return WriteLog.of(conn.rows(queries.WRITE_KEYS, thread_id, ns, checkpoint_id))
