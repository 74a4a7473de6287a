"""Endpoints: data-quality flags, answers that name a system or its maker, and interim quality.

Flags are for the analyst and the owner. Coordinators see the pooled interim quality only where the
protocol plans interim looks: otherwise agreement is an outcome.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import groupby

from starlette.requests import Request
from starlette.responses import Response

from konsil.errors import KonsilError
from konsil.instrument import Criterion
from konsil.instrument.definition.mirror import mirrored
from konsil.store.engine.engine import reading
from konsil.store.release.blinding import key, veiling
from konsil.store.tasks import withdrawal
from konsil.store.tasks.submissions import looks
from konsil.study.data.blinding import pair_criteria
from konsil.study.interim.quality import PanelQuality, panel_qualities, records_of
from konsil.web.http import formatting
from konsil.web.http.naming import named
from konsil.web.office.inattention_flags import (
    FAST,
    FAST_SHARE,
    FEWEST,
    RUN,
    SAME,
    SAME_MORE,
    Screen,
    signs,
)
from konsil.web.office.office import office
from konsil.web.site.guard import visitor_of
from konsil.web.site.interval_picture import IntervalPicture, interval_picture
from konsil.web.site.pages import language_of
from konsil.web.site.site import Site, site_of

MOST_NAMED = 200
"""Answers that are listed."""
ABSTAINED = ""
"""What an abstention counts as in a run."""


def flags(request: Request) -> Response:
    """Who stands out in the panel, and where blinding may leak."""
    site, owner = site_of(request), visitor_of(request).role == "owner"
    pairs = pair_criteria(site.study.instruments)
    with reading(site.store.engine) as connection:
        panels = {
            rater: panel for rater, (panel, _) in withdrawal.panels(connection, site.study).items()
        }
        screens = [
            Screen(
                rater,
                instrument,
                seconds,
                tuple(
                    (name, _as_shown(pairs.get(name), label, turned))
                    for *_, name, label, turned in rows
                ),
            )
            for (rater, _, instrument, seconds), rows in groupby(
                looks(connection), key=lambda look: look[:4]
            )
        ]
    with site.store.view() as view:
        hits = list(named(view.each("answers"), site.study.systems))
    context = {
        "found": signs(screens, panels),
        "panels": panels,
        "hits": len(hits),
        # Whose answer names whom would take the blindness from an analyst.
        "named": hits[:MOST_NAMED] if owner else (),
        "rules": {
            "fast": round(FAST * 100),
            "share": round(FAST_SHARE * 100),
            "fewest": FEWEST,
            "same": SAME,
            "more": round(SAME_MORE * 100),
            "run": round(RUN),
        },
    }
    return office(request, "office_flags.html", context)


def _as_shown(pair: Criterion | None, label: str | None, is_turned: bool) -> str:
    """The label as chosen on the screen, where a preference for the first place shows."""
    if label is None:
        return ABSTAINED
    return (mirrored(pair, label) or label) if pair is not None and is_turned else label


def quality(request: Request) -> Response:
    """Agreement, abstentions and drift by criterion; nothing by system."""
    site = site_of(request)
    is_open = site.study.interim is not None or visitor_of(request).role != "coordinator"
    panels: Sequence[PanelQuality] = ()
    fault = False
    if is_open:
        try:
            panels = _panels(site)
        except KonsilError:  # ratings of another protocol, which the report's commands explain
            fault = True
    context = {
        "is_open": is_open,
        "fault": fault,
        "panels": panels,
        "pictures": _pictures(panels),
        **{
            name: partial(formatting.number, language=language_of(request), digits=digits)
            for name, digits in (("decimal", 3), ("number", 2), ("seconds", 0))
        },
    }
    return office(request, "office_quality.html", context)


def _pictures(panels: Sequence[PanelQuality]) -> dict[tuple[str, str], IntervalPicture]:
    """(Panel, '') -> agreement of its criteria; (panel, criterion) -> over its periods.

    Without those that have no estimate.
    """
    pictures = {}
    for panel in panels:
        overall = [(criterion.criterion, criterion.agreement) for criterion in panel.criteria]
        pictures[panel.panel, ""] = interval_picture(overall)
        for criterion in panel.criteria:
            if criterion.periods:
                parts = [(period.name or "–", period.agreement) for period in criterion.periods]
                pictures[panel.panel, criterion.criterion] = interval_picture(parts)
    return {key: picture for key, picture in pictures.items() if picture is not None}


def _panels(site: Site) -> Sequence[PanelQuality]:
    """The panels' quality, computed again only after the log has a new entry."""
    # Before the records: what is stored meanwhile has another head and is computed anew.
    head, stored = site.store.log_head(), site.panel_qualities
    if (panels := stored.get(head)) is not None:
        return panels
    with site.store.view() as view:
        events = tuple(view.each("events"))
        shown = veiling(site.study, key(site.store))(view)
        data = records_of(site.study, shown, events)
    panels = panel_qualities(site.study, data, events)
    stored.clear()
    stored[head] = panels
    return panels
