"""Endpoints that are open only to raters who have passed every gate before their next task."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from konsil.web.site.gates import (
    first_open_prerequisite,
)
from konsil.web.site.guard import Endpoint, visitor_of
from konsil.web.site.pages import path_to, refusal, to, wants_json
from konsil.web.site.site import site_of


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
