"""Vendors with an API of their own, called through pydantic-ai-slim.

Among them are Anthropic, Gemini, Bedrock and Mistral.

Its model classes know the vendors' quirks; of it we use the one direct request, none of its agents,
retries or limits. Where the vendor's client takes an HTTP client of ours, the request is looked at
as it leaves and the body as it comes.
"""

from __future__ import annotations

import inspect
import json
import warnings
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from konsil.collect.providers.keys import read_key, without_key
from konsil.collect.providers.provider import AccountError, Reply, Request
from konsil.collect.providers.vendor_calls import Traffic, complete
from konsil.errors import CollectError, installation, nearest

if TYPE_CHECKING:
    from pydantic_ai.models import Model

VENDORS = (
    "anthropic",
    "bedrock",
    "cohere",
    "google",
    "google-cloud",
    "groq",
    "mistral",
    "openai-responses",
    "xai",
)
"""The vendors that a message can suggest; the library knows more."""

_traffic: ContextVar[Traffic | None] = ContextVar("konsil_seen", default=None)


class Vendor:
    """One vendor's models. The key is held in memory only."""

    def __init__(
        self,
        vendor: str,
        *,
        name: str = "",
        url: str = "",
        key_env: str = "",
        transport: Any = None,  # noqa: ANN401 - of a library that comes with the extra
    ) -> None:
        """`transport` takes the place of the network, where bodies are written and read only."""
        self.vendor = vendor
        self._transport = transport
        self.name = name or vendor
        self.refused: dict[str, set[str]] = {}
        """Model -> parameters that it refused in this run."""
        self._key = read_key(self.name, key_env)
        self._provider, self._watched = _opener(vendor, self.name, url, self._key)
        self._models: dict[str, Model[Any]] = {}
        self._client: Any = None
        # What the library leaves out is found in the request as it leaves, and kept with the call.
        for category in (UserWarning, DeprecationWarning):
            warnings.filterwarnings(
                "ignore", category=category, module=r"(pydantic_ai|anthropic)\b"
            )

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
        self._client = None
        self._models.clear()

    async def complete(self, request: Request) -> Reply:
        """Call once; the caller holds the deadline and decides on another try."""
        model = self._models.get(request.model)
        if model is None:
            model = self._models[request.model] = self._model(request.model)
        traffic = Traffic()
        # For each call by itself, because many of them share one client.
        _traffic.set(traffic)
        refused = self.refused.setdefault(request.model, set())
        return await complete(
            model, request, endpoint=self.name, refused=refused, key=self._key, traffic=traffic
        )

    def _model(self, name: str) -> Model[Any]:
        from pydantic_ai.exceptions import UserError
        from pydantic_ai.models import infer_model

        if self._client is None and self._watched:
            self._client = _client(self._transport)
        try:
            return infer_model(
                f"{self.vendor}:{name}", provider_factory=lambda _: self._provider(self._client)
            )
        except UserError as error:
            raise AccountError(
                f"endpoint {self.name!r}: {without_key(error.message, self._key)}"
            ) from None


def _opener(vendor: str, endpoint: str, url: str, key: str) -> tuple[Callable[[Any], Any], bool]:
    """Find the vendor's class or say what is missing.

    Gives what opens it with an HTTP client, if it takes one.
    """
    try:
        from pydantic_ai.providers import infer_provider_class
    except ImportError:
        raise CollectError(
            f"endpoint {endpoint!r}: vendor {vendor!r} needs an extra that is not installed;"
            f" install it with {installation('vendors')}"
        ) from None
    try:
        kind: Any = infer_provider_class(vendor)
    except ValueError:
        raise CollectError(
            f"endpoint {endpoint!r}: there is no vendor {vendor!r}; {nearest(vendor, VENDORS)}"
        ) from None
    except ImportError:
        package = vendor.removesuffix("-responses").removesuffix("-cloud")
        raise CollectError(
            f"endpoint {endpoint!r}: vendor {vendor!r} needs a package that is not installed;"
            f" install 'pydantic-ai-slim[{package}]'"
        ) from None
    takes = inspect.signature(kind.__init__).parameters
    arguments: dict[str, Any] = {}
    for name, value, ours in (("api_key", key, "key_env"), ("base_url", url, "url")):
        if value and name not in takes:
            raise CollectError(
                f"endpoint {endpoint!r}: vendor {vendor!r} does not support {ours}; leave it out"
            )
        if value:
            arguments[name] = value
    watched = "http_client" in takes

    def opened(client: Any) -> Any:  # noqa: ANN401 - the library's provider
        return kind(**arguments, http_client=client) if watched else kind(**arguments)

    return opened, watched


def _client(transport: Any) -> Any:  # noqa: ANN401 - of a library that comes with the extra
    """An HTTP client that notes what passes it."""
    import httpx2

    async def leaving(request: Any) -> None:  # noqa: ANN401
        traffic = _traffic.get()
        if traffic is not None:
            try:
                traffic.keys = set(_keys(json.loads(await request.aread())))
            except ValueError:
                traffic.keys = set()

    async def coming(response: Any) -> None:  # noqa: ANN401
        traffic = _traffic.get()
        if traffic is not None:
            await response.aread()
            traffic.body = response.text

    # The runner has the time limit of a call.
    return httpx2.AsyncClient(
        transport=transport,
        timeout=None,
        event_hooks={"request": [leaving], "response": [coming]},
    )


def _keys(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield str(name)
            yield from _keys(part)
    elif isinstance(value, list):
        for part in value:
            yield from _keys(part)
