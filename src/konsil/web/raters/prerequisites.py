"""What comes before a rater's next task.

A page that everybody must pass adds its gate here, in their order.
"""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from konsil.store.people.access import Visitor
from konsil.web.raters.gates import calibration_gate, enrolment_gate, place_gate
from konsil.web.site.guard import Endpoint, visitor_of
from konsil.web.site.pages import path_to, refusal, to, wants_json
from konsil.web.site.site import Site, site_of

Gate = Callable[[Site, Visitor], str | None]
"""The name of the page (in the table of routes) that a visitor must pass first; None: nothing is in
the way."""

GATES: tuple[Gate, ...] = (enrolment_gate, place_gate, calibration_gate)


def first_open_prerequisite(
    site: Site, visitor: Visitor, *, before: Gate | None = None
) -> str | None:
    """The name of the first page that a visitor must pass.

    None where the way is free, as far as the gate `before`.
    """
    gates = GATES if before is None else GATES[: GATES.index(before)]
    return next((page for gate in gates if (page := gate(site, visitor)) is not None), None)


def past_gates(endpoint: Endpoint, *, open_at: str = "") -> Endpoint:
    """The endpoint for those only who have passed every gate.

    Others are led to the first one before them.

    Without it an address that was kept from before would lead past a consent that was withdrawn.
    `open_at`: a gate at which the endpoint may be used all the same.
    """

    def behind(request: Request) -> Response:
        gate = first_open_prerequisite(site_of(request), visitor_of(request))
        if gate in (None, open_at or None):
            return endpoint(request)
        return refusal(request, 403) if wants_json(request) else to(path_to(request, gate))

    return behind
