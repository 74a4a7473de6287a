"""The application of the set-up: its pages in one table, its headers, its server."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Route

from konsil.web.design import conducting, data_step, preview, steps
from konsil.web.design.entrance import Page, Room, come_in, within
from konsil.web.design.workshop import Workshop
from konsil.web.http import statics
from konsil.web.http.headers import Headers

BACKLOG = 64
"""Connections that may wait until the server has started."""

PAGES: tuple[tuple[str, str, Page], ...] = (
    ("/data", "GET", data_step.data),
    ("/data", "POST", data_step.take_data),
    ("/questions", "GET", steps.questions),
    ("/questions", "POST", steps.take_questions),
    ("/people", "GET", steps.people),
    ("/people", "POST", steps.take_people),
    ("/plan", "GET", steps.plan),
    ("/plan", "POST", steps.take_plan),
    ("/analyses", "GET", steps.analyses),
    ("/analyses", "POST", steps.take_analyses),
    ("/save", "GET", steps.save),
    ("/save", "POST", steps.take_save),
    ("/conduct", "GET", conducting.conduct),
    ("/conduct", "POST", conducting.start),
    ("/download/{name}", "GET", conducting.download),
    ("/page/{instrument}", "GET", preview.rating_page),
    ("/page/{instrument}", "POST", preview.keep_nothing),
    ("/language", "POST", steps.choose_language),
)
"""Path, method, page; each is behind the guard."""


def create_design_app(
    workshop: Workshop, origins: Iterable[str], *, follows: bool = False
) -> Starlette:
    """The pages on which one person sets up one study.

    `follows`: a new study's texts are in the language of the pages until somebody states theirs.
    """
    routes = [Route(path, within(page), methods=[method]) for path, method, page in PAGES]
    app = Starlette(
        routes=[
            *routes,
            Route("/", lambda _: RedirectResponse("/data", 303)),
            Route("/start/{secret}", come_in),
            Route("/static/{digest}/{name}", _static),
        ]
    )
    app.router.redirect_slashes = False
    app.state.room = Room(workshop, frozenset(origins), follows=follows and workshop.is_new)
    app.add_middleware(Headers, secure=False)
    return app


def _static(request: Request):  # type: ignore[no-untyped-def] # noqa: ANN202
    return statics.static(request)


def serve_design(
    workshop: Workshop, *, port: int, follows: bool, ready: Callable[[str], None]
) -> None:
    """Serve the pages on this machine alone until stopped; `ready` gets the link that opens them.

    Port 0 is any that is free. `follows`: as of the pages.
    """
    import uvicorn

    from konsil.web.http.listening import listening
    from konsil.web.http.redacted_logging import Discreet

    with listening("127.0.0.1", port) as place:
        address = f"127.0.0.1:{place.getsockname()[1]}"
        other = address.replace("127.0.0.1", "localhost")
        app = create_design_app(workshop, (f"http://{address}", f"http://{other}"), follows=follows)
        config = uvicorn.Config(
            Discreet(app), access_log=False, server_header=False, log_level="warning", ws="none"
        )
        # A browser that is quicker than the server waits for it.
        place.listen(BACKLOG)
        ready(f"http://{address}/start/{app.state.room.link}")
        uvicorn.Server(config).run(sockets=[place])
