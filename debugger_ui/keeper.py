"""The command as it is started: it keeps the debugger going when a node ends the process that it runs in.

Nodes run in the server's process, and may end it: by `os._exit`, by a crash in native code, by taking all memory. So
the server is a child of the command. Rules:
- Only a server that was up and did not say that it leaves is started again. A wrong argument ends the command.
- The new server has the old address, so that open pages come back by themselves; they are told what happened. What
  was saved is there, what was running is given up.
- A server that does not stay up is not started again and again.
- No server outlives the command: it leaves when the line to it breaks.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from debugger_ui.server.line import FOLDER, LEAVES, LINE, LOST, UP

QUICK = 5.0
"""Seconds that a server has to stay up, else it counts as one that does not."""
MOST_QUICK = 4

CHILD = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); from debugger_ui.cli import main; sys.exit(main())"
)


def main() -> int:
    """Run the command; return its exit code."""
    given = sys.argv[1:]
    # The tools are no server; and only where a process can be told from its signals is it worth to keep one.
    if os.name != "posix" or given[:1] == ["db"] or {"-h", "--help"} & set(given):
        from debugger_ui.cli import main as run

        return run(given)
    return Keeper(given).keep()


class Keeper:
    """Starts the server, and starts it anew when it was lost."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self.arguments = list(arguments)
        self.leaving = False
        self._child: subprocess.Popen[bytes] | None = None

    def keep(self) -> int:
        """Keep a server up until it leaves; return its exit code."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # Under nohup the command is to outlive its terminal.
            if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._leave)
        with demo_folder(self.arguments) as folder:
            quick, lost, arguments = 0, "", self.arguments
            while True:
                line = self._start(arguments, {FOLDER: folder, LOST: lost})
                assert self._child is not None
                code = self._child.wait()
                line.settle()
                if self.leaving or line.leaves or line.port is None:
                    return code if code >= 0 else 128 - code
                quick = quick + 1 if time.monotonic() - line.since < QUICK else 0
                lost = ended(code)
                if quick > MOST_QUICK:
                    print(f"forkpoint: the server {lost} again and again; it is not started anew", file=sys.stderr)
                    return 1
                print(f"forkpoint: the server {lost}; it is started anew", file=sys.stderr)
                arguments = [*self.arguments, "--port", str(line.port), "--no-browser"]

    def _start(self, arguments: Sequence[str], about: dict[str, str]) -> "Line":
        ours, theirs = socket.socketpair()
        environment = {**os.environ, **{name: text for name, text in about.items() if text}}
        with theirs:
            command = [sys.executable, "-P", "-c", CHILD, json.dumps(sys.path), *arguments]
            environment[LINE] = str(theirs.fileno())
            self._child = subprocess.Popen(command, env=environment, pass_fds=[theirs.fileno()])
        return Line(ours)

    def _leave(self, number: int, frame: FrameType | None) -> None:
        """Pass a wish to end on. From a terminal the child has it already, and SIGTERM changes nothing about that."""
        self.leaving = True
        if self._child is not None:
            self._child.send_signal(signal.SIGTERM)


class Line:
    """What a server has said of itself so far."""

    def __init__(self, connection: socket.socket) -> None:
        self.port: int | None = None
        """None until it is up."""
        self.since = 0.0
        self.leaves = False
        self._connection = connection
        self._listener = threading.Thread(target=self._listen, name="forkpoint-line", daemon=True)
        self._listener.start()

    def settle(self) -> None:
        """Take in what an ended server said last. A process that it has left behind may hold the line open."""
        self._listener.join(timeout=1)

    def _listen(self) -> None:
        with self._connection, self._connection.makefile(encoding="utf-8") as said:
            for words in map(str.split, said):
                if words[:1] == [UP]:
                    self.port, self.since = int(words[1]), time.monotonic()
                elif words[:1] == [LEAVES]:
                    self.leaves = True


@contextmanager
def demo_folder(arguments: Sequence[str]) -> Iterator[str]:
    """Make a folder that outlives the demo's server, and remove it at the end; empty for anything but the demo."""
    if "demo" not in arguments:
        yield ""
        return
    folder = tempfile.mkdtemp(prefix="forkpoint-demo-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def ended(code: int) -> str:
    """Return how a process ended: with a code, or by a signal."""
    if code >= 0:
        return f"ended with code {code}, without a word"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"
