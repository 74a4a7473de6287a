"""The server's own socket."""

from __future__ import annotations

import socket

from konsil.web.http.listening import listening


def test_answers_are_not_held_back() -> None:
    with listening("127.0.0.1", 0) as place:
        place.listen()
        # asyncio turns Nagle's delay off only where it sees that the protocol is TCP.
        assert place.proto == socket.IPPROTO_TCP
        with socket.create_connection(place.getsockname()), place.accept()[0] as line:
            assert line.proto == socket.IPPROTO_TCP
