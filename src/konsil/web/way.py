"""What comes before a rater's next task. A page that everybody must pass adds its gate here, in their order."""

from __future__ import annotations

from collections.abc import Callable

from konsil.store.access import Visitor
from konsil.web.site import Site

Gate = Callable[[Site, Visitor], str | None]
"""The name of the page (in the table of routes) that a visitor must pass first; None: nothing is in the way."""

GATES: tuple[Gate, ...] = ()


def in_the_way(site: Site, visitor: Visitor) -> str | None:
    """The name of the first page that a visitor must pass; None where the way is free."""
    return next((page for gate in GATES if (page := gate(site, visitor)) is not None), None)
