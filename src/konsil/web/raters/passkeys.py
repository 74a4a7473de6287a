"""Endpoints: passkeys of owners (WebAuthn).

The first sign-in by a link registers a passkey; afterwards no page of the study opens for the owner
without it, and it signs in without a link. A challenge is for one browser, one answer and a few
minutes.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import time
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from konsil.store.people.access import Visitor
from konsil.store.people.identities import identity_of, person_of
from konsil.store.people.passkeys import (
    Passkey,
    add_passkey,
    passkey,
    passkeys_of,
    use_passkey,
)
from konsil.store.people.secret import secret
from konsil.web.site.centre_cookie import set_session
from konsil.web.site.pages import page, path_to, refusal
from konsil.web.site.refused import Reason, Refused
from konsil.web.site.site import Site, site_of

COOKIE = "konsil-passkey"
"""The cookie that ties a challenge to the browser."""
SECONDS = 300
"""How long a challenge may be answered."""


def passkey_page(request: Request) -> Response:
    """Register a passkey, or sign in with it."""
    site, visitor = site_of(request), request.state.visitor
    if not site.options.passkeys or not _may(visitor):
        return refusal(request, 404)
    context = {"mode": _mode(site, visitor), "confirmed": visitor is not None and visitor.confirmed}
    response = page(request, "passkey.html", context)
    if not request.cookies.get(COOKIE):
        response.set_cookie(
            COOKIE,
            secrets.token_urlsafe(16),
            path=site.options.path or "/",
            secure=site.options.secure,
            httponly=True,
            samesite="strict",
        )
    return response


def begin(request: Request) -> Response:
    """A challenge, with what the browser needs to answer it."""
    from webauthn import generate_authentication_options, generate_registration_options
    from webauthn.helpers import base64url_to_bytes, options_to_json_dict
    from webauthn.helpers.structs import (
        AuthenticatorSelectionCriteria,
        PublicKeyCredentialDescriptor,
        ResidentKeyRequirement,
        UserVerificationRequirement,
    )

    site, visitor = site_of(request), request.state.visitor
    if not site.options.passkeys or not _may(visitor):
        return refusal(request, 404)
    challenge, required = secrets.token_bytes(32), UserVerificationRequirement.REQUIRED
    mode = _mode(site, visitor)
    if mode == "create":
        known = [
            PublicKeyCredentialDescriptor(base64url_to_bytes(p.id))
            for p in passkeys_of(site.store, visitor.who)
        ]
        options: Any = generate_registration_options(
            rp_id=_host(site),
            rp_name="konsil",
            user_name=f"{site.study.title}: {visitor.who}",
            user_id=_user(site, visitor.who),
            challenge=challenge,
            exclude_credentials=known,
            authenticator_selection=AuthenticatorSelectionCriteria(
                resident_key=ResidentKeyRequirement.REQUIRED, user_verification=required
            ),
        )
    else:
        options = generate_authentication_options(
            rp_id=_host(site), challenge=challenge, user_verification=required
        )
    ticket = _ticket(request, site, mode, challenge)
    return JSONResponse({"mode": mode, "options": options_to_json_dict(options), "ticket": ticket})


def end(request: Request) -> Response:
    """The browser's answer: a new passkey, or a signature of one."""
    from webauthn.helpers.exceptions import WebAuthnException

    site, visitor = site_of(request), request.state.visitor
    if not site.options.passkeys or not _may(visitor):
        return refusal(request, 404)
    # By address: a cookie is what the browser wants it to be.
    address = request.client.host if request.client is not None else ""
    if not site.sign_ins.allows(f"passkey {address}"):
        return _refusal(request, visitor, "too many attempts", 429)
    try:
        message = json.loads(request.state.body)
        credential, ticket = dict(message["credential"]), str(message["ticket"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return refusal(request, 422)
    mode = _mode(site, visitor)
    challenge = _challenge(request, site, mode, ticket)
    if challenge is None:
        return _refusal(request, visitor, "invalid answer")
    try:
        if mode == "create":
            return _register(request, site, visitor, credential, challenge)
        return _sign_in(request, site, visitor, credential, challenge)
    except (WebAuthnException, ValueError, KeyError, TypeError):
        return _refusal(request, visitor, "invalid answer")


def _refusal(
    request: Request,
    person: Visitor | Passkey | None,
    reason: Reason,
    status: int = HTTPStatus.FORBIDDEN,
) -> Response:
    """Refuse, and note it with the pseudonym of the person whose session or passkey it is."""
    refused = (
        Refused("passkey", reason)
        if person is None
        else Refused("passkey", reason, person=person.who, role="owner")
    )
    site_of(request).refused(refused)
    return refusal(request, status)


def _register(
    request: Request, site: Site, visitor: Visitor, credential: dict[str, Any], challenge: bytes
) -> Response:
    from webauthn import verify_registration_response
    from webauthn.helpers import bytes_to_base64url

    verified = verify_registration_response(
        credential=credential,
        expected_challenge=challenge,
        expected_rp_id=_host(site),
        expected_origin=sorted(site.options.origins),
        require_user_verification=True,
    )
    new = Passkey(
        bytes_to_base64url(verified.credential_id),
        visitor.who,
        bytes_to_base64url(verified.credential_public_key),
        verified.sign_count,
        site.now(),
    )
    if not add_passkey(site.store, new, visitor.cookie, only_first=not visitor.confirmed):
        return _refusal(request, visitor, "invalid answer")
    return JSONResponse({"location": path_to(request, "landing")})


def _sign_in(
    request: Request,
    site: Site,
    visitor: Visitor | None,
    credential: dict[str, Any],
    challenge: bytes,
) -> Response:
    from webauthn import verify_authentication_response
    from webauthn.helpers import base64url_to_bytes

    known = passkey(site.store, str(credential.get("id", "")))
    # A passkey of another person confirms nobody's link.
    if known is None or (visitor is not None and visitor.who != known.who):
        return _refusal(request, visitor, "unknown")
    verified = verify_authentication_response(
        credential=credential,
        expected_challenge=challenge,
        expected_rp_id=_host(site),
        expected_origin=sorted(site.options.origins),
        credential_public_key=base64url_to_bytes(known.public_key),
        credential_current_sign_count=known.sign_count,
        require_user_verification=True,
    )
    # A passkey states who it is and no role: whether they are still an owner is asked anew.
    if not _is_owner(site, known.who):
        return _refusal(request, known, "other role")
    device, count = "" if visitor is None else visitor.cookie, verified.new_sign_count
    if not use_passkey(site.store, known, count, device, challenge=challenge, at=site.now()):
        return _refusal(request, known, "used")
    response = JSONResponse({"location": path_to(request, "landing")})
    if visitor is None:
        cookie = site.access.enter(
            known.who, "owner", at=site.now(), expires_at=site.signed_in_until(), via="passkey"
        )
        set_session(site, response, cookie, "owner")
    return response


def _is_owner(site: Site, person: str) -> bool:
    """Whether a person may come as an owner: by an invitation, or by an account that is listed.

    Of an account that is listed by an e-mail address or a group, the database tells neither: it
    comes in through the sign-in service.
    """
    return site.access.is_invited_owner(person) or any(
        person_of(site.store, identity_of(site.store, *account)) == person
        for account in site.options.owner_accounts
    )


def _may(visitor: Visitor | None) -> bool:
    """Whether passkeys are this visitor's business: owners', and of whoever wants to sign in."""
    return visitor is None or visitor.role == "owner"


def _mode(site: Site, visitor: Visitor | None) -> str:
    """'create' a passkey: a first one, or a further one of somebody who has signed in with one."""
    if visitor is None:
        return "get"
    return "create" if visitor.confirmed or not passkeys_of(site.store, visitor.who) else "get"


def _host(site: Site) -> str:
    return urlsplit(site.options.url).hostname or ""


def _user(site: Site, person: str) -> bytes:
    """What the passkey keeps as its user: it tells nothing about the person."""
    return hmac.new(
        secret(site.store, "passkey"), b"user\n" + person.encode(), hashlib.sha256
    ).digest()


def _browser(request: Request) -> str:
    visitor: Visitor | None = request.state.visitor
    return request.cookies.get(COOKIE, "") if visitor is None else visitor.cookie


def _ticket(request: Request, site: Site, mode: str, challenge: bytes) -> str:
    """The challenge, tied to the browser, its purpose and the time."""
    text = f"{challenge.hex()}.{int(time.time())}"
    return f"{text}.{_mac(request, site, mode, text)}"


def _challenge(request: Request, site: Site, mode: str, ticket: str) -> bytes | None:
    """The challenge of a ticket; None where it is another browser's, old, or not ours."""
    text, _, mac = ticket.rpartition(".")
    if not _browser(request) or not secrets.compare_digest(
        mac.encode(), _mac(request, site, mode, text).encode()
    ):
        return None
    challenge, _, at = text.partition(".")
    return bytes.fromhex(challenge) if time.time() - int(at) <= SECONDS else None


def _mac(request: Request, site: Site, mode: str, text: str) -> str:
    content = f"{mode}\n{_browser(request)}\n{text}".encode()
    return hmac.new(secret(site.store, "passkey"), content, hashlib.sha256).hexdigest()
