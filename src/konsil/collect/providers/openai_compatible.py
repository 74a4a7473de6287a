"""OpenAI's chat completions over HTTP.

OpenAI, vLLM, SGLang, Ollama, llama.cpp, LM Studio, Azure, OpenRouter and others accept them.
"""

from __future__ import annotations

import codecs
import json
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from konsil.collect.providers.failures import failure
from konsil.collect.providers.keys import read_key, without_key
from konsil.collect.providers.provider import SAMPLING, Reply, Request, ServerError, clean
from konsil.collect.providers.replies import read_body
from konsil.errors.message import placed
from konsil.records import RENAMED

if TYPE_CHECKING:
    import aiohttp

MOST_BYTES = 16 * 1024 * 1024
"""A body that is longer is no reply: an endless one must not fill the memory before its time is
up."""


class OpenAICompatible:
    """One endpoint. The key is read from the environment and held in memory only."""

    def __init__(
        self,
        url: str,
        *,
        name: str = "",
        key_env: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.url = url.rstrip("/") + "/chat/completions"
        self.name = name or url
        self.refused: dict[str, set[str]] = {}
        """Model -> parameters that it refused in this run, and without which it replied."""
        self._headers = {"Content-Type": "application/json", **(headers or {})}
        self._key = read_key(self.name, key_env)
        if self._key:
            self._headers["Authorization"] = f"Bearer {self._key}"
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def complete(self, request: Request) -> Reply:
        """Call once; the caller holds the deadline and decides on another try."""
        import aiohttp

        if self._session is None:
            # No limit and no timeout of its own: the runner has both, and one of each is enough.
            connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=30)
            self._session = aiohttp.ClientSession(
                connector=connector,
                timeout=aiohttp.ClientTimeout(total=None),
                headers=self._headers,
                trust_env=behind_a_proxy(self.url),
                # A vendor's cookie would tie calls together that have to be independent.
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        refused = self.refused.setdefault(request.model, set())
        body, sent = body_of(request, refused | request.without)
        began = time.perf_counter()
        try:
            # No redirects: key and prompt go to the stated address and to no other.
            async with self._session.post(self.url, data=body, allow_redirects=False) as response:
                data = await _read(response.content)
                status, headers = response.status, response.headers
        except (aiohttp.ClientError, ConnectionError, OSError) as error:
            # What never reached the endpoint costs nothing; of a line that broke later the endpoint
            # may charge.
            reached = not isinstance(error, aiohttp.ClientConnectorError)
            raise ServerError(placed(self.name, _reason(error)), is_billed=reached) from None
        raw = without_key(
            clean(data.decode(_encoding(response.charset), errors="replace")), self._key
        )
        reply = read_body(raw) if status == 200 else None
        if reply is None:
            raise failure(
                status, raw, request, endpoint=self.name, sent=list(sent), wait=retry_after(headers)
            )
        refused |= request.without  # only now is it known that these were to blame
        seconds = time.perf_counter() - began
        return replace(reply, sent=sent, status=status, raw=raw, seconds=seconds)


def body_of(request: Request, refused: set[str]) -> tuple[bytes, dict[str, object]]:
    """Write the body, without what the model refuses, and say which parameters are in it."""
    parameters = request.requested_parameters()
    sent: dict[str, object] = {}
    data: dict[str, object] = {
        "model": request.model,
        "messages": [{"role": m.role, "content": m.text} for m in request.messages],
    }
    for name, value in parameters.items():
        if name in refused and (name not in RENAMED or RENAMED[name] in refused):
            continue
        if name == "schema":
            form = {"name": "reply", "strict": True, "schema": request.schema}
            data["response_format"] = {"type": "json_schema", "json_schema": form}
            sent[name] = value
        elif name == "logprobs" and name in SAMPLING:
            data["logprobs"], data["top_logprobs"] = True, value
            sent[name] = value
        elif name == "tools":
            data["web_search_options"] = {}
            sent[name] = value
        else:
            field_name = RENAMED[name] if name in refused else name
            data[field_name] = sent[field_name] = value
    # A damaged file may contain halves of characters, which cannot be encoded.
    return json.dumps(data, ensure_ascii=False).encode("utf-8", errors="replace"), sent


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the endpoint asks us to wait: a number, a date, or milliseconds.

    None where it asks for nothing.
    """
    for name, unit in (("retry-after-ms", 0.001), ("Retry-After", 1.0)):
        value = headers.get(name)
        if not value:
            continue
        try:
            return max(0.0, float(value) * unit)
        except ValueError:
            pass
        try:
            moment = parsedate_to_datetime(value)
        except (ValueError, TypeError):
            continue
        return max(0.0, (moment - datetime.now(moment.tzinfo or UTC)).total_seconds())
    return None


def behind_a_proxy(url: str) -> bool:
    """Whether the environment names a proxy for this address.

    aiohttp looks it up anew with every call, in a thread.
    """
    parts = urlsplit(url)
    if parts.hostname in ("127.0.0.1", "localhost", "::1"):
        return False  # a proxy elsewhere does not know what this machine's own address is to us
    return parts.scheme in getproxies() and not proxy_bypass(parts.hostname or "")


async def _read(stream: aiohttp.StreamReader) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in stream.iter_any():
        parts.append(part)
        size += len(part)
        if size > MOST_BYTES:
            raise ServerError(f"the body is longer than {MOST_BYTES:,} bytes", is_billed=True)
    return b"".join(parts)


def _encoding(charset: str | None) -> str:
    """The body's encoding.

    A server that names none, or one that there is not, means UTF-8 as JSON does.
    """
    try:
        return codecs.lookup(charset or "utf-8").name
    except LookupError:
        return "utf-8"


def _reason(error: Exception) -> str:
    # The message of a connection's error may hold the address and nothing else of ours; headers are
    # never in it.
    return (
        f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'no connection'}"
    )
