"""Gemini's batch interface: requests in one body, results with the batch itself."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

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

_CAPS = Caps(50_000, 16 * 1024 * 1024)
"""The vendor takes 20 MB of requests in one body; its limit of 2 GB is that of a file."""
_ADDRESS = "https://generativelanguage.googleapis.com"
_PATH = "/v1beta"
_PAGE = 100
_LIFETIME = timedelta(hours=48)
"""The vendor gives a batch up that has not ended so long after it was created."""
_STATES: Mapping[str, Any] = {
    "SUCCEEDED": "ended",
    "PARTIALLY_SUCCEEDED": "ended",
    "EXPIRED": "expired",
    "CANCELLED": "cancelled",
    "FAILED": "failed",
}
"""The ends of the vendor's states, after BATCH_STATE_ or JOB_STATE_; all others are under way."""
_STATUS = {
    1: 499,
    3: 400,
    4: 504,
    5: 404,
    7: 403,
    8: 429,
    9: 400,
    11: 400,
    13: 500,
    14: 503,
    16: 401,
}
"""Code of a remote procedure's error -> the status that a direct call has with it."""


class GeminiBatches:
    """The batches of one key."""

    caps = _CAPS
    is_named = True

    def __init__(self, url: str, *, name: str, key_env: str = "") -> None:
        self.name = name
        key = read_key(name, key_env or "GOOGLE_API_KEY")
        self._bodies = VendorBodies("google", name=name, key_env=key_env or "GOOGLE_API_KEY")
        headers = {"x-goog-api-key": key}
        self._transfer = Transfer(url or _ADDRESS, name=name, key=key, headers=headers)

    async def close(self) -> None:
        """Close the connections."""
        await self._transfer.close()
        await self._bodies.close()

    async def line(self, token: str, request: Request) -> bytes:
        """Write one entry of the list of requests."""
        body = await self._bodies.write(request)
        metadata = json.dumps({"key": token}).encode()
        return b'{"request": ' + body + b', "metadata": ' + metadata + b"}"

    async def submit(self, intent: Intent, lines: Sequence[bytes]) -> Receipt:
        """Send all requests in one body, under our id as the batch's name."""
        name = json.dumps(intent.id).encode()
        body = (
            b'{"batch": {"displayName": '
            + name
            + b', "inputConfig": {"requests": {"requests": ['
            + b",".join(lines)
            + b"]}}}}"
        )
        model = intent.model.removeprefix("models/")
        return _receipt(
            await self._transfer.post(f"{_PATH}/models/{model}:batchGenerateContent", body)
        )

    async def resume(self, intent: Intent) -> Receipt | None:
        """Find the batch by our id, which is its name."""
        token: dict[str, str] = {}
        while True:
            page = await self._transfer.get(f"{_PATH}/batches", pageSize=_PAGE, **token)
            for batch in page.get("operations") or ():
                if _about(batch).get("displayName") == intent.id:
                    return _receipt(batch)
            if not page.get("nextPageToken"):
                return None
            token = {"pageToken": str(page["nextPageToken"])}

    async def condition(self, vendor_id: str) -> Condition:
        """Ask how far a batch is."""
        batch = await self._transfer.get(f"{_PATH}/{vendor_id}")
        about = _about(batch)
        counts = about.get("batchStats") or {}
        n_answered = sum(
            int(counts.get(name) or 0) for name in ("successfulRequestCount", "failedRequestCount")
        )
        error = batch.get("error") or {}
        state = _STATES.get(str(about.get("state")).partition("_STATE_")[2], "under way")
        return Condition(
            state,
            n_answered=n_answered,
            places=(vendor_id,) if state != "under way" else (),
            expires_at=_expiry(about),
            error=" ".join(str(error.get("message") or "").split())[:200],
        )

    async def results(self, condition: Condition) -> AsyncIterator[Result | None]:
        """Read the results, which come with the batch."""
        for place in condition.places:
            batch = await self._transfer.get(f"{_PATH}/{place}")
            output = _about(batch).get("output") or batch.get("response") or {}
            for entry in (output.get("inlinedResponses") or {}).get("inlinedResponses") or ():
                yield _result(entry)

    async def cancel(self, vendor_id: str) -> None:
        """Ask the vendor to stop."""
        await self._transfer.post(f"{_PATH}/{vendor_id}:cancel")

    async def reply(self, request: Request, result: Result) -> Reply:
        """Read a result as generated content."""
        if result.status == UNANSWERED:
            raise ServerError(f"{self.name}: no response in the batch", raw=result.body)
        return await self._bodies.read(request, result.status, result.body)


def _about(batch: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the vendor says of a batch: the metadata of an operation, or the batch itself."""
    metadata = batch.get("metadata")
    return metadata if isinstance(metadata, dict) else batch


def _receipt(batch: Mapping[str, Any]) -> Receipt:
    if not batch.get("name"):
        raise ServerError("the response names no batch")
    return Receipt(str(batch["name"]), _expiry(_about(batch)))


def _expiry(about: Mapping[str, Any]) -> str:
    created = about.get("createTime")
    return stamp(datetime.fromisoformat(created) + _LIFETIME) if isinstance(created, str) else ""


def _result(entry: object) -> Result | None:
    metadata = entry.get("metadata") if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or not isinstance(metadata, dict):
        return None
    token = str(metadata.get("key") or "")
    if isinstance(entry.get("response"), dict):
        return Result(token, 200, json.dumps(entry["response"], ensure_ascii=False))
    error = entry.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    status = _STATUS.get(code, 500) if isinstance(code, int) else UNANSWERED
    return Result(token, status, json.dumps({"error": error}, ensure_ascii=False))
