"""GETTING ratings from people: the rating pages, and the pages of those who run a study.

Who calls whom, from the network inwards; each folder knows only what stands below it:

    app         the server, its middleware, and EVERY page in one table (`routes`)
    raters      endpoints of raters: invitation, consent and profile, the rating page, reviews
    office      endpoints of the study team: progress, letters, flags, screening, marking
    design      the set-up of a study on its own server, before there is a database
    kit         a rater's batch as one file without a server, and what comes back of it
    site        a study with its store, options and clock; the guard, the gates, the templates
    rating      the services for raters, without HTTP: tasks, forms, order, places, reviews
    curation    the services for curators, without HTTP
    http        security headers, static files, limits of attempts, logs without addresses

What is not in `routes.ROUTES` does not exist. `site.guard` turns the cookie into a Visitor, checks
role, token and origin, and denies by default; `site.gates` are the steps that come before rating;
`site.pages` is the only place that renders a rating page. `rating.rating_service` opens, saves and
submits in one transaction each. The database's side of it is konsil.store.

To add a page: write its endpoint in a module of its own (`def page(request) -> Response`,
synchronous, run in a thread), its template in templates/ (it extends layout.html), a row in
`routes.ROUTES` with the roles that may see it, its words in locale/de.po. What it does belongs into
a service without HTTP, so that tests and the rehearsal call it without a browser. A page that
everybody must pass before rating (consent, a survey) is also a gate in `site.gates.GATES`. An
unsafe method needs nothing more: the guard has checked its token and origin already.

Blinding is structural: a template gets a Sheet, never a record; URLs have `screens.public`, never a
task's name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from konsil.web.app.app import create_app
    from konsil.web.site.site import Options

__all__ = ["Options", "create_app"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module attribute
    """Load the application when it is asked for: the services are used without a server too."""
    if name == "create_app":
        from konsil.web.app.app import create_app

        return create_app
    if name == "Options":
        from konsil.web.site.site import Options

        return Options
    raise AttributeError(f"module 'konsil.web' has no attribute {name!r}")
