"""The centre's own pages: the list of all studies, the state of the server, signing out."""

from __future__ import annotations

import hashlib
import hmac
import logging
import secrets
from asyncio import get_running_loop
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Lifespan, Receive, Scope, Send

from konsil.locale import SOURCE, catalogue_language, translations
from konsil.store.log.heads import head_of
from konsil.store.people.access import Visitor
from konsil.web.centre.auditing import rows
from konsil.web.centre.registry import Registry
from konsil.web.centre.standing import members, standings
from konsil.web.http import formatting, statics
from konsil.web.http.headers import ALWAYS, Headers
from konsil.web.http.throttle import Throttle
from konsil.web.rating.text.language import preferred
from konsil.web.site.centre_cookie import delete_centre_cookie
from konsil.web.site.guard import MOST_BYTES, read_body, read_form
from konsil.web.site.pages import environment
from konsil.web.site.refused import Refused
from konsil.web.site.site import Site

LANGUAGE = "konsil-centre-language"
"""The cookie of the language of these pages; those of the studies have their own."""
PATHS = {
    "landing": "/",
    "language": "/language",
    "leave": "/leave",
    "sign_in": "/sign-in",
    "audit_log": "/audit-log",
    "check_audit_log": "/audit-log",
}
LOG = logging.getLogger("uvicorn.error")
Endpoint = Callable[[Request], Response]
_SIGN_IN_THREADS = 8
"""Threads that wait for the sign-in service."""
_YEAR = 365 * 86_400


def create_pages(
    registry: Registry, key: bytes, *, lifespan: Lifespan[Starlette] | None = None
) -> Starlette:
    """The centre's own pages as one application."""
    under = registry.options.path
    app = Starlette(
        routes=[
            Route(f"{under}/", landing, methods=["GET"]),
            Route(f"{under}/health", health, methods=["GET"]),
            Route(f"{under}/language", language, methods=["POST"]),
            Route(f"{under}/leave", leave, methods=["POST"]),
            Route(f"{under}/audit-log", audit_log, methods=["GET"]),
            Route(f"{under}/audit-log", check_audit_log, methods=["POST"]),
            *_sign_in(registry, key),
            Route(f"{under}/static/{{digest}}/{{name}}", _static, methods=["GET"]),
        ],
        lifespan=lifespan,
        exception_handlers={HTTPException: _refused, 500: _failed},
    )
    app.router.redirect_slashes = False
    app.state.registry, app.state.key = registry, key
    app.add_middleware(Headers, secure=registry.options.secure)
    return app


def _sign_in(registry: Registry, key: bytes) -> list[Route]:
    """The pages of the sign-in service, where there is one."""
    options, service = registry.options, registry.settings.service
    if service is None:
        return []
    # Its libraries are an extra of the package: they are imported where they are needed.
    from konsil.web.centre.provider import Provider, SignInError, UnavailableError
    from konsil.web.centre.signing_in import SignIn

    return_address = f"{options.host}{options.path}/signed-in"
    sign_in = SignIn(registry, Provider(service, return_address), key)
    throttle = Throttle(options.volunteers_a_minute, 60.0)
    # Threads of their own: while the service does not answer, all other pages do.
    threads = ThreadPoolExecutor(_SIGN_IN_THREADS, "konsil-sign-in")

    def answered(endpoint: Endpoint, request: Request) -> Response:
        try:
            return endpoint(request)
        except SignInError as error:
            # What is wrong, and nothing about whom.
            LOG.warning("a sign-in was refused: %s", error)
            if registry.audit is not None and error.reason is not None:
                registry.audit.refuse(error.study, Refused("account", error.reason))
            is_silent = isinstance(error, UnavailableError)
            status = HTTPStatus.SERVICE_UNAVAILABLE if is_silent else HTTPStatus.FORBIDDEN
            return page(request, "centre_refusal.html", status=status)

    async def or_refused(endpoint: Endpoint, request: Request) -> Response:
        # A whole hospital may come from one address at once: as many as by an open link.
        if not throttle.allows(request.client.host if request.client is not None else ""):
            if registry.audit is not None:
                registry.audit.refuse("", Refused("account", "too many attempts"))
            raise HTTPException(HTTPStatus.TOO_MANY_REQUESTS)
        return await get_running_loop().run_in_executor(threads, answered, endpoint, request)

    return [
        Route(f"{options.path}/sign-in", partial(or_refused, sign_in.begin), methods=["GET"]),
        Route(f"{options.path}/signed-in", partial(or_refused, sign_in.end), methods=["GET"]),
    ]


def registry_of(request: Request) -> Registry:
    """The studies of the centre that a request came to."""
    registry: Registry = request.app.state.registry
    return registry


def page(
    request: Request, template: str, context: Mapping[str, object] | None = None, status: int = 200
) -> Response:
    """Render a template of the centre."""
    registry, spoken = registry_of(request), language_of(request)
    templates = environment(spoken)
    words: dict[str, object] = {
        "language": spoken,
        "study_title": registry.settings.title or translations(spoken).gettext("All studies"),
        "signed_in": False,
        "role": "",
        "csrf": token(request),
        "static": lambda name: registry.options.path + statics.address(name),
        "path": lambda name: registry.options.path + PATHS[name],
        "here": request.url.path,
        "centre": "",
        "service": registry.settings.service,
        "passkeys": registry.options.passkeys,
        "reviews": False,
        "consents": False,
        "status": status,
        "count": partial(formatting.number, language=spoken),
    }
    html = templates.get_template(template).render({**words, **(context or {})})
    return HTMLResponse(html, status)


def language_of(request: Request) -> str:
    """The language of the pages: chosen, else the browser's."""
    return (
        catalogue_language(request.cookies.get(LANGUAGE, ""))
        or preferred(request.headers.get("accept-language", ""))
        or SOURCE
    )


def landing(request: Request) -> Response:
    """All studies, for staff; for all others how to sign in."""
    registry = registry_of(request)
    visitors = members(registry, request)
    context = {
        "signed_in": bool(visitors),
        # Titles of studies are for staff alone: an address that anybody can open names none.
        "studies": standings(registry, visitors) if visitors else [],
        "has_log": bool(_owned(registry, visitors)) and registry.audit is not None,
    }
    return page(request, "centre.html", context)


def audit_log(request: Request) -> Response:
    """Who came in or was refused, and what changed about access: for owners, of their studies."""
    return _audit_log(request, None)


async def check_audit_log(request: Request) -> Response:
    """The same, after the chain of the centre's log was verified."""
    form = await _form(request)
    if not secrets.compare_digest(form.get("csrf", "").encode(), token(request).encode()):
        raise HTTPException(403)
    return await get_running_loop().run_in_executor(None, _checked_log, request)


def _checked_log(request: Request) -> Response:
    registry = registry_of(request)
    return _audit_log(request, () if registry.audit is None else registry.audit.log.verify_log())


def _audit_log(request: Request, problems: tuple[str, ...] | None) -> Response:
    registry = registry_of(request)
    owned = _owned(registry, members(registry, request))
    if registry.audit is None or not owned:
        # The same for whoever may not read it as where there is none.
        raise HTTPException(404)
    context = {
        "signed_in": True,
        "rows": rows(registry.audit, owned),
        "titles": {slug: site.study.title for slug, site in owned.items()},
        "head": head_of(registry.audit.log),
        "problems": problems,
        "moment": partial(formatting.moment, language=language_of(request)),
    }
    return page(request, "centre_log.html", context)


def _owned(registry: Registry, visitors: Mapping[str, Visitor]) -> dict[str, Site]:
    """The studies of which the visitor is an owner."""
    return {
        served.place.slug: served.site
        for served in registry.studies
        if served.site is not None
        and (visitor := visitors.get(served.place.slug)) is not None
        and visitor.role == "owner"
    }


def health(request: Request) -> Response:
    """Whether the server works: it does while any study answers; the others are counted."""
    n_healthy, total = registry_of(request).health()
    status = HTTPStatus.OK if n_healthy or not total else HTTPStatus.SERVICE_UNAVAILABLE
    word = "ok" if status is HTTPStatus.OK else "no study answers"
    return PlainTextResponse(f"{word}\n{n_healthy} of {total} studies answer\n", status)


async def language(request: Request) -> Response:
    """Choose the language of these pages."""
    form = await _form(request)
    chosen = catalogue_language(form.get("language", ""))
    if not chosen:
        raise HTTPException(422)
    response = _home(request)
    options = registry_of(request).options
    response.set_cookie(
        LANGUAGE,
        chosen,
        max_age=_YEAR,
        path=options.path or "/",
        secure=options.secure,
        httponly=True,
        samesite="lax",
    )
    return response


async def leave(request: Request) -> Response:
    """Sign out of all studies on this device."""
    form = await _form(request)
    if not secrets.compare_digest(form.get("csrf", "").encode(), token(request).encode()):
        raise HTTPException(403)
    return await get_running_loop().run_in_executor(None, _leave, request)


def _leave(request: Request) -> Response:
    registry = registry_of(request)
    response, visitors = _home(request), members(registry, request)
    if registry.audit is not None:
        registry.audit.sign_out(visitors)
    for slug, visitor in visitors.items():
        served = registry.get(slug)
        site = None if served is None else served.site
        if site is not None:
            site.access.leave(visitor)
            delete_centre_cookie(site, response)
    return response


def token(request: Request) -> str:
    """What forms of these pages carry: it depends on the visitor's cookies and on our secret."""
    cookies = "\n".join(
        f"{name}={value}" for name, value in sorted(request.cookies.items()) if name != LANGUAGE
    )
    key: bytes = request.app.state.key
    return hmac.new(key, b"csrf\n" + cookies.encode(), hashlib.sha256).hexdigest()


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form of ours; a refusal where another site sent it, or where it is none."""
    if request.headers.get("origin") not in registry_of(request).options.origins:
        raise HTTPException(403)
    request.state.body = await read_body(request)
    if len(request.state.body) > MOST_BYTES:
        raise HTTPException(413)
    try:
        return read_form(request)
    except ValueError:
        raise HTTPException(422) from None


def _home(request: Request) -> Response:
    return RedirectResponse(f"{registry_of(request).options.path}/", HTTPStatus.SEE_OTHER)


def _static(request: Request) -> Response:
    return statics.static(request)


def _refused(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return page(request, "centre_refusal.html", status=status)


def _failed(request: Request, _error: Exception) -> Response:
    response = page(request, "centre_refusal.html", status=500)
    response.headers.update({**ALWAYS, "cache-control": "no-store"})
    return response


def unavailable(pages: Starlette) -> ASGIApp:
    """What a study answers that could not be opened; the reason is in the server's log alone."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        request = Request({**scope, "app": pages}, receive)
        response = page(request, "centre_refusal.html", status=HTTPStatus.SERVICE_UNAVAILABLE)
        response.headers.update({**ALWAYS, "cache-control": "no-store", "retry-after": "60"})
        await response(scope, receive, send)

    return answer
