"""HTTP of the batch interfaces: JSON and lines, failures, and asking a busy vendor again."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from konsil.collect.providers.failures import failure
from konsil.collect.providers.keys import without_key
from konsil.collect.providers.openai_compatible import behind_a_proxy, retry_after
from konsil.collect.providers.provider import (
    AccountError,
    BusyError,
    CallError,
    Request,
    ServerError,
    clean,
)
from konsil.collect.running.limits import back_off
from konsil.errors import CollectError

if TYPE_CHECKING:
    import aiohttp

T = TypeVar("T")
_MOST_BUSY = 200
"""A vendor that was busy so often in a row, with pauses of up to a minute, is given up."""


SECONDS_OF_SILENCE = 300.0
"""So long a connection may bring nothing before it counts as broken."""
LONGEST_LINE = 16 * 1024 * 1024
"""A result that is longer is none."""
_NO_REQUEST = Request("", ())
_PART = 1 << 16


class MissingError(AccountError):
    """There is nothing at this address: no batch interface, or a batch that is gone."""


class Transfer:
    """The connection to one vendor's batch interface. The key is in the headers only."""

    def __init__(self, base: str, *, name: str, key: str, headers: Mapping[str, str]) -> None:
        self.base = base.rstrip("/")
        self.name = name
        self._key = key
        self._headers = dict(headers)
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def get(self, path: str, **query: str | int) -> dict[str, Any]:
        """Read an object."""
        return await self._object("GET", path, params=query)

    async def post(self, path: str, data: bytes = b"{}") -> dict[str, Any]:
        """Send JSON and read an object."""
        return await self._object(
            "POST", path, data=data, headers={"Content-Type": "application/json"}
        )

    async def upload(self, path: str, name: str, data: bytes, **fields: str) -> dict[str, Any]:
        """Send a file with fields of a form and read an object."""
        import aiohttp

        form = aiohttp.FormData()
        for field_name, value in fields.items():
            form.add_field(field_name, value)
        form.add_field("file", data, filename=name, content_type="application/jsonl")
        return await self._object("POST", path, data=form)

    async def lines(self, path: str) -> AsyncIterator[bytes]:
        """Read a file line by line, without ever holding all of it."""
        import aiohttp

        try:
            async with self._opened().get(self.base + path, allow_redirects=False) as response:
                if response.status != 200:
                    raise self._failure(response, await response.read())
                rest = b""
                async for part in response.content.iter_chunked(_PART):
                    *complete, rest = (rest + part).split(b"\n")
                    for line in complete:
                        if line.strip():
                            yield line
                    if len(rest) > LONGEST_LINE:
                        raise ServerError(f"{self.name}: a result is too long")
                if rest.strip():
                    yield rest
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise ServerError(f"{self.name}: {type(error).__name__}") from None

    async def _object(self, method: str, path: str, **options: Any) -> dict[str, Any]:  # noqa: ANN401
        import aiohttp

        try:
            # No redirects: key and prompts go to the stated address and to no other.
            async with self._opened().request(
                method, self.base + path, allow_redirects=False, **options
            ) as response:
                data = await response.read()
                if not 200 <= response.status < 300:
                    raise self._failure(response, data)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise ServerError(f"{self.name}: {type(error).__name__}") from None
        try:
            value = json.loads(data)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise ServerError(f"{self.name}: the response is no object of JSON")
        return value

    def _failure(self, response: aiohttp.ClientResponse, data: bytes) -> CallError:
        raw = without_key(clean(data[:_PART].decode(errors="replace")), self._key)
        if response.status == 404:
            return MissingError(
                f"endpoint {self.name!r}: offers no batch interface at {response.url.path}, or"
                " does not know the batch; status 404",
                status=404,
                raw=raw,
            )
        wait = retry_after(response.headers)
        return failure(response.status, raw, _NO_REQUEST, endpoint=self.name, sent=[], wait=wait)

    def _opened(self) -> aiohttp.ClientSession:
        import aiohttp

        if self._session is None:
            self._session = aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=None, sock_read=SECONDS_OF_SILENCE),
                headers=self._headers,
                trust_env=behind_a_proxy(self.base),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session


class Patience:
    """How failures of a batch interface are met."""

    def __init__(self, tries: int, back_off_seconds: float) -> None:
        self._tries = tries
        self._base = back_off_seconds
        self._rng = random.Random()  # noqa: S311 - jitter: two clients must not draw the same
        self._failures = 0
        self._n_busy = 0

    async def pause(self, error: CallError, endpoint: str) -> None:
        """Wait before the next try, or raise where there is none."""
        if isinstance(error, BusyError):
            self._n_busy += 1
            is_last, n = self._n_busy >= _MOST_BUSY, self._n_busy
        elif isinstance(error, ServerError):
            self._failures += 1
            is_last, n = self._failures >= self._tries, self._failures
        else:
            raise CollectError(str(error)) from None
        if is_last:
            raise CollectError(
                f"endpoint {endpoint!r}: its batch interface failed {n:,} times, last error:"
                f" {error}; batches under way are not lost: run the command again"
            ) from None
        await asyncio.sleep(back_off(n, error.retry_after, self._rng, self._base))


async def patiently(
    action: Callable[[], Awaitable[T]], *, endpoint: str, tries: int, back_off_seconds: float
) -> T:
    """Do what can be done any number of times until it succeeds."""
    patience = Patience(tries, back_off_seconds)
    while True:
        try:
            return await action()
        except CallError as error:
            await patience.pause(error, endpoint)
