"""An application of aiohttp in a thread of its own, for vendors and endpoints of tests."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web


@contextmanager
def served_app(app: web.Application) -> Iterator[str]:
    """Serve while the block runs; gives the address."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    def do(made: Callable[[], Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(made(), loop).result(20)

    runner = web.AppRunner(app, access_log=None)

    async def start() -> int:
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return int(runner.addresses[0][1])

    try:
        yield f"http://127.0.0.1:{do(start)}"
    finally:
        do(runner.cleanup)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
