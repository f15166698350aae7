"""Start the server: one process, our own settings, only this machine unless told otherwise.

Settings that matter are all given here, because Streamlit would otherwise read them from the
person's own configuration, or from that of the project in whose folder the debugger is started.
"""

import socket
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.middleware import Middleware

from debugger_ui.server.guard import Guard

PACKAGE = Path(__file__).resolve().parent.parent
LOCAL = ("127.0.0.1", "localhost")
ANY_ADDRESS = ("0.0.0.0", "::", "")
BROWSER_DELAY = 0.3
NEVER = 1e12
"""Bytes of a message that no message has."""


class PortTaken(Exception):
    """The port that was asked for cannot be used."""


def serve(*, host: str, port: int, browser: bool, load: Callable[[], object], up: Callable[[int], None]) -> None:
    """Serve the debugger until it is stopped.

    Args:
        host: address to bind.
        port: 0 picks a free one; the address that is printed has the real one.
        browser: whether to open the page in the person's browser.
        load: imports what the page needs; called on a thread of its own while the first browser comes up.
        up: told the port once the server begins.

    Raises:
        PortTaken: the address or port cannot be bound.
    """
    check_port(host, port)
    app = st.App(
        PACKAGE / "app.py",
        middleware=[Middleware(Guard, hosts=hosts(host))],
        lifespan=_beginning(load, host if browser else None, up),
    )
    app.run(config=config(host, port))


def hosts(host: str) -> list[str]:
    """Return the host names that requests may carry for an address that is bound."""
    if host in LOCAL or host == "::1":
        return [*LOCAL, "::1"]
    if host in ANY_ADDRESS:
        return [*LOCAL, "::1", socket.gethostname().lower(), *_own_addresses()]
    return [host.lower()]


def config(host: str, port: int) -> dict[str, Any]:
    """Return Streamlit's settings."""
    return {
        "server.address": host,
        "server.port": port,
        "server.headless": True,
        "server.allowedHosts": hosts(host),
        "server.fileWatcherType": "none",
        "server.runOnSave": False,
        "server.enableStaticServing": False,
        "server.enableCORS": True,
        "server.enableXsrfProtection": True,
        "browser.gatherUsageStats": False,
        "client.toolbarMode": "minimal",
        "client.showErrorDetails": "none",
        "client.showErrorLinks": "false",
        "runner.magicEnabled": False,
        # A browser may drop a message that the server then only names, while fragments and clicks cross on the way;
        # that ends its connection for good. So every message is sent in full.
        "global.minCachedMessageSize": NEVER,
        "runner.fastReruns": True,
        # Else every click, and every look of an idle page, walks through every object of every imported module: a
        # tenth of a second and more in which nothing else in the process runs. Python collects by itself.
        "runner.postScriptGC": False,
        "theme.base": str(PACKAGE / "theme.toml"),
    }


def check_port(host: str, port: int) -> None:
    """Raise `PortTaken` when the port cannot be bound."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        raise PortTaken(
            f"cannot listen on {host} port {port}: {error.strerror or error}. "
            "Choose another with --port, or --port 0 for a free one."
        ) from error


def _own_addresses() -> list[str]:
    try:
        found = socket.getaddrinfo(socket.gethostname(), None)
    except OSError:
        return []  # a machine without a name in its resolver still answers on localhost
    return sorted({str(info[4][0]) for info in found})


def _beginning(load: Callable[[], object], host: str | None, up: Callable[[int], None]) -> Any:
    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        threading.Thread(target=load, name="forkpoint-load", daemon=True).start()
        up(int(st.get_option("server.port")))
        if host is not None:
            opener = threading.Timer(BROWSER_DELAY, webbrowser.open, (_address(host),))
            opener.daemon = True
            opener.start()
        yield

    return lifespan


def _address(host: str) -> str:
    name = "127.0.0.1" if host in ANY_ADDRESS else host
    return f"http://{f'[{name}]' if ':' in name else name}:{st.get_option('server.port')}"
