"""The small figure of an answer: rows, lines over ordered categories, or a panel a criterion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from konsil.analysis import Row
from konsil.analysis.model.catalogue.known import OF_ZERO
from konsil.analysis.pairs.pair_rules import CRITERION
from konsil.errors.message import message
from konsil.report.answers.ordered_lines import ordered_lines
from konsil.report.answers.sentence_parts import Query, group_name
from konsil.report.figures.drawing import Drawing
from konsil.report.figures.figures import small_forest
from konsil.report.figures.small_multiples import dot_panels
from konsil.report.figures.svg_primitives import About, Dot, ValueAxis
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
"""Rows of the figure, or of one panel; an analysis with more has its own figure in the results."""


def answer_figure(material: Material, query: Query) -> Drawing | None:
    """Lines over ordered categories, else rows; of ensembles the best of each size."""
    rows = [r for r in query.rows if r.kind == "estimate" and math.isfinite(r.estimate.value)]
    if len(rows) > MOST_ROWS and all("size" in row.group for row in rows):
        best: dict[str, Row] = {}
        for row in sorted(rows, key=lambda r: -r.estimate.value):
            best.setdefault(row.group["size"], row)
        return _rows_figure(material, replace(query, rows=tuple(best.values())))
    return ordered_lines(material, query) or _rows_figure(material, query)


def figure_of_criteria(material: Material, query: Query) -> Drawing | None:
    """A panel for each criterion, on one axis; a row for each where there is nothing but criteria.

    None where there are no estimates, or more than fit.
    """
    lines = _lines(material, query)
    if all(set(line.row.group) == {CRITERION} for line in lines):
        return _rows_figure(material, query)
    by_criterion: dict[str, list[Joined]] = {}
    for line in lines:
        by_criterion.setdefault(line.row.group[CRITERION], []).append(line)
    if max(map(len, by_criterion.values())) > MOST_ROWS:
        return None
    axis, dots, mark_name = _drawn(material, query, lines, CRITERION)
    by_line = {id(line): dot for line, dot in zip(lines, dots, strict=True)}
    panels = [
        (query.criteria.get(criterion, criterion), [by_line[id(line)] for line in part])
        for criterion, part in by_criterion.items()
    ]
    about = _about(
        material,
        query,
        [(f"{name}, {d.label}", d.value) for name, part in panels for d in part],
    )
    return dot_panels(about, panels, material.numbers, axis=axis, mark=mark_name)


def _rows_figure(material: Material, query: Query) -> Drawing | None:
    """The figure; None where there are no estimates, or more than fit."""
    lines = by_estimate(_lines(material, query))
    if not 1 <= len(lines) <= MOST_ROWS:
        return None
    axis, dots, mark_name = _drawn(material, query, lines)
    about = _about(material, query, [(d.label, d.value) for d in dots])
    return small_forest(about, dots, material.numbers, axis=axis, mark_name=mark_name)


def _lines(material: Material, query: Query) -> list[Joined]:
    """What is drawn: the estimates, or the differences where there are no others.

    Of numbers that are differences already, a comparison of two groups in every system is drawn
    itself: the estimates answer another question.
    """
    joined = [line for line in join(query.rows) if _is_number(line)]
    estimates = in_order(material, [line for line in joined if line.row.kind == "estimate"])
    differences = [line for line in joined if line.row.kind == "difference"]
    is_of_differences = query.spec.statistic in OF_ZERO and _shared([d.row for d in differences])
    return differences if is_of_differences or not estimates else estimates


def _drawn(
    material: Material, query: Query, lines: Sequence[Joined], apart: str = ""
) -> tuple[ValueAxis, list[Dot], str]:
    """The axis, a dot for each line, and the name of the diamonds.

    `apart` is the column that panels name.
    """
    rows = [line.row for line in lines]
    is_shared = value_axis(material, query.spec.statistic, lines, spec=query.spec).benchmark
    dots = [
        Dot(
            _name(query, material, line.row, apart),
            line.row.estimate.value,
            line.row.estimate.low,
            line.row.estimate.high,
            "",
            mark=line.benchmark.estimate.value
            if line.benchmark is not None and is_shared is None
            else math.nan,
        )
        for line in lines
    ]
    dots = with_colours(material, dots, [_system(row) for row in rows])
    axis = value_axis(material, query.spec.statistic, lines, spec=query.spec, dots=dots)
    if shared := _shared(rows):
        axis = replace(axis, title=f"{shared}: {axis.title}")
    return axis, dots, "" if is_shared else ", ".join(benchmark_names(lines))


def _system(row: Row) -> str:
    """The system that a row is about; none of a difference between two."""
    system = row.group.get("system", "")
    return system if row.versus.get("system", system) == system else ""


def _about(material: Material, query: Query, values: Sequence[tuple[str, float]]) -> About:
    caption = message(
        "{quantity}: estimates (dots) and CIs (lines).",
        message_id="answer.figure",
        quantity=query.quantity,
    )
    return About(
        key=anchor("answer", query.spec.name),
        title=query.quantity,
        description="; ".join(f"{name}: {query.unit.value(value)}" for name, value in values),
        caption=material.numbers.translated(caption),
        stamp=material.stamp,
    )


def _is_number(line: Joined) -> bool:
    return math.isfinite(line.row.estimate.value)


def _shared(rows: Sequence[Row]) -> str:
    """The contrast that all rows share, which stands in the title of the axis."""
    columns = dict.fromkeys(c for row in rows for c in row.group)
    return ", ".join(text for c in columns if (text := shared_contrast(rows, c)))


def _name(query: Query, material: Material, row: Row, apart: str) -> str:
    """A row by its group, without the column that its panel names."""
    group = {c: v for c, v in row.group.items() if c != apart}
    if row.kind == "difference":
        several = [r for r in query.rows if r.kind == "difference"]
        columns = [c for c in group if not shared_contrast(several, c)]
        return ", ".join(contrast(row, c, material) for c in columns)
    return group_name(query, group) or query.spec.raters
