"""How far the studies are, for the page that lists them. No label is read."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request

from konsil.errors import KonsilError
from konsil.records.roles import Role
from konsil.store.engine.engine import reading
from konsil.store.people.access import Visitor
from konsil.store.tasks import progress, withdrawal
from konsil.web.centre.registry import Registry, Served
from konsil.web.site.centre_cookie import centre_visitor
from konsil.web.site.scope import Scope, scope_within, tied_sites
from konsil.web.site.site import Site


@dataclass(frozen=True, slots=True)
class Standing:
    """One study as a row of the page."""

    title: str
    path: str
    """The path of its pages."""
    role: Role | None
    """The visitor's own role; None: the study is another group's, and its progress is not shown."""
    state: str
    """'unavailable', 'preparing', 'collecting' or 'complete'."""
    n_completed: int = 0
    total: int = 0


def members(registry: Registry, request: Request) -> dict[str, Visitor]:
    """Slug -> the visitor, in every study of which the visitor is signed-in staff."""
    visitors = {}
    for served in registry.studies:
        site = served.site
        visitor = None if site is None else _visitor(site, request)
        if visitor is not None:
            visitors[served.place.slug] = visitor
    return visitors


def _visitor(site: Site, request: Request) -> Visitor | None:
    # A study whose database fails must not take the page of the others down.
    try:
        return centre_visitor(site, request)
    except KonsilError:
        return None


def standings(registry: Registry, visitors: dict[str, Visitor]) -> list[Standing]:
    """All studies; progress only of those in which the visitor has a role."""
    return [_standing(registry, served, visitors) for served in registry.studies]


def _standing(registry: Registry, served: Served, visitors: dict[str, Visitor]) -> Standing:
    slug, site = served.place.slug, served.site
    path = f"{registry.options.path}/{slug}/"
    visitor = visitors.get(slug)
    if site is None:
        return Standing(slug, path, None, "unavailable")
    if visitor is None:
        return Standing(site.study.title, path, None, "")
    try:
        n_completed, total = counted(site, scope_within(site, tied_sites(site, visitor)))
    # The same: the state of one study is one row of the page.
    except KonsilError:
        return Standing(site.study.title, path, visitor.role, "unavailable")
    state = "preparing" if not total else "complete" if n_completed == total else "collecting"
    return Standing(site.study.title, path, visitor.role, state, n_completed, total)


def counted(site: Site, scope: Scope) -> tuple[int, int]:
    """Completed tasks and all tasks of the people in scope who have not withdrawn."""
    with reading(site.store.engine) as connection:
        counts = progress.counts(connection)
        withdrawn = withdrawal.withdrawn_raters(connection)
        panels = withdrawal.panels(connection, site.study)
    of_people = [
        c
        for c in counts
        if panels.get(c.rater, ("", ""))[1] == "human"
        and c.rater not in withdrawn
        and scope.sees(c.rater)
    ]
    return sum(c.n_completed for c in of_people), sum(c.tasks for c in of_people)
