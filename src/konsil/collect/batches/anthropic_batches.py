"""Anthropic's batch interface: requests in one body, results as lines.

It takes no id of ours for a batch. One that may have been sent is therefore looked for by its time
and its number of requests, and recognised by the ids in its results.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from konsil.collect.batches.interface import (
    UNANSWERED,
    Caps,
    Condition,
    Intent,
    Receipt,
    Result,
)
from konsil.collect.batches.transfer import Transfer
from konsil.collect.batches.vendor_bodies import VendorBodies
from konsil.collect.providers.keys import read_key
from konsil.collect.providers.provider import Reply, Request, ServerError
from konsil.records.digits import stamp

_CAPS = Caps(100_000, 64 * 1024 * 1024)
"""The vendor takes 100,000 requests and 256 MB; a batch is held in memory while it is sent."""
_ADDRESS = "https://api.anthropic.com"
_PATH = "/v1/messages/batches"
_PAGE = 100
_CLOCKS = timedelta(minutes=10)
"""The vendor's clock and ours may differ by so much."""
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""Type of an error -> the status that a direct call has with it; any other is the vendor's own."""


class AnthropicBatches:
    """The batches of one key."""

    caps = _CAPS
    is_named = False

    def __init__(self, url: str, *, name: str, key_env: str = "") -> None:
        self.name = name
        key = read_key(name, key_env or "ANTHROPIC_API_KEY")
        self._bodies = VendorBodies("anthropic", name=name, key_env=key_env or "ANTHROPIC_API_KEY")
        headers = {"x-api-key": key, "anthropic-version": "2023-06-01"}
        self._transfer = Transfer(url or _ADDRESS, name=name, key=key, headers=headers)

    async def close(self) -> None:
        """Close the connections."""
        await self._transfer.close()
        await self._bodies.close()

    async def line(self, token: str, request: Request) -> bytes:
        """Write one entry of the list of requests."""
        parameters = json.loads(await self._bodies.write(request))
        parameters.pop("stream", None)  # results of a batch never come as a stream
        return json.dumps({"custom_id": token, "params": parameters}, ensure_ascii=False).encode()

    async def submit(self, intent: Intent, lines: Sequence[bytes]) -> Receipt:  # noqa: ARG002
        """Send all requests in one body."""
        body = b'{"requests": [' + b",".join(lines) + b"]}"
        return _receipt(await self._transfer.post(_PATH, body))

    async def resume(self, intent: Intent) -> Receipt | None:
        """Find the oldest batch that may be this one, by its time and its number of requests."""
        earliest = datetime.fromisoformat(intent.created_at) - _CLOCKS
        candidates = []
        after: dict[str, str] = {}
        while True:
            page = await self._transfer.get(_PATH, limit=_PAGE, **after)
            entries = [entry for entry in page.get("data") or () if isinstance(entry, dict)]
            times = [_moment(entry) for entry in entries]
            candidates += [
                entry
                for entry, at in zip(entries, times, strict=True)
                if at >= earliest
                and sum(_counts(entry).values()) == intent.requests
                and str(entry.get("id")) not in intent.rejected
            ]
            # The newest come first.
            if not page.get("has_more") or not entries or min(times) < earliest:
                break
            after = {"after_id": str(page.get("last_id") or entries[-1].get("id"))}
        return _receipt(candidates[-1]) if candidates else None

    async def condition(self, vendor_id: str) -> Condition:
        """Ask how far a batch is."""
        batch = await self._transfer.get(f"{_PATH}/{vendor_id}")
        counts = _counts(batch)
        has_ended = batch.get("processing_status") == "ended"
        # The address of the results is the vendor's to choose; the host is the one that is called.
        place = urlsplit(str(batch.get("results_url") or "")).path
        is_archived = bool(batch.get("archived_at")) or (has_ended and not place)
        return Condition(
            "under way" if not has_ended else "expired" if is_archived else "ended",
            n_answered=sum(n for name, n in counts.items() if name != "processing"),
            places=(place,) if place and not is_archived else (),
            expires_at=_stamped(batch.get("expires_at")),
        )

    async def results(self, condition: Condition) -> AsyncIterator[Result | None]:
        """Read the results, one a line."""
        for place in condition.places:
            async for line in self._transfer.lines(place):
                yield _result(line)

    async def cancel(self, vendor_id: str) -> None:
        """Ask the vendor to stop."""
        await self._transfer.post(f"{_PATH}/{vendor_id}/cancel")

    async def reply(self, request: Request, result: Result) -> Reply:
        """Read a result as a message."""
        if result.status == UNANSWERED:
            raise ServerError(f"{self.name}: no response in the batch", raw=result.body)
        return await self._bodies.read(request, result.status, result.body)


def _counts(batch: Mapping[str, Any]) -> dict[str, int]:
    counts = batch.get("request_counts") or {}
    return {str(name): n for name, n in counts.items() if isinstance(n, int)}


def _moment(batch: Mapping[str, Any]) -> datetime:
    return datetime.fromisoformat(str(batch.get("created_at")))


def _stamped(text: object) -> str:
    return stamp(datetime.fromisoformat(text)) if isinstance(text, str) else ""


def _receipt(batch: Mapping[str, Any]) -> Receipt:
    if not batch.get("id"):
        raise ServerError("the response names no batch")
    return Receipt(str(batch["id"]), _stamped(batch.get("expires_at")))


def _result(line: bytes) -> Result | None:
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    result = entry.get("result") if isinstance(entry, dict) else None
    if not isinstance(result, dict) or not isinstance(entry.get("custom_id"), str):
        return None
    token, kind = entry["custom_id"], result.get("type")
    if kind == "succeeded":
        return Result(token, 200, json.dumps(result.get("message"), ensure_ascii=False))
    if kind == "errored":
        error = result.get("error")
        inner = error.get("error", error) if isinstance(error, dict) else None
        name = str(inner.get("type")) if isinstance(inner, dict) else ""
        return Result(token, _STATUS.get(name, 500), json.dumps(error, ensure_ascii=False))
    if kind in ("canceled", "expired"):
        return Result(token, UNANSWERED, lapse="expired" if kind == "expired" else "cancelled")
    return None
