"""The server: a study's pages on a port of this machine."""

from __future__ import annotations

import multiprocessing
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from multiprocessing import connection
from multiprocessing.context import SpawnProcess
from typing import TYPE_CHECKING

from konsil.store import Store
from konsil.study import Study
from konsil.web.app.app import create_app
from konsil.web.http.listening import listening
from konsil.web.http.redacted_logging import Discreet
from konsil.web.site.site import Options

if TYPE_CHECKING:
    from uvicorn import Config

BACKLOG = 2048
"""Connections that may wait for a worker."""
KEEP_SECONDS = 75
"""How long a connection on which nothing is asked stays open."""


def serve(study: Study, store: Store, options: Options, *, host: str, port: int) -> None:
    """Serve the pages until stopped."""
    with listening(host, port) as place, _metrics(options, store):
        _run(study, store, options, place)


@contextmanager
def _metrics(options: Options, store: Store) -> Iterator[None]:
    """Metrics on an address of their own, if they are wanted."""
    if not options.metrics:
        yield
        return
    from konsil.web.http.metrics import exposed

    with exposed(options.metrics, lambda: {options.path.strip("/"): store}):
        yield


def serve_many(
    study: Study, database: str, options: Options, *, host: str, port: int, workers: int
) -> None:
    """Serve the pages from several processes on one port until stopped.

    Each has the store for itself.

    A process that dies is replaced. Doors are throttled by each process for itself, so knocks are
    shared out.
    """
    options = replace(options, tries_a_minute=max(1, options.tries_a_minute // workers))
    # Started anew and not forked: connections and threads of this process are its own.
    spawn_context = multiprocessing.get_context("spawn")
    with (
        listening(host, port) as place,
        _shared_counts(options, workers),
        Store.open(database, create=False) as store,
        _metrics(options, store),
    ):
        place.listen(BACKLOG)

        def start() -> SpawnProcess:
            process = spawn_context.Process(
                target=_worker, args=(study, database, options, place), daemon=True
            )
            process.start()
            return process

        crew = [start() for _ in range(workers)]
        # Asked to end, the workers end first: each finishes what it has begun.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        try:
            while True:
                connection.wait([process.sentinel for process in crew])
                for n, process in enumerate(crew):
                    if not process.is_alive():
                        time.sleep(1.0)
                        crew[n] = start()
        except KeyboardInterrupt:
            pass
        finally:
            for process in crew:
                process.terminate()
            for process in crew:
                process.join(10)


def _shared_counts(options: Options, workers: int) -> AbstractContextManager[None]:
    """Before the metrics are first used: the library decides then how processes count."""
    if not options.metrics:
        return nullcontext()
    from konsil.web.http.metrics import shared_counts

    return shared_counts(workers)


def _worker(study: Study, database: str, options: Options, place: socket.socket) -> None:
    with Store.open(database, create=False) as store:
        _run(study, store, options, place)


def _run(study: Study, store: Store, options: Options, place: socket.socket) -> None:
    from uvicorn import Server

    Server(server_config(study, store, options)).run(sockets=[place])


def server_config(study: Study, store: Store, options: Options) -> Config:
    """What the server does with connections and their headers."""
    import uvicorn

    from konsil.web.http.metrics import Measured
    from konsil.web.http.unfinished_requests import Limits, protocol

    # No access log: addresses of people are written nowhere. A header counts only where a trusted
    # proxy has sent it.
    app = Discreet(create_app(study, store, options))
    return uvicorn.Config(
        Measured(app) if options.metrics else app,
        access_log=False,
        server_header=False,
        proxy_headers=bool(options.trusted_proxies),
        forwarded_allow_ips=list(options.trusted_proxies),
        log_level="warning",
        # Whoever reads for a minute comes back on the same connection.
        timeout_keep_alive=KEEP_SECONDS,
        # Whoever never finishes a request keeps no connection.
        http=protocol(Limits(idle=KEEP_SECONDS)),
        # No page has a socket of its own: an attempt at one is a request like others.
        ws="none",
    )
