"""The small figure beside an answer: estimates in order, or differences where there is no more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from konsil.analysis import Row
from konsil.analysis.model.message import message
from konsil.report.answers.sentence_parts import Query, group_name
from konsil.report.figures.drawing import Drawing
from konsil.report.figures.small_forest import small_forest
from konsil.report.figures.svg_primitives import About, Dot
from konsil.report.figures.value_axes import by_estimate, value_axis, with_colours
from konsil.report.material.overview import Material
from konsil.report.material.slugs import anchor
from konsil.report.material.table_rows import (
    Joined,
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
    numbers = material.numbers
    joined = [line for line in join(query.rows) if line.row.kind == "estimate"]
    lines = [line for line in in_order(material, joined) if _is_number(line)]
    rows = lines or [
        line for line in join(query.rows) if line.row.kind == "difference" and _is_number(line)
    ]
    if not 1 <= len(rows) <= MOST_ROWS:
        return None
    rows = by_estimate(rows)
    is_shared = value_axis(material, query.spec.statistic, rows, spec=query.spec).benchmark
    dots = [
        Dot(
            _name(material, query, line.row),
            line.row.estimate.value,
            line.row.estimate.low,
            line.row.estimate.high,
            "",
            mark=line.benchmark.estimate.value
            if line.benchmark is not None and is_shared is None
            else math.nan,
        )
        for line in rows
    ]
    if lines:
        systems = [line.row.group.get("system", "") for line in rows]
        dots = with_colours(material, dots, systems)
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
            f"{d.label}: {query.unit.value(line.row.estimate.value)}"
            for d, line in zip(dots, rows, strict=True)
        ),
        caption=shown,
        stamp=material.stamp,
    )
    axis = value_axis(material, query.spec.statistic, rows, spec=query.spec, dots=dots)
    if shared := _shared([line.row for line in rows]):
        axis = replace(axis, title=f"{shared}: {axis.title}")
    mark_name = "" if is_shared else ", ".join(benchmark_names(rows))
    return small_forest(about, dots, numbers, axis=axis, mark_name=mark_name)


def _is_number(line: Joined) -> bool:
    return math.isfinite(line.row.estimate.value)


def _shared(rows: Sequence[Row]) -> str:
    """The contrast that all rows share, which stands in the title of the axis."""
    columns = dict.fromkeys(c for row in rows for c in row.group)
    return ", ".join(text for c in columns if (text := shared_contrast(rows, c)))


def _name(material: Material, query: Query, row: Row) -> str:
    if row.kind == "difference":
        several = [r for r in query.rows if r.kind == "difference"]
        columns = [c for c in row.group if not shared_contrast(several, c)]
        return ", ".join(contrast(row, c, material) for c in columns)
    return group_name(query, row.group) or query.spec.raters
