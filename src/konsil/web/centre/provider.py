"""What a sign-in service is asked, and what of its answers is believed (OpenID Connect).

The authorisation code flow with PKCE. An ID token counts only with a signature of the service's
present keys, by an asymmetric algorithm, for this client, from this issuer, for this very attempt,
and in time (OpenID Connect Core 1.0, section 3.1.3.7).
"""

from __future__ import annotations

import secrets
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpx
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import OAuth2Client
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from konsil.errors import KonsilError
from konsil.web.centre.accounts import SignInService, is_safe
from konsil.web.site.refused import Reason

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")
"""Signatures that count: asymmetric ones. Neither the client's secret nor 'none' is among them."""
SCOPE = "openid email profile"
METADATA = "/.well-known/openid-configuration"
SECONDS = 10.0
"""How long the service may take."""
PATIENCE_SECONDS = 30.0
"""For how long a service that did not answer is not asked again."""
FRESH_SECONDS = 3_600.0
"""How long its addresses and keys are taken from memory."""
LEEWAY_SECONDS = 60
"""How far the clocks may differ."""
OLDEST_SECONDS = 600
"""How old an ID token may be: it is issued for the attempt at hand."""
ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")


class SignInError(KonsilError):
    """A sign-in that the service refused, or whose answer cannot be believed."""

    reason: Reason | None = "invalid answer"
    """What the centre's log states; None: it has been noted."""
    study = ""
    """The study from whose page the attempt came."""


class NotListedError(SignInError):
    """The account is invited to no study."""

    reason = "not listed"


class NotedError(SignInError):
    """The account was refused by its studies, which have noted it."""

    reason = None


class UnavailableError(SignInError):
    """The service does not answer, or is being asked just now."""

    reason = "service unavailable"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt to sign in, as the browser's cookie keeps it."""

    state: str
    nonce: str
    verifier: str
    """The secret of PKCE, whose hash alone is sent with the browser."""


def new_attempt() -> Attempt:
    """A new attempt."""
    return Attempt(*(secrets.token_urlsafe(n) for n in (24, 24, 48)))


class Provider:
    """The service of one centre."""

    def __init__(self, service: SignInService, redirect_uri: str) -> None:
        self.service, self._redirect_uri = service, redirect_uri
        self._metadata: dict[str, Any] = {}
        self._keys: dict[str, Any] = {}
        self._fresh_until = self._silent_until = 0.0
        self._lock = threading.Lock()

    def address(self, attempt: Attempt) -> str:
        """Where the browser goes to sign in."""
        with self._client() as client:
            url, _ = client.create_authorization_url(
                self._known()["authorization_endpoint"],
                state=attempt.state,
                nonce=attempt.nonce,
                code_verifier=attempt.verifier,
            )
        return str(url)

    def claims(self, code: str, attempt: Attempt) -> Mapping[str, Any]:
        """Exchange the code, and return the claims of the valid ID token."""
        endpoints = self._known()
        try:
            with self._client() as client:
                token = client.fetch_token(
                    endpoints["token_endpoint"],
                    code=code,
                    code_verifier=attempt.verifier,
                    grant_type="authorization_code",
                )
        except (AuthlibBaseError, httpx.HTTPError, ValueError) as error:
            raise SignInError(
                f"the service did not exchange the code ({type(error).__name__})"
            ) from None
        encoded = token.get("id_token")
        if not isinstance(encoded, str):
            raise SignInError("the service sent no ID token")
        return self.checked(encoded, attempt.nonce)

    def checked(self, encoded: str, nonce: str) -> Mapping[str, Any]:
        """The claims of an ID token; a SignInError that states what is wrong with it."""
        try:
            claims = self._decoded(encoded).claims
            jwt.JWTClaimsRegistry(
                leeway=LEEWAY_SECONDS,
                iss={"essential": True, "value": self.service.issuer},
                sub={"essential": True},
                aud={"essential": True, "value": self.service.client_id},
                exp={"essential": True},
                iat={"essential": True},
            ).validate(claims)
        except (JoseError, ValueError, KeyError, TypeError) as error:
            raise SignInError(f"the ID token is not valid ({type(error).__name__})") from None
        audience = claims["aud"]
        if isinstance(audience, list) and len(audience) > 1 and "azp" not in claims:
            raise SignInError("the ID token is for several clients and names none of them")
        if claims.get("azp", self.service.client_id) != self.service.client_id:
            raise SignInError("the ID token was issued to another client")
        if not isinstance(claims["sub"], str) or not claims["sub"]:
            raise SignInError("the ID token names no account")
        if time.time() - claims["iat"] > OLDEST_SECONDS:
            raise SignInError("the ID token is old")
        stated = claims.get("nonce")
        if not isinstance(stated, str) or not secrets.compare_digest(
            stated.encode(), nonce.encode()
        ):
            raise SignInError("the ID token was issued for another attempt")
        return claims

    def _decoded(self, encoded: str) -> jwt.Token:
        try:
            return jwt.decode(encoded, KeySet.import_key_set(self._jwks()), list(ALGORITHMS))
        except (JoseError, ValueError, KeyError, TypeError):
            # The service may have new keys since: asked once more, and no further.
            keys = self._jwks(again=True)
            return jwt.decode(encoded, KeySet.import_key_set(keys), list(ALGORITHMS))

    def _jwks(self, *, again: bool = False) -> Any:  # noqa: ANN401
        endpoints = self._known()
        if again or not self._keys:
            with self._alone():
                self._keys = self._fetched(endpoints["jwks_uri"])
        return self._keys

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One request at a time for what is kept; others are refused at once.

        Those who wait would hold the threads that answer everybody.
        """
        if time.monotonic() < self._silent_until:
            raise UnavailableError("the service did not answer a moment ago")
        if not self._lock.acquire(blocking=False):
            raise UnavailableError("the service is being asked for its addresses or keys")
        try:
            yield
        except UnavailableError:
            self._silent_until = time.monotonic() + PATIENCE_SECONDS
            raise
        finally:
            self._lock.release()

    def _known(self) -> Mapping[str, Any]:
        """The addresses of the service."""
        if time.monotonic() < self._fresh_until:
            return self._metadata
        with self._alone():
            metadata = self._fetched(self.service.issuer.rstrip("/") + METADATA)
            # Whoever answers in the service's place would name an issuer of their own.
            if metadata.get("issuer") != self.service.issuer:
                raise SignInError("the service names another issuer than centre.toml")
            for name in ENDPOINTS:
                if not isinstance(metadata.get(name), str) or not is_safe(metadata[name]):
                    raise SignInError(f"the service's {name} is no address with https://")
            self._metadata, self._keys = metadata, {}
            self._fresh_until = time.monotonic() + FRESH_SECONDS
            return metadata

    def _fetched(self, address: str) -> dict[str, Any]:
        try:
            response = httpx.get(address, timeout=SECONDS, verify=_certificates())
            response.raise_for_status()
            content = response.json()
        except (httpx.HTTPError, ValueError) as error:
            raise UnavailableError(
                f"the service does not answer ({type(error).__name__})"
            ) from None
        if not isinstance(content, dict):
            raise SignInError("the service's answer is no JSON object")
        return content

    def _client(self) -> OAuth2Client:
        method = "client_secret_basic" if self.service.client_secret else "none"
        return OAuth2Client(
            client_id=self.service.client_id,
            client_secret=self.service.client_secret or None,
            token_endpoint_auth_method=method,
            scope=SCOPE,
            redirect_uri=self._redirect_uri,
            code_challenge_method="S256",
            timeout=SECONDS,
            verify=_certificates(),
        )


@cache
def _certificates() -> ssl.SSLContext:
    """The certificates that count; reading them takes longer than a request."""
    return httpx.create_ssl_context()
