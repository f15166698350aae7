"""Transactions on a database. What differs between SQLite and PostgreSQL is behind these few methods.

Rule 1: a writer takes its lock at the start of its transaction, so that nothing it read can change before it writes.
Rule 2: several reads in one transaction see one state of the database.
Rule 3: no error of a driver leaves a transaction bare: it becomes a `CheckpointStorageError`.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Set
from types import TracebackType

from runtime.checkpoint.errors import CheckpointStorageError
from runtime.checkpoint.sql.statements import Conn

Stamp = int | None


class Session(ABC):
    """One transaction, as a context manager. Leaving it commits, or rolls back if an error passes through."""

    conn: Conn

    @abstractmethod
    def begin(self) -> None:
        """Start."""

    @abstractmethod
    def stamp(self) -> Stamp:
        """A number that is the same as long as no other connection has committed; None: unknown."""

    @abstractmethod
    def end(self, commit: bool) -> None:
        """Commit or roll back, and release what was taken."""

    @abstractmethod
    def lock(self, thread_ids: Set[str]) -> None:
        """Keep other writers off these threads, if `begin` has not done so already."""

    @abstractmethod
    def translate(self, error: BaseException) -> CheckpointStorageError | None:
        """Our error for one of the driver's; None if it is not the driver's."""

    def __enter__(self) -> "Session":
        try:
            self.begin()
        except BaseException as error:
            self._raise(error)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self.end(commit=error is None)
        except BaseException as failure:
            self._raise(failure)
            raise
        if error is not None:
            self._raise(error)

    def _raise(self, error: BaseException) -> None:
        translated = self.translate(error)
        if translated is not None:
            raise translated from error


class Database(ABC):
    """Where the tables are. `read_only`: opened to look at, and brought up to date by nobody."""

    read_only: bool

    @abstractmethod
    def write(self) -> Session:
        """A transaction that writes."""

    @abstractmethod
    def read(self) -> Session:
        """A transaction that reads."""

    @abstractmethod
    def open(self) -> None:
        """Open the database and bring its tables to the newest schema, if that was not done yet."""

    @abstractmethod
    def close(self) -> None:
        """Close it for good."""

    @abstractmethod
    def is_duplicate(self, error: BaseException) -> bool:
        """Whether an error says that a row with this key is already there."""

    @abstractmethod
    def changes(self) -> Hashable:
        """Something that is different once anybody has committed a change."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What messages call it: the path or the URL, without a password."""

    def closed(self) -> CheckpointStorageError:
        """The error for using it after `close`."""
        return CheckpointStorageError(
            f"the checkpoint database {self.name} was closed; use the saver inside its `with` block", "closed"
        )
