"""The command `forkpoint`: open a graph, a database or the samples, and serve the debugger.

Rules:
- What was given is opened before the server starts, so a mistake is one sentence and exit code 2.
- Only 127.0.0.1 is bound unless an address is given.
"""

import argparse
import importlib
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import Any

from debugger_ui.server.line import Reporter
from debugger_ui.session.parse import parse_json
from debugger_ui.session.problems import SessionError, refuse
from debugger_ui.session.workspace import Workspace

PORT = 8765
DEMO = "demo"
DEMO_THREAD = "research-waiting"
USAGE_ERROR = 2

EPILOG = """\
examples:
  forkpoint demo                                sample graphs with recorded threads
  forkpoint app.graph:graph --db agent.sqlite   your graph on its database
  forkpoint .                                   the graphs of a folder with langgraph.json
  forkpoint --db agent.sqlite                   a database alone, read-only
  forkpoint db --help                           look after a database: info, check, prune, export, import
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    given = list(sys.argv[1:] if argv is None else argv)
    if given[:1] == ["db"]:
        from debugger_ui.dbtools import command

        return command.main(given[1:])
    arguments = parser().parse_args(given)
    if arguments.target is None and arguments.db is None:
        return complain("say what to open: demo, package.module:graph, a folder, or --db FILE")
    reporter = Reporter()
    with ExitStack() as stack:
        try:
            workspace = open_workspace(arguments, stack, reporter)
        except SessionError as error:
            return complain(error.problem.message, error.problem.details)
        except OSError as error:
            return complain(f"{error.filename or arguments.db}: {error.strerror or error}")
        except KeyboardInterrupt:
            return complain(f"stopped while {arguments.target or arguments.db} was being opened")
        return serve(workspace, arguments, reporter)


def parser() -> argparse.ArgumentParser:
    """Return the command's arguments."""
    made = argparse.ArgumentParser(
        prog="forkpoint",
        description="A time-travel debugger for stateful agent graphs.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("target", nargs="?", help="demo, package.module:graph, or a folder with langgraph.json")
    made.add_argument("--db", metavar="FILE", help="database with the checkpoints (demo: where to keep them)")
    made.add_argument(
        "--context",
        metavar="JSON",
        help="what nodes find in runtime.context and in config['configurable']: an object, or a file with one",
    )
    made.add_argument("--read-only", action="store_true", help="look only: no run, no edit, no answer")
    made.add_argument(
        "--mask",
        action="append",
        default=[],
        metavar="KEY",
        help="neither show nor export a key (api_key), path (user.token) or pattern (messages.*.content); "
        "may be repeated",
    )
    made.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    made.add_argument("--port", type=port_number, default=PORT, help="0 for a free one (default: %(default)s)")
    made.add_argument("--no-browser", action="store_true", help="do not open a browser")
    return made


def port_number(text: str) -> int:
    """Return a port, or complain as argparse does."""
    try:
        port = int(text)
    except ValueError:
        port = -1
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: give a number from 0 to 65535")
    return port


def open_workspace(arguments: argparse.Namespace, stack: ExitStack, reporter: Reporter) -> Workspace:
    """Open what the arguments name.

    Raises:
        SessionError: it cannot be opened.
    """
    if arguments.target != DEMO:
        return Workspace.open(
            arguments.target,
            database=arguments.db,
            read_only=arguments.read_only,
            mask=arguments.mask,
            context=given_context(arguments.context),
        )
    database = arguments.db
    if database is None:
        folder = reporter.folder or stack.enter_context(tempfile.TemporaryDirectory(prefix="forkpoint-demo-"))
        database = str(Path(folder) / "demo.sqlite")
        if not reporter.lost:
            print("forkpoint: the demo's threads are gone when it ends; keep them with --db FILE")
    return Workspace.open(
        DEMO,
        database=database,
        read_only=arguments.read_only,
        mask=arguments.mask,
        context=given_context(arguments.context),
    )


def given_context(text: str | None) -> Mapping[str, Any] | None:
    """Return the context that was given, as JSON or as the name of a file with it.

    Raises:
        SessionError: it is not an object.
        OSError: there is no such file.
    """
    if text is None:
        return None
    try:
        written = text if text.lstrip().startswith(("{", "[", '"')) else Path(text).read_text("utf-8")
        found = parse_json(written, "context")
    except ValueError as error:  # of the file's bytes, or of its name
        raise refuse(f"--context: {text!r} cannot be read as a file with JSON ({error}).") from error
    except SessionError as error:
        raise refuse(f"--context: {error.problem.message}", details=error.problem.details) from error
    if not isinstance(found, Mapping):
        raise refuse(f"--context takes an object {{...}}, not {type(found).__name__}.")
    return found


def serve(workspace: Workspace, arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Serve the debugger until it is stopped; return the exit code."""
    # Streamlit takes most of a second to import: not before everything else has been found right.
    from debugger_ui.server import launch, shared

    signal.signal(signal.SIGTERM, _leave)
    shared.use(workspace, thread=DEMO_THREAD if arguments.target == DEMO else "", lost=reporter.lost)
    try:
        launch.serve(
            host=arguments.host,
            port=arguments.port,
            browser=not arguments.no_browser,
            up=reporter.up,
            load=lambda: importlib.import_module("debugger_ui.panels.page"),
        )
    except launch.PortTaken as error:
        return complain(str(error))
    except KeyboardInterrupt:
        return 0
    finally:
        reporter.leaves()
        workspace.close()
    return 0


def _leave(signum: int, frame: FrameType | None) -> None:
    """End as Ctrl-C does, so that databases are closed and the demo's folder goes."""
    raise KeyboardInterrupt


def complain(message: str, details: str = "") -> int:
    """Print a sentence on standard error; return the exit code for it."""
    print(f"forkpoint: {message}", file=sys.stderr)
    if details:
        print("\n".join(f"  {line}" for line in details.splitlines()[-6:]), file=sys.stderr)
    return USAGE_ERROR
