"""Endpoints of the calibration after a pilot.

Raters wait for the others, write their reasons, and read those of the others.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from konsil.web.site.gates import calibration_gate, first_open_prerequisite
from konsil.web.site.guard import form_of, visitor_of
from konsil.web.site.pages import page, path_to, to
from konsil.web.site.site import site_of


def calibration(request: Request) -> Response:
    """The next difference to write about; when all are written, what the others wrote."""
    return _page(request)


def _page(request: Request, empty: bool = False) -> Response:
    pilot, rater = site_of(request).pilot, visitor_of(request).who
    if (
        first_open_prerequisite(site_of(request), visitor_of(request), before=calibration_gate)
        is not None
    ):
        return to(path_to(request, "next"))
    look = pilot.look(rater)
    if look is None or (not look.shown and not look.waiting):
        return to(path_to(request, "next"))
    context = {
        "waiting": look.waiting,
        "now": look.shown[0] if look.number <= look.total else None,
        "number": look.number,
        "total": look.total,
        "shown": look.shown,
        "empty": empty,
    }
    return page(request, "calibration.html", context, 422 if empty else 200)


def say_calibration(request: Request) -> Response:
    """Keep a reason, and go on to the next difference."""
    form = form_of(request)
    if (
        first_open_prerequisite(site_of(request), visitor_of(request), before=calibration_gate)
        is not None
    ):
        return to(path_to(request, "calibration"))
    is_written = site_of(request).pilot.write(
        visitor_of(request).who, form.get("about", ""), form.get("text", "")
    )
    return to(path_to(request, "calibration")) if is_written else _page(request, empty=True)
