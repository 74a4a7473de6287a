"""Which provider serves an endpoint: ours, a vendor's, or one that another package brings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import entry_points
from typing import cast

from konsil.collect.providers.provider import Provider
from konsil.errors import CollectError, nearest
from konsil.study.sections.calling import Endpoint

GROUP = "konsil.providers"
"""Entry points of other packages: a vendor's name -> a function that makes a provider of an
endpoint."""


def unknown_vendors(endpoints: Iterable[Endpoint]) -> Iterator[str]:
    """Say which endpoints name a vendor that nobody here is known to bring.

    Another package may bring it later.
    """
    for n, endpoint in enumerate(endpoints):
        if not endpoint.vendor:
            continue
        from konsil.collect.providers.vendors import VENDORS

        valid_names = sorted({*VENDORS, *(point.name for point in entry_points(group=GROUP))})
        if endpoint.vendor not in valid_names:
            yield (
                f"endpoints[{n}].vendor: {endpoint.vendor!r} is unknown;"
                f" {nearest(endpoint.vendor, valid_names)}"
            )


def opened(endpoint: Endpoint) -> Provider:
    """Open the provider of an endpoint.

    A package's entry point goes before the vendors that we know.
    """
    if not endpoint.vendor:
        from konsil.collect.providers.openai_compatible import OpenAICompatible

        return OpenAICompatible(endpoint.url, name=endpoint.id, key_env=endpoint.key_env)
    for point in entry_points(group=GROUP, name=endpoint.vendor):
        try:
            make = cast(Callable[[Endpoint], Provider], point.load())
        except (ImportError, AttributeError) as error:
            raise CollectError(
                f"endpoint {endpoint.id!r}: plug-in {point.value!r} for vendor"
                f" {endpoint.vendor!r} cannot be loaded ({error})"
            ) from None
        return make(endpoint)
    from konsil.collect.providers.vendors import Vendor

    return Vendor(endpoint.vendor, name=endpoint.id, url=endpoint.url, key_env=endpoint.key_env)
