"""Which batch interface an endpoint has."""

from __future__ import annotations

from konsil.collect.batches.interface import BatchInterface
from konsil.collect.providers.local_scheme import LOCAL_SCHEME
from konsil.errors import CollectError
from konsil.study.sections.calling import FAKE, Endpoint

VENDORS = ("anthropic", "google")
"""Vendors whose batch interface is supported, beside OpenAI's at a `url`."""


def require_batches(endpoint: Endpoint) -> None:
    """Refuse an endpoint that is known to have no batch interface."""
    is_local = endpoint.id == FAKE or endpoint.url.startswith(LOCAL_SCHEME)
    if is_local or (endpoint.vendor and endpoint.vendor not in VENDORS):
        raise CollectError(
            f"endpoint {endpoint.id!r}: has no batch interface that konsil supports; expected a url"
            f" with OpenAI's interface, or vendor {' or '.join(map(repr, VENDORS))}"
        )


def opened(endpoint: Endpoint) -> BatchInterface:
    """Open the batch interface of an endpoint."""
    require_batches(endpoint)
    if not endpoint.vendor:
        from konsil.collect.batches.openai_batches import OpenAIBatches

        return OpenAIBatches(endpoint.url, name=endpoint.id, key_env=endpoint.key_env)
    if endpoint.vendor == "anthropic":
        from konsil.collect.batches.anthropic_batches import AnthropicBatches

        return AnthropicBatches(endpoint.url, name=endpoint.id, key_env=endpoint.key_env)
    from konsil.collect.batches.gemini_batches import GeminiBatches

    return GeminiBatches(endpoint.url, name=endpoint.id, key_env=endpoint.key_env)
