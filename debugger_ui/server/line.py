"""What a server and the command that keeps it tell each other: on the way in by environment, out by a line."""

import os
import signal
import socket
import threading

LINE = "FORKPOINT_LINE"
"""Environment variable with the descriptor of the line to the command."""
LOST = "FORKPOINT_LOST"
"""How the server before this one ended, in words."""
FOLDER = "FORKPOINT_DEMO_FOLDER"
"""Where the demo keeps its threads while the command runs."""

UP, LEAVES = "up", "leaves"


class Reporter:
    """The server's end of the line; without a command at the other end it says nothing."""

    def __init__(self) -> None:
        number = os.environ.pop(LINE, "")
        self.lost = os.environ.pop(LOST, "")
        self.folder = os.environ.pop(FOLDER, "")
        self._connection = socket.socket(fileno=int(number)) if number else None
        if self._connection is not None:
            self._connection.set_inheritable(False)
            threading.Thread(target=self._watch, name="forkpoint-line", daemon=True).start()

    def up(self, port: int) -> None:
        """Say that the server answers on a port."""
        self._say(f"{UP} {port}")

    def leaves(self) -> None:
        """Say that the server ends because it is to end."""
        self._say(LEAVES)

    def _say(self, words: str) -> None:
        if self._connection is not None:
            try:
                self._connection.sendall(f"{words}\n".encode())
            except OSError:  # nobody is there any more: `_watch` has seen it too
                return

    def _watch(self) -> None:
        """Leave when the command is gone."""
        assert self._connection is not None
        try:
            there = self._connection.recv(1)
        except ConnectionError:  # it went without having read all that was said
            there = b""
        if not there:
            os.kill(os.getpid(), signal.SIGTERM)
