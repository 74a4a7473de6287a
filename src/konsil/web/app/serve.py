"""The server: a study's pages on a port of this machine, and its metrics."""

from __future__ import annotations

import multiprocessing
import secrets
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import replace
from datetime import datetime
from multiprocessing import connection
from multiprocessing.context import SpawnProcess
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.types import ASGIApp

from konsil.errors import KonsilError
from konsil.store import Store
from konsil.store.people.centre_log import open_log
from konsil.study import Study
from konsil.web.app.app import create_app
from konsil.web.centre.auditing import CentreAudit
from konsil.web.centre.centre import Centre
from konsil.web.centre.registry import Opener, Registry
from konsil.web.centre.settings import CentreSettings, place_of_log
from konsil.web.http.listening import listening
from konsil.web.http.redacted_logging import Discreet
from konsil.web.site.site import Options, checked, utc

if TYPE_CHECKING:
    from uvicorn import Config

Stores = Callable[[], Mapping[str, Store | None]]
"""The databases by the path of their study; None: the database cannot be opened."""


BACKLOG = 2048
"""Connections that may wait for a worker."""
KEEP_SECONDS = 75
"""How long a connection on which nothing is asked stays open."""


def _silent() -> None:
    """Print nothing at the start."""


def serve(
    study: Study,
    store: Store,
    options: Options,
    *,
    host: str,
    port: int,
    started: Callable[[], None] = _silent,
) -> None:
    """Serve the pages until stopped; `started` is called once the addresses are taken."""
    with listening(host, port) as place, metrics_of(options, store_of_study(options, store)):
        started()
        _run(study, store, options, place)


def serve_many(
    study: Study,
    database: str,
    options: Options,
    *,
    host: str,
    port: int,
    workers: int,
    started: Callable[[], None] = _silent,
) -> None:
    """Serve the pages from several processes on one port until stopped.

    Each has the store for itself.

    A process that dies is replaced. Doors are throttled by each process for itself, so knocks are
    shared out.
    """
    options = replace(options, tries_a_minute=max(1, options.tries_a_minute // workers))
    with (
        counted_together(options),
        Store.open(database, create=False) as store,
        metrics_of(options, store_of_study(options, store)),
        listening(host, port) as place,
    ):
        started()
        _run_crew(_worker, (study, database, options), place, workers)


def serve_centre(
    settings: CentreSettings,
    open_study: Opener,
    options: Options,
    *,
    host: str,
    port: int,
    workers: int = 1,
    started: Callable[[], None] = _silent,
) -> None:
    """Serve several studies under one address until stopped."""
    key = secrets.token_bytes(32)
    if workers > 1:
        options = replace(options, tries_a_minute=max(1, options.tries_a_minute // workers))
        crew = (settings, open_study, options, key)
        with (
            counted_together(options),
            closing(CentreStores(settings, options.path)) as stores,
            metrics_of(options, stores),
            listening(host, port) as place,
        ):
            started()
            _run_crew(_centre_worker, crew, place, workers)
        return
    with (
        listening(host, port) as place,
        closing(CentreStores(settings, options.path)) as stores,
        metrics_of(options, stores),
    ):
        started()
        _centre_worker(settings, open_study, options, key, place)


def create_centre(
    settings: CentreSettings,
    open_study: Opener,
    options: Options,
    key: bytes,
    *,
    clock: Callable[[], datetime] = utc,
) -> Centre:
    """The studies as one application."""

    def build(study: Study, store: Store, options: Options) -> Starlette:
        return create_app(study, store, options, clock=clock)

    audit = CentreAudit(open_log(place_of_log(settings)), clock)
    return Centre(Registry(settings, checked(options), open_study, build, audit=audit), key)


def _run_crew(
    target: Callable[..., None], args: tuple[Any, ...], place: socket.socket, workers: int
) -> None:
    """Run a function with these arguments and the socket in several processes until stopped."""
    # Started anew and not forked: connections and threads of this process are its own.
    spawn_context = multiprocessing.get_context("spawn")
    place.listen(BACKLOG)

    def start() -> SpawnProcess:
        process = spawn_context.Process(target=target, args=(*args, place), daemon=True)
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


def _worker(study: Study, database: str, options: Options, place: socket.socket) -> None:
    with Store.open(database, create=False) as store:
        _run(study, store, options, place)


def _centre_worker(
    settings: CentreSettings,
    open_study: Opener,
    options: Options,
    key: bytes,
    place: socket.socket,
) -> None:
    from uvicorn import Server

    centre = create_centre(settings, open_study, options, key)
    Server(config_of(centre, options)).run(sockets=[place])


def _run(study: Study, store: Store, options: Options, place: socket.socket) -> None:
    from uvicorn import Server

    Server(server_config(study, store, options)).run(sockets=[place])


def server_config(study: Study, store: Store, options: Options) -> Config:
    """What the server of one study does with connections and their headers."""
    return config_of(create_app(study, store, options), options)


def config_of(app: ASGIApp, options: Options) -> Config:
    """What a server does with connections and their headers."""
    import uvicorn

    from konsil.web.http.unfinished_requests import Limits, protocol

    # No access log: addresses of people are written nowhere. A header counts only where a trusted
    # proxy has sent it.
    return uvicorn.Config(
        measured(Discreet(app), options),
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


def measured(app: ASGIApp, options: Options) -> ASGIApp:
    """The application with its requests counted, if metrics are wanted."""
    if not options.metrics:
        return app
    from konsil.web.http.metrics import Measured

    return Measured(app)


@contextmanager
def metrics_of(options: Options, stores: Stores) -> Iterator[None]:
    """Metrics on an address of their own, if they are wanted."""
    if not options.metrics:
        yield
        return
    from konsil.web.http.metrics import exposed

    with exposed(options.metrics, stores):
        yield


def counted_together(options: Options) -> AbstractContextManager[None]:
    """Several processes count together, if metrics are wanted; to be entered before they start."""
    if not options.metrics:
        return nullcontext()
    from konsil.web.http.metrics import shared_counts

    return shared_counts()


def store_of_study(options: Options, store: Store) -> Stores:
    """The database of one study."""
    return lambda: {options.path.strip("/"): store}


class CentreStores:
    """The databases of a centre, opened for the metrics alone: workers have their own."""

    def __init__(self, settings: CentreSettings, path: str) -> None:
        self._settings, self._path = settings, path.strip("/")
        self._stores: dict[str, Store] = {}

    def __call__(self) -> Mapping[str, Store | None]:
        """The databases of the studies that are there now."""
        stores: dict[str, Store | None] = {}
        for place in self._settings.places():
            name = f"{self._path}/{place.slug}".strip("/")
            if name not in self._stores:
                try:
                    self._stores[name] = Store.open(place.database or place.folder, create=False)
                except KonsilError:
                    stores[name] = None
                    continue
            stores[name] = self._stores[name]
        return stores

    def close(self) -> None:
        """Close the databases."""
        for store in self._stores.values():
            store.close()
