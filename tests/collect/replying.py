"""A server on this machine that answers a path as a test says."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from aiohttp import web

from konsil.collect.providers.provider import CallError, Provider, Reply, Request

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


async def _with_server(path: str, handler: Handler, use: Callable[[str], Awaitable[Any]]) -> Any:
    app = web.Application()
    app.router.add_post(path, handler)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        return await use(f"http://127.0.0.1:{runner.addresses[0][1]}")
    finally:
        await runner.cleanup()


def calls(
    path: str, handler: Handler, make: Callable[[str], Provider], requests: Sequence[Request]
) -> list[Reply | CallError]:
    """Complete requests one after another; what was raised stands in the place of a reply."""

    async def use(url: str) -> list[Reply | CallError]:
        provider = make(url)
        found: list[Reply | CallError] = []
        for request in requests:
            try:
                found.append(await provider.complete(request))
            except CallError as error:
                found.append(error)
        await provider.close()
        return found

    found: list[Reply | CallError] = asyncio.run(_with_server(path, handler, use))
    return found


def answering(status: int, told: Any, headers: dict[str, str] | None = None) -> Handler:
    """Always the same response."""

    async def handler(_: web.Request) -> web.Response:
        if isinstance(told, str):
            return web.Response(text=told, status=status, headers=headers)
        return web.json_response(told, status=status, headers=headers)

    return handler
