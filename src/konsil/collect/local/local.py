"""The endpoint `local`: models that konsil runs on this machine for the time of a run."""

from __future__ import annotations

import asyncio

from konsil.collect.local.local_models import find
from konsil.collect.local.local_server import LocalServer, missing, runtime_problem
from konsil.collect.local.shipped_model import SHIPPED
from konsil.collect.providers.local_scheme import LOCAL_SCHEME
from konsil.collect.providers.openai_compatible import OpenAICompatible
from konsil.collect.providers.provider import Reply, Request
from konsil.errors import CollectError
from konsil.study.sections.calling import LOCAL, Endpoint

CLIENTS = 2
"""Calls under way at once: the model does one after another, and the next shall be there when one
is done."""
SECONDS = 1800.0
"""What a call may take: a large model without a graphics card is slow, and slow is no failure
here."""


def local_endpoint(model: str) -> Endpoint:
    """The endpoint of an installed model.

    Its address names the weights, so that other weights are another model.
    """
    digest = SHIPPED.sha256 if model == SHIPPED.id else find(model).sha256
    # The host is this machine, as everywhere the mark of calls that cost nothing.
    return Endpoint(
        LOCAL, f"{LOCAL_SCHEME}127.0.0.1/{digest[:32]}", concurrency=CLIENTS, seconds=SECONDS
    )


def must_run(model: str) -> None:
    """Raise a CollectError where this model cannot be run here."""
    _refuse(missing())
    find(model)
    _refuse(runtime_problem())


def _refuse(problem: str) -> None:
    if problem:
        raise CollectError(f"endpoint '{LOCAL}': {problem}")


class LocalModels:
    """Local models by name: each is loaded with its first request and let go of at the end."""

    def __init__(self) -> None:
        _refuse(missing())
        self._servers: dict[str, LocalServer] = {}
        self._clients: dict[str, OpenAICompatible] = {}

    async def close(self) -> None:
        """End every server."""
        # Emptied first: a second call has nothing left to stop.
        servers = list(self._servers.values())
        self._servers = {}
        for server in servers:
            server.stop()
        for client in self._clients.values():
            await client.close()

    async def complete(self, request: Request) -> Reply:
        """Call the model of this name."""
        server = self._servers.get(request.model)
        if server is None:
            server = self._servers[request.model] = LocalServer(find(request.model))
        # Loading takes seconds, in which other lanes go on.
        url = await asyncio.to_thread(server.start)
        client = self._clients.get(request.model)
        if client is None:
            headers = {"Authorization": f"Bearer {server.key}"}
            client = self._clients[request.model] = OpenAICompatible(
                url, name=LOCAL, headers=headers
            )
        return await client.complete(request)
