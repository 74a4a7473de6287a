"""The page: everything it says, gathered, numbered and rendered."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from types import CodeType

import jinja2
from jinja2.bccache import Bucket
from markdown_it import MarkdownIt
from markupsafe import Markup

from konsil.analysis.model.message import message
from konsil.instrument import Instrument
from konsil.records import Answer, Item
from konsil.report.cases.case_figures import case_figures
from konsil.report.cases.case_view import case_view
from konsil.report.designs.designs import designs
from konsil.report.estimates.estimates import AnalysisView, build_analysis_views
from konsil.report.estimates.key_estimates import key_numbers
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
from konsil.report.page.declared import declared, declared_heading
from konsil.report.page.extras import extra
from konsil.report.page.reconciliation import reconciliation
from konsil.report.pairs.pairs import pair_figures
from konsil.report.people.composition import composition
from konsil.report.people.item_flow import funnel
from konsil.report.people.rater_flow import recruited
from konsil.study import study_digest
from konsil.version import __version__

SAMPLES = 3
"""How many items are shown with their answers."""
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
        " bounds.csv, derived.csv and curves.csv; the figures (SVG and PDF) are in the folder"
        " figures."
    ),
    message_id="files.beside",
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
            summary=_summary(material, views),
            key_numbers=key_numbers(material),
            characteristics=[
                *characteristics(material),
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
            prespecified=[t for t in views if t.prespecified],
            declared=material.numbers.translated(
                declared_heading(material.results.plan, _declared(views))
            ),
            exploratory=[t for t in views if not t.prespecified],
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


class _Compiled(jinja2.BytecodeCache):
    """Templates are compiled once a process, not once a page.

    The key holds a digest of the source.
    """

    def __init__(self) -> None:
        self._code: dict[str, CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._code.get(f"{bucket.key}-{bucket.checksum}")

    def dump_bytecode(self, bucket: Bucket) -> None:
        if bucket.code is not None:
            self._code[f"{bucket.key}-{bucket.checksum}"] = bucket.code


_COMPILED = _Compiled()


def _environment(material: Material) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("konsil.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
        bytecode_cache=_COMPILED,
    )
    environment.install_gettext_callables(  # type: ignore[attr-defined]
        material.language.gettext, material.language.ngettext, newstyle=True
    )
    environment.globals["number"] = _Counter()
    environment.filters["count"] = material.numbers.count
    environment.filters["decimal"] = material.numbers.tick
    return environment


def markdown(instrument: Instrument) -> Markup:
    """The codebook as HTML: no raw HTML, no images, headings below those of the page."""
    parser = (
        MarkdownIt("commonmark", {"html": False})
        .enable("table")
        .disable(["image", "html_block", "html_inline"])
    )
    tokens = parser.parse(instrument.codebook)
    levels = [int(t.tag[1]) for t in tokens if t.type == "heading_open"]
    shallowest = min(levels, default=1)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) - shallowest + 5)}"
    return Markup(parser.renderer.render(tokens, parser.options, {}))  # noqa: S704 - html is off in the parser


def _summary(material: Material, views: Sequence[AnalysisView]) -> str:
    results, numbers = material.results, material.numbers
    sentence = message(
        "{items:,} {items|item|items}, {answers:,} {answers|answer|answers} of {systems:,}"
        " {systems|system|systems} and {raters:,} {raters|rater|raters} in {panels:,}"
        " {panels|panel|panels} gave {rated:,} {rated|label|labels} and {abstained:,}"
        " {abstained|abstention|abstentions}; {unreadable:,} {unreadable|reply was|replies were}"
        " unreadable and {excluded:,} {excluded|rating was|ratings were} excluded.",
        message_id="summary.material",
        items=len(material.items),
        answers=len(material.answers),
        systems=len(material.study.systems) or len({a.system for a in material.answers}),
        raters=len(material.raters),
        panels=len(material.panels()),
        rated=sum(row.rated for row in results.coverage),
        abstained=sum(row.abstained for row in results.coverage),
        unreadable=sum(row.unreadable for row in results.coverage),
        excluded=sum(n for row in results.coverage for n in row.excluded.values()),
    )
    return (
        f"{numbers.translated(sentence)}"
        f" {numbers.translated(declared(results.plan, _declared(views), len(views)))}"
    )


def _declared(analyses: Sequence[AnalysisView]) -> list[str]:
    return [t.name for t in analyses if t.prespecified]


def _samples(material: Material) -> list[tuple[Item, list[Answer]]]:
    """The first items by identifier, those with answers first."""
    by_item: dict[str, list[Answer]] = {}
    for answer in material.answers:
        by_item.setdefault(answer.item, []).append(answer)
    chosen = sorted(material.items, key=lambda i: (i.id not in by_item, natural(i.id)))[:SAMPLES]
    return [
        (item, sorted(by_item.get(item.id, []), key=lambda a: (natural(a.system), a.id)))
        for item in chosen
    ]


def _versions() -> list[tuple[str, str]]:
    versions = [("konsil", __version__), ("Python", platform.python_version())]
    for package in ("numpy", "scipy", "polars"):
        try:
            versions.append((package, version(package)))
        except PackageNotFoundError:
            continue
    return versions
