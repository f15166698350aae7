"""The guard: which requests pass, and what the page may load."""

import asyncio

import pytest

from debugger_ui.server.guard import Guard
from debugger_ui.server.launch import PortTaken, check_port, config, hosts


async def page(scope, receive, send):
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"cache-control", b"public")]})
    await send({"type": "http.response.body", "body": b"hello"})


def ask(kind="http", host="127.0.0.1:8765", origin=None, path="/", allowed=("127.0.0.1", "localhost")):
    headers = [(b"host", host.encode())] + ([(b"origin", origin.encode())] if origin else [])
    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        raise AssertionError("nothing to receive")

    guard = Guard(page, hosts=allowed)
    asyncio.run(guard({"type": kind, "headers": headers, "path": path}, receive, send))
    return sent


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:8765", "LOCALHOST", "127.0.0.1"])
def test_our_own_hosts_pass(host):
    assert ask(host=host)[0]["status"] == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", "", "[", "127.0.0.1@evil.example"]
)
def test_other_hosts_are_refused(host):
    assert ask(host=host)[0]["status"] == 403
    assert ask("websocket", host=host)[0] == {"type": "websocket.close", "code": 1008}


def test_a_websocket_must_come_from_our_own_page():
    assert ask("websocket", origin="http://127.0.0.1:8765")[0]["type"] == "websocket.accept"
    assert ask("websocket")[0]["type"] == "websocket.accept"
    for origin in ("http://localhost:3000", "http://127.0.0.1:8766", "https://evil.example", "null"):
        assert ask("websocket", origin=origin)[0]["type"] == "websocket.close"


def test_the_page_may_load_nothing_from_elsewhere():
    headers = dict(ask()[0]["headers"])
    policy = headers[b"content-security-policy"].decode()
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    scripts = next(part for part in policy.split("; ") if part.startswith("script-src"))
    assert "unsafe-inline" not in scripts
    assert "http" not in policy
    assert headers[b"x-content-type-options"] == b"nosniff"


def test_only_files_with_a_version_in_their_name_are_kept_by_the_browser():
    path = "/_stcore/bidi-components/forkpoint.graph/"
    assert dict(ask(path=path + "graph.js")[0]["headers"])[b"cache-control"] == b"no-cache"
    assert dict(ask(path=path + "viz-3.31.0.js")[0]["headers"])[b"cache-control"] == b"public"


def test_only_this_machine_is_served_by_default():
    assert hosts("127.0.0.1") == ["127.0.0.1", "localhost", "::1"]
    assert config("127.0.0.1", 0)["server.address"] == "127.0.0.1"
    assert hosts("192.0.2.7") == ["192.0.2.7"]
    assert {"127.0.0.1", "localhost"} < set(hosts("0.0.0.0"))


def test_a_taken_port_is_a_sentence():
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(PortTaken, match="Choose another with --port"):
            check_port("127.0.0.1", taken.getsockname()[1])


def talk(app, *received):
    """Run a WebSocket through the guard; the messages are what the browser sends, one after the other."""
    messages = iter(received)

    async def receive():
        return next(messages)

    async def send(message):
        pass

    scope = {"type": "websocket", "headers": [(b"host", b"127.0.0.1")], "path": "/"}
    asyncio.run(Guard(app, hosts=["127.0.0.1"])(scope, receive, send))


async def breaks_after_one_message(scope, receive, send):
    await receive()
    raise RuntimeError("closed twice")


def test_what_fails_once_the_page_has_gone_is_no_error():
    talk(breaks_after_one_message, {"type": "websocket.disconnect", "code": 1001})


def test_what_fails_while_the_page_is_there_is_an_error():
    with pytest.raises(RuntimeError, match="closed twice"):
        talk(breaks_after_one_message, {"type": "websocket.receive", "bytes": b""})
