"""A sign-in service for tests: Authlib's own server part, on a port of this machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from authlib.oauth2.rfc6749 import AuthorizationServer, OAuth2Request
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload
from authlib.oauth2.rfc6750 import BearerTokenGenerator
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oidc.core import OpenIDCode
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ports import free_port

from ..browsers import served

CLIENT, SECRET = "konsil", "a-secret-of-the-client"
KEY = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})
OTHER_KEY = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})
CURVE = ECKey.generate_key("P-256", {"kid": "curve", "use": "sig"})


class Client:
    """The one client."""

    client_id = CLIENT

    def __init__(self, redirect_uri: str) -> None:
        self.redirect_uri = redirect_uri

    def get_client_id(self) -> str:
        return CLIENT

    def get_default_redirect_uri(self) -> str:
        return self.redirect_uri

    def get_allowed_scope(self, scope: str) -> str:
        return scope

    def check_redirect_uri(self, uri: str) -> bool:
        return uri == self.redirect_uri

    def check_client_secret(self, secret: str) -> bool:
        return secret == SECRET

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return (method, endpoint) == ("client_secret_basic", "token")

    def check_response_type(self, kind: str) -> bool:
        return kind == "code"

    def check_grant_type(self, kind: str) -> bool:
        return kind == "authorization_code"


class Code(dict[str, Any]):
    """An authorisation code and what it was issued for."""

    def get_redirect_uri(self) -> str:
        return str(self["redirect_uri"])

    def get_scope(self) -> str:
        return str(self["scope"])

    def get_nonce(self) -> str:
        return str(self["nonce"])

    def get_auth_time(self) -> None:
        return None

    def get_acr(self) -> None:
        return None

    def get_amr(self) -> None:
        return None

    @property
    def code_challenge(self) -> str:
        return str(self["challenge"])

    @property
    def code_challenge_method(self) -> str:
        return str(self["method"])


class OidcServer(AuthorizationServer):  # type: ignore[misc]
    """The service: who is signed in there, and what is wrong with its tokens, is set by the test."""

    def __init__(self, redirect_uri: str) -> None:
        super().__init__()
        self.issuer = ""
        self.client = Client(redirect_uri)
        self.codes: dict[str, Code] = {}
        self.user: dict[str, Any] = {}
        self.change: Callable[[dict[str, Any], dict[str, Any]], None] = lambda _header, _claims: (
            None
        )
        self.key: Any = KEY
        self.sign: Callable[[dict[str, Any], dict[str, Any]], str] | None = None
        self.metadata: dict[str, Any] = {}
        self.keys = [KEY, CURVE]
        self.register_token_generator(
            "default", BearerTokenGenerator(lambda *_args, **_options: "an-access-token")
        )
        self.register_grant(_grant(self), [_OpenId(self), CodeChallenge(required=True)])

    def query_client(self, client_id: str) -> Client | None:
        return self.client if client_id == CLIENT else None

    def save_token(self, token: object, request: object) -> None:
        """Nothing is asked with access tokens."""

    def send_signal(self, name: str, *args: object, **kwargs: object) -> None:
        """Nobody listens."""

    def create_oauth2_request(self, request: OAuth2Request) -> OAuth2Request:
        return request

    def handle_response(
        self, status: int, body: object, headers: list[tuple[str, str]]
    ) -> Response:
        content = json.dumps(body) if isinstance(body, dict) else str(body or "")
        return Response(content, status, headers=dict(headers))

    def encoded(self, header: dict[str, Any], claims: dict[str, Any]) -> str:
        self.change(header, claims)
        if self.sign is not None:
            return self.sign(header, claims)
        return jwt.encode(header, claims, self.key, [header["alg"]])


def _grant(server: OidcServer) -> type:
    class Grant(AuthorizationCodeGrant):  # type: ignore[misc]
        TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic"]  # noqa: RUF012

        def save_authorization_code(self, code: str, request: OAuth2Request) -> None:
            data = request.payload.data
            server.codes[code] = Code(
                redirect_uri=data["redirect_uri"],
                scope=data["scope"],
                nonce=data["nonce"],
                challenge=data["code_challenge"],
                method=data["code_challenge_method"],
                code=code,
            )

        def query_authorization_code(self, code: str, client: Client) -> Code | None:
            return server.codes.get(code)

        def delete_authorization_code(self, code: Code) -> None:
            server.codes.pop(code["code"], None)

        def authenticate_user(self, code: Code) -> dict[str, Any]:
            return server.user

    return Grant


class _OpenId(OpenIDCode):  # type: ignore[misc]
    def __init__(self, server: OidcServer) -> None:
        super().__init__(require_nonce=True)
        self._server = server

    def exists_nonce(self, nonce: str, request: OAuth2Request) -> bool:
        return any(code["nonce"] == nonce for code in self._server.codes.values())

    def encode_id_token(self, token: dict[str, Any], request: OAuth2Request) -> str:
        import time

        now = int(time.time())
        claims = {
            "iss": self._server.issuer,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 300,
            **self.get_authorization_code_claims(request.authorization_code),
            **request.user,
        }
        return self._server.encoded({"alg": "RS256", "kid": "one"}, claims)


async def _oauth2(request: Request) -> OAuth2Request:
    form = {k: str(v) for k, v in (await request.form()).items()}
    asked = OAuth2Request(request.method, str(request.url), headers=dict(request.headers))
    asked.headers = {k.title(): v for k, v in request.headers.items()}
    asked.payload = BasicOAuth2Payload({**dict(request.query_params), **form})
    asked._body = form
    return asked


@contextmanager
def oidc_server(redirect_uri: str) -> Iterator[OidcServer]:
    """The service on a port, in a thread of its own."""
    server, port = OidcServer(redirect_uri), free_port()
    server.issuer = f"http://127.0.0.1:{port}"

    async def metadata(_: Request) -> Response:
        return JSONResponse(
            {
                "issuer": server.issuer,
                "authorization_endpoint": f"{server.issuer}/authorize",
                "token_endpoint": f"{server.issuer}/token",
                "jwks_uri": f"{server.issuer}/jwks",
                **server.metadata,
            }
        )

    async def authorize(request: Request) -> Response:
        asked = await _oauth2(request)
        grant = server.get_consent_grant(asked, end_user=server.user)
        return server.create_authorization_response(asked, server.user, grant)

    async def token(request: Request) -> Response:
        return server.create_token_response(await _oauth2(request))

    async def jwks(_: Request) -> Response:
        return JSONResponse({"keys": [key.as_dict(private=False) for key in server.keys]})

    app = Starlette(
        routes=[
            Route("/.well-known/openid-configuration", metadata),
            Route("/authorize", authorize),
            Route("/token", token, methods=["POST"]),
            Route("/jwks", jwks),
        ]
    )
    with served(app, port):
        yield server
