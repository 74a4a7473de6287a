"""Metrics of the server in the text format of Prometheus: how much, how fast, how far; nobody's.

They are served on an address of their own, which no rater reaches, and contain no name, address,
pseudonym, label or text: pages by their names, times, and numbers of tasks. Tie-breaks and pages
about disagreements are not counted by themselves, because their number is an outcome.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from time import perf_counter
from typing import TYPE_CHECKING, Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from konsil.errors import KonsilError, StoreError, installation, option
from konsil.store import Store
from konsil.store.engine.engine import answers, reading
from konsil.store.tasks.progress import counts
from konsil.web.http.readiness import free_bytes

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Counter, Histogram
    from prometheus_client.core import GaugeMetricFamily

_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable by which the library's processes share their counts."""
_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
NO_PAGE = "none"
"""The name of an address that is no page."""
OTHER = "other"
"""The name of pages that are counted together."""
TOGETHER = frozenset(
    {
        "reviews",
        "review",
        "decide_review",
        "adjudications",
        "open_adjudications",
        "calibration",
        "say_calibration",
        "reasons",
        "health",
        "ready",
        "static",
        "language",
        "leave",
    }
)
"""Pages about disagreements, whose number is an outcome: each is opened, and leads to a form.
They are counted with pages that are requested all the time."""
MARK = "konsil.other"
"""What the scope of a request for a tie-break has, which is counted with them."""
ANSWERED = "answered"
"""The status of those, unless they failed: a form of theirs has another one than the others."""
_FAILED = 500


@cache
def _instruments() -> tuple[Counter, Histogram]:
    """The counts of this process, once: the library knows each name once."""
    from prometheus_client import Counter, Histogram

    labels = ("study", "page")
    return (
        Counter("konsil_requests_total", "Requests by page and status.", (*labels, "status")),
        Histogram(
            "konsil_request_seconds",
            "Seconds until a request was answered, by page.",
            labels,
            buckets=_SECONDS,
        ),
    )


class Measured:
    """A layer around the application that counts requests and their times by page."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._names: dict[int, dict[object, str]] = {}
        self._requests, self._times = _instruments()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and count it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begin, status = perf_counter(), 500

        async def noticed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noticed)
        finally:
            study, page = self._place(scope)
            is_alone = page != OTHER or status >= _FAILED
            self._requests.labels(study, page, str(status) if is_alone else ANSWERED).inc()
            self._times.labels(study, page).observe(perf_counter() - begin)

    def _place(self, scope: Scope) -> tuple[str, str]:
        """The study and the page of a request: never its address, which may have a secret in it."""
        app = scope.get("app")
        site = getattr(getattr(app, "state", None), "site", None)
        if app is None or site is None:
            return "", NO_PAGE
        names = self._names.get(id(app))
        if names is None:
            names = {
                route.endpoint: route.name for route in app.routes if hasattr(route, "endpoint")
            }
            self._names[id(app)] = names
        page = names.get(scope.get("endpoint"), NO_PAGE)
        is_other = page in TOGETHER or MARK in scope
        return site.options.path.strip("/"), OTHER if is_other else page


@dataclass(frozen=True, slots=True)
class StudyGauges:
    """The state of studies as numbers, read from their databases when they are asked for."""

    stores: Callable[[], Mapping[str, Store | None]]
    """The stores by the path of their study."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The numbers."""
        from prometheus_client.core import GaugeMetricFamily

        up = GaugeMetricFamily("konsil_database_up", "1: the database answers.", labels=["study"])
        tasks = GaugeMetricFamily(
            "konsil_tasks", "Tasks of raters, without tie-breaks.", labels=["study", "state"]
        )
        free = GaugeMetricFamily(
            "konsil_disk_free_bytes", "Free space where the database is.", labels=["study"]
        )
        for study, store in self.stores().items():
            up.add_metric([study], float(store is not None and answers(store.engine)))
            if store is None:
                continue
            if (space := free_bytes(store)) is not None:
                free.add_metric([study], float(space))
            for state, number in _progress(store).items():
                tasks.add_metric([study, state], float(number))
        yield from (up, tasks, free)


def _progress(store: Store) -> dict[str, int]:
    """Tasks by state; empty where the database does not answer, because 0 would be a number."""
    try:
        with reading(store.engine) as connection:
            cells = counts(connection)
    except StoreError:
        return {}
    n_tasks, n_completed = sum(c.tasks for c in cells), sum(c.n_completed for c in cells)
    return {"completed": n_completed, "open": n_tasks - n_completed}


def parse_address(text: str) -> tuple[str, int]:
    """Host and port of an address such as 127.0.0.1:9464."""
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 1 << 16:
        raise KonsilError(
            f"{option('metrics')}: expected an address such as 127.0.0.1:9464, got {text!r}"
        )
    return host.strip("[]"), int(port)


@contextmanager
def shared_counts() -> Iterator[None]:
    """Let several processes count together; within, before the first of them starts."""
    require_library()
    with tempfile.TemporaryDirectory(prefix="konsil-metrics-") as folder:
        os.environ[_FOLDER] = folder
        try:
            yield
        finally:
            os.environ.pop(_FOLDER, None)


def require_library() -> None:
    """A sentence where the library is not installed."""
    try:
        import prometheus_client  # noqa: F401
    except ImportError:
        raise KonsilError(
            "metrics need a package that is not installed; install it with"
            f" {installation('metrics')}"
        ) from None


@contextmanager
def exposed(address: str, stores: Callable[[], Mapping[str, Store | None]]) -> Iterator[None]:
    """Serve the metrics on an address of their own while the block runs."""
    require_library()
    from prometheus_client import REGISTRY, CollectorRegistry, start_http_server
    from prometheus_client.multiprocess import MultiProcessCollector

    host, port = parse_address(address)
    registry: CollectorRegistry = REGISTRY
    if os.environ.get(_FOLDER):
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call,unused-ignore]
    gauges: Any = StudyGauges(stores)
    registry.register(gauges)
    try:
        server, thread = start_http_server(port, addr=host, registry=registry)
    except OSError as error:
        registry.unregister(gauges)
        raise KonsilError(
            f"{option('metrics')} {address}: cannot listen on this address ({error.strerror})"
        ) from None
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        registry.unregister(gauges)
