"""Who is asking, and may they: deny by default.

Every endpoint runs behind this and nowhere else.
"""

from __future__ import annotations

import secrets
from asyncio import get_running_loop
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from konsil.records.roles import Role
from konsil.store.people.access import ERASED, Visitor
from konsil.web.site.centre_cookie import (
    delete_new_session,
    lacks_passkey,
    new_session_name,
    set_session,
)
from konsil.web.site.pages import page, path_to, refusal, to, wants_json
from konsil.web.site.scope import tied_sites
from konsil.web.site.site import site_of

Endpoint = Callable[[Request], Response]
SAFE = frozenset({"GET", "HEAD"})
MOST_BYTES = 400_000
"""The largest form or message; a rating page's is a few hundred bytes."""
MOST_FIELDS = 2_000
"""The most fields of a form; sixty sentences with seven criteria are 420."""


@dataclass(frozen=True, slots=True)
class Public:
    """Says that a page is for everybody, signed in or not.

    A page that does not say so is for those it names.
    """


Audience = Public | frozenset[Role]
RATERS: frozenset[Role] = frozenset({"rater"})
"""Who rates."""


def guarded(
    endpoint: Endpoint,
    audience: Audience,
    *,
    by_site: bool = True,
    before_passkey: bool = False,
) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint behind the guard.

    The guard reads the visitor and the form, and refuses them where they do not belong here.
    `by_site`: whether coordinators who are tied to sites may have the page. `before_passkey`:
    whether owners may have it whose passkey is still to come.
    """

    async def behind(request: Request) -> Response:
        try:
            request.state.body = b"" if request.method in SAFE else await read_body(request)
        except ClientDisconnect:
            # Closed, or out of the network's reach, while sending: half a message is none, and
            # nobody hears an answer.
            return Response(status_code=400)
        # One turn in a thread for all that follows: every further one is another wait in line.
        return await get_running_loop().run_in_executor(
            site_of(request).lane(audience == RATERS), answered, request
        )

    def answered(request: Request) -> Response:
        return _in_session(request, of_visitor)

    def of_visitor(request: Request) -> Response:
        visitor = asking(request)
        request.state.visitor = visitor
        request.state.sites = None
        request.state.form = {}
        if "\0" in request.scope["path"] or b"%00" in request.scope["query_string"]:
            # No database can be asked for it.
            return refusal(request, 404)
        if visitor is not None and visitor.who == ERASED:
            request.state.visitor = None
            # The page's own module loads its page anew after 401, and shows this.
            return (
                refusal(request, 401)
                if wants_json(request)
                else page(request, "erased.html", status=410)
            )
        if not isinstance(audience, Public) and (visitor is None or visitor.role not in audience):
            # The same answer whether the page is another's or does not exist: nothing can be
            # probed.
            return refusal(request, 404 if visitor is not None else 401)
        if (
            lacks_passkey(site_of(request), visitor)
            and not before_passkey
            and not isinstance(audience, Public)
        ):
            return (
                to(path_to(request, "passkey"))
                if request.method in SAFE and not wants_json(request)
                else refusal(request, 403)
            )
        request.state.sites = tied_sites(site_of(request), visitor)
        if request.state.sites is not None and not by_site:
            return refusal(request, 404)
        fault = None if request.method in SAFE else _fault(request, visitor)
        return endpoint(request) if fault is None else refusal(request, fault)

    return behind


def _fault(request: Request, visitor: Visitor | None) -> int | None:
    """Why a form is refused, as a status.

    None where it is not, and then its fields are with the request.
    """
    if not from_our_pages(request):
        return 403
    if visitor is not None and not site_of(request).posts.allows(f"{visitor.role} {visitor.who}"):
        return 429
    if len(request.state.body) > MOST_BYTES:
        return 413
    try:
        request.state.form = read_form(request)
    except ValueError:
        return 422
    return 403 if visitor is not None and not _token_fits(request, visitor) else None


def asking(request: Request) -> Visitor | None:
    """Who has the request's cookie; None where nobody is signed in. A new session comes first."""
    site = site_of(request)
    for name in (new_session_name(site), site.cookie):
        cookie = request.cookies.get(name, "")
        visitor = site.access.visitor(cookie, site.now()) if cookie else None
        if visitor is not None:
            return visitor
    return None


def _in_session(request: Request, endpoint: Endpoint) -> Response:
    """The endpoint's response; a new session takes the place of the one before."""
    site = site_of(request)
    new = request.cookies.get(new_session_name(site), "")
    if not new:
        return endpoint(request)
    if site.access.visitor(new, site.now()) is not None:
        _end_former(request, new)
    response = endpoint(request)
    # Asked again: the page may have ended it.
    if (visitor := site.access.visitor(new, site.now())) is not None:
        set_session(site, response, new, visitor.role)
    delete_new_session(site, response)
    return response


def _end_former(request: Request, new: str) -> None:
    """End the session that a new one replaces in this browser."""
    site = site_of(request)
    former = request.cookies.get(site.cookie, "")
    if former and former != new:
        visitor = site.access.visitor(former, site.now())
        if visitor is not None and visitor.who != ERASED:
            site.access.leave(visitor)


def from_our_pages(request: Request) -> bool:
    """Whether an unsafe request was made by a page of ours, as far as the browser says.

    One must say.
    """
    origin = request.headers.get("origin")
    if origin is None:
        referer = urlsplit(request.headers.get("referer", ""))
        origin = f"{referer.scheme}://{referer.netloc}"
    return origin in site_of(request).options.origins


async def read_body(request: Request) -> bytes:
    """The request's body; reading ends once it is too much."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            break
    return bytes(body)


def read_form(request: Request) -> dict[str, str]:
    """The fields of a form, without NUL, which no database keeps; a ValueError where it is none."""
    kind = request.headers.get("content-type", "").partition(";")[0]
    if kind != "application/x-www-form-urlencoded":
        return {}
    text = request.state.body.decode()
    fields = parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    return {name: value.replace("\0", "") for name, value in fields}


def _token_fits(request: Request, visitor: Visitor) -> bool:
    token = request.headers.get("x-csrf-token") or str(request.state.form.get("csrf", ""))
    return secrets.compare_digest(token.encode(), visitor.csrf.encode())


def visitor_of(request: Request) -> Visitor:
    """Who is asking, on a page that is not public."""
    visitor: Visitor | None = request.state.visitor
    if visitor is None:
        raise LookupError("this page is public; it has no visitor")
    return visitor


def form_of(request: Request) -> dict[str, str]:
    """The fields of the form that was sent, without the guard's own."""
    form: dict[str, str] = request.state.form
    return {name: value for name, value in form.items() if name != "csrf"}
