"""Rules between a figure of the report and the analyses that it lays out."""

from __future__ import annotations

from collections.abc import Iterator

from konsil.analysis import Analysis
from konsil.analysis.model.catalogue.known import statistic_of
from konsil.study.definition.protocol import Study
from konsil.study.rules.table_rules import analyses_of, key_problems, layout_problems
from konsil.study.sections.table_layout import FigureLayout


def figure_problems(study: Study, layout: FigureLayout, where: str) -> Iterator[str]:
    """Problems of one figure: unknown analyses and columns, and what its kind cannot have."""
    yield from layout_problems(study, layout, where, "figure")
    chosen = analyses_of(study, layout)
    yield from _key_problems(layout, chosen, where)
    statistics = list(dict.fromkeys(a.statistic for a in chosen))
    if len(statistics) > 1 and not all(_is_coefficient(name) for name in statistics):
        yield (
            f"{where}.analyses: {statistics[0]!r} and {statistics[1]!r} have no axis in common;"
            " expected analyses of one statistic, or of chance-corrected coefficients"
        )
    if layout.kind != "matrix" and layout.columns:
        yield f"{where}.columns: only a figure with kind = 'matrix' has columns"
    if layout.kind == "matrix" and layout.reference is not None:
        yield f"{where}.reference: a matrix has no axis; expected kind = 'forest' or 'series'"
    if layout.kind in ("series", "matrix") and len(layout.rows) > 1:
        yield (
            f"{where}.rows: a figure with kind = {layout.kind!r} has one key in `rows`, got"
            f" {list(layout.rows)}"
        )
    if layout.reference_name and layout.reference is None:
        yield f"{where}.reference_name: there is no `reference` to name"


def _is_coefficient(name: str) -> bool:
    statistic = statistic_of(name)
    return statistic.is_among_raters and statistic.marks_zero


def _key_problems(layout: FigureLayout, chosen: list[Analysis], where: str) -> Iterator[str]:
    needed = ("rows", "columns") if layout.kind == "matrix" else ("rows",)
    used: set[str] = set()
    for part in ("rows", "columns", "panels"):
        yield from key_problems(layout, part, chosen, where, "figure", is_needed=part in needed)
        for key in getattr(layout, part):
            if key in used:
                yield f"{where}.{part}: {key!r} is stated twice; expected it once"
            used.add(key)
