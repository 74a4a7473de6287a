"""The port that a server of ours listens on."""

from __future__ import annotations

import socket

from konsil.errors import KonsilError, option


def listening(host: str, port: int) -> socket.socket:
    """Take the port, or say in one sentence why it cannot be had."""
    # The protocol is named: without it asyncio leaves Nagle's delay on, and answers in two parts
    # wait for 40 ms.
    place = socket.socket(
        socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP
    )
    try:
        # A server that was stopped a moment ago keeps nobody from starting again.
        place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        place.bind((host, port))
    except OSError as error:
        place.close()
        raise KonsilError(
            f"{host}:{port}: cannot listen on this address ({error.strerror}); choose another"
            f" {option('port')}"
        ) from None
    return place
