"""Time limits of requests that are never finished; the server itself would wait without end.

Whoever opens many connections and sends a byte now and then would otherwise take every one that the
system has. A request's head has a time; its body has a time and more of it with every byte, so that
a large file over a slow line arrives; and so has an answer that is not fetched. A server at work on
a finished request is never disturbed.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

_PROTOCOL: Any = AutoHTTPProtocol
"""One of two classes, by what is installed."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long the server waits for a client, in seconds."""

    idle: float = 75.0
    """For the first byte of a connection."""
    head: float = 20.0
    """From a request's first byte to the end of its head."""
    body: float = 30.0
    """For the body, in addition to a second for every `rate` bytes of it that have come."""
    rate: float = 500.0
    """Bytes a second that any line has."""
    fetching: float = 120.0
    """For the client to take what is sent, while the system's buffer is full."""


class Watched(_PROTOCOL):  # type: ignore[misc]
    """Closes a connection on which a request does not get finished, or an answer is not fetched."""

    limits = Limits()
    _state = ""
    """head or body while they are incomplete, otherwise empty."""
    _counted: Any = None
    _begun, _received = 0.0, 0
    """The request whose body is counted, when that began, and how much of it has come."""
    _waiting: asyncio.TimerHandle | None = None
    _fetching: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Wait for its first byte."""
        super().connection_made(transport)
        self._wait(self.limits.idle)

    def data_received(self, data: bytes) -> None:
        """Take bytes, and see what of the request is missing."""
        super().data_received(data)
        if self._is_open():
            self._look(len(data))
        elif self._state != "head":
            # The beginning of a head, or the rest of a body that nobody reads: later bytes get no
            # further time.
            self._state = "head"
            self._wait(self.limits.head)

    def on_response_complete(self) -> None:
        """Go on to the next request."""
        super().on_response_complete()
        if self._is_open():  # by the next request, which had come already
            self._look(0)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._stop_waiting()
        self._stop_fetching()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Give the client time to take what is sent."""
        super().pause_writing()
        self._fetching = self.loop.call_later(self.limits.fetching, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: the client has taken some of it."""
        self._stop_fetching()
        super().resume_writing()

    def _is_open(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _look(self, n: int) -> None:
        """Give a body time by what has come of it; a request that is whole has all the time."""
        if not self.cycle.more_body:
            self._state = ""
            self._stop_waiting()
            return
        if self._state != "body" or self._counted is not self.cycle:
            self._state, self._counted = "body", self.cycle
            self._begun, self._received = self.loop.time(), 0
        self._received += n
        self._wait(
            self._begun + self.limits.body + self._received / self.limits.rate - self.loop.time()
        )

    def _wait(self, seconds: float) -> None:
        self._stop_waiting()
        self._waiting = self.loop.call_later(seconds, self._expire)

    def _expire(self) -> None:
        if self._state == "body" and self.flow.read_paused:  # we are the slow side
            self._wait(self.limits.body)
            return
        self.transport.abort()

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()

    def _stop_fetching(self) -> None:
        if self._fetching is not None:
            self._fetching.cancel()


def protocol(limits: Limits) -> type[asyncio.Protocol]:
    """The server's protocol with these limits, for uvicorn's option `http`."""
    return type("Limited", (Watched,), {"limits": limits})
