"""The cookie by which the page of all studies recognises the staff of one study.

Cookies of a study are sent to its own path alone, so the page above all studies sees none of them.
Staff therefore get a second cookie when they sign in. It names their device and opens no page of
the study: whoever has it learns which role the device has, and nothing else.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

from starlette.requests import Request
from starlette.responses import Response

from konsil.records.roles import Role
from konsil.store.people.access import Visitor, hashed
from konsil.store.people.secret import secret
from konsil.web.site.site import Site


def centre_cookie_name(site: Site) -> str:
    """The name of the cookie, another for each study."""
    prefix = "" if not site.options.secure else "__Secure-" if site.options.centre else "__Host-"
    return f"{prefix}konsil-centre-{site.cookie.rpartition('-')[2]}"


def session_seconds(site: Site, role: Role) -> int:
    """How long somebody who signs in now stays signed in."""
    options = site.options
    is_long = role in ("rater", "curator")
    return int(options.signed_in_days * 86_400 if is_long else options.office_hours * 3_600)


def set_centre_cookie(site: Site, response: Response, cookie: str, role: Role) -> None:
    """Add the cookie to the response that signs in a member of the staff; `cookie`: the study's.

    It lasts as long as the session: signing out of all studies ends every session.
    """
    if site.options.centre is None:
        return
    device = hashed(cookie)
    response.set_cookie(
        centre_cookie_name(site),
        f"{device}.{_mac(site, device)}",
        max_age=session_seconds(site, role),
        path=site.options.centre or "/",
        secure=site.options.secure,
        httponly=True,
        samesite="lax",
    )


def new_session_name(site: Site) -> str:
    """The name of the cookie that brings a new session to the study's path.

    The sign-in service leads back to a path above the study, to which the browser does not send the
    session before. The study receives both, ends the one before and renames the new one.
    """
    return f"{site.cookie}-new"


def set_session(
    site: Site, response: Response, cookie: str, role: Role, *, name: str | None = None
) -> None:
    """Add the cookies of somebody who has signed in without a link; `name`: of the study's."""
    options = site.options
    response.set_cookie(
        name or site.cookie,
        cookie,
        max_age=session_seconds(site, role),
        path=options.path or "/",
        secure=options.secure,
        httponly=True,
        samesite="lax",
    )
    if role != "rater":
        set_centre_cookie(site, response, cookie, role)


def delete_new_session(site: Site, response: Response) -> None:
    """Delete the cookie that brought a new session."""
    _delete(site, response, new_session_name(site), site.options.path)


def delete_centre_cookie(site: Site, response: Response) -> None:
    """Delete the cookie in the response that signs the device out."""
    if site.options.centre is not None:
        _delete(site, response, centre_cookie_name(site), site.options.centre)


def _delete(site: Site, response: Response, name: str, path: str) -> None:
    # With the attributes with which it was set: a browser keeps the cookie otherwise.
    response.delete_cookie(
        name, path=path or "/", secure=site.options.secure, httponly=True, samesite="lax"
    )


def centre_visitor(site: Site, request: Request) -> Visitor | None:
    """The member of the staff whose device has the study's second cookie; None for all others.

    Raters never get the cookie, and whoever has signed out, or was signed out, is no longer known.
    """
    device, _, mac = request.cookies.get(centre_cookie_name(site), "").partition(".")
    if not mac or not secrets.compare_digest(mac.encode(), _mac(site, device).encode()):
        return None
    visitor = site.access.device(device, site.now())
    if visitor is None or visitor.role == "rater":
        return None
    return None if lacks_passkey(site, visitor) else visitor


def lacks_passkey(site: Site, visitor: Visitor | None) -> bool:
    """Whether an owner has signed in by a link, and not yet by the passkey that the server asks."""
    return (
        site.options.passkeys
        and visitor is not None
        and visitor.role == "owner"
        and not visitor.confirmed
    )


def _mac(site: Site, device: str) -> str:
    return hmac.new(secret(site.store, "centre"), device.encode(), hashlib.sha256).hexdigest()
