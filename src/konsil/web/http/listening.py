"""The port that a server of ours listens on."""

from __future__ import annotations

import os
import socket

from konsil.errors import KonsilError, option

_FIRST_INHERITED = 3
"""The number of the first socket that a service manager passes on."""


def listening(host: str, port: int) -> socket.socket:
    """Take the port, or say in one sentence why it cannot be had.

    Where a service manager such as systemd has opened a socket and passed it on, this one is
    taken: it stays open while the server is replaced, and connections wait instead of failing.
    """
    inherited = inherited_socket()
    if inherited is not None:
        return inherited
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


def inherited_socket() -> socket.socket | None:
    """The socket that a service manager passed on, as in sd_listen_fds(3); None without one.

    The variables are removed, so that no process that is started from here takes it again.
    """
    process, number = os.environ.get("LISTEN_PID", ""), os.environ.get("LISTEN_FDS", "")
    if process != str(os.getpid()) or not number.isdigit() or number == "0":
        return None
    for name in ("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"):
        os.environ.pop(name, None)
    if number != "1":
        raise KonsilError(f"LISTEN_FDS: expected one socket of the service manager, got {number}")
    try:
        opened = socket.socket(fileno=_FIRST_INHERITED)
        is_tcp = opened.type == socket.SOCK_STREAM and opened.family in (
            socket.AF_INET,
            socket.AF_INET6,
        )
    except OSError:
        is_tcp = False
    if not is_tcp:
        raise KonsilError("LISTEN_FDS: the service manager's socket is not a TCP socket")
    os.set_inheritable(_FIRST_INHERITED, False)
    # As above: with its protocol named, answers in two parts do not wait.
    return socket.socket(
        opened.family, socket.SOCK_STREAM, socket.IPPROTO_TCP, fileno=opened.detach()
    )
