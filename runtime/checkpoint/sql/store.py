"""Reading and writing checkpoints on a database, without a face: what both the sync and async savers call.

Rule 1: all that happens at once is in one transaction: a checkpoint with its values and its tasks' writes.
Rule 2: memory is only a shortcut. Every answer is the same when the cache is empty.
Rule 3: nothing is saved on top of a checkpoint that could not be saved, however early it was handed over.
"""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, TypeVar

from runtime.checkpoint.base import SerializerProtocol
from runtime.checkpoint.errors import CheckpointStorageError, Reason, undecoded
from runtime.checkpoint.sql import queries
from runtime.checkpoint.sql.database import Database, Session
from runtime.checkpoint.sql.handed import Handed
from runtime.checkpoint.sql.heads import Heads
from runtime.checkpoint.sql.jobs import Job, PutStep
from runtime.checkpoint.sql.statements import Conn
from runtime.checkpoint.sql.tables import SCHEMA_VERSION

T = TypeVar("T")

_MOST_LOST = 4096
_TURNS = 64  # locks that the threads of a database share


class _Undo(Exception):
    """Takes a rehearsal's transaction back."""


class Store:
    """A database and what of it is in memory. Any number of savers may share one."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.heads = Heads()
        self.handed = Handed()
        self._stamp: int | None = None
        self._version = SCHEMA_VERSION
        self._turns = tuple(Lock() for _ in range(_TURNS))
        self._lost: dict[tuple[str, str, str | None], Reason] = {}  # checkpoints that could not be saved, and why

    def turn(self, thread_id: str) -> Lock:
        """Held from a job's `prepare` until it is committed or queued, so that jobs are committed in the order of that.

        A checkpoint refers to rows of writes that were prepared before it. Committed in another order, by threads that
        save at once, it would be there without them.
        """
        return self._turns[hash(thread_id) % _TURNS]

    def execute(self, jobs: Sequence[Job]) -> None:
        """Write prepared jobs in one transaction, in their order."""
        try:
            self._check_bases(jobs)
            self._commit(jobs)
        except BaseException as error:
            self.heads.forget()
            if not self.database.is_duplicate(error):
                self._note_lost(jobs, error)
                raise
            self._again(jobs, error)
        for job in jobs:
            job.done(self.heads)
            if self._lost and isinstance(job, PutStep):
                self._lost.pop(job.key, None)

    def _check_bases(self, jobs: Sequence[Job]) -> None:
        """Refuse what goes on from a checkpoint that could not be saved: it was handed over before that was known."""
        for job in jobs if self._lost else ():
            if job.base in self._lost:
                raise CheckpointStorageError(
                    f"the checkpoint database {self.database.name}: checkpoint {job.base[2]!r} could not be saved, and "
                    "this goes on from it; nothing of this was saved",
                    self._lost[job.base],
                )

    def _note_lost(self, jobs: Sequence[Job], error: BaseException) -> None:
        if len(jobs) > 1:
            return  # each is tried alone
        reason = error.reason if isinstance(error, CheckpointStorageError) else "unavailable"
        for job in jobs:
            if isinstance(job, PutStep):
                self._lost[job.key] = reason
        while len(self._lost) > _MOST_LOST:
            self._lost.pop(next(iter(self._lost)))

    def _commit(self, jobs: Sequence[Job]) -> None:
        with self.database.write() as session:
            session.lock({job.thread_id for job in jobs})
            foreign = self._note_to_write(session)
            for job in jobs:
                job.commit(session.conn, self.heads, foreign)

    def _again(self, jobs: Sequence[Job], error: BaseException) -> None:
        """Somebody stored a row with the same key in between: try once more, from what is there now."""
        try:
            self._commit(jobs)
        except BaseException as second:
            self.heads.forget()
            if not self.database.is_duplicate(second):
                raise
            if len(jobs) != 1 or not self._is_stored(jobs[0]):
                raise CheckpointStorageError(
                    f"the checkpoint database {self.database.name} already holds another checkpoint with this id; "
                    "history is never overwritten",
                    "conflict",
                ) from error

    def _is_stored(self, job: Job) -> bool:
        """Whether a checkpoint is already there as it is, with the same parent and metadata."""
        if not isinstance(job, PutStep):
            return False
        step = job.step
        with self.database.read() as session:
            row = session.conn.one(queries.IDENTITY, step.thread_id, step.ns, step.checkpoint["id"])
        return row == (step.parent, step.checkpoint.get("ts"))

    def note(self, session: Session) -> bool:
        """Look whether another connection has committed since the last transaction, and forget what that may touch."""
        stamp = session.stamp()
        if stamp is not None and stamp == self._stamp:
            return False
        row = session.conn.one(queries.STORE)
        if row is None:
            raise CheckpointStorageError(f"the database {self.database.name} has lost its schema version", "corrupt")
        self._version = row[0]
        self.heads.changed_elsewhere(row[1])
        self._stamp = stamp
        return True

    def _note_to_write(self, session: Session) -> bool:
        """`note`; and refuse if a newer version of the package has brought the tables to its schema meanwhile."""
        foreign = self.note(session)
        if self._version > SCHEMA_VERSION:
            raise CheckpointStorageError(
                f"the database {self.database.name} was brought to schema {self._version} by a newer version while it "
                f"was open; this version knows schemas up to {SCHEMA_VERSION}; nothing of this was saved; update the "
                "package and open it again",
                "newer",
            )
        return foreign

    def rehearse(self, work: Callable[[Conn], T]) -> T:
        """Call `work(conn)`, which may remove rows, and undo what it did. Other writers wait meanwhile."""
        done: list[T] = []
        self.heads.forget()
        try:
            with self.database.write() as session:
                self.note(session)
                done.append(work(session.conn))
                raise _Undo
        except _Undo:
            return done[0]
        finally:
            self._stamp = None
            self.heads.forget()

    def extend_thread(self, thread_id: str, work: Callable[[Conn], T]) -> T:
        """Call `work(conn)`, which appends rows to a thread, in one transaction."""
        self.heads.forget()
        try:
            with self.database.write() as session:
                session.lock({thread_id})
                self.note(session)
                return work(session.conn)
        finally:
            self._stamp = None
            self.heads.forget()

    # --- removing and copying -----------------------------------------------------------------------

    def change(self, work: Any, *arguments: Any) -> None:
        """Call `work(conn, *arguments)`, which removes or rewrites rows, and have every process forget them."""
        self.heads.forget()
        try:
            with self.database.write() as session:
                self._note_to_write(session)
                work(session.conn, *arguments)
                session.conn.run(queries.BUMP_GENERATION)
        finally:
            self._stamp = None
            self.heads.forget()


def delete_thread(conn: Conn, thread_id: str) -> None:
    """Remove every row of a thread, in all its namespaces."""
    for statement in queries.DELETE_THREAD:
        conn.run(statement, thread_id)


def copy_thread(conn: Conn, source: str, target: str) -> None:
    """Copy every row of a thread, in all its namespaces, to another thread id. Its histories must not meet."""
    for statement in queries.COPY_THREAD:
        conn.run(statement, target, source)


def read_serialized(serde: SerializerProtocol, kind: str, data: bytes, where: str) -> Any:
    """A stored value, decoded; or an error that says where the damage is."""
    try:
        return serde.loads_typed((kind, data))
    except CheckpointStorageError:
        raise
    except Exception as error:
        raise undecoded(where, kind, error) from error
