"""Endpoints of adjudication for raters: their list and each disagreement."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from konsil.web.site.guard import form_of, visitor_of
from konsil.web.site.pages import page, path_to, refusal, to
from konsil.web.site.site import site_of


def reviews(request: Request) -> Response:
    """What the visitor looks at together with others."""
    rows = site_of(request).adjudicating.rows(visitor_of(request).who)
    context = {
        "rows": rows,
        "open": sum(not (r.decided or r.closed) for r in rows),
        "study_language": site_of(request).study.language,
    }
    return page(request, "adjudications.html", context)


def review(request: Request) -> Response:
    """One disagreement: the answers, all labels and reasons, and the visitor's own label.

    The visitor keeps or changes that label.
    """
    return _review(request)


def _review(request: Request, fault: str = "", status: int = 200) -> Response:
    current_review = site_of(request).adjudicating.review(
        visitor_of(request).who, request.path_params["about"]
    )
    if current_review is None:
        return refusal(request, 404)
    sent = form_of(request) if fault else {}
    context = {
        "one": current_review,
        "fault": fault,
        "label": sent.get("label", current_review.label),
        "reason": sent.get("reason", current_review.reason),
    }
    return page(request, "adjudication.html", context, status)


def decide(request: Request) -> Response:
    """Keep or change the label, and go on to the next disagreement."""
    adjudicating, rater, about = (
        site_of(request).adjudicating,
        visitor_of(request).who,
        request.path_params["about"],
    )
    fault = adjudicating.decide(rater, about, form_of(request))
    if fault == "unknown":
        return refusal(request, 404)
    if fault:
        return _review(request, fault, 409 if fault == "closed" else 422)
    rest = next((r.about for r in adjudicating.rows(rater) if not (r.decided or r.closed)), None)
    return to(
        path_to(request, "reviews") if rest is None else path_to(request, "review", about=rest)
    )
