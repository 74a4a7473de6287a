"""A server in the form of chat completions that fails in many ways, one a model name; and studies
that call it."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web
from vendor_bodies import DOCUMENTED, google

from served_apps import served_app

HIT = "q3 "
"""Modes that fail for one item fail where its question holds this."""
BODIES = {one.name: one for one in DOCUMENTED}


def body(
    text: Any, finish: Any = "stop", usage: tuple[int, int] = (100, 20), **message: Any
) -> dict[str, Any]:
    return {
        "model": "m-1",
        "choices": [
            {"message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
        ],
        "usage": {"prompt_tokens": usage[0], "completion_tokens": usage[1]},
    }


_TOOL = {
    "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
}
_HARMONY = "<|channel|>analysis<|message|>secret<|end|><|start|>assistant<|channel|>final<|message|>insulin"

ALWAYS: dict[str, Any] = {
    "ok": body("insulin"),
    "null content": body(None),
    "length": body("insul", "length"),
    "content filter": body("", "content_filter"),
    "part, then filter": body("partial", "content_filter"),
    "tool calls": body(None, "tool_calls", **_TOOL),
    "tool calls and a part": body("partial", "tool_calls", **_TOOL),
    "refusal": body(None, refusal="I cannot help."),
    "reasoning": body("insulin", reasoning_content="secret"),
    "think": body("<think>secret</think>\n\ninsulin"),
    "think without opening": body("Okay. secret.\n</think>\n\ninsulin"),
    "thinking": body("<thinking>secret</thinking>insulin"),
    "harmony": body(_HARMONY),
    "own marks": body("<plan>secret</plan>insulin"),
    "think, cut": body("<think>secret", "length"),
    "think, no end": body("<think>secret"),
    "no reason": body("insulin", None),
    "RECITATION": body("partial", "RECITATION"),
    "PROHIBITED_CONTENT": body("", "PROHIBITED_CONTENT"),
    "a detail": body("partial", "content_filter: SPII"),
    "unheard of": body("partial", "moon_phase"),
    "pause_turn": body("partial", "pause_turn"),
    "error": body("partial", "error"),
    "an error in a reply": {"error": {"message": "Provider returned error", "code": 502}},
}
"""Mode -> the body with status 200 that it always gives."""


class Server:
    """What the server remembers."""

    def __init__(self) -> None:
        self.asked: Counter[tuple[str, str]] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.active = 0
        self.most = 0
        self.buckets: dict[str, tuple[float, float]] = {}
        self.refused: Counter[str] = Counter()

    def of(self, model: str) -> list[dict[str, Any]]:
        """The requests for a model."""
        return [one for one in self.bodies if one["model"] == model]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        data = await request.json()
        self.bodies.append(data)
        mode = data["model"].split("@")[0]
        question = data["messages"][-1]["content"]
        self.asked[data["model"], question] += 1
        self.active += 1
        self.most = max(self.most, self.active)
        try:
            return await self.act(mode, data, question, self.asked[data["model"], question])
        finally:
            self.active -= 1

    def takes(self, model: str, cost: float, *, rate: float, burst: float) -> bool:
        """Whether a bucket that so much flows into a second, and that holds so much, has what a
        request costs."""
        now = time.monotonic()
        level, at = self.buckets.get(model, (burst, now))
        level = min(burst, level + (now - at) * rate)
        enough = level >= cost
        self.buckets[model] = (level - cost if enough else level), now
        self.refused[model] += not enough
        return enough

    async def act(
        self, mode: str, data: dict[str, Any], question: str, n: int
    ) -> web.StreamResponse:
        is_hit = HIT in question
        if mode in ALWAYS:
            return web.json_response(ALWAYS[mode])
        if mode.startswith(("one: ", "all: ", "first: ")):
            rule, _, name = mode.partition(": ")
            one = BODIES[name]
            fails = {"one": is_hit, "all": True, "first": n <= 3}[rule]
            if rule == "one" and one.kind == "ParameterError":
                fails = one.parameter in data
            if not fails:
                return web.json_response(body("insulin"))
            text = one.body if isinstance(one.body, str) else json.dumps(one.body)
            return web.Response(
                text=text.replace("again in 2.5s", "again in 0.01s"), status=one.status
            )
        match mode:
            case "byte order mark":
                raw = b"\xef\xbb\xbf" + json.dumps(body("insulin")).encode()
                return web.Response(body=raw, content_type="application/json")
            case "repeats the question":
                detail = [
                    {
                        "type": "value_error",
                        "loc": ["body", "messages"],
                        "msg": "invalid",
                        "input": question,
                    }
                ]
                return web.json_response(
                    {"detail": detail} if is_hit else body("insulin"), status=422 if is_hit else 200
                )
            case (
                "blames and refuses"
            ):  # the parameter is named, and without it the request fails as well
                error = {
                    "error": {"message": "Unsupported value: 'temperature'", "param": "temperature"}
                }
                if is_hit and "temperature" not in data:
                    error = {"error": {"message": "this prompt cannot be read"}}
                return web.json_response(
                    error if is_hit else body("insulin"), status=400 if is_hit else 200
                )
            case "retryDelay":
                info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.05s"}
                if n <= 8:
                    return web.json_response(
                        google(429, "RESOURCE_EXHAUSTED", "Resource exhausted", info), status=429
                    )
                return web.json_response(body("insulin"))
            case "bucket" | "token bucket":
                cost = 1.0 if mode == "bucket" else len(json.dumps(data["messages"])) / 4
                if not self.takes(data["model"], cost, rate=30 * cost, burst=2.5 * cost):
                    error = google(429, "RESOURCE_EXHAUSTED", "Quota exceeded for quota metric")
                    return web.json_response(error, status=429, headers={"Retry-After": "0.02"})
                return web.json_response(body("insulin", usage=(int(cost), 5)))
            case "cut":
                reply = web.StreamResponse(headers={"Content-Length": "5000"})
                await reply.prepare(self_request.get())
                await reply.write(b'{"choices": [')
                transport = self_request.get().transport
                assert transport is not None
                transport.close()
                return reply
            case "bills 5,000 written":
                return web.json_response(body("insulin", usage=(100, 5000)))
            case "takes no cap":
                named = next(
                    (name for name in ("max_tokens", "max_completion_tokens") if name in data), None
                )
                if named is not None:
                    error = {"message": f"Unsupported parameter: '{named}'", "param": named}
                    return web.json_response({"error": error}, status=400)
                return web.json_response(body("insulin", usage=(100, 5000)))
            case "bills 5,000 read":
                return web.json_response(body("insulin", usage=(5000, 20)))
        raise web.HTTPBadRequest(text=f"no mode {mode!r}")


class _Current:
    """The request under way in each task."""

    def __init__(self) -> None:
        self._by_task: dict[Any, web.Request] = {}

    def set(self, request: web.Request) -> None:
        self._by_task[asyncio.current_task()] = request

    def get(self) -> web.Request:
        return self._by_task[asyncio.current_task()]


self_request = _Current()


@contextmanager
def serving(server: Server) -> Iterator[str]:
    """Serve the endpoint while the block runs; gives the address."""

    async def handle(request: web.Request) -> web.StreamResponse:
        self_request.set(request)
        return await server.handle(request)

    app = web.Application()
    app.router.add_post("/v1/chat/completions", handle)
    with served_app(app) as address:
        yield f"{address}/v1"


def protocol(
    url: str, modes: dict[str, str], endpoint: str = "", settings: str = "temperature = 0.2"
) -> str:
    """A study whose systems (id -> mode) are modes of the server."""
    systems = "".join(
        f'[[systems]]\nid = "{name}"\nmodel = "h:{mode}"\nsettings = {{ {settings} }}\n'
        for name, mode in modes.items()
    )
    return f'title = "t"\nseed = 1\n[[endpoints]]\nid = "h"\nurl = "{url}"\n{endpoint}\n{systems}'
