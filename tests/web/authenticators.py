"""An authenticator of passkeys in Python, for tests without a browser."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from typing import Any

import cbor2
import httpx
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from starlette.testclient import TestClient

VERIFIED, WITH_KEY = 0b101, 0b1000000


def encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


class Authenticator:
    """One passkey, for one host."""

    def __init__(self, origin: str) -> None:
        self.origin, self.id = origin, os.urandom(16)
        self.key = ec.generate_private_key(ec.SECP256R1())
        self._host = hashlib.sha256(origin.partition("//")[2].encode()).digest()

    def _client(self, kind: str, options: dict[str, Any]) -> bytes:
        return json.dumps(
            {"type": kind, "challenge": options["challenge"], "origin": self.origin}
        ).encode()

    def create(self, options: dict[str, Any]) -> dict[str, Any]:
        """The answer to a challenge of registration."""
        point = self.key.public_key().public_numbers()
        x, y = (n.to_bytes(32, "big") for n in (point.x, point.y))
        public = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: x, -3: y})
        data = self._host + bytes([VERIFIED | WITH_KEY]) + bytes(4 + 16)
        data += len(self.id).to_bytes(2, "big") + self.id + public
        attestation = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        return self._answer(
            clientDataJSON=self._client("webauthn.create", options), attestationObject=attestation
        )

    def get(self, options: dict[str, Any]) -> dict[str, Any]:
        """The answer to a challenge of signing in."""
        data = self._host + bytes([VERIFIED]) + bytes(4)
        client = self._client("webauthn.get", options)
        signature = self.key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        return self._answer(clientDataJSON=client, authenticatorData=data, signature=signature)

    def _answer(self, **response: bytes) -> dict[str, Any]:
        name = encoded(self.id)
        parts = {key: encoded(value) for key, value in response.items()}
        return {"id": name, "rawId": name, "type": "public-key", "response": parts}

    def use(self, client: TestClient, base: str = "") -> tuple[httpx.Response, str]:
        """Register, or sign in, as the page asks; the server's answer, and what was sent."""
        text = client.get(f"{base}/passkey", headers={"accept": "text/html"}).text
        csrf = re.search(r'data-csrf="([^"]*)"', text) or re.search(
            r'name="csrf" value="([^"]*)"', text
        )
        headers = {"origin": self.origin, "x-csrf-token": csrf[1] if csrf else ""}
        begun = client.post(f"{base}/passkey/begin", headers=headers).json()
        answer = self.create if begun["mode"] == "create" else self.get
        body = json.dumps({"credential": answer(begun["options"]), "ticket": begun["ticket"]})
        return client.post(f"{base}/passkey/end", headers=headers, content=body), body
