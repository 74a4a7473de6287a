"""The application of a centre: each path goes to its study, what is left to the centre's pages."""

from __future__ import annotations

import secrets
from asyncio import Lock, get_running_loop
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from konsil.web.centre.pages import create_pages, unavailable
from konsil.web.centre.registry import Registry


@dataclass
class Centre:
    """Several studies as one application."""

    registry: Registry
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    """The secret of this server, the same in all its processes."""

    def __post_init__(self) -> None:
        self.pages = create_pages(self.registry, self.key, lifespan=self._lifespan)
        self._unavailable = unavailable(self.pages)
        self._stack = AsyncExitStack()
        self._scanning: Lock | None = None

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        self._scanning = Lock()
        async with self._stack:
            await self._scan()
            yield
        self.registry.close()

    async def _scan(self) -> None:
        """Open what is new, in a thread, and start what its pages do ahead of the first visitor."""
        for served in await get_running_loop().run_in_executor(None, self.registry.scan):
            if served.app is not None:
                await self._stack.enter_async_context(
                    served.app.router.lifespan_context(served.app)
                )

    async def _scan_if_due(self) -> None:
        if self._scanning is None:
            # Without a start of the server, as in a test of single requests.
            self.registry.scan()
            return
        # One scan at a time; whoever asks meanwhile gets what is known.
        if self.registry.is_due() and not self._scanning.locked():
            async with self._scanning:
                await self._scan()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request to its study, or to the centre's own pages."""
        await (await self._target(scope))(scope, receive, send)

    async def _target(self, scope: Scope) -> ASGIApp:
        prefix = f"{self.registry.options.path}/"
        path: str = scope.get("path", "")
        if scope["type"] != "http" or not path.startswith(prefix):
            return self.pages
        slug = path.removeprefix(prefix).partition("/")[0]
        served = self.registry.get(slug)
        # A study that is known needs no look at the folder: raters never wait for one.
        if (not slug or served is None or served.app is None) and self.registry.is_due():
            await self._scan_if_due()
            served = self.registry.get(slug)
        if served is None:
            return self.pages
        return self._unavailable if served.app is None else served.app
