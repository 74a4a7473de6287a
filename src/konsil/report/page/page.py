"""The page: everything it says, gathered, numbered and rendered."""

from __future__ import annotations

import base64
import hashlib
import platform
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files

import jinja2
from markupsafe import Markup

from konsil.errors.message import message
from konsil.locale.templates import environment as templates
from konsil.records import Answer, Item
from konsil.report.answers.answers import FirstPage, first_page
from konsil.report.answers.laid_figures import laid_figures
from konsil.report.answers.layouts import LaidTable, laid_tables
from konsil.report.cases.case_figures import case_figures
from konsil.report.cases.case_view import case_view
from konsil.report.codebook.codebook import markdown
from konsil.report.designs.designs import designs
from konsil.report.estimates.declared import declared, declared_heading
from konsil.report.estimates.estimates import AnalysisView, build_analysis_views
from konsil.report.estimates.labels import label_figures
from konsil.report.estimates.statistics_overview import glance
from konsil.report.estimates.times import times
from konsil.report.figures.drawing import Drawing
from konsil.report.material.digest import records_digest
from konsil.report.material.glossary import entry
from konsil.report.material.overview import Material, characteristics, flow, natural
from konsil.report.material.section import Section
from konsil.report.material.slugs import anchor
from konsil.report.models.calls import calls, derived_figures
from konsil.report.models.prompt_appendix import judges_prompt, systems_prompts
from konsil.report.models.usage import usage
from konsil.report.page.appendix import appendix_section
from konsil.report.page.extras import extra, reconciliation
from konsil.report.pairs.pairs import pair_figures
from konsil.report.people.composition import composition
from konsil.report.people.item_flow import funnel
from konsil.report.people.rater_flow import recruited
from konsil.report.people.workload import workload
from konsil.study import study_digest
from konsil.version import __version__

MOST_LIMITS = 3
"""Limitations on the first screen; further ones are folded."""
LONGEST = 1_500
"""Characters of a sample's text that are shown."""


@dataclass(frozen=True)
class Page:
    """The rendered page and the figures that are also files."""

    html: str
    """The whole document."""
    figures: tuple[Drawing, ...]
    """In the order of the page."""


_FILES = message(
    (
        "Unrounded results (12 significant digits) are in the same folder: estimates.csv,"
        " estimates.json, coverage.csv, labels.csv, outcomes.csv, orders.csv, usage.csv,"
        " bounds.csv, derived.csv, curves.csv and case_scores.csv; the figures (SVG) are in the"
        " folder figures."
    ),
    message_id="files.beside",
)


_PRELIMINARY = message(
    (
        "This page has only the analyses with a question. The audit log was not verified, p values"
        " are not adjusted for multiple testing, so no difference is called shown, and tables,"
        " sensitivity analyses, further analyses and methods are left out. Use the whole report for"
        " conclusions: konsil report."
    ),
    message_id="page.preliminary",
)


def render(material: Material, extras: Sequence[Section]) -> Page:
    """Gather everything and render it."""
    overview_figures = [*case_figures(material), *pair_figures(material), *glance(material)]
    design_section = designs(material)
    made_of = composition(material)
    called = calls(material)
    recruitment = recruited(material)
    labels = [*label_figures(material), *derived_figures(material)]
    views = build_analysis_views(material)
    added = [extra(material, section) for section in extras]
    used = {row.statistic for row in material.results.rows} | {
        a.statistic for a in material.study.analyses
    }
    tables = laid_tables(material)
    protocol_figures = laid_figures(material)
    first = first_page(material, tables)
    body_tables = _body_tables(first, tables)
    body_figures = _body_figures(first, views)
    appendix = [
        replace(v, figures=tuple(f for f in v.figures if f not in body_figures.get(v.name, ())))
        for v in views
    ]
    script = files("konsil.report").joinpath("templates/report.js").read_text("utf-8")
    html = (
        _environment(material)
        .get_template("page.html.j2")
        .render(
            study=material.study,
            results=material.results,
            themselves=_themselves(material),
            played=material.numbers.translated(material.results.played),
            stamp=material.stamp,
            lang=material.language.code,
            version=__version__,
            preliminary="",
            summary=_summary(material, views),
            first=first,
            most_limits=MOST_LIMITS,
            results_shown=any(a.table or a.laid for q in first.questions for a in q.answers),
            body_figures=body_figures,
            tables=body_tables,
            further_tables=[table for table in tables if table not in body_tables],
            protocol_figures=protocol_figures,
            script=Markup(script),  # noqa: S704 - a file of the package
            script_digest=f"sha256-{_base64_digest(script)}",
            characteristics=[
                *characteristics(material),
                *workload(material),
                *([spent] if (spent := times(material)) is not None else []),
            ],
            funnel=funnel(material),
            reconciliation=reconciliation(material),
            recruited=recruitment,
            composition=made_of,
            flow=flow(material),
            glance=overview_figures,
            designs=design_section,
            calls=called,
            usage=usage(material),
            labels=labels,
            prespecified=appendix_section(material, [t for t in appendix if t.prespecified]),
            declared=material.numbers.translated(
                declared_heading(material.results.plan, _declared(views))
            ),
            exploratory=appendix_section(material, [t for t in appendix if not t.prespecified]),
            extras=added,
            instruments=[
                (i, anchor("instrument", i.id), markdown(i), judges_prompt(material, i))
                for i in material.study.instruments
            ],
            told_systems=systems_prompts(material),
            samples=_samples(material),
            case=case_view(material),
            longest=LONGEST,
            versions=_versions(),
            files=material.numbers.translated(_FILES),
            digests=(
                material.digest or study_digest(material.study),
                records_digest(material.records),
            ),
            glossary=[
                (entry(name, material.language), anchor("statistic", name)) for name in sorted(used)
            ],
        )
    )
    parts = [part.figures for part in (recruitment, called) if part is not None]
    begun = (
        *first.figures,
        *(f.drawing for f in protocol_figures if f.drawing is not None),
        *overview_figures,
        *(design_section.figures if design_section else ()),
        *made_of,
        *(f for part in parts for f in part),
        *labels,
    )
    figures = (
        *begun,
        *(f for t in views for f in t.figures),
        *(f for e in added for f in e.figures),
    )
    return Page(html, figures)


def render_preliminary(material: Material) -> Page:
    """The first page alone, marked as preliminary, with what it leaves out."""
    first = first_page(material)
    html = (
        _environment(material)
        .get_template("page.html.j2")
        .render(
            study=material.study,
            results=material.results,
            themselves=_themselves(material),
            played=material.numbers.translated(material.results.played),
            stamp=material.stamp,
            lang=material.language.code,
            version=__version__,
            preliminary=material.numbers.translated(_PRELIMINARY),
            summary=_material_sentence(material),
            first=first,
            most_limits=MOST_LIMITS,
        )
    )
    return Page(html, first.figures)


def _body_figures(
    first: FirstPage, views: Sequence[AnalysisView]
) -> dict[str, tuple[Drawing, ...]]:
    """Of the answers that have more rows than a small figure: the first figure of the analysis."""
    by_name = {view.name: view for view in views}
    return {
        part.name: by_name[part.name].figures[:1] if a.figure is None else ()
        for q in first.questions
        for a in q.answers
        for part in a.parts
    }


def _base64_digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _body_tables(first: FirstPage, tables: Sequence[LaidTable]) -> list[LaidTable]:
    """The tables that the answers link to; the others are for the appendix, and the body short."""
    linked = {t.anchor for q in first.questions for a in q.answers for t in a.laid}
    return [t for t in tables if t.anchor in linked]


def _themselves(material: Material) -> str:
    """Raters of a simulated study whose ratings were not simulated.

    They rated themselves, as the simulation's event names them.
    """
    named = [e.data.get("but") for e in material.events if e.kind == "simulation"]
    return ", ".join(str(rater) for raters in named if isinstance(raters, list) for rater in raters)


class _Counter:
    """Numbers tables and figures in the order in which the page shows them."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}

    def __call__(self, kind: str) -> int:
        self._last[kind] = self._last.get(kind, 0) + 1
        return self._last[kind]


def _environment(material: Material) -> jinja2.Environment:
    environment = templates("konsil.report", material.language.gettext, material.language.ngettext)
    environment.globals["number"] = _Counter()
    environment.filters["count"] = material.numbers.count
    environment.filters["decimal"] = material.numbers.tick
    return environment


def _summary(material: Material, views: Sequence[AnalysisView]) -> str:
    text = declared(material.results.plan, _declared(views), len(views))
    return f"{_material_sentence(material)} {material.numbers.translated(text)}"


def _material_sentence(material: Material) -> str:
    results = material.results
    sentence = message(
        "{items:,} {items|item|items}, {answers:,} {answers|answer|answers} of {systems:,}"
        " {systems|system|systems}; {raters:,} {raters|rater|raters} in {panels:,}"
        " {panels|panel|panels}. Included are {rated:,} {rated|rating|ratings} and {abstained:,}"
        " {abstained|abstention|abstentions}; {excluded:,} further"
        " {excluded|rating was|ratings were} excluded, and {unreadable:,}"
        " {unreadable|response was|responses were} invalid.",
        message_id="summary.material",
        **material.counts(),
        rated=sum(row.rated for row in results.coverage),
        abstained=sum(row.abstained for row in results.coverage),
        unreadable=sum(row.unreadable for row in results.coverage),
        excluded=sum(n for row in results.coverage for n in row.excluded.values()),
    )
    return material.numbers.translated(sentence)


def _declared(analyses: Sequence[AnalysisView]) -> list[str]:
    return [t.name for t in analyses if t.prespecified]


def _samples(material: Material) -> list[tuple[Item, list[Answer]]]:
    """The first items by identifier, those with answers first.

    While numbers of single systems are withheld, without answers of which nothing is known but that
    they were rated: those that are missing would show whose ratings are.
    """
    by_item: dict[str, list[Answer]] = {}
    known = material.answer_lengths() if material.results.is_withheld else None
    for answer in material.answers:
        if known is not None and answer.id not in known:
            continue
        by_item.setdefault(answer.item, []).append(answer)
    chosen = sorted(material.items, key=lambda i: (i.id not in by_item, natural(i.id)))
    return [
        (item, sorted(by_item.get(item.id, []), key=lambda a: (natural(a.system), a.id)))
        for item in chosen[: max(0, material.study.sample_items)]
    ]


def _versions() -> list[tuple[str, str]]:
    versions = [("konsil", __version__), ("Python", platform.python_version())]
    for package in ("numpy", "scipy", "polars"):
        try:
            versions.append((package, version(package)))
        except PackageNotFoundError:
            continue
    return versions
