"""Endpoints: the landing page, being let in by an invitation, signing out, choosing a language."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from konsil.locale import catalogue_language
from konsil.store.engine.engine import answers
from konsil.store.people.access import PERSONAL, Invitation
from konsil.web.http.readiness import obstacle
from konsil.web.site.centre_cookie import delete_centre_cookie, set_centre_cookie
from konsil.web.site.guard import form_of, visitor_of
from konsil.web.site.pages import LANGUAGE_COOKIE, language_of, page, path_to, refusal, to
from konsil.web.site.refused import Reason, Refused
from konsil.web.site.site import Site, site_of

HOME = {
    "rater": "next",
    "curator": "screening",
    "coordinator": "overview",
    "analyst": "overview",
    "owner": "overview",
}
"""Role -> the page they begin at."""


def landing(request: Request) -> Response:
    """Raters go on where they were; others read what this is."""
    visitor = request.state.visitor
    if visitor is not None:
        begins = HOME[visitor.role]
        unscreened = begins == "screening" and site_of(request).pool.spec is None
        return to(path_to(request, "cases" if unscreened else begins))
    return page(request, "landing.html")


def invitation(request: Request) -> Response:
    """Show a button. Looking uses nothing up: mail scanners look at every link."""
    site = site_of(request)
    link = site.access.invitation(request.path_params["secret"], site.now())
    if _knocks_too_often(request, link):
        site.refused(_refused(link, "too many attempts"))
        return refusal(request, 429)
    if link is None:
        return _over(request)
    return page(
        request,
        "invitation.html",
        {"action": request.url.path, "works_once": link.role not in PERSONAL},
    )


def accept_invitation(request: Request) -> Response:
    """Use the invitation, and sign in under a new cookie."""
    site = site_of(request)
    before = request.state.visitor
    link = site.access.invitation(request.path_params["secret"], site.now())
    if _knocks_too_often(request, link):
        site.refused(_refused(link, "too many attempts"))
        return refusal(request, 429)
    if link is not None and not link.who and before is not None and before.role == link.role:
        # The link for anybody once more: whoever is somebody already stays who that is.
        return to(path_to(request, "landing"))
    cookie = site.access.redeem(
        request.path_params["secret"],
        at=site.now(),
        expires_at=site.signed_in_until(),
        language=language_of(request),
    )
    if cookie is None:
        return _over(request)
    # The session before ends, too: its cookie is replaced, so nobody could end it later.
    if before is not None:
        site.access.leave(before)
    response = to(path_to(request, "landing"))
    _set_cookie(site, response, site.cookie, cookie)
    if link is not None and link.role != "rater":
        set_centre_cookie(site, response, cookie, link.role)
    return response


def _over(request: Request) -> Response:
    """The link lets nobody in, and why not is noted without it."""
    site = site_of(request)
    link = site.access.any_invitation(request.path_params["secret"])
    reason = None if link is None else link.obstacle(site.now())
    site.refused(_refused(link, reason or "unknown"))
    return page(request, "invitation_over.html", status=410)


def _refused(link: Invitation | None, reason: Reason) -> Refused:
    return (
        Refused("link", reason)
        if link is None
        else Refused("link", reason, person=link.who, role=link.role)
    )


def health(request: Request) -> Response:
    """Whether pages can be served, for whoever watches the server: the database answers, or 503."""
    if not answers(site_of(request).store.engine):
        return PlainTextResponse("the database does not answer\n", 503)
    return PlainTextResponse("ok\n")


def ready(request: Request) -> Response:
    """Whether entries can be stored, for a proxy that chooses a server; 503 states the obstacle."""
    reason = obstacle(site_of(request).store)
    if reason is not None:
        return PlainTextResponse(f"{reason}\n", 503)
    return PlainTextResponse("ready\n")


def leave(request: Request) -> Response:
    """Sign out on this device."""
    site = site_of(request)
    site.access.leave(visitor_of(request))
    response = to(path_to(request, "landing"))
    # With the attributes with which it was set: a browser keeps the cookie otherwise.
    response.delete_cookie(
        site.cookie, path=_path(site), secure=site.options.secure, httponly=True, samesite="lax"
    )
    delete_centre_cookie(site, response)
    return response


def language(request: Request) -> Response:
    """Choose the language of the pages; the study's own texts stay as they are."""
    site, form = site_of(request), form_of(request)
    chosen = catalogue_language(form.get("language", ""))
    if not chosen:
        return refusal(request, 422)
    home = path_to(request, "landing")
    return_path = form.get("back", home)
    response = to(
        # A path of these pages only: '//host' or a backslash would lead the browser to another
        # site.
        return_path
        if return_path.startswith(home)
        and not return_path.startswith("//")
        and "\\" not in return_path
        else home
    )
    if request.state.visitor is not None:
        site.access.speak(request.state.visitor, chosen)
    _set_cookie(site, response, LANGUAGE_COOKIE, chosen)
    return response


def _set_cookie(site: Site, response: Response, name: str, value: str) -> None:
    age = int(site.options.signed_in_days * 86_400)
    response.set_cookie(
        name,
        value,
        max_age=age,
        path=_path(site),
        secure=site.options.secure,
        httponly=True,
        # Strict would open the pages signed out when somebody comes by a link in a letter.
        samesite="lax",
    )


def _path(site: Site) -> str:
    """The path to which cookies are sent.

    Where a host has several studies on paths, cookies are sent to this study's pages alone.
    """
    return site.options.path or "/"


def _knocks_too_often(request: Request, link: Invitation | None) -> bool:
    """Count a use of a link, and return whether there were too many.

    Uses of a personal link are counted by person, as a whole hospital may come from one address at
    once.

    An open link is counted apart from links that are none, so that whoever guesses shuts out nobody
    behind their address.
    """
    site, caller = site_of(request), _caller(request)
    if link is None:
        return not site.doors.allows(caller)
    if not link.who:
        return not site.open_doors.allows(caller)
    return not site.sign_ins.allows(f"{link.role} {link.who}")


def _caller(request: Request) -> str:
    return request.client.host if request.client is not None else ""
