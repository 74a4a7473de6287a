"""The server: a study's pages on a port of this machine."""

from __future__ import annotations

import socket

from konsil.errors import KonsilError
from konsil.store import Store
from konsil.study import Study
from konsil.web.app import create_app
from konsil.web.site import Options


def serve(study: Study, store: Store, options: Options, *, host: str, port: int) -> None:
    """Serve the pages until stopped."""
    import uvicorn

    # No access log and no headers of a proxy: addresses of people are written nowhere.
    config = uvicorn.Config(
        create_app(study, store, options),
        access_log=False,
        server_header=False,
        proxy_headers=False,
        log_level="warning",
    )
    with _listening(host, port) as place:
        uvicorn.Server(config).run(sockets=[place])


def _listening(host: str, port: int) -> socket.socket:
    """Take the port, or say in one sentence why it cannot be had."""
    place = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        # A server that was stopped a moment ago keeps nobody from starting again.
        place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        place.bind((host, port))
    except OSError as error:
        place.close()
        raise KonsilError(f"{host}:{port}: cannot be listened on ({error.strerror}); choose another --port") from None
    return place
