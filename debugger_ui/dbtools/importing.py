"""`forkpoint db import`: LangGraph's checkpoints into a database of ours, whole threads at a time."""

import argparse
import sys

from debugger_ui.dbtools.words import count
from debugger_ui.engines.opening import open_saver
from runtime.checkpoint.errors import CheckpointStorageError
from runtime.checkpoint.importing import Imported, import_threads
from runtime.checkpoint.langgraph import LangGraphReader, open_langgraph

INTERRUPTED = 130
"""What shells report for a program that was stopped by Ctrl-C."""


def run(arguments: argparse.Namespace) -> int:
    """Import, print what was added, and return the exit status."""
    progress = _Progress(arguments.progress)
    with _source(arguments.source) as source:
        saver, why = open_saver(arguments.target, read_only=False)
        with saver:
            if why:
                raise CheckpointStorageError(f"{why} Nothing was imported.", "read_only")
            try:
                done = import_threads(source, saver, arguments.thread, progress)
            except CheckpointStorageError as error:
                raise CheckpointStorageError(f"{error}{progress.before()}", error.reason) from error
            except KeyboardInterrupt:
                print(f"\nforkpoint: stopped.{progress.before()}", file=sys.stderr)
                return INTERRUPTED
    print(_said(done))
    return 0


def _source(database: str) -> LangGraphReader:
    if database.endswith(".json"):
        raise CheckpointStorageError(
            f"{database} is no database. What `export` writes is for reading and comparing: values are shown in it, "
            "not kept byte for byte, so a thread cannot be made from it again",
            "not_a_database",
        )
    try:
        return open_langgraph(database)
    except CheckpointStorageError as error:
        if error.reason == "foreign" and _is_ours(database):
            raise CheckpointStorageError(
                f"{'this address' if '://' in database else database} is a database of ours already, and not "
                "LangGraph's: open it as it is",
                "foreign",
            ) from None
        raise


def _is_ours(database: str) -> bool:
    try:
        saver, _ = open_saver(database, read_only=True)
    except CheckpointStorageError:
        return False
    saver.close()
    return True


def _said(done: Imported) -> str:
    added = f"{count(done.checkpoints, 'checkpoint')} and {count(done.writes, 'write')}"
    said = f"imported {count(done.threads, 'thread')}: {added} added"
    return said + (f", {count(done.present, 'checkpoint')} there already" if done.present else "")


class _Progress:
    """Says on standard error how far an import is."""

    def __init__(self, wanted: bool) -> None:
        self.in_place = sys.stderr.isatty()
        self.shown = wanted or self.in_place
        self.finished = 0

    def __call__(self, thread: str, done: int, total: int) -> None:
        is_last = done == total
        self.finished += is_last
        if not self.shown or not (is_last or self.in_place):
            return
        line = f"thread {thread!r}: {done:,} of {count(total, 'checkpoint')}"
        print(f"\r{line}" if self.in_place else line, end="\n" if is_last else "", file=sys.stderr, flush=True)

    def before(self) -> str:
        """Return what stays of an import that ended early."""
        if not self.finished:
            return ""
        return f" {count(self.finished, 'thread')} before it stayed imported; import again to go on."
