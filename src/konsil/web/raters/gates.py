"""The gates before a rater's first task, as functions of site and visitor.

`way.GATES` has their order.
"""

from __future__ import annotations

from konsil.store.people.access import Visitor
from konsil.web.site.site import Site


def enrolment_gate(site: Site, visitor: Visitor) -> str | None:
    """The first of consent, eligibility and profile that a visitor still lacks, or None.

    A rater rates only after consent to the present text, as an eligible person, and with a profile.
    """
    standing = site.reception.standing(visitor.who)
    if standing.consent not in ("given", "not asked"):
        return "consent"
    if not standing.eligible:
        return "eligibility"
    return None if standing.profiled else "profile"


def calibration_gate(site: Site, visitor: Visitor) -> str | None:
    """After the pilot: waiting for the others, and reasons for labels that lie far apart."""
    return "calibration" if site.pilot.is_in_the_way(visitor.who) else None


def place_gate(site: Site, visitor: Visitor) -> str | None:
    """Nobody has tasks who is not named by the protocol and has not taken a place."""
    return "place" if site.placing.needs_place(visitor.who) else None
