"""Servers with the batch interfaces of OpenAI, Anthropic and Gemini, as their documents describe
them: files and batches in memory, results in another order, faults on demand."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from aiohttp import web

from served_apps import served_app

Fate = tuple[int, dict[str, Any]] | str
"""Status and body of a response, or `expired`, `cancelled`, `lost`."""


def fine(body: dict[str, Any]) -> Fate:
    return 200, chat("insulin")


def chat(text: str, **more: Any) -> dict[str, Any]:
    return {
        "model": "m-1",
        "choices": [
            {"message": {"role": "assistant", "content": text, **more}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20},
    }


def message(text: str) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m-1",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 20},
    }


def content(text: str) -> dict[str, Any]:
    return {
        "candidates": [
            {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}
        ],
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 20},
        "modelVersion": "m-1",
    }


@dataclass
class Sent:
    """One batch that the vendor has."""

    id: str
    requests: list[tuple[str, dict[str, Any]]]
    about: dict[str, Any]
    state: str = "in_progress"
    looks: int = 0
    results: list[str] = field(default_factory=list)
    created: datetime = field(default_factory=lambda: datetime.now(UTC))


@dataclass
class BatchVendor:
    """What a vendor remembers, and how it fails."""

    fate: Callable[[dict[str, Any]], Fate] = fine
    """A request's body -> what becomes of it."""
    looks: int = 1
    """Questions after which a batch has ended."""
    ends: str = "completed"
    """The state in which batches end."""
    lines: Callable[[list[str]], list[str]] = list
    """What is done to the lines of results."""
    failures: list[tuple[str, int]] = field(default_factory=list)
    """Beginnings of `METHOD path` with the status that the next such request gets, each once."""
    cuts: int = 0
    """How often the line breaks in the middle of the results."""
    after: Callable[[str], None] = lambda _step: None
    """Called after a step has been done and before it is answered."""
    batches: dict[str, Sent] = field(default_factory=dict)
    files: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    heads: list[dict[str, str]] = field(default_factory=list)
    n: int = 0

    def number(self) -> int:
        self.n += 1
        return self.n

    @property
    def asked(self) -> Counter[str]:
        """How often each body was sent in a batch."""
        return Counter(
            json.dumps(body, sort_keys=True)
            for batch in self.batches.values()
            for _, body in batch.requests
        )

    @property
    def tokens(self) -> list[str]:
        return [token for batch in self.batches.values() for token, _ in batch.requests]

    def look(self, batch: Sent) -> None:
        batch.looks += 1
        if batch.state == "in_progress" and batch.looks >= self.looks:
            self.end(batch, self.ends)

    def end(self, batch: Sent, state: str) -> None:
        batch.state = state
        fates = [(token, self.fate(body)) for token, body in batch.requests]
        random.Random(batch.id).shuffle(fates)
        batch.results = [self.result(token, fate) for token, fate in fates if fate != "lost"]

    def result(self, token: str, fate: Fate) -> str:
        raise NotImplementedError

    def routes(self) -> list[web.RouteDef]:
        raise NotImplementedError

    @web.middleware
    async def check(self, request: web.Request, handler: Any) -> web.StreamResponse:
        self.heads.append(dict(request.headers))
        step = f"{request.method} {request.path}"
        for n, (begin, status) in enumerate(self.failures):
            if step.startswith(begin):
                del self.failures[n]
                return web.json_response(
                    {"error": {"message": "no"}}, status=status, headers={"Retry-After": "0"}
                )
        response: web.StreamResponse = await handler(request)
        self.after(step)
        return response


class OpenAIVendor(BatchVendor):
    """`/v1/files` and `/v1/batches`."""

    def result(self, token: str, fate: Fate) -> str:
        entry: dict[str, Any] = {"id": "batch_req_1", "custom_id": token}
        if isinstance(fate, str):
            error = {"code": f"batch_{fate}", "message": "This request could not be executed."}
            return json.dumps({**entry, "response": None, "error": error})
        status, body = fate
        response = {"status_code": status, "request_id": "r", "body": body}
        return json.dumps({**entry, "response": response, "error": None})

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/v1/files", self.upload),
            web.get("/v1/files", self.listed_files),
            web.get("/v1/files/{id}/content", self.read),
            web.post("/v1/batches", self.create),
            web.get("/v1/batches", self.listed),
            web.get("/v1/batches/{id}", self.one),
            web.post("/v1/batches/{id}/cancel", self.cancel),
        ]

    async def upload(self, request: web.Request) -> web.Response:
        form = await request.post()
        assert form["purpose"] == "batch"
        file: Any = form["file"]
        name = f"file-{self.number()}"
        self.files[name] = (file.filename, file.file.read())
        return web.json_response({"id": name, "object": "file", "filename": file.filename})

    async def listed_files(self, request: web.Request) -> web.Response:
        assert request.query["purpose"] == "batch"
        return self.page(request, [{"id": n, "filename": f} for n, (f, _) in self.files.items()])

    def page(self, request: web.Request, entries: list[dict[str, Any]]) -> web.Response:
        entries = entries[::-1]
        after = request.query.get("after")
        start = next((n + 1 for n, e in enumerate(entries) if e["id"] == after), 0)
        rest = entries[start:]
        return web.json_response({"data": rest[:2], "has_more": len(rest) > 2})

    async def create(self, request: web.Request) -> web.Response:
        data = await request.json()
        assert (data["endpoint"], data["completion_window"]) == ("/v1/chat/completions", "24h")
        rows = [json.loads(row) for row in self.files[data["input_file_id"]][1].splitlines()]
        assert all((r["method"], r["url"]) == ("POST", data["endpoint"]) for r in rows)
        batch = Sent(
            f"batch_{self.number()}", [(r["custom_id"], r["body"]) for r in rows], data["metadata"]
        )
        self.batches[batch.id] = batch
        return web.json_response(self.shown(batch))

    def shown(self, batch: Sent) -> dict[str, Any]:
        ended = batch.state in ("completed", "expired", "cancelled")
        n = len(batch.requests)
        counts = {"total": n, "completed": n if ended else 0, "failed": 0}
        return {
            "id": batch.id,
            "object": "batch",
            "status": batch.state,
            "metadata": batch.about,
            "request_counts": counts,
            "expires_at": int((batch.created + timedelta(hours=24)).timestamp()),
            "output_file_id": f"{batch.id}-out" if ended else None,
            "error_file_id": f"{batch.id}-err" if ended else None,
            "errors": {"data": [{"code": "token_limit_exceeded", "message": "Enqueued limit"}]}
            if batch.state == "failed"
            else None,
        }

    async def listed(self, request: web.Request) -> web.Response:
        return self.page(request, [self.shown(b) for b in self.batches.values()])

    async def one(self, request: web.Request) -> web.Response:
        batch = self.batches[request.match_info["id"]]
        self.look(batch)
        return web.json_response(self.shown(batch))

    async def cancel(self, request: web.Request) -> web.Response:
        batch = self.batches[request.match_info["id"]]
        self.end(batch, "cancelled")
        return web.json_response(self.shown(batch))

    async def read(self, request: web.Request) -> web.StreamResponse:
        name, _, kind = request.match_info["id"].rpartition("-")
        rows = [
            r for r in self.batches[name].results if ('"response": null' in r) == (kind == "err")
        ]
        return web.Response(text="".join(f"{row}\n" for row in self.lines(rows)))


class AnthropicVendor(BatchVendor):
    """`/v1/messages/batches`."""

    def result(self, token: str, fate: Fate) -> str:
        if isinstance(fate, str):
            kind = "canceled" if fate == "cancelled" else fate
            return json.dumps({"custom_id": token, "result": {"type": kind}})
        status, body = fate
        if status == 200:
            result = {"type": "succeeded", "message": body}
        else:
            result = {"type": "errored", "error": {"type": "error", "error": body}}
        return json.dumps({"custom_id": token, "result": result})

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/v1/messages/batches", self.create),
            web.get("/v1/messages/batches", self.listed),
            web.get("/v1/messages/batches/{id}", self.one),
            web.post("/v1/messages/batches/{id}/cancel", self.cancel),
            web.get("/v1/messages/batches/{id}/results", self.read),
        ]

    async def create(self, request: web.Request) -> web.Response:
        data = await request.json()
        assert set(data) == {"requests"}
        batch = Sent(
            f"msgbatch_{self.number()}",
            [(r["custom_id"], r["params"]) for r in data["requests"]],
            {},
        )
        self.batches[batch.id] = batch
        return web.json_response(self.shown(batch))

    def shown(self, batch: Sent) -> dict[str, Any]:
        ended = batch.state != "in_progress"
        n = len(batch.requests)
        counts = {"processing": 0 if ended else n, "succeeded": n if ended else 0}
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": {**counts, "errored": 0, "canceled": 0, "expired": 0},
            "created_at": batch.created.isoformat().replace("+00:00", "Z"),
            "expires_at": (batch.created + timedelta(hours=24)).isoformat(),
            "archived_at": None,
            "results_url": f"https://api.anthropic.com/v1/messages/batches/{batch.id}/results"
            if ended
            else None,
        }

    async def listed(self, request: web.Request) -> web.Response:
        entries = [self.shown(b) for b in self.batches.values()][::-1]
        after = request.query.get("after_id")
        start = next((n + 1 for n, e in enumerate(entries) if e["id"] == after), 0)
        rest = entries[start:]
        last = rest[:2][-1]["id"] if rest else None
        return web.json_response({"data": rest[:2], "has_more": len(rest) > 2, "last_id": last})

    async def one(self, request: web.Request) -> web.Response:
        batch = self.batches[request.match_info["id"]]
        self.look(batch)
        return web.json_response(self.shown(batch))

    async def cancel(self, request: web.Request) -> web.Response:
        batch = self.batches[request.match_info["id"]]
        self.end(batch, "completed")
        return web.json_response(self.shown(batch))

    async def read(self, request: web.Request) -> web.Response:
        rows = self.batches[request.match_info["id"]].results
        return web.Response(text="".join(f"{row}\n" for row in self.lines(rows)))


class GeminiVendor(BatchVendor):
    """`:batchGenerateContent` and `/v1beta/batches`."""

    def result(self, token: str, fate: Fate) -> str:
        assert not isinstance(fate, str)
        status, body = fate
        part = {"response": body} if status == 200 else {"error": body}
        return json.dumps({"metadata": {"key": token}, **part})

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/v1beta/models/{call}", self.create),
            web.get("/v1beta/batches", self.listed),
            web.get("/v1beta/batches/{id}", self.one),
            web.post("/v1beta/batches/{call}", self.cancel),
        ]

    async def create(self, request: web.Request) -> web.Response:
        assert request.match_info["call"].endswith(":batchGenerateContent")
        batch = (await request.json())["batch"]
        rows = batch["inputConfig"]["requests"]["requests"]
        sent = Sent(
            f"batches/{self.number()}",
            [(r["metadata"]["key"], r["request"]) for r in rows],
            {"displayName": batch["displayName"]},
        )
        self.batches[sent.id] = sent
        return web.json_response(self.shown(sent))

    def shown(self, batch: Sent, *, output: bool = False) -> dict[str, Any]:
        state = {"in_progress": "RUNNING", "completed": "SUCCEEDED"}.get(
            batch.state, batch.state.upper()
        )
        metadata: dict[str, Any] = {
            "@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch",
            "state": f"BATCH_STATE_{state}",
            "createTime": batch.created.isoformat().replace("+00:00", "Z"),
            "batchStats": {"requestCount": str(len(batch.requests))},
            **batch.about,
        }
        shown = {"name": batch.id, "metadata": metadata, "done": batch.state != "in_progress"}
        if output and batch.state != "in_progress":
            rows = [json.loads(row) for row in self.lines(batch.results)]
            shown["response"] = {"inlinedResponses": {"inlinedResponses": rows}}
        return shown

    async def listed(self, request: web.Request) -> web.Response:
        start = int(request.query.get("pageToken") or 0)
        entries = [self.shown(b) for b in self.batches.values()][::-1]
        more = {"nextPageToken": str(start + 2)} if len(entries) > start + 2 else {}
        return web.json_response({"operations": entries[start : start + 2], **more})

    async def one(self, request: web.Request) -> web.Response:
        batch = self.batches[f"batches/{request.match_info['id']}"]
        self.look(batch)
        return web.json_response(self.shown(batch, output=True))

    async def cancel(self, request: web.Request) -> web.Response:
        batch = self.batches[f"batches/{request.match_info['call'].removesuffix(':cancel')}"]
        self.end(batch, "cancelled")
        return web.json_response({})


@contextmanager
def serving(vendor: BatchVendor) -> Iterator[str]:
    """Serve the vendor while the block runs; gives the address."""
    app = web.Application(middlewares=[vendor.check], client_max_size=1 << 30)
    app.add_routes(vendor.routes())
    with served_app(app) as address:
        yield address
