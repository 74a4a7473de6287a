"""Sites: the hospitals or practices to which raters belong.

A rater's site is the characteristic `site`. A coordinator may be tied to sites and then sees only
their raters; an open link may be tied to a site, and whoever comes by it belongs there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.errors import StoreError
from konsil.store.engine import page_schema, read
from konsil.store.engine.engine import writing
from konsil.store.log import audit
from konsil.store.log.covering import Traces, traces_of
from konsil.store.log.db import Store
from konsil.store.log.erasures import refuse_erased
from konsil.study import Study

SITE = "site"
"""The name of the characteristic."""
LONGEST = 200
"""Characters of a site's name."""
Kind = Literal["staff", "link", "rater"]


def tie(
    store: Store, kind: Kind, subject: str, sites: Iterable[str], *, at: str, by: str = ""
) -> None:
    """State the sites of a member of the staff, a link or a volunteer; none: all sites.

    What was stated before is replaced.
    """
    with writing(store.engine) as connection:
        tie_within(connection, kind, subject, sites, at=at, by=by)


def tie_within(
    connection: Connection,
    kind: Kind,
    subject: str,
    sites: Iterable[str],
    *,
    at: str,
    by: str = "",
) -> None:
    """The same in the caller's transaction."""
    names = sorted({site.strip() for site in sites} - {""})
    for name in names:
        if len(name) > LONGEST or not name.isprintable():
            raise StoreError(
                f"site: expected a name of 1 to {LONGEST} characters, got {name[:80]!r}"
            )
    refuse_erased(connection, subject)
    if names == sorted(sites_of(connection, kind, subject)):
        return
    table = page_schema.sites
    where = sa.and_(table.c.kind == kind, table.c.subject == subject)
    removed = connection.execute(sa.select(table.c.id).where(where)).scalars().all()
    connection.execute(sa.delete(table).where(where))
    for name in names:
        connection.execute(
            sa.insert(table).values(
                id=f"{kind} {subject} {name}", kind=kind, subject=subject, site=name
            )
        )
    traces: Traces = {"sites": dict.fromkeys(removed, "")}
    traces["sites"] |= traces_of("sites", connection, where)["sites"]
    data = {"kind": kind, "who": subject, "sites": names, "traces": traces, "salted": True}
    audit.append(connection, audit.SITES, data | ({"by": by} if by else {}), at)


def sites_of(connection: Connection, kind: Kind, subject: str) -> frozenset[str]:
    """The sites to which somebody or a link is tied; none: to no site in particular."""
    c = page_schema.sites.c
    query = sa.select(c.site).where(c.kind == kind, c.subject == subject)
    return frozenset(connection.execute(query).scalars())


def site_by_rater(connection: Connection, study: Study) -> dict[str, str]:
    """Rater -> site, as far as it is known."""
    c = page_schema.sites.c
    query = sa.select(c.subject, c.site).where(c.kind == "rater").order_by(c.id)
    sites = {str(rater): str(site) for rater, site in connection.execute(query)}
    for rater in (*read.each(connection, "raters"), *study.raters):
        if SITE in rater.strata:
            sites[rater.id] = rater.strata[SITE]
    return sites


def known_sites(connection: Connection, study: Study) -> tuple[str, ...]:
    """All sites of the study: those of its raters, its places and its links."""
    named = set(site_by_rater(connection, study).values())
    named |= {place.strata[SITE] for place in study.places if SITE in place.strata}
    named |= set(connection.execute(sa.select(page_schema.sites.c.site)).scalars())
    return tuple(sorted(named))
