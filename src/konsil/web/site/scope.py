"""Who sees whom: the raters that a visitor's pages may be about.

A coordinator who is tied to sites sees the raters of these sites. All others see all raters. The
table of routes states which pages a tied coordinator has; those pages ask here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

from starlette.requests import Request

from konsil.store.engine.engine import reading
from konsil.store.people.access import Visitor
from konsil.store.people.sites import SITE, site_by_rater, sites_of
from konsil.web.site.site import Site, site_of


class _AboutRater(Protocol):
    @property
    def rater(self) -> str: ...


AboutRater = TypeVar("AboutRater", bound=_AboutRater)


@dataclass(frozen=True, slots=True)
class Scope:
    """The raters of one visitor."""

    sites: frozenset[str] | None = None
    """The sites of the visitor; None: all."""
    raters: frozenset[str] = frozenset()
    """The raters of these sites; without meaning where the visitor sees all."""

    @property
    def is_tied(self) -> bool:
        """Whether the visitor sees a part of the raters only."""
        return self.sites is not None

    def sees(self, rater: str) -> bool:
        """Whether the visitor's pages may be about this rater."""
        return self.sites is None or rater in self.raters

    def own(self, records: Iterable[AboutRater]) -> tuple[AboutRater, ...]:
        """The records about raters whom the visitor sees."""
        return tuple(record for record in records if self.sees(record.rater))

    def has_site(self, strata: Mapping[str, str]) -> bool:
        """Whether what has these characteristics is of the visitor's sites."""
        return self.sites is None or strata.get(SITE) in self.sites


def tied_sites(site: Site, visitor: Visitor | None) -> frozenset[str] | None:
    """The sites to which a visitor is tied; None for all others."""
    if visitor is None or visitor.role != "coordinator":
        return None
    with reading(site.store.engine) as connection:
        return sites_of(connection, "staff", visitor.who) or None


def scope_of(request: Request) -> Scope:
    """The raters of the visitor who asks; a page that lists raters takes none but these."""
    sites: frozenset[str] | None = request.state.sites
    return scope_within(site_of(request), sites)


def scope_within(site: Site, sites: frozenset[str] | None) -> Scope:
    """The raters of these sites of a study; None: all."""
    if sites is None:
        return Scope()
    with reading(site.store.engine) as connection:
        people = site_by_rater(connection, site.study)
    return Scope(sites, frozenset(rater for rater, site in people.items() if site in sites))
