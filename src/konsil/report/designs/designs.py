"""Comparison of designs: whole answers or their sentences, and the number of sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from konsil.analysis import Analysis, Row
from konsil.analysis.model.catalogue.known import AGREEMENT, COSTS, PARTS, TIMED
from konsil.report.designs.budgets import budget_table, hours_table
from konsil.report.designs.design_curves import (
    NOTHING,
    about_design,
    cost_curves,
    described_points,
    part_curves,
    point_of,
)
from konsil.report.designs.design_figures import Curve, Panel, curves
from konsil.report.designs.recommendations import advice_table, ranking_table
from konsil.report.figures.drawing import Drawing
from konsil.report.figures.small_multiples import Column, columns
from konsil.report.figures.svg_primitives import Dot, ValueAxis
from konsil.report.material.glossary import title
from konsil.report.material.overview import Material, natural
from konsil.report.material.shared_figures import DESIGN
from konsil.report.material.tables import MINUS, Table

MOST_ROWS = 24
"""Rows of one figure of designs side by side."""


@dataclass(frozen=True)
class Designs:
    """The section, ready for the page."""

    tables: tuple[Table, ...]
    """The recommendation and what a budget buys."""
    figures: tuple[Drawing, ...]
    """Designs side by side, curves by sentences."""


def designs(material: Material) -> Designs | None:
    """The section; None where no analysis compares designs or follows the number of sentences."""
    rows = [r for r in material.results.estimable_rows if not r.detail]
    of: dict[str, list[Row]] = {}
    for r in rows:
        of.setdefault(r.analysis, []).append(r)
    analyses = [a for a in material.study.analyses if a.name in of]
    compared = [a for a in analyses if a.compare in DESIGN]
    if not compared and not any(a.statistic in {*PARTS, *COSTS} for a in analyses):
        return None
    figures: list[Drawing] = []
    for kind, members in _kinds(material, compared).items():
        figures += _side_by_side(material, kind, members, of)
    figures += [
        *_systems(material, analyses, of),
        *part_curves(material, analyses, of),
        *cost_curves(material, analyses, of),
    ]
    tables = (
        make(material, analyses, of)
        for make in (advice_table, ranking_table, hours_table, budget_table)
    )
    return Designs(tuple(t for t in tables if t is not None), tuple(figures))


def _kinds(material: Material, compared: Sequence[Analysis]) -> dict[str, list[Analysis]]:
    """Analyses that compare designs, by what they measure.

    Means of systems have a figure of another form.
    """
    _ = material.language.gettext
    by_kind: dict[str, list[Analysis]] = {}
    for a in compared:
        if a.against is not None:
            kind = _("LLM judges compared with the panel, by design")
        elif a.statistic in AGREEMENT:
            kind = _("Agreement by design")
        elif a.statistic == "self_agreement":
            kind = _("Intra-rater agreement by design")
        elif a.statistic in TIMED:
            kind = _("Seconds by design")
        elif a.statistic == "length_correlation":
            kind = _("Rating and length by design")
        elif "system" in a.by:
            continue
        else:
            kind = _("Ratings of the designs themselves")
        by_kind.setdefault(kind, []).append(a)
    return by_kind


def _side_by_side(
    material: Material, kind: str, members: Sequence[Analysis], of: Mapping[str, Sequence[Row]]
) -> Iterator[Drawing]:
    """Each design in a column, and the paired difference beside them."""
    _, numbers = material.language.gettext, material.numbers
    names: dict[str, str] = {}  # a row's name and its analysis' part of it
    values: dict[str, dict[str, Dot]] = {}
    of_zero: set[str] = set()
    for a in members:
        for r in of[a.name]:
            if r.kind == "companion":
                continue
            rest = [v for c, v in r.group.items() if c != a.compare]
            name = ", ".join([a.name, *rest])
            column = r.group.get(a.compare, "")
            if r.kind == "difference":
                column = f"{column} {MINUS} {r.versus.get(a.compare, '')}"
                of_zero.add(column)
            names.setdefault(name, a.name)
            e = r.estimate
            values.setdefault(column, {})[name] = Dot(name, e.value, e.low, e.high, "")
    if not names or len(values) > 4:
        return
    drop = len(_shared_heading(list(names.values())))
    nothing = Dot("", math.nan, math.nan, math.nan, "")
    for n in range(0, len(names), MOST_ROWS):
        part = list(names)[n : n + MOST_ROWS]
        shown = [
            Column(
                column,
                [dots.get(name, nothing) for name in part],
                0.0 if column in of_zero else None,
            )
            for column, dots in values.items()
        ]
        caption = _("%(what)s. Dots: estimates; lines: CI. Differences use the same resamples.")
        about = about_design(
            material,
            "designs",
            kind,
            caption % {"what": kind},
            n,
            [
                f"{c.title}: "
                + ", ".join(
                    f"{x} {numbers.plain(d.value)}" for x, d in zip(part, c.dots, strict=True)
                )
                for c in shown
            ],
        )
        yield columns(about, [name[drop:] for name in part], shown, numbers)


def _shared_heading(names: Sequence[str]) -> str:
    """What stands before the colon in the names of all analyses; empty where they differ.

    The figure's title says it, so that its rows need not.

    >>> _shared_heading(["Agreement: accuracy", "Agreement: safety"])
    'Agreement: '
    >>> _shared_heading(["Agreement: accuracy", "safety"])
    ''
    """
    headings = {name[: name.index(": ") + 2] if ": " in name else "" for name in names}
    return headings.pop() if len(headings) == 1 else ""


def _systems(
    material: Material, analyses: Sequence[Analysis], of: Mapping[str, Sequence[Row]]
) -> Iterator[Drawing]:
    """Systems along the axis, a line for each design, a panel for each criterion."""
    _ = material.language.gettext
    chosen: dict[str, Analysis] = {}
    for a in analyses:
        column = next((c for c in DESIGN if c in a.by), "")
        if a.statistic in {"share", "mean"} and column and set(a.by) == {column, "system"}:
            chosen.setdefault(f"{a.criterion}, {a.collapse}, {a.spans}", a)
    if not chosen:
        return
    panels, order = [], [s.id for s in material.study.systems]
    rated = {
        r.group["system"]
        for a in chosen.values()
        for r in of[a.name]
        if r.kind == "estimate" and r.group
    }
    systems = [s for s in order if s in rated] + sorted(rated - set(order), key=natural)
    for a in chosen.values():
        column = next(c for c in DESIGN if c in a.by)
        points = {
            (r.group[column], r.group["system"]): point_of(r)
            for r in of[a.name]
            if r.kind == "estimate" and r.group
        }
        designs = list(dict.fromkeys(d for d, _s in points))[:2]
        lines = [
            Curve(d, [points.get((d, s), NOTHING) for s in systems], n)
            for n, d in enumerate(designs)
        ]
        panels.append(Panel(a.criterion, lines))
    if not systems:
        return  # nothing but the pilot was rated so far
    word = _("Systems by design")
    caption = _("%(what)s: estimates with CIs.") % {"what": word}
    first = next(iter(chosen.values()))
    limits = (-0.02, 1.02) if first.statistic == "share" else None
    yield curves(
        about_design(
            material, "designs", word, caption, 0, described_points(material, systems, panels)
        ),
        systems,
        panels,
        material.numbers,
        axis=ValueAxis(title(first.statistic, material.language), limits=limits),
        along="",
        joined=False,
    )
