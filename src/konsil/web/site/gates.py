"""The gates before a rater's next task, as functions of site and visitor, in their order.

A page that everybody must pass adds its gate here.
"""

from __future__ import annotations

from collections.abc import Callable

from konsil.store.people.access import Visitor
from konsil.web.site.site import Site

Gate = Callable[[Site, Visitor], str | None]
"""The name of the page (in the table of routes) that a visitor must pass first; None: nothing is in
the way."""


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


GATES: tuple[Gate, ...] = (enrolment_gate, place_gate, calibration_gate)


def first_open_prerequisite(
    site: Site, visitor: Visitor, *, before: Gate | None = None
) -> str | None:
    """The name of the first page that a visitor must pass.

    None where the way is free, as far as the gate `before`.
    """
    gates = GATES if before is None else GATES[: GATES.index(before)]
    return next((page for gate in gates if (page := gate(site, visitor)) is not None), None)
