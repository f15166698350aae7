"""SQLite: one connection behind a lock, in WAL mode.

Rule 1: a file that is not ours is never written to. Its header and its tables are looked at first, read-only.
Rule 2: writers begin with BEGIN IMMEDIATE: they wait for each other, up to the busy timeout, and never deadlock.
Rule 3: what would be lost is not written: a file that was removed from under us takes nothing more.
Rule 4: reading only (`read_only`) creates nothing, no side files either.
"""

import sqlite3
import time
from collections.abc import Hashable, Set
from threading import RLock
from typing import Literal, get_args

from runtime.checkpoint import files
from runtime.checkpoint.errors import CheckpointStorageError
from runtime.checkpoint.sql import sqlite_file, tables
from runtime.checkpoint.sql.database import Database, Session, Stamp
from runtime.checkpoint.sql.statements import Conn

Synchronous = Literal["OFF", "NORMAL", "FULL", "EXTRA"]

BUSY_TIMEOUT = 5.0  # seconds that a writer waits for another process's transaction


class SqliteDatabase(Database):
    """A database file, or `:memory:`, or a connection that the caller made."""

    def __init__(
        self,
        path: str,
        *,
        synchronous: Synchronous = "NORMAL",
        busy_timeout: float = BUSY_TIMEOUT,
        read_only: bool = False,
        connection: sqlite3.Connection | None = None,
    ) -> None:
        if synchronous not in get_args(Synchronous):
            raise ValueError(f"synchronous is {synchronous!r}; it can be {', '.join(get_args(Synchronous))}")
        self.path = path
        self.synchronous = synchronous
        self.busy_timeout = busy_timeout
        self.read_only = read_only
        self.lock = RLock()
        self.in_memory = files.is_memory(path)
        self._at = path if self.in_memory else files.fixed(path)
        self.cursor: sqlite3.Cursor | None = None
        self.conn: Conn | None = None
        self._given = connection
        self._connection: sqlite3.Connection | None = None
        self._immutable = False
        self._stamp: Hashable = None
        """What the file looked like when it was opened as one that nobody writes."""
        self._file: tuple[int, int] | None = None
        self._closed = False
        self._opened = 0

    @property
    def name(self) -> str:
        """The path, quoted."""
        return repr(self.path)

    def write(self) -> Session:
        """A transaction that writes."""
        return _Transaction(self, "BEGIN IMMEDIATE")

    def read(self) -> Session:
        """A transaction that reads."""
        return _Transaction(self, "BEGIN")

    def is_duplicate(self, error: BaseException) -> bool:
        """Whether a row with this key is already there."""
        return isinstance(error, sqlite3.IntegrityError)

    def changes(self) -> Hashable:
        """How many changes were made here, and SQLite's count of the commits elsewhere."""
        with self.lock:
            self.open()
            if self.cursor is None or self._connection is None:
                raise self.closed()
            stamp = self.cursor.execute("PRAGMA data_version").fetchone()[0]
            return stamp, self._connection.total_changes, self._opened

    def open(self) -> None:
        """Open the file and bring its tables to the newest schema."""
        with self.lock:
            if self.cursor is not None:
                if self._immutable and (files.has_wal(self._at) or files.stamp(self._at) != self._stamp):
                    self._reopen()
                return
            if self._closed:
                raise self.closed()
            try:
                self._connect()
            except sqlite3.Error as error:
                self._disconnect()
                raise self.error(error) from error
            except BaseException:
                self._disconnect()
                raise

    def close(self) -> None:
        """Close the file. A connection that the caller made stays open."""
        with self.lock:
            self._closed = True
            self._disconnect()

    def error(self, error: sqlite3.Error) -> CheckpointStorageError:
        """Our error for one of the driver's."""
        return files.storage_error(f"the checkpoint database {self.name}", error)

    def check_there(self) -> None:
        """Raise if the file is no longer the one that was opened: the system would let it be written all the same."""
        if self._file is not None and files.identity(self._at) != self._file:
            raise CheckpointStorageError(
                f"the checkpoint database {self.name} was removed, moved or replaced while it was open; nothing of "
                "this was saved; put the file back, or close the saver and open it again to begin a new one",
                "missing",
            )

    # --- opening ----------------------------------------------------------------------------------

    def _connect(self) -> None:
        if self._given is not None:
            connection = self._given
            connection.isolation_level = None
        else:
            fresh = not self.in_memory and files.check(self._at, must_exist=self.read_only)
            connection = self._new_connection(fresh)
        self._connection = connection
        self._opened += 1
        self._file = None if self.in_memory else files.identity(self._at)
        cursor = connection.cursor()
        cursor.row_factory = None
        self.cursor, self.conn = cursor, Conn(cursor, "sqlite")
        version = sqlite_file.check_schema(cursor, self.path, read_only=self.read_only)
        if self.read_only:
            if version is None:
                raise CheckpointStorageError(f"there are no checkpoints in the database {self.name}", "missing")
            cursor.execute("PRAGMA query_only=1")
            return
        self._use_wal(cursor)
        cursor.execute(f"PRAGMA synchronous={self.synchronous}")  # one of four words, checked above
        if version != tables.SCHEMA_VERSION:
            sqlite_file.create_schema(connection, self.path)

    def _new_connection(self, fresh: bool) -> sqlite3.Connection:
        options = {"timeout": self.busy_timeout, "isolation_level": None, "check_same_thread": False}
        if self.in_memory:
            return sqlite3.connect(":memory:", cached_statements=256, **options)  # type: ignore[call-overload, no-any-return]
        uri = files.uri(self._at)
        if self.read_only:
            # A read-only connection to a file in WAL mode would make side files. Where there are none, nobody is
            # writing, and SQLite may be told so; `open` looks again before every transaction.
            self._stamp = files.stamp(self._at)
            self._immutable = not files.has_wal(self._at)
            uri += "?mode=ro" + ("&immutable=1" if self._immutable else "")
        elif fresh:
            uri += "?mode=rwc"
        else:
            sqlite_file.look(self._at)
            uri += "?mode=rw"
        return sqlite3.connect(uri, uri=True, cached_statements=256, **options)  # type: ignore[call-overload, no-any-return]

    def _use_wal(self, cursor: sqlite3.Cursor) -> None:
        """Switch to WAL. Several processes may try this at once on a new file, and SQLite does not wait there."""
        deadline = time.monotonic() + self.busy_timeout
        while True:
            try:
                if cursor.execute("PRAGMA journal_mode").fetchone()[0] not in ("wal", "memory"):
                    cursor.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError as error:
                if (error.sqlite_errorcode & 0xFF) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.005)

    def _reopen(self) -> None:
        self._disconnect()
        self._connect()

    def _disconnect(self) -> None:
        connection, self._connection, self.cursor, self.conn = self._connection, None, None, None
        if connection is not None and self._given is None:
            connection.close()


class _Transaction(Session):
    def __init__(self, database: SqliteDatabase, begin: str) -> None:
        self._database = database
        self._begin = begin
        self._held = False

    def begin(self) -> None:
        database = self._database
        database.lock.acquire()
        self._held = True
        try:
            if database.cursor is None or database._immutable:
                database.open()
            if self._begin != "BEGIN" and database.read_only:
                raise CheckpointStorageError(
                    f"the checkpoint database {database.name} was opened read-only; nothing can be saved to it",
                    "read_only",
                )
            cursor, conn = database.cursor, database.conn
            if cursor is None or conn is None:
                raise database.closed()
            self.conn = conn
            if self._begin != "BEGIN":
                database.check_there()
            cursor.execute(self._begin)
        except BaseException:
            self._release(rollback=True)
            raise

    def stamp(self) -> Stamp:
        """SQLite's count of the commits elsewhere. Asking takes as long as a look-up, so it is not part of `begin`."""
        if self._database.cursor is None:
            raise self._database.closed()
        found: int = self._database.cursor.execute("PRAGMA data_version").fetchone()[0]
        return found

    def lock(self, thread_ids: Set[str]) -> None:
        """A writer has the whole file for itself."""

    def end(self, commit: bool) -> None:
        try:
            if commit and self._database.cursor is not None:
                self._database.cursor.execute("COMMIT")
        except BaseException:
            self._release(rollback=True)
            raise
        self._release(rollback=not commit)

    def _release(self, rollback: bool) -> None:
        if not self._held:
            return
        self._held = False
        try:
            connection = self._database._connection
            if rollback and connection is not None and connection.in_transaction:
                # By the cursor: whatever it was in the middle of is given up, and with it SQLite's hold on the file.
                (self._database.cursor or connection.cursor()).execute("ROLLBACK")
        finally:
            self._database.lock.release()

    def translate(self, error: BaseException) -> CheckpointStorageError | None:
        if not isinstance(error, sqlite3.Error) or isinstance(error, sqlite3.IntegrityError):
            return None
        return self._database.error(error)
