"""The small figure beside an answer: estimates in order, or differences where there is no more."""

from __future__ import annotations

import math
from collections.abc import Sequence

from konsil.analysis import Row
from konsil.analysis.model.catalogue.known import OF_ZERO
from konsil.analysis.model.message import message
from konsil.report.answers.sentences import Query, group_name
from konsil.report.answers.units import PERCENT, POINTS
from konsil.report.figures.drawing import Drawing
from konsil.report.figures.plots import pass_line
from konsil.report.figures.small_forest import small_forest
from konsil.report.figures.svg_primitives import About, Dot, ValueAxis, span
from konsil.report.material.glossary import entry
from konsil.report.material.overview import Material
from konsil.report.material.slugs import anchor
from konsil.report.material.table_rows import (
    benchmark_names,
    contrast,
    in_order,
    join,
    shared_contrast,
)

MOST_ROWS = 10
"""Rows of the figure; an analysis with more has its own figure in the results."""


def answer_figure(material: Material, query: Query) -> Drawing | None:
    """The figure; None where there are no estimates, or more than fit."""
    joined = [line for line in join(query.rows) if line.row.kind == "estimate"]
    marks = {
        id(line.row): line.benchmark.estimate.value for line in joined if line.benchmark is not None
    }
    lines = [
        line.row for line in in_order(material, joined) if math.isfinite(line.row.estimate.value)
    ]
    is_difference = not lines
    rows = lines or [
        r for r in query.rows if r.kind == "difference" and math.isfinite(r.estimate.value)
    ]
    if not 1 <= len(rows) <= MOST_ROWS:
        return None
    if len(rows) > 1 and not _has_order(rows):
        rows = sorted(rows, key=lambda r: -r.estimate.value)
    factor, numbers = query.unit.factor, material.numbers
    dots = [
        Dot(
            _name(material, query, r),
            r.estimate.value * factor,
            r.estimate.low * factor,
            r.estimate.high * factor,
            "",
            mark=marks.get(id(r), math.nan) * factor,
        )
        for r in rows
    ]
    reference, name = _reference(material, query, is_difference)
    reference = None if reference is None else reference * factor
    title = _title(query, rows)
    if query.spec.statistic in POINTS:
        points = message("{points} percentage points", message_id="answer.points", points="")
        title += f" ({numbers.translated(points).strip()})"
    elif factor != 1:
        title += " (%)"
    shown = numbers.translated(
        message(
            "{quantity}: estimates (dots) and CIs (lines).",
            message_id="answer.figure",
            quantity=query.quantity,
        )
    )
    about = About(
        key=anchor("answer", query.spec.name),
        title=query.quantity,
        description="; ".join(
            f"{d.label}: {query.unit.value(r.estimate.value)}"
            for d, r in zip(dots, rows, strict=True)
        ),
        caption=shown,
        stamp=material.stamp,
    )
    margin = query.spec.margin
    band = (
        (-margin * factor, margin * factor)
        if margin is not None and (is_difference or query.spec.statistic in OF_ZERO)
        else None
    )
    axis = ValueAxis(title, reference, band=band, limits=_limits(query, dots, reference))
    mark_name = ", ".join(benchmark_names(joined))
    return small_forest(about, dots, numbers, axis=axis, reference_name=name, mark_name=mark_name)


def _has_order(rows: Sequence[Row]) -> bool:
    """Whether the rows have several columns or ordered values, so that they stay in order."""
    return any(len([v for v in r.group.values() if v]) > 1 for r in rows) or any(
        not set(r.group) & {"system", "rater"} for r in rows
    )


def _title(query: Query, rows: Sequence[Row]) -> str:
    """What is estimated, with the contrast that all rows share."""
    columns = dict.fromkeys(c for row in rows for c in row.group)
    shared = [text for c in columns if (text := shared_contrast(rows, c))]
    return ": ".join([query.quantity, *([", ".join(shared)] if shared else [])])


def _name(material: Material, query: Query, row: Row) -> str:
    if row.kind == "difference":
        several = [r for r in query.rows if r.kind == "difference"]
        columns = [c for c in row.group if not shared_contrast(several, c)]
        return ", ".join(contrast(row, c, material) for c in columns)
    return group_name(query, row.group) or query.spec.raters


def _reference(material: Material, query: Query, is_difference: bool) -> tuple[float | None, str]:
    """The line to compare with, and its name."""
    translate = material.numbers.translated
    if is_difference or query.spec.statistic in OF_ZERO:
        return 0.0, translate(message("no difference", message_id="answer.line_zero"))
    line = pass_line(query.spec)
    if line is not None:
        return line, material.language.gettext("pass line")
    described = entry(query.spec.statistic)
    if described.is_among_raters and described.marks_zero:
        return 0.0, translate(message("chance", message_id="answer.line_chance"))
    return None, ""


def _limits(
    query: Query, dots: Sequence[Dot], reference: float | None
) -> tuple[float, float] | None:
    """The whole scale of a proportion, and of a coefficient from 0 to 1 or the lowest limit."""
    values = [x for d in dots for x in (d.value, d.low, d.high, d.mark)]
    if query.spec.statistic in PERCENT:
        return -2.0, 102.0
    if entry(query.spec.statistic).is_among_raters:
        low, _high = span(values, reference)
        return min(low, -0.02), 1.02
    return None
