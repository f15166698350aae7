"""Opens savers and puts graphs on them: which runtime a graph is of decides which engine it gets."""

import importlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from debugger_ui.engines.base import Engine
from debugger_ui.engines.graph import About, GraphEngine
from debugger_ui.engines.reader import SaverReader
from debugger_ui.engines.record import RecordEngine
from debugger_ui.engines.runtime import RuntimeEngine
from debugger_ui.engines.stored import StoredReader
from debugger_ui.engines.surroundings import allow_classes, furnished, surroundings
from runtime.checkpoint.errors import CheckpointStorageError
from runtime.checkpoint.langgraph import open_langgraph
from runtime.checkpoint.serde.encrypted import EncryptedSerializer

KEY = "LANGGRAPH_AES_KEY"
"""Environment variable with the key, where `EncryptedSerializer.from_pycryptodome_aes` takes it from."""
RUNTIMES = ("runtime", "langgraph")


def runtime_of(graph: Any) -> str | None:
    """Return the package whose compiled graph this is, by its classes; None for neither."""
    for cls in type(graph).__mro__:
        root = cls.__module__.partition(".")[0]
        if root in RUNTIMES:
            return root
    return None


def attach(
    graph: Any, saver: Any | None, about: About, *, owned: bool = False, context: Mapping[str, Any] | None = None
) -> Engine:
    """Return the engine for a compiled graph, on another saver if one is given.

    `owned` savers are closed with the engine; others belong to whoever made them. `context` is for what its nodes
    ask of their context and config.

    Raises:
        ContextError: the context does not fit the graph.
    """
    kind = runtime_of(graph)
    around = surroundings(graph, context)
    graph = furnished(graph)
    if kind != "runtime":  # graphs of our own have done so when they were compiled
        allow_classes(graph)
    if saver is not None:
        graph = graph.copy(update={"checkpointer": saver})
    engine = RuntimeEngine if kind == "runtime" else GraphEngine
    made = engine(graph, importlib.import_module(f"{kind}.types"), about, reader_for(graph.checkpointer), around)
    made.owned = owned
    return made


def reader_for(saver: Any) -> SaverReader:
    """Return the reader that fits a saver."""
    looks = ("threads", "namespaces", "checkpoints", "outlines", "outline", "data_version")
    return StoredReader(saver) if all(hasattr(saver, name) for name in looks) else SaverReader(saver)


def shown_name(database: str) -> str:
    """Return what a database is called on the page: its path, or its address without password and options."""
    if "://" not in database:
        return database
    scheme, _, rest = database.partition("://")
    login, at, place = rest.partition("?")[0].rpartition("@")
    return f"{scheme}://{login.partition(':')[0]}{at}{place}"


def open_saver(database: str, *, read_only: bool) -> tuple[Any, str]:
    """Open a SQLite file or PostgreSQL address; return the saver, and why it is read-only if it had to be.

    Raises:
        CheckpointStorageError: it cannot be opened, or is not a database of checkpoints.
    """
    try:
        return _open_ours(database, read_only)
    except CheckpointStorageError as error:
        theirs = _langgraphs(database) if error.reason == "foreign" else ""
        if not theirs:
            raise
        raise CheckpointStorageError(
            f"{theirs} is a database of LangGraph's saver. Look at it alone with forkpoint --db; to go on from it, "
            "or to look after it, import it into one of ours: forkpoint db import SOURCE TARGET. A graph of LangGraph "
            "that is compiled with its saver on this database is opened without --db.",
            "foreign",
        ) from error


def _langgraphs(database: str) -> str:
    """What to call a database of LangGraph's, without a password; "" for others."""
    try:
        with open_langgraph(database) as reader:
            return reader.name
    except CheckpointStorageError:
        return ""


def _open_ours(database: str, read_only: bool) -> tuple[Any, str]:
    if "://" in database:
        from runtime.checkpoint.sql import SqlSaver

        return _set_up(lambda only: SqlSaver(database, read_only=only), read_only, "", "This database")
    from runtime.checkpoint.sqlite import SqliteSaver

    why = "" if read_only else why_not_writable(Path(database))
    name = Path(database).name
    return _set_up(
        lambda only: SqliteSaver.from_conn_string(database, read_only=only), read_only or bool(why), why, name
    )


def _set_up(make: Callable[[bool], Any], read_only: bool, why: str, name: str) -> tuple[Any, str]:
    """A saver, opened; only to look at if a newer version wrote it, or its values are encrypted with an absent key."""
    saver = make(read_only)
    try:
        saver.setup()
    except CheckpointStorageError as error:
        if error.reason != "newer" or read_only:
            raise
        saver = make(True)
        saver.setup()
        why = f"{name} was written by a newer version of this program."
    if (locked := unlocked(saver)) and not (read_only or why):
        saver.close()
        saver = make(True)
        saver.setup()
        unlocked(saver)
    return saver, why or locked


def unlocked(saver: Any) -> str:
    """Give a saver the key for encrypted values, if there is one; return why they stay encrypted, or "".

    Raises:
        CheckpointStorageError: the key, or what decrypts with it, is not as it should be.
    """
    if os.environ.get(KEY):
        try:
            saver.serde = EncryptedSerializer.from_pycryptodome_aes(saver.serde)
        except (ImportError, ValueError) as error:
            raise CheckpointStorageError(f"the values cannot be decrypted. {error}", "encrypted") from error
    try:
        next(iter(saver.list(None, limit=1)), None)
    except CheckpointStorageError as error:
        # Whatever else is wrong with the row is said where somebody looks at it.
        if error.reason == "encrypted":
            return f"The values are encrypted; without the right key in {KEY} they stay closed."
    return ""


def why_not_writable(path: Path) -> str:
    """Return why a database file cannot be written, as a sentence; "" when it can."""
    if path.exists() and not os.access(path, os.W_OK):
        return f"The file {path.name} may not be written."
    if not os.access(path.parent, os.W_OK):
        return f"The folder of {path.name} may not be written, and SQLite needs that to write the file."
    return ""


def open_record(database: str) -> RecordEngine:
    """Open a database alone, to look at: one of ours, or of LangGraph's savers, SQLite or PostgreSQL.

    Raises:
        CheckpointStorageError: it cannot be opened, or is not a database of checkpoints.
    """
    try:
        saver, _ = open_saver(database, read_only=True)
    except CheckpointStorageError as error:
        if error.reason != "foreign":
            raise
        try:
            saver = open_langgraph(database)
            unlocked(saver)
        except CheckpointStorageError as other:
            raise (other if other.reason == "encrypted" else error) from None
    return RecordEngine(saver, reader_for(saver), shown_name(database))
