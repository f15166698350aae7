"""SQL written once in SQLAlchemy Core, compiled once per dialect, executed on the driver's connection.

Rule: nothing from a caller ever becomes SQL text. Statements take their values as bound parameters.

The detour round SQLAlchemy's own execution is for speed: it costs some 30 microseconds a statement, more than
SQLite needs for the work itself.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Dialect
from sqlalchemy.sql import ClauseElement

Row = tuple[Any, ...]


class Cursor(Protocol):
    """The little of a driver's cursor that is used here."""

    @property
    def rowcount(self) -> int: ...  # noqa: D102 - as the DB-API says
    def execute(self, sql: str, parameters: Sequence[Any] = ...) -> Any: ...  # noqa: D102
    def executemany(self, sql: str, parameters: Any) -> Any: ...  # noqa: D102
    def fetchall(self) -> list[Any]: ...  # noqa: D102
    def fetchone(self) -> Any: ...  # noqa: D102
    def __iter__(self) -> Iterator[Any]: ...


DIALECTS: dict[str, Dialect] = {
    "sqlite": sqlite.dialect(paramstyle="qmark"),
    "postgresql": postgresql.psycopg.dialect(paramstyle="format"),  # type: ignore[no-untyped-call]
}


class Compiled(NamedTuple):
    """SQL text, where each placeholder finds its value (None: in the order passed), and the literals among them."""

    sql: str
    order: list[int] | None
    constants: tuple[Any, ...]

    def fill(self, values: Sequence[Any]) -> Sequence[Any]:
        """The values of the placeholders, in the order that the SQL needs."""
        if self.order is None:
            return values
        both = (*values, *self.constants)
        return [both[at] for at in self.order]


class Statement:
    """A statement and the order in which its parameters are passed.

    `parameters` are the names of the bind parameters, space-separated, in the caller's order.
    """

    __slots__ = ("_clause", "_compiled", "_parameters")

    def __init__(self, clause: ClauseElement, parameters: str = "") -> None:
        self._clause = clause
        self._parameters = parameters.split()
        self._compiled: dict[str, Compiled] = {}

    def compiled(self, dialect: str) -> Compiled:
        """The SQL for a dialect, and how its placeholders are filled."""
        found = self._compiled.get(dialect)
        if found is None:
            found = self._compiled[dialect] = self._compile(dialect)
        return found

    def _compile(self, dialect: str) -> Compiled:
        compiled = self._clause.compile(dialect=DIALECTS[dialect])
        names = list(self._parameters)
        constants = []
        for name in compiled.positiontup or ():  # type: ignore[attr-defined]
            if name not in names:  # a literal in the statement, such as the 1 of LIMIT 1
                names.append(name)
                constants.append(compiled.params[name])
        order = [names.index(name) for name in compiled.positiontup or ()]  # type: ignore[attr-defined]
        in_order = not constants and order == list(range(len(names)))
        return Compiled(str(compiled), None if in_order else order, tuple(constants))


class Conn:
    """A driver's connection inside one transaction."""

    __slots__ = ("_cursor", "dialect")

    def __init__(self, cursor: Cursor, dialect: str) -> None:
        self._cursor = cursor
        self.dialect = dialect

    def rows(self, statement: Statement, *values: Any) -> list[Row]:
        """Every row of a query."""
        return self._execute(statement, values).fetchall()

    def walk(self, statement: Statement, *values: Any) -> Iterator[Row]:
        """The rows of a query one by one, as they are found: the next statement ends it. SQLite only."""
        return iter(self._execute(statement, values))

    def one(self, statement: Statement, *values: Any) -> Row | None:
        """The first row of a query, if any."""
        row: Row | None = self._execute(statement, values).fetchone()
        return row

    def run(self, statement: Statement, *values: Any) -> int:
        """Execute a change and return how many rows it touched."""
        return self._execute(statement, values).rowcount

    def many(self, statement: Statement, rows: Iterable[Sequence[Any]]) -> None:
        """Execute a change once for every row of parameters."""
        compiled = statement.compiled(self.dialect)
        self._cursor.executemany(compiled.sql, rows if compiled.order is None else map(compiled.fill, rows))

    def each(self, statement: Statement, rows: Sequence[Sequence[Any]]) -> list[Row | None]:
        """The first row of a query for each of several sets of parameters, in their order. Not on SQLite."""
        if not rows:
            return []
        # One round trip for all of them: the driver sends them in a pipeline.
        compiled = statement.compiled(self.dialect)
        cursor: Any = self._cursor
        cursor.executemany(compiled.sql, [compiled.fill(row) for row in rows], returning=True)
        found = [cursor.fetchone()]
        while cursor.nextset():
            found.append(cursor.fetchone())
        return found

    def _execute(self, statement: Statement, values: Sequence[Any]) -> Cursor:
        sql, order, _ = compiled = statement.compiled(self.dialect)
        cursor = self._cursor
        cursor.execute(sql, values if order is None else compiled.fill(values))
        return cursor
