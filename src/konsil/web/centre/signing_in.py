"""Endpoints: signing in through a sign-in service, to all studies that invite the account."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
import secrets
import threading
import time
from dataclasses import asdict, dataclass, field
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from konsil.errors import StoreError
from konsil.store.engine.engine import reading
from konsil.store.people.identities import bind, identity_of, person_of
from konsil.store.people.sites import tie
from konsil.store.people.staff import new_pseudonym, pseudonym
from konsil.store.tasks import withdrawal
from konsil.web.centre.accounts import EVERYWHERE, Account, Invited
from konsil.web.centre.provider import (
    Attempt,
    NotedError,
    NotListedError,
    Provider,
    SignInError,
    new_attempt,
)
from konsil.web.centre.registry import Registry
from konsil.web.site.centre_cookie import centre_visitor, new_session_name, set_session
from konsil.web.site.refused import Refused
from konsil.web.site.site import Site

LOG = logging.getLogger("uvicorn.error")
SECONDS = 600
"""How long an attempt may take."""
COOKIE = "konsil-sign-in"


@dataclass
class SignIn:
    """The sign-in of one centre."""

    registry: Registry
    provider: Provider
    key: bytes
    _used: dict[str, float] = field(default_factory=dict)
    """States of attempts that came back, until they would have expired: none counts twice."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, request: Request) -> Response:
        """Send the browser to the service."""
        attempt = new_attempt()
        study = request.query_params.get("study", "")
        study_path = study if self.registry.get(study) is not None else ""
        response = RedirectResponse(self.provider.address(attempt), HTTPStatus.SEE_OTHER)
        response.set_cookie(
            self._cookie(),
            self._sealed({**asdict(attempt), "study": study_path, "at": int(time.time())}),
            max_age=SECONDS,
            path=self._path(),
            secure=self.registry.options.secure,
            httponly=True,
            # Strict would not come back with the browser from the service.
            samesite="lax",
        )
        return response

    def end(self, request: Request) -> Response:
        """Take the browser back, and sign in to every study to which the account is invited."""
        sealed = self._opened(request.cookies.get(self._cookie(), ""))
        if sealed is None:
            raise SignInError("no attempt to sign in is under way in this browser")
        try:
            return self._end(request, sealed)
        except SignInError as error:
            error.study = sealed["study"]
            raise

    def _end(self, request: Request, sealed: dict[str, str]) -> Response:
        attempt = Attempt(sealed["state"], sealed["nonce"], sealed["verifier"])
        self._check_answer(request, attempt)
        service = self.provider.service
        claims = self.provider.claims(request.query_params["code"], attempt)
        account = service.account(claims)
        response = RedirectResponse(f"{self.registry.options.path}/", HTTPStatus.SEE_OTHER)
        entered = [
            served.place.slug
            for served in self.registry.studies
            if served.site is not None
            and sealed["study"] in ("", served.place.slug)
            and (invited := service.invited(account, served.place.slug)) is not None
            and self._enter(request, response, served.site, account, invited)
        ]
        if not entered:
            is_listed = any(
                service.invited(account, served.place.slug) is not None
                for served in self.registry.studies
                if sealed["study"] in ("", served.place.slug)
            )
            kind = NotedError if is_listed else NotListedError
            raise kind("the account is not invited to a study")
        if len(entered) == 1:
            response.headers["location"] = f"{self.registry.options.path}/{entered[0]}/"
        response.delete_cookie(
            self._cookie(),
            path=self._path(),
            secure=self.registry.options.secure,
            httponly=True,
            samesite="lax",
        )
        return response

    def _check_answer(self, request: Request, attempt: Attempt) -> None:
        """Raise a SignInError unless this is the answer to the attempt, for the first time."""
        query = request.query_params
        if not secrets.compare_digest(query.get("state", "").encode(), attempt.state.encode()):
            raise SignInError("the answer belongs to another attempt")
        now = time.time()
        with self._lock:
            self._used = {state: until for state, until in self._used.items() if until > now}
            if attempt.state in self._used:
                raise SignInError("the answer was used before")
            self._used[attempt.state] = now + SECONDS
        # A service that names itself must be the one that was asked (RFC 9207).
        if query.get("iss", self.provider.service.issuer) != self.provider.service.issuer:
            raise SignInError("the answer comes from another service")
        if "error" in query or not query.get("code"):
            raise SignInError("the service did not sign in the account")

    def _enter(
        self, request: Request, response: Response, site: Site, account: Account, invited: Invited
    ) -> bool:
        """Sign in to one study; whether that was possible."""
        identity = identity_of(site.store, self.provider.service.issuer, account.subject)
        try:
            person = _person(site, identity, account, invited)
            if person is None:
                site.refused(
                    Refused("account", "withdrawn", person=invited.person, role=invited.role)
                )
                return False
            if site.access.is_revoked(person):
                site.refused(Refused("account", "revoked", person, invited.role))
                return False
            bind(site.store, identity, person, at=site.now())
            if invited.role == "coordinator" and invited.site:
                # Tied before the session exists.
                tie(site.store, "staff", person, {invited.site} - {EVERYWHERE}, at=site.now())
            # The session before of staff, by their second cookie; that of a rater is ended by the
            # study, to whose path alone its cookie is sent.
            before = centre_visitor(site, request)
            cookie = site.access.enter(
                person, invited.role, at=site.now(), expires_at=site.signed_in_until()
            )
        except StoreError as error:
            # Erased, or the database fails; other studies are not affected.
            LOG.warning("a sign-in was refused: %s", type(error).__name__)
            site.refused(Refused("account", "withdrawn", role=invited.role))
            return False
        if before is not None:
            site.access.leave(before)
        set_session(site, response, cookie, invited.role, name=new_session_name(site))
        return True

    def _cookie(self) -> str:
        options = self.registry.options
        return ("" if not options.secure else "__Secure-" if options.path else "__Host-") + COOKIE

    def _path(self) -> str:
        return self.registry.options.path or "/"

    def _sealed(self, content: dict[str, object]) -> str:
        text = base64.urlsafe_b64encode(json.dumps(content).encode()).decode()
        return f"{text}.{self._mac(text)}"

    def _opened(self, cookie: str) -> dict[str, str] | None:
        """The attempt that this server began, where it is recent; None for all else."""
        text, _, mac = cookie.partition(".")
        if not secrets.compare_digest(mac.encode(), self._mac(text).encode()):
            return None
        content: dict[str, str] = json.loads(base64.urlsafe_b64decode(text))
        return content if time.time() - int(content["at"]) <= SECONDS else None

    def _mac(self, text: str) -> str:
        return hmac.new(self.key, b"sign-in\n" + text.encode(), hashlib.sha256).hexdigest()


def _person(site: Site, identity: str, account: Account, invited: Invited) -> str | None:
    """Who the account is in a study; None where that is nobody who may come in."""
    with reading(site.store.engine) as connection:
        panels = withdrawal.panels(connection, site.study)
        withdrawn = withdrawal.withdrawn_raters(connection)
    if invited.role == "rater":
        is_person = panels.get(invited.person, ("", ""))[1] == "human"
        return invited.person if is_person and invited.person not in withdrawn else None
    if invited.person:
        return pseudonym(site.store, invited.person)
    person = person_of(site.store, identity)
    if person is not None and person not in panels:
        # The name may change at the service; the account stays the same person here.
        return person
    # Never that of another person: whoever takes their name at the service is not them.
    return new_pseudonym(site.store, _printable(account.name) or f"account {identity[:8]}")


def _printable(name: str) -> str:
    return "".join(c for c in name if c.isprintable()).strip()[:200]
