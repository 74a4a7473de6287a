"""Templates to responses: the only place that renders a page."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation
from functools import cache
from http import HTTPStatus

import jinja2
from babel import Locale
from babel.dates import format_date
from babel.numbers import format_decimal
from jinja2.runtime import Context
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from konsil.locale import catalogue_language, languages, translations
from konsil.locale.templates import environment as made_of
from konsil.store.people.access import Visitor
from konsil.web.http.statics import address
from konsil.web.rating.text.language import preferred
from konsil.web.rating.text.numbers import read_number
from konsil.web.site.site import site_of

LANGUAGE_COOKIE = "konsil-language"


def warm() -> None:
    """Read and compile every template in every language.

    Otherwise the first visitors would wait for this.
    """
    for language in languages():
        templates = environment(language)
        for name in templates.list_templates():
            templates.get_template(name)


@cache
def environment(language: str) -> jinja2.Environment:
    """The templates in one language, escaped by default; an undefined name is an error."""
    words = translations(language)
    templates = made_of("konsil.web", words.gettext, words.ngettext)
    templates.globals["static"] = address
    templates.globals["languages"] = {code: Locale(code).get_display_name() for code in languages()}
    templates.globals["read_number"] = read_number

    # With the context as an argument none is evaluated while a template is compiled: the code that
    # the languages share would hold the number or date of one of them.
    @jinja2.pass_context
    def decimal(_: Context, number: str) -> str:
        return shown_number(number, language)

    @jinja2.pass_context
    def number(_: Context, value: float) -> str:
        return format_decimal(value, "0.######", locale=language)

    @jinja2.pass_context
    def day(_: Context, at: str) -> str:
        return format_date(datetime.fromisoformat(at), "long", locale=language)

    templates.filters.update(decimal=decimal, number=number, day=day)
    return templates


def shown_number(number: str, language: str) -> str:
    """A number as it is written in a language.

    A number with more digits than a decimal can store is shown as it was typed.

    >>> shown_number("1234.5", "de"), shown_number("9" * 60, "de") == "9" * 60
    ('1.234,5', True)
    """
    try:
        return format_decimal(Decimal(number) + 0, "#,##0.####################", locale=language)
    except InvalidOperation:
        return number


def language_of(request: Request) -> str:
    """The language this visitor reads: chosen, else the browser's, else the study's."""
    visitor: Visitor | None = getattr(request.state, "visitor", None)
    chosen = visitor.language if visitor is not None else ""
    return (
        catalogue_language(chosen)
        or catalogue_language(request.cookies.get(LANGUAGE_COOKIE, ""))
        or preferred(request.headers.get("accept-language", ""))
        or catalogue_language(site_of(request).study.language)
        or "en"
    )


def page(
    request: Request, template: str, context: Mapping[str, object] | None = None, status: int = 200
) -> Response:
    """Render a template.

    Beside its context it has `language`, `study_title`, `signed_in`, `role`, `csrf`, `path`.
    """
    site, language = site_of(request), language_of(request)
    visitor: Visitor | None = getattr(request.state, "visitor", None)
    html = (
        environment(language)
        .get_template(template)
        .render(
            {
                "language": language,
                "study_title": site.study.title,
                "signed_in": visitor is not None,
                "role": visitor.role if visitor is not None else "",
                "csrf": visitor.csrf if visitor is not None else "",
                "static": lambda name: site.options.path + address(name),
                "path": lambda name, **parameters: path_to(request, name, **parameters),
                "here": request.url.path,
                "passkeys": site.options.passkeys,
                "sign_in": site.options.sign_in or "",
                "service": site.options.service,
                "centre": (
                    f"{site.options.centre}/"
                    if site.options.centre is not None
                    and visitor is not None
                    and visitor.role != "rater"
                    else ""
                ),
                "reviews": (
                    visitor is not None
                    and visitor.role == "rater"
                    and site.study.adjudication is not None
                ),
                "consents": (
                    visitor is not None and visitor.role == "rater" and bool(site.reception.version)
                ),
                **(context or {}),
            }
        )
    )
    return HTMLResponse(html, status)


def path_to(request: Request, name: str, **parameters: str) -> str:
    """The path of a page by its name in the table of routes, with what stands in braces there."""
    paths: Mapping[str, str] = request.app.state.paths
    return paths[name].format(**parameters)


def to(path: str) -> Response:
    """Go to a page of ours by GET."""
    return RedirectResponse(path, HTTPStatus.SEE_OTHER)


def wants_json(request: Request) -> bool:
    """Whether our module asks, and not a form."""
    return "application/json" in request.headers.get("accept", "")


def refusal(request: Request, status: int) -> Response:
    """Say that it cannot be done, and no more than that."""
    if wants_json(request):
        return JSONResponse({"error": status}, status)
    return page(request, "refusal.html", {"status": status}, status)
