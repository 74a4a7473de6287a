"""A port for a server of a test."""

from __future__ import annotations

import os
import random
import socket


def free_port() -> int:
    """A port below those that the system hands to connections: none is put there between asking and
    listening."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw") or 0)
    first = 20_000 + worker % 12 * 1_000
    for port in random.SystemRandom().sample(range(first, first + 1_000), 200):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError(f"no port from {first} on is free")
