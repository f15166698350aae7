"""The gate before every request: who may ask, and what the page may load.

A debugger on a local port can be reached by any page in the same browser. So a request must name
one of our hosts (a name that was rebound to 127.0.0.1 does not), a WebSocket must come from our own
page, and the page may load nothing from elsewhere, run no inline script and be framed by nobody.

It is plain ASGI because Starlette's middleware helper does not see WebSockets.
"""

import base64
import hashlib
import logging
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

logger = logging.getLogger(__name__)

INLINE_SCRIPT = re.compile(r"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", re.DOTALL)
ASSETS = "/_stcore/bidi-components/forkpoint."
VERSIONED = re.compile(r"-\d+\.\d+\.\d+\.js$")
CLOSE_POLICY_VIOLATION = 1008


def content_security_policy() -> str:
    """Return the policy for the page; Streamlit's own inline script is allowed by its hash."""
    page = files("streamlit").joinpath("static/index.html").read_text("utf-8")
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in INLINE_SCRIPT.findall(page)
    )
    return "; ".join(
        [
            "default-src 'self'",
            f"script-src 'self' 'wasm-unsafe-eval' {hashes}".strip(),
            "worker-src 'self' blob:",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "frame-ancestors 'none'",
            "base-uri 'self'",
            "form-action 'self'",
            "object-src 'none'",
        ]
    )


class Guard:
    """Refuses strangers with 403 and adds the security headers to what it lets through."""

    def __init__(self, app: App, *, hosts: Iterable[str]) -> None:
        self.app = app
        self.hosts = frozenset(host.lower() for host in hosts)
        self.headers = [
            (b"content-security-policy", content_security_policy().encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
            (b"x-frame-options", b"DENY"),
            (b"cross-origin-opener-policy", b"same-origin"),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
        elif self.allows(scope) and scope["type"] == "websocket":
            await self._talk(scope, receive, self._with_headers(scope, send))
        elif self.allows(scope):
            await self.app(scope, receive, self._with_headers(scope, send))
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": CLOSE_POLICY_VIOLATION})
        else:
            await send({"type": "http.response.start", "status": 403, "headers": [(b"content-type", b"text/plain")]})
            await send({"type": "http.response.body", "body": b"This address is not served here."})

    async def _talk(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a WebSocket on; what fails once the page has gone is no error.

        A page that closes while it is being answered makes Streamlit close the socket a second time, which
        raises. Nobody is left to be told, and a traceback in the terminal would say that something broke.
        """
        gone = False

        async def heard() -> Message:
            nonlocal gone
            message = await receive()
            gone = gone or message["type"] == "websocket.disconnect"
            return message

        async def said(message: Message) -> None:
            nonlocal gone
            gone = gone or message["type"] == "websocket.close"
            try:
                await send(message)
            except OSError:
                gone = True
                raise

        try:
            await self.app(scope, heard, said)
        except Exception:
            if not gone:
                raise
            logger.debug("a page went while it was being answered", exc_info=True)

    def allows(self, scope: Scope) -> bool:
        """Whether the request names one of our hosts and, for a WebSocket, comes from our page."""
        headers: dict[str, str] = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
        }
        host = headers.get("host", "")
        try:
            name = (urlsplit("//" + host).hostname or "").lower()
        except ValueError:
            return False
        if name not in self.hosts:
            return False
        origin = headers.get("origin")
        if scope["type"] != "websocket" or origin is None:
            return True
        return str(urlsplit(origin).netloc).lower() == host.lower()

    def _with_headers(self, scope: Scope, send: Send) -> Send:
        own_asset = str(scope.get("path", "")).startswith(ASSETS)
        keep = VERSIONED.search(str(scope.get("path", "")))

        async def passed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", []))
                if own_asset and not keep:
                    # An upgrade must not meet yesterday's script: these names carry no version.
                    headers = [pair for pair in headers if pair[0].lower() != b"cache-control"]
                    headers.append((b"cache-control", b"no-cache"))
                message = {**message, "headers": headers + self.headers}
            await send(message)

        return passed
