"""PostgreSQL, through SQLAlchemy's pool and psycopg's connections.

Rule 1: a writer holds a lock on its thread ids to the end of its transaction, so that two processes on one thread
        number their writes one after the other. Other threads are not held up.
Rule 2: tables of the same names that are not ours are never touched.
"""

from collections.abc import Hashable, Set
from typing import Any

from sqlalchemy import Engine, create_engine, event, inspect
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError

from runtime.checkpoint.errors import CheckpointStorageError, Reason
from runtime.checkpoint.sql import queries, tables
from runtime.checkpoint.sql.database import Database, Session, Stamp
from runtime.checkpoint.sql.statements import Conn

_REASONS: dict[str, Reason] = {
    "55P03": "busy",
    "57014": "busy",
    "53100": "full",
    "25006": "read_only",
    "42501": "read_only",
    "XX001": "corrupt",
    "XX002": "corrupt",
}
_SETUP_LOCK = 0x464F524B  # any number that everybody who creates these tables agrees on


class PostgresDatabase(Database):
    """A PostgreSQL database at a SQLAlchemy URL, `postgresql+psycopg://...`."""

    def __init__(self, url: URL, *, busy_timeout: float, read_only: bool) -> None:
        self.url = url.set(drivername="postgresql+psycopg")
        self.read_only = read_only
        self.engine: Engine | None = None
        self._busy_timeout = busy_timeout
        self._closed = False

    @property
    def name(self) -> str:
        """The URL, without its password."""
        return repr(self.url.render_as_string(hide_password=True))

    def write(self) -> Session:
        """A transaction that writes."""
        if self.read_only:
            raise CheckpointStorageError(
                f"the checkpoint database {self.name} was opened read-only; nothing can be saved to it", "read_only"
            )
        return _Transaction(self, writes=True)

    def read(self) -> Session:
        """A transaction that reads."""
        return _Transaction(self, writes=False)

    def is_duplicate(self, error: BaseException) -> bool:
        """Whether a row with this key is already there."""
        return getattr(error, "sqlstate", None) == "23505"

    def changes(self) -> Hashable:
        """The number of the next transaction: it grows with every one that writes, in this database or beside it."""
        with self.read() as session:
            row = session.conn.one(queries.CHANGES)
            return row[0] if row else None

    def open(self) -> None:
        """Connect, and bring the tables to the newest schema."""
        if self._closed:
            raise self.closed()
        if self.engine is not None:
            return
        try:
            engine = create_engine(
                self.url,
                pool_pre_ping=True,
                connect_args={"prepare_threshold": 3},
            )
        except ImportError as error:
            raise CheckpointStorageError(
                "PostgreSQL needs psycopg: install forkpoint[postgres], or psycopg[binary]"
            ) from error
        event.listen(engine, "connect", self._limit_waiting)
        try:
            self._setup(engine)
        except SQLAlchemyError as error:
            engine.dispose()
            raise self.error(getattr(error, "orig", None) or error) from error
        except BaseException:
            engine.dispose()
            raise
        self.engine = engine

    def close(self) -> None:
        """Close every connection."""
        self._closed = True
        if self.engine is not None:
            self.engine.dispose()
            self.engine = None

    def error(self, error: BaseException) -> CheckpointStorageError:
        """Our error for one of the driver's."""
        reason = _REASONS.get(getattr(error, "sqlstate", None) or "", "unavailable")
        said = " ".join(str(error).split()) or type(error).__name__
        return CheckpointStorageError(f"the checkpoint database {self.name}: {said}", reason)

    def _limit_waiting(self, connection: Any, record: Any) -> None:
        connection.execute("SELECT set_config('lock_timeout', %s, false)", (str(int(self._busy_timeout * 1000)),))
        connection.commit()

    def _setup(self, engine: Engine) -> None:
        with engine.begin() as connection:
            if not self.read_only:
                connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (_SETUP_LOCK,))
            present = set(inspect(connection).get_table_names())
            if tables.checkpoint_store.name not in present:
                taken = sorted(present & {table.name for table in tables.TABLES})
                if taken:
                    raise CheckpointStorageError(
                        f"the database {self.name} has tables of something else under the names {', '.join(taken)}; "
                        "they were left as they are; use another database or schema",
                        "foreign",
                    )
                if self.read_only:
                    raise CheckpointStorageError(f"there are no checkpoints in the database {self.name}", "missing")
                tables.create(connection)
                return
            row = connection.exec_driver_sql("SELECT * FROM checkpoint_store").mappings().one_or_none()
            version = tables.check_version(self.name, dict(row) if row else None, read_only=self.read_only)
            if version < tables.SCHEMA_VERSION and not self.read_only:
                tables.migrate(connection, version)


class _Transaction(Session):
    def __init__(self, database: PostgresDatabase, writes: bool) -> None:
        self._database = database
        self._writes = writes
        self._pooled: Any = None

    def begin(self) -> None:
        self._database.open()
        if self._database.engine is None:
            raise self._database.closed()
        self._pooled = self._database.engine.raw_connection()
        try:
            cursor = self._pooled.driver_connection.cursor()
            if not self._writes:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            self.conn = Conn(cursor, "postgresql")
        except BaseException:
            self._release(commit=False)
            raise

    def stamp(self) -> Stamp:
        """Unknown: what other connections did is looked up each time."""
        return None

    def lock(self, thread_ids: Set[str]) -> None:
        for thread_id in sorted(thread_ids):  # in one order everywhere, so that two writers never wait for each other
            self.conn.one(queries.LOCK_THREAD, thread_id)

    def end(self, commit: bool) -> None:
        self._release(commit)

    def _release(self, commit: bool) -> None:
        pooled, self._pooled = self._pooled, None
        if pooled is None:
            return
        try:
            if commit:
                pooled.driver_connection.commit()
            else:
                pooled.driver_connection.rollback()
        finally:
            pooled.close()

    def translate(self, error: BaseException) -> CheckpointStorageError | None:
        if self._database.is_duplicate(error) or isinstance(error, CheckpointStorageError):
            return None
        if isinstance(error, SQLAlchemyError):
            return self._database.error(getattr(error, "orig", None) or error)
        if type(error).__module__.partition(".")[0] == "psycopg":
            return self._database.error(error)
        return None
