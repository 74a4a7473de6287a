"""Bodies of a vendor's requests and responses, written and read as in direct calls.

The vendor's own library writes a request to a transport that sends nothing, and reads a stored
response from it: a batch and a direct call cannot differ in what is asked or how it is read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from konsil.collect.providers.provider import CallError, Reply, Request
from konsil.collect.providers.vendors import Vendor
from konsil.errors import CollectError, installation


class VendorBodies:
    """One vendor's bodies. One at a time: the transport holds the one under way."""

    def __init__(
        self, vendor: str, *, name: str, key_env: str, open_vendor: Callable[..., Vendor] = Vendor
    ) -> None:
        self._transport = _transport()
        self._vendor = open_vendor(vendor, name=name, key_env=key_env, transport=self._transport)

    async def close(self) -> None:
        """Close the client."""
        await self._vendor.close()

    async def write(self, request: Request) -> bytes:
        """The body of a request."""
        self._transport.status, self._transport.response = 400, b"{}"
        self._transport.request = b""
        self._vendor.refused.clear()  # each request states by itself what it leaves out
        try:
            await self._vendor.complete(request)
        except CallError:
            if not self._transport.request:
                raise
        return bytes(self._transport.request)

    async def read(self, request: Request, status: int, body: str) -> Reply:
        """Read a response, or raise its error."""
        self._transport.status, self._transport.response = status, body.encode()
        self._vendor.refused.clear()
        return await self._vendor.complete(request)


def _transport() -> Any:  # noqa: ANN401 - of a library that comes with the extra
    try:
        import httpx2
    except ImportError:
        raise CollectError(
            "batches of vendors need an extra that is not installed; install it with"
            f" {installation('vendors')}"
        ) from None

    class Replay(httpx2.AsyncBaseTransport):
        """Keeps the request's body and gives the response that was put there."""

        status = 400
        request = b""
        response = b"{}"

        async def handle_async_request(self, request: Any) -> Any:  # noqa: ANN401
            self.request = await request.aread()
            return httpx2.Response(
                self.status,
                content=self.response,
                headers={"Content-Type": "application/json"},
                request=request,
            )

    return Replay()
