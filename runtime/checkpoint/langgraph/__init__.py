"""LangGraph's own checkpoint databases, read as they are: SQLite files here, PostgreSQL in `.postgres`.

Rule 1: nothing is ever written, and no side files are made.
Rule 2: values are decoded by our serializer: what a stranger's database says never runs, and a value whose class is
        not allowed, or that is pickled, comes back as an `Opaque`.
Rule 3: importing this package does not load SQLAlchemy; looking at one checkpoint of a file does not need it.
"""

from runtime.checkpoint.langgraph.reader import LangGraphReader
from runtime.checkpoint.langgraph.sqlite import LangGraphSqliteReader

__all__ = ["LangGraphReader", "LangGraphSqliteReader", "open_langgraph"]


def open_langgraph(database: str) -> LangGraphReader:
    """A reader of the SQLite file at a path, or the PostgreSQL database at a URL (`postgresql://...`).

    Raises:
        CheckpointStorageError: it is not there, cannot be opened, or holds other tables.
    """
    if "://" not in database:
        return LangGraphSqliteReader(database)
    from runtime.checkpoint.langgraph.postgres import LangGraphPostgresReader

    return LangGraphPostgresReader(database)
