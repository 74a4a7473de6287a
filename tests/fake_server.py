"""The fake provider behind a real socket on this machine.

It serves benchmarks, and tests of faults of the network itself.

`python tests/fake_server.py '{"busy": 0.05}'` prints its address and serves until it
is ended. GET /counts says how often each request was received, by a digest of its body.
"""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web

from konsil.collect.fake.fake import Faults, Rule, Script, fill
from konsil.collect.providers.provider import Message, Request

STOPPED_SECONDS = 5.0
"""How long a server may take to end."""


def read_request(data: dict[str, Any]) -> Request:
    """Read the body of a chat completion's request, as far as a script uses it."""
    form = (data.get("response_format") or {}).get("json_schema") or {}
    return Request(
        model=str(data.get("model")),
        messages=tuple(Message(m["role"], m["content"]) for m in data["messages"]),
        temperature=data.get("temperature"),
        seed=data.get("seed"),
        logprobs=data.get("top_logprobs"),
        schema=form.get("schema"),
        tools=("web_search",) if "web_search_options" in data else (),
    )


async def serve(
    script: Script, port: int = 0, *, refuse: tuple[str, ...] = (), instant: bool = False
) -> None:
    """Serve on the loopback address until cancelled; the first line printed is the address.

    `refuse` names parameters that are answered with status 400. `instant` gives every request the
    same reply without looking at it: the fastest server that a client can be measured against.
    """
    n_by_digest: Counter[str] = Counter()
    # Written once: an instant server measures the client, not itself.
    same = json.dumps(
        {
            "model": "instant",
            "choices": [
                {
                    "message": {"role": "assistant", "content": '{"a1": "ok"}'},
                    "finish_reason": "stop",
                    "index": 0,
                }
            ],
            "usage": {"prompt_tokens": 50, "completion_tokens": 5, "total_tokens": 55},
            "id": "x",
            "object": "chat.completion",
            "created": 1,
        }
    ).encode()

    async def quick(request: web.Request) -> web.Response:
        await request.read()
        return web.Response(body=same, content_type="application/json")

    async def complete(request: web.Request) -> web.StreamResponse:
        body = await request.read()
        n_by_digest[hashlib.sha256(body).hexdigest()] += 1
        data = json.loads(body)
        for name in refuse:
            if name in data:
                error = {"message": f"Unsupported parameter: '{name}'", "param": name}
                return web.json_response({"error": error}, status=400)
        fault, raw = script.act(read_request(data))
        if script.faults.delay:
            await asyncio.sleep(script.faults.delay)
        if fault == "busy":
            wait = {"Retry-After": str(script.faults.retry_after)}
            return web.json_response({"error": {"message": "busy"}}, status=429, headers=wait)
        if fault == "server":
            return web.json_response({"error": {"message": "fault"}}, status=500)
        if fault == "endless":
            return await _endless(request)
        return web.Response(text=raw, content_type="application/json")

    async def counts(_request: web.Request) -> web.Response:
        return web.json_response(dict(n_by_digest))

    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_post("/v1/chat/completions", quick if instant else complete)
    app.router.add_get("/counts", counts)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", port)
        await site.start()
        host, bound = runner.addresses[0][:2]
        sys.stdout.write(f"http://{host}:{bound}\n")
        # The parent waits for this line.
        sys.stdout.flush()
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()


async def _endless(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    try:
        while True:
            await response.write(b" ")
            await asyncio.sleep(0.05)
    except (ConnectionError, asyncio.CancelledError):
        return response


@contextmanager
def running(
    faults: Faults | None = None,
    *,
    seed: int = 0,
    refuse: tuple[str, ...] = (),
    instant: bool = False,
) -> Iterator[str]:
    """Run a server in a process of its own.

    Gives its address (http://127.0.0.1:PORT) and ends it afterwards.
    """
    about = dataclasses.asdict(faults or Faults())
    settings = json.dumps(
        {"faults": about, "seed": seed, "refuse": list(refuse), "instant": instant}
    )
    command = [sys.executable, "-P", __file__, settings]
    # Our own module.
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        # An endless reply may keep the server from stopping by itself.
        try:
            process.wait(STOPPED_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


def main(settings: str, rule: Rule = fill) -> None:
    """Serve as the JSON on the command line says."""
    about = json.loads(settings)
    script = Script(rule, Faults(**about.get("faults", {})), about.get("seed", 0))
    try:
        asyncio.run(
            serve(script, refuse=tuple(about.get("refuse", ())), instant=bool(about.get("instant")))
        )
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "{}")
