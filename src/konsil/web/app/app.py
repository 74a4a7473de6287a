"""create_app: one study's pages as one application."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from konsil.store import Store
from konsil.study import Study
from konsil.web.app.routes import ROUTES, routes
from konsil.web.http.headers import ALWAYS, Headers
from konsil.web.rating.prerender import render_ahead
from konsil.web.site.guard import asking
from konsil.web.site.pages import refusal, warm
from konsil.web.site.refused import limited
from konsil.web.site.site import Options, Site, checked, utc

REFUSALS_A_MINUTE = 10
"""How many refused sign-ins are noted in the log of a study that is served alone, with and without
a person: fewer than in the log of a centre, since this one also has the records."""
REFUSALS_AN_HOUR = 60
"""The same, since guessing may go on for days."""


def create_app(
    study: Study,
    store: Store,
    options: Options | None = None,
    *,
    clock: Callable[[], datetime] = utc,
) -> Starlette:
    """The pages of a study whose records are in `store`; the caller opens and closes the store."""
    options = checked(options or Options())
    site = Site(study, store, options, clock)
    # A centre, which has a log of its own, replaces it.
    site.refused = limited(
        store, site.now, a_minute=REFUSALS_A_MINUTE, an_hour=REFUSALS_AN_HOUR
    ).note

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        warm()
        stop = threading.Event()

        def ready() -> None:
            site.desk.ties.ready()
            render_ahead(study, store, stop)

        # Beside the first requests: nobody waits for tie-breaks before somebody handed something
        # in.
        preparation = threading.Thread(target=ready, name="konsil-ahead", daemon=True)
        preparation.start()
        yield
        stop.set()
        preparation.join(5)

    table = routes(under=options.path)
    app = Starlette(
        routes=table, lifespan=lifespan, exception_handlers={HTTPException: _refused, 500: _failed}
    )
    # An address with a slash too many does not exist: the framework would lead on to whatever host
    # and scheme the request names, and behind a proxy that speaks TLS would send an invitation's
    # secret in the clear.
    app.router.redirect_slashes = False
    app.state.site, app.state.paths = site, {page.name: page.path for page in table}
    app.state.pages = ROUTES
    app.add_middleware(Headers, secure=options.secure)
    return app


def _refused(request: Request, error: Exception) -> Response:
    """There is no such page, or it does not accept this method.

    The request did not pass the guard, so its visitor is looked up here.
    """
    request.state.visitor = asking(request)
    return refusal(request, error.status_code if isinstance(error, HTTPException) else 500)


def _failed(request: Request, _error: Exception) -> Response:
    """A fault of ours; what it was is in the server's log and not on the page."""
    response = refusal(request, 500)
    # Faults are answered outside the layer that dresses all else.
    response.headers.update({**ALWAYS, "cache-control": "no-store"})
    return response
