"""Requests that are never finished: their connections are closed, and slow ones that go on are
answered."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
import uvicorn
from starlette.requests import ClientDisconnect

from konsil.store import Store
from konsil.web.app.serve import server_config
from konsil.web.http.redacted_logging import Discreet
from konsil.web.http.unfinished_requests import Limits, Watched, protocol
from konsil.web.site.site import Options

from ..conftest import STUDIES

FAR = 3_600.0
"""Longer than any test waits."""
HEAD = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"
LARGE = HEAD.replace(b"1000", b"1000000")
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class App:
    """Reads the whole body and says how long it was; a GET waits until it is let go."""

    def __init__(self) -> None:
        self.go, self.gave_up = threading.Event(), threading.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        assert scope["type"] == "http"
        n, more = 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            n, more = n + len(message["body"]), message["more_body"]
        if scope["method"] == "GET":
            await asyncio.to_thread(self.go.wait, 60)
        size = n if scope["path"] != "/large" else 50_000_000
        await send(
            {
                "type": "http.response.start",
                "status": 200,
                "headers": [(b"content-length", b"%d" % size)],
            }
        )
        await send({"type": "http.response.body", "body": b"x" * size, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
        if scope["path"] == "/large":
            self.gave_up.set()


class Running:
    """A server in a thread, on a socket of this process."""

    def __init__(self, limits: Limits) -> None:
        self.app = App()
        config = uvicorn.Config(
            self.app, http=protocol(limits), lifespan="off", log_level="critical"
        )
        self.server = uvicorn.Server(config)
        self.place = socket.create_server(("127.0.0.1", 0))
        self.thread = threading.Thread(target=self.run)

    def run(self) -> None:
        asyncio.run(self.server.serve(sockets=[self.place]))

    def connect(self) -> socket.socket:
        line = socket.create_connection(self.place.getsockname(), timeout=60)
        line.settimeout(60)
        return line


@contextmanager
def running(limits: Limits) -> Iterator[Running]:
    one = Running(limits)
    one.thread.start()
    try:
        yield one
    finally:
        one.app.go.set()
        one.server.should_exit = one.server.force_exit = True
        one.thread.join(60)
        one.place.close()


def is_closed(line: socket.socket) -> bool:
    """Wait for the server's next word; whether it is the end of the connection."""
    try:
        return line.recv(1) == b""
    except ConnectionResetError:
        return True


def status(line: socket.socket) -> bytes:
    return line.recv(12)


@pytest.mark.slow
@pytest.mark.parametrize(
    "sent", [b"", b"P", b"POST / HTTP/1.1\r\nHost: x\r\n", HEAD, HEAD + b"x" * 10]
)
def test_what_is_never_finished_is_closed(sent: bytes) -> None:
    short = Limits(idle=0.2, head=0.2, body=0.2, rate=1_000.0, fetching=FAR)
    with running(short) as one, closing(one.connect()) as line:
        line.sendall(sent)
        assert is_closed(line)


@pytest.mark.slow
def test_a_head_that_drips_gets_no_further_time() -> None:
    with running(Limits(idle=FAR, head=0.5, body=FAR)) as one, closing(one.connect()) as line:
        # As many bytes as go: every one of them would win a little time, if any did.
        line.settimeout(0.01)
        line.sendall(b"GET / HTTP/1.1\r\nX: ")
        for _ in range(6_000):
            try:
                line.sendall(b"x")
                if line.recv(1) == b"":
                    return
            except TimeoutError:
                continue
            except OSError:
                return
        raise AssertionError("the connection is still open")


@pytest.mark.slow
def test_a_body_that_goes_on_and_a_server_at_work_are_waited_for() -> None:
    """Both outlast a connection that was opened after them and came to its end by the same
    limits."""
    limits = Limits(idle=FAR, head=FAR, body=0.3, rate=100.0, fetching=FAR)
    with running(limits) as one, closing(one.connect()) as slow, closing(one.connect()) as asking:
        slow.sendall(LARGE + b"x" * 500_000)
        asking.sendall(GET)
        for _ in range(2):
            with closing(one.connect()) as other:
                other.sendall(HEAD)
                assert is_closed(other)
        slow.sendall(b"x" * 500_000)
        assert status(slow) == b"HTTP/1.1 200"
        one.app.go.set()
        assert status(asking) == b"HTTP/1.1 200"


@pytest.mark.slow
def test_the_second_request_of_a_connection_has_the_same_limits() -> None:
    with running(Limits(idle=FAR, head=0.2, body=0.2, rate=1e9)) as one:
        for rest in (b"G", HEAD + b"x"):
            with closing(one.connect()) as line:
                line.sendall(HEAD + b"x" * 1000)
                reply = b""
                while not reply.endswith(b"\r\n\r\n" + b"x" * 1000):
                    reply += line.recv(65_536)
                line.sendall(rest)
                assert is_closed(line)


@pytest.mark.slow
def test_an_answer_that_is_not_fetched_is_given_up() -> None:
    with running(Limits(fetching=0.2)) as one, closing(one.connect()) as line:
        line.sendall(HEAD.replace(b" / ", b" /large ") + b"x" * 1000)
        assert one.app.gave_up.wait(60)
        n = 0
        try:
            while part := line.recv(1 << 20):
                n += len(part)
        except ConnectionResetError:
            pass
        assert n < 50_000_000


def test_whoever_leaves_in_the_middle_fills_no_log(caplog: pytest.LogCaptureFixture) -> None:
    async def leave(*_: Any) -> None:
        raise ClientDisconnect

    async def fail(*_: Any) -> None:
        raise KeyError("x")

    with caplog.at_level("ERROR", "uvicorn.error"):
        asyncio.run(Discreet(leave)({"type": "http"}, None, None))  # type: ignore[arg-type]
        assert caplog.records == []
        asyncio.run(Discreet(fail)({"type": "http"}, None, None))  # type: ignore[arg-type]
        assert len(caplog.records) == 1


def test_the_pages_are_served_with_limits(opened: Store) -> None:
    config = server_config(STUDIES["medqade"], opened, Options())
    assert isinstance(config.http, type) and issubclass(config.http, Watched)
    assert Limits().head < 60 and Limits().body < 60
