"""Sections that a caller adds, made ready for the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from konsil.report.estimates.plots import paged
from konsil.report.figures.drawing import Drawing
from konsil.report.figures.figures import forest
from konsil.report.figures.svg_primitives import About, Dot, ValueAxis
from konsil.report.material.overview import Material
from konsil.report.material.section import Recovered, Section
from konsil.report.material.slugs import anchor
from konsil.report.material.tables import Cell, Numbers, Table, table


@dataclass(frozen=True)
class Extra:
    """A caller's section, ready for the page."""

    anchor: str
    """Where the page links to."""
    title: str
    """The heading."""
    paragraphs: tuple[str, ...]
    """Plain text."""
    tables: tuple[Table, ...]
    """Its tables."""
    figures: tuple[Drawing, ...]
    """Its figures."""


def extra(material: Material, section: Section) -> Extra:
    """Round, number and draw what the caller gave."""
    _, numbers = material.language.gettext, material.numbers
    section = _translated(section, numbers)
    tables: list[Table] = []
    figures: list[Drawing] = []
    if section.header:
        rows = [[numbers.cell(value) for value in row] for row in section.rows]
        caption = material.caption(section.caption or section.title)
        tables.append(table(caption, section.header, rows, general=section.notes))
    if section.recovered:
        rows = []
        for parameter in section.recovered:
            e = parameter.estimate
            inside = _("yes") if e.low <= parameter.truth <= e.high else _("no")
            truth = Cell(numbers.plain(parameter.truth), number=True)
            covered = Cell(inside if e.low == e.low else "–")
            rows.append(
                [Cell(parameter.group), Cell(_name(parameter)), truth, numbers.estimate(e), covered]
            )
        head = (
            _("Group"),
            _("Parameter"),
            _("True value"),
            _("Estimate and interval"),
            _("CI contains true value"),
        )
        first = 0 if any(parameter.group for parameter in section.recovered) else 1
        caption = material.caption(_("True values of the simulation and estimates."))
        general = [_("By definition, a 95% CI misses the true value in one of 20 cases.")]
        general += () if section.header else section.notes
        shown = [row[first:] for row in rows]
        tables.append(table(caption, head[first:], shown, row_heads=2 - first, general=general))
        figures += _recovery(material, section)
    return Extra(
        anchor("section", section.title),
        section.title,
        section.paragraphs,
        tuple(tables),
        tuple(figures),
    )


def _translated(section: Section, numbers: Numbers) -> Section:
    """The section in the report's language, where the caller's texts can be told in it."""

    def translated(texts: Sequence[str]) -> tuple[str, ...]:
        return tuple(numbers.translated(text) for text in texts)

    return replace(
        section,
        title=numbers.translated(section.title),
        paragraphs=translated(section.paragraphs),
        header=translated(section.header),
        rows=tuple(
            tuple(numbers.translated(v) if isinstance(v, str) else v for v in row)
            for row in section.rows
        ),
        caption=numbers.translated(section.caption),
        notes=translated(section.notes),
        recovered=tuple(
            replace(r, name=numbers.translated(r.name), group=numbers.translated(r.group))
            for r in section.recovered
        ),
    )


def _name(parameter: Recovered) -> str:
    """The parameter without its group, which is next to or above it."""
    return (
        parameter.name.removeprefix(f"{parameter.group}: ") if parameter.group else parameter.name
    )


def _recovery(material: Material, section: Section) -> list[Drawing]:
    _, numbers = material.language.gettext, material.numbers
    dots = [
        Dot(
            _name(r),
            r.estimate.value,
            r.estimate.low,
            r.estimate.high,
            numbers.with_interval(r.estimate),
            r.group,
            r.truth,
        )
        for r in section.recovered
    ]
    parts = paged(dots)
    drawings = []
    for n, part in enumerate(parts):
        caption = _("Diamonds: true values; dots: estimates; lines: CI.")
        if len(parts) > 1:
            caption += " " + _("Part %(n)s of %(total)s.") % {"n": n + 1, "total": len(parts)}
        about = About(
            key=anchor("recovery", section.title) + (f"-{n + 1}" if len(parts) > 1 else ""),
            title=section.title,
            description="; ".join(f"{d.label}: {numbers.plain(d.mark)}, {d.text}" for d in part),
            caption=material.caption(caption),
            stamp=material.stamp,
        )
        heading = _("Estimate and interval")
        drawings.append(
            forest(
                about,
                part,
                numbers,
                axis=ValueAxis(_("Value")),
                heading=heading,
                mark=_("true value"),
            )
        )
    return drawings
