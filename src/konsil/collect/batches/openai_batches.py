"""OpenAI's batch interface: a file of requests, a batch of it, files of results.

Others that take OpenAI's chat completions offer it at the same addresses.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from konsil.collect.batches.interface import (
    UNANSWERED,
    Caps,
    Condition,
    Intent,
    Lapse,
    Receipt,
    Result,
)
from konsil.collect.batches.transfer import Transfer
from konsil.collect.providers.failures import failure
from konsil.collect.providers.keys import read_key, without_key
from konsil.collect.providers.openai_compatible import body_of
from konsil.collect.providers.provider import Reply, Request, ServerError, clean
from konsil.collect.providers.replies import read_body
from konsil.records.digits import stamp

_CAPS = Caps(50_000, 64 * 1024 * 1024)
"""The vendor takes 50,000 requests and 200 MB; a batch is held in memory while it is sent."""
_ADDRESS = "/v1/chat/completions"
_PAGE = 100
_METADATA = "konsil"
"""The key of our id in the batch's metadata."""
_STATES: Mapping[str, Any] = {
    "completed": "ended",
    "expired": "expired",
    "cancelled": "cancelled",
    "failed": "failed",
}
"""The vendor's states that are ends; all others are under way."""


class OpenAIBatches:
    """One endpoint with /files and /batches beside its /chat/completions."""

    caps = _CAPS
    is_named = True

    def __init__(self, url: str, *, name: str, key_env: str = "") -> None:
        self.name = name
        self._key = read_key(name, key_env)
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        self._transfer = Transfer(url, name=name, key=self._key, headers=headers)

    async def close(self) -> None:
        """Close the connections."""
        await self._transfer.close()

    async def line(self, token: str, request: Request) -> bytes:
        """Write one line of the file of requests."""
        body, _ = body_of(request, set(request.without))
        head = json.dumps({"custom_id": token, "method": "POST", "url": _ADDRESS})
        return head[:-1].encode() + b', "body": ' + body + b"}\n"

    async def submit(self, intent: Intent, lines: Sequence[bytes]) -> Receipt:
        """Upload the requests under our id, and create the batch with our id in its metadata."""
        file = await self._transfer.upload(
            "/files", _file_name(intent), b"".join(lines), purpose="batch"
        )
        return await self._create(intent, str(file.get("id", "")))

    async def resume(self, intent: Intent) -> Receipt | None:
        """Find the batch by our id in its metadata, or create it of the file with our id."""
        async for batch in self._listed("/batches"):
            if (batch.get("metadata") or {}).get(_METADATA) == intent.id:
                return _receipt(batch)
        async for file in self._listed("/files", purpose="batch"):
            if file.get("filename") == _file_name(intent):
                return await self._create(intent, str(file.get("id", "")))
        return None

    async def condition(self, vendor_id: str) -> Condition:
        """Ask how far a batch is."""
        batch = await self._transfer.get(f"/batches/{vendor_id}")
        counts = batch.get("request_counts") or {}
        places = (batch.get("output_file_id"), batch.get("error_file_id"))
        return Condition(
            _STATES.get(str(batch.get("status")), "under way"),
            n_answered=int(counts.get("completed") or 0) + int(counts.get("failed") or 0),
            places=tuple(str(p) for p in places if p),
            expires_at=_time(batch.get("expires_at")),
            error=without_key(_error(batch), self._key),
        )

    async def results(self, condition: Condition) -> AsyncIterator[Result | None]:
        """Read the file of replies, and that of errors."""
        for place in condition.places:
            async for line in self._transfer.lines(f"/files/{place}/content"):
                yield _result(line)

    async def cancel(self, vendor_id: str) -> None:
        """Ask the vendor to stop."""
        await self._transfer.post(f"/batches/{vendor_id}/cancel")

    async def reply(self, request: Request, result: Result) -> Reply:
        """Read a result as the body of a chat completion."""
        _, sent = body_of(request, set(request.without))
        raw = without_key(clean(result.body), self._key)
        if result.status == UNANSWERED:
            raise ServerError(f"{self.name}: no response in the batch", raw=raw)
        reply = read_body(raw) if result.status == 200 else None
        if reply is None:
            raise failure(result.status, raw, request, endpoint=self.name, sent=list(sent))
        return replace(reply, sent=sent, status=result.status, raw=raw)

    async def _create(self, intent: Intent, file: str) -> Receipt:
        data = {
            "input_file_id": file,
            "endpoint": _ADDRESS,
            "completion_window": "24h",
            "metadata": {_METADATA: intent.id},
        }
        return _receipt(await self._transfer.post("/batches", json.dumps(data).encode()))

    async def _listed(self, path: str, **query: str) -> AsyncIterator[dict[str, Any]]:
        after: dict[str, str] = {}
        while True:
            page = await self._transfer.get(path, limit=_PAGE, **query, **after)
            entries = [entry for entry in page.get("data") or () if isinstance(entry, dict)]
            for entry in entries:
                yield entry
            if not page.get("has_more") or not entries:
                return
            after = {"after": str(entries[-1].get("id", ""))}


def _file_name(intent: Intent) -> str:
    return f"{intent.id}.jsonl"


def _receipt(batch: Mapping[str, Any]) -> Receipt:
    if not batch.get("id"):
        raise ServerError("the response names no batch")
    return Receipt(str(batch["id"]), _time(batch.get("expires_at")))


def _time(seconds: object) -> str:
    return stamp(datetime.fromtimestamp(int(seconds), UTC)) if isinstance(seconds, int) else ""


def _error(batch: Mapping[str, Any]) -> str:
    errors = (batch.get("errors") or {}).get("data") or ()
    first = next((e for e in errors if isinstance(e, dict)), {})
    return " ".join(f"{first.get('code') or ''}: {first.get('message') or ''}".split())[:200]


def _result(line: bytes) -> Result | None:
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    if not isinstance(entry, dict) or not isinstance(entry.get("custom_id"), str):
        return None
    response, error = entry.get("response"), entry.get("error")
    if isinstance(response, dict) and isinstance(response.get("status_code"), int):
        return Result(
            entry["custom_id"],
            response["status_code"],
            json.dumps(response.get("body"), ensure_ascii=False),
        )
    code = str(error.get("code") or "") if isinstance(error, dict) else ""
    lapses: dict[str, Lapse] = {"batch_expired": "expired", "batch_cancelled": "cancelled"}
    return Result(
        entry["custom_id"],
        UNANSWERED,
        json.dumps({"error": error}, ensure_ascii=False),
        lapses.get(code, ""),
    )
