"""`forkpoint db info|check|prune|export|import`: looking after a database, and filling it from LangGraph's.

Rules:
- Exit status 0: done, or nothing wrong. 1: `check` found something wrong. 2: it could not be done, and a sentence
  on standard error says why.
- Only `prune --yes`, and `import` to its target, write to a database. Everything else opens it read-only.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from debugger_ui.dbtools import check, export, importing, info, prune
from debugger_ui.engines.opening import open_saver
from debugger_ui.session.problems import SessionError
from runtime.checkpoint.errors import CheckpointStorageError

ERROR = 2

EPILOG = """\
examples:
  forkpoint db info agent.sqlite                   tables, threads, checkpoints, bytes
  forkpoint db check agent.sqlite                  look at every row; exit status 1 if something is wrong
  forkpoint db prune agent.sqlite --keep-latest    say what would go; --yes removes it
  forkpoint db export agent.sqlite THREAD OUT.json the record of a thread
  forkpoint db import langgraph.sqlite agent.sqlite
                                                   LangGraph's checkpoints into a database of ours
"""


def main(argv: Sequence[str]) -> int:
    """Run `forkpoint db` with these arguments; return its exit status."""
    arguments = parser().parse_args(argv)
    try:
        return int(_run(arguments))
    except SessionError as error:
        return complain(error.problem.message)
    except CheckpointStorageError as error:
        status = complain(str(error))
        is_answer = arguments.run is check.run and error.reason == "corrupt"
        return check.UNSOUND if is_answer else status
    except OSError as error:
        return complain(f"{error.filename or getattr(arguments, 'file', '')}: {error.strerror or error}")


def _run(arguments: argparse.Namespace) -> int:
    if arguments.run is importing.run:
        return int(importing.run(arguments))
    saver, _ = open_saver(arguments.file, read_only=True)
    with saver:
        if arguments.run is not prune.run:
            return int(arguments.run(saver, arguments))
    # That it could be read shows that it is there and ours. Even a rehearsal takes a transaction that writes.
    saver, why = open_saver(arguments.file, read_only=False)
    with saver:
        return complain(f"{why} Nothing was removed.") if why else int(prune.run(saver, arguments))


def parser() -> argparse.ArgumentParser:
    """Return the arguments of `forkpoint db`."""
    made = argparse.ArgumentParser(
        prog="forkpoint db",
        description="Look after a database of checkpoints: an SQLite file, or a postgresql+psycopg:// address.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    tools = made.add_subparsers(required=True, metavar="info|check|prune|export|import")
    _tool(tools, "info", info.run, "what is in it")
    _tool(tools, "check", check.run, "look at every row and say what is wrong where")
    pruning = _tool(tools, "prune", prune.run, "remove history, and say before what would go")
    pruning.add_argument("threads", nargs="*", metavar="THREAD", help="only these threads (default: all)")
    pruning.add_argument(
        "--keep-latest", action="store_true", required=True, help="keep the newest checkpoint of each thread"
    )
    pruning.add_argument("--yes", action="store_true", help="do it; without, only say what would go")
    exporting = _tool(tools, "export", export.run, "write the record of a thread as JSON")
    exporting.add_argument("thread", metavar="THREAD", help="the thread's id")
    exporting.add_argument("out", metavar="OUT.json", help="the file to write; must not exist")
    _importing(tools)
    exporting.add_argument(
        "--mask", action="append", default=[], metavar="KEY", help="mask a key, path or pattern; may be repeated"
    )
    exporting.add_argument("--unmasked", action="store_true", help="also the values that the debugger masks")
    return made


def _importing(tools: Any) -> None:
    says = "import LangGraph's checkpoints into a database of ours"
    made = tools.add_parser("import", help=says, description=f"{says[0].upper()}{says[1:]}.")
    made.add_argument("source", metavar="SOURCE", help="LangGraph's SQLite file or PostgreSQL address; only read")
    made.add_argument("target", metavar="TARGET", help="our SQLite file, made if it is not there, or address")
    made.add_argument("--thread", action="append", metavar="ID", help="only this thread; may be repeated")
    made.add_argument("--progress", action="store_true", help="say how far it is, also where nobody watches")
    made.set_defaults(run=importing.run)


def _tool(tools: Any, name: str, run: Any, says: str) -> argparse.ArgumentParser:
    tool: argparse.ArgumentParser = tools.add_parser(name, help=says, description=f"{says[0].upper()}{says[1:]}.")
    tool.add_argument("file", metavar="FILE", help="the database")
    tool.set_defaults(run=run)
    return tool


def complain(message: str) -> int:
    """Print a sentence on standard error; return the exit status for it."""
    print(f"forkpoint: {message}", file=sys.stderr)
    return ERROR
